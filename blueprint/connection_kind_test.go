package blueprint

import (
	"slices"
	"strings"
	"testing"
)

// A change of these keys keeps the secrets of a config. The test fails for a new key until
// it is decided whether the key affects where, or for whom, a secret is sent.
func TestFieldsThatMoveNothing(t *testing.T) {
	const want = "auth.oauth2.connectionId http.auth mcp-server.auth mcp-server.timeoutMs oauth2.hosts oauth2.scopes smtp.from" // auth and hosts have rules of their own
	var found []string
	see := func(prefix string, shape []configField) {
		for _, f := range shape {
			if !f.secret && f.moves == nil {
				found = append(found, prefix+"."+f.name)
			}
		}
	}
	for _, kind := range connectionKinds {
		see(string(kind.of), kind.fields)
	}
	for _, kind := range authKinds {
		see("auth."+kind.name, kind.fields)
	}
	slices.Sort(found)
	if got := strings.Join(found, " "); got != want {
		t.Errorf("without moves are %s, want %v", got, want)
	}
}
