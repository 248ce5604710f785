package postgres

import (
	"strings"
	"testing"
)

// An error about a URL does not show a part of its password.
func TestParseRefusesTwoAt(t *testing.T) {
	for _, url := range []string{"postgres://ada:hunt@hunter2@127.0.0.1:5432/flows", "postgres://ada:hunt@hunter2@one,two/flows", "postgres://ada:x@one,hunt@hunter2/flows"} {
		config, err := Parse(url)
		switch {
		case err == nil:
			t.Errorf("%s is read as %s", url, config.Name())
		case strings.Contains(err.Error(), "hunt"):
			t.Errorf("%s: the error shows the password: %s", url, err)
		}
	}
	config, err := Parse("postgres://ada:hunt%40hunter2@127.0.0.1:5432/flows")
	if err != nil || config.Name() != "postgres://ada@127.0.0.1/flows" || config.connection.Password != "hunt@hunter2" {
		t.Errorf("with %%40: %v, %v", config, err)
	}
}
