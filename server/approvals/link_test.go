package approvals

import (
	"encoding/base64"
	"strings"
	"testing"
)

func signer(key string) Signer {
	return Signer{Key: []byte(key), Host: func() string { return "https://host.example" }}
}

// TestLink makes links and opens them again, also with the address of nodes in items.
func TestLink(t *testing.T) {
	seen := map[string]Link{}
	for _, l := range []Link{
		{ExecutionID: "exec_1", NodeID: "gate", MadeByNode: "mail"}, {ExecutionID: "exec_1", NodeID: "gate", MadeByUser: "mail"}, {ExecutionID: "exec_1", NodeID: "gate", MadeByUser: "mail", Expires: 1}, {ExecutionID: "exec_1", NodeID: "gatem", MadeByNode: "ail"},
		{ExecutionID: "exec_1g", NodeID: "ate", MadeByNode: "mail"}, {ExecutionID: "exec_1", NodeID: "each[12]/ga/te", MadeByNode: "each[12]/mail \x00\n"}, {},
	} {
		address, token := signer("key").URL(l)
		if again, _ := signer("key").URL(l); again != address || address != "https://host.example/answer/"+token {
			t.Errorf("%+v: %s, and then %s", l, address, again)
		}
		if got, ok := signer("key").open(token); !ok || got != l {
			t.Errorf("%+v opens as %+v, %v", l, got, ok)
		}
		if _, ok := signer("another").open(token); ok {
			t.Errorf("%+v opens with another key", l)
		}
		if other, twice := seen[token]; twice {
			t.Errorf("%+v and %+v have the same token", l, other)
		}
		seen[token] = l
		plain, _ := base64.RawURLEncoding.DecodeString(token)
		for _, part := range []string{l.ExecutionID, l.NodeID, l.MadeByNode, l.MadeByUser} {
			if part != "" && strings.Contains(string(plain), part) {
				t.Errorf("the token of %+v shows %q", l, part)
			}
		}
		if id := ID(token); len(id) != 12 || strings.Contains(token, id) {
			t.Errorf("the id of %s is %s", token, id)
		}
	}
}

func FuzzLink(f *testing.F) {
	_, token := signer("key").URL(Link{ExecutionID: "exec_1", NodeID: "gate", MadeByNode: "mail"})
	f.Add(token)
	f.Add(token[:20] + "\n" + token[20:])
	f.Add("")
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, other string) {
		if l, ok := signer("key").open(other); ok && signer("key").token(l) != other {
			t.Errorf("%q opens as %+v, whose token is another one", other, l)
		}
	})
}
