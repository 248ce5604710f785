package main

import (
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestCheckConnections checks listings of two connections, the first of which was changed twice
// and then once more without a response.
func TestCheckConnections(t *testing.T) {
	row := func(id, kind, name string) any { return object{"id": id, "type": kind, "name": name} }
	second := row("2", "slack", "chat")
	cases := []struct {
		name    string
		listing []any
		still   bool
		want    string
	}{
		{"as acknowledged", []any{row("1", "http", "guarded 2"), second, row("3", "slack", "scratch")}, true, ""},
		{"as sent last", []any{row("1", "http", "guarded 3"), second}, false, ""},
		{"a change is lost", []any{row("1", "http", "guarded 1"), second}, false, "I13"},
		{"all changes are lost", []any{row("1", "http", "guarded"), second}, false, "I13"},
		{"a change from nowhere", []any{row("1", "http", "guarded 4"), second}, false, "I13"},
		{"one is gone", []any{row("1", "http", "guarded 2")}, false, "I13"},
		{"another type", []any{row("1", "http", "guarded 2"), row("2", "http", "chat")}, false, "I13"},
		{"another name", []any{row("1", "http", "guarded 2"), row("2", "slack", "chat 1")}, false, "I13"},
		{"a new one is lost", []any{row("1", "http", "guarded 2"), second}, true, "I13"},
		{"a deleted one is back", []any{row("1", "http", "guarded 2"), second, row("3", "slack", "scratch"), row("4", "slack", "scratch")}, true, "I13"},
		{"nothing", nil, false, "I13"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newHistory("test", io.Discard)
			l := &connections{published: 2, sent: 3, scratch: map[string]string{"3": made, "4": deleted, "5": requested}, all: []*connection{{name: "guarded", kind: "http", id: "1"}, {name: "chat", kind: "slack", id: "2"}}}
			if l.check(b, c.listing, 2, c.still); first(b) != c.want {
				t.Errorf("violations %v, want %q", b.violations, c.want)
			}
		})
	}
}

func TestCheckSecrets(t *testing.T) {
	secret := secretOf("mail")
	texts := map[string]bool{"nothing": false, "***": false, secret: true, `{"a":"` + secret + `"}`: true, hex.EncodeToString([]byte(secret)): true}
	for _, before := range []string{"", "x", "xy", "\x00torture\x00"} {
		texts[base64.StdEncoding.EncodeToString([]byte(before+secret+"!"))] = true
	}
	for text, leaks := range texts {
		t.Run(text, func(t *testing.T) {
			b := newHistory("test", io.Discard)
			if b.checkSecrets("", "a text", text); (first(b) == "I13") != leaks {
				t.Errorf("violations %v, want %v", b.violations, leaks)
			}
		})
	}
}

// TestCredentials makes requests to the ledger, some with credentials in the wrong place.
func TestCredentials(t *testing.T) {
	l := &ledger{tokens: map[string]time.Time{"fresh": now().Add(time.Minute), "old": now().Add(-time.Minute)}}
	cases := []struct {
		name, connection, shown, url, body string
		good                               bool
	}{
		{"none", "", "", "/call", "", true},
		{"too many", "", secretOf("chat"), "/call", "", false},
		{"its own", "chat", secretOf("chat"), "/", "", true},
		{"none where some are due", "chat", "", "/", "", false},
		{"those of another", "chat", secretOf("tools"), "/", "", false},
		{"any of those that change", "guarded", guardedToken(17), "/", "", true},
		{"in the address too", "chat", secretOf("chat"), "/?key=" + secretOf("chat"), "", false},
		{"in the body", "", "", "/", secretOf("chat"), false},
		{"a token", "identity", "fresh", "/", "", true},
		{"an old token", "identity", "old", "/", "", false},
		{"a made up token", "identity", "other", "/", "", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, c.url, strings.NewReader(c.body))
			if c.shown != "" {
				r.Header.Set("Authorization", "Bearer "+c.shown)
			}
			if _, _, wrong := l.credentials(r, c.connection); (wrong == "") != c.good {
				t.Errorf("%q, want it good: %v", wrong, c.good)
			}
		})
	}
}

// TestCheckEffect checks emails; a refused one does not count.
func TestCheckEffect(t *testing.T) {
	email := func(id string, status int) entry {
		return entry{Kind: "mail", Key: "exec_1/each[0]/mail", Node: "each/mail", MessageID: id, Status: status}
	}
	cases := []struct {
		name    string
		entries []entry
		before  map[string]string
		retries int
		want    string
	}{
		{"one", []entry{email("a", 200)}, nil, 0, ""},
		{"refused, then taken", []entry{email("a", tooManyRequests), email("a", 200)}, nil, 0, ""},
		{"taken without a response, then taken", []entry{email("a", 0), email("a", 200)}, nil, 0, "I4"},
		{"taken twice", []entry{email("a", 200), email("a", 200)}, nil, 0, "I4"},
		{"taken twice, as a user decided", []entry{email("a", 200), email("a", 200)}, nil, 1, ""},
		{"as two emails", []entry{email("a", 200), email("b", 200)}, nil, 1, "I4"},
		{"as the email of another", []entry{email("a", 200)}, map[string]string{"a": "exec_1/each[1]/mail"}, 0, "I4"},
		{"with a secret", []entry{{Kind: "mail", Key: "exec_1/each[0]/mail", Node: "each/mail", Status: 200, Wrong: "an email holds a secret"}}, nil, 0, "I13"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newScenario(options{}, "test", t.TempDir(), newDisplay(io.Discard, 0))
			r := s.history.addRun("exec_1", "logged", &shape{once: map[string]bool{"each/mail": true}})
			r.retries["each[0]/mail"] = c.retries
			if c.before == nil {
				c.before = map[string]string{}
			}
			if s.checkEffect(effect{"mail", "exec_1/each[0]/mail"}, c.entries, c.before); first(s.history) != c.want {
				t.Errorf("violations %v, want %q", s.history.violations, c.want)
			}
		})
	}
}
