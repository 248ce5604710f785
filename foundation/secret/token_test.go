package secret_test

import (
	"testing"

	"blueprintd/foundation/secret"
)

func TestDecodeToken(t *testing.T) {
	token := secret.EncodeToken([]byte("ab?>"))
	if data, err := secret.DecodeToken(token); err != nil || string(data) != "ab?>" {
		t.Fatalf("%q decodes as %q, %v", token, data, err)
	}
	for _, other := range []string{token[:3] + "\n" + token[3:], token + "\r", token + "=", token[:len(token)-1] + "h", "YWI/Pg", "?"} {
		if data, err := secret.DecodeToken(other); err == nil {
			t.Errorf("%q decodes as %q, want an error", other, data)
		}
	}
}
