package api

import (
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// TestOwnerActions changes server-wide settings as users other than the owner: permitted on
// an ephemeral server, refused on any other.
func TestOwnerActions(t *testing.T) {
	t.Parallel()
	for _, kept := range []bool{false, true} {
		changes := []func(*server.Options){servertest.AtNoon, inABox}
		if kept {
			changes = append(changes, servertest.OnFile(filepath.Join(t.TempDir(), "box.db")))
		}
		s := servertest.New(t, changes...)
		ada := s.NewUser(t, "ada")
		for _, test := range []struct{ method, path, body, action string }{
			{"PUT", "/sandbox/rules", `{"rules": []}`, "sandbox.rules"},
			{"GET", "/sandbox/rules", "", ""},
			{"PUT", "/sandbox/expectations", `{"expect": []}`, "sandbox.expectations"},
			{"GET", "/sandbox/expectations", "", ""},
			{"POST", "/sandbox/verify", "", ""},
			{"DELETE", "/sandbox", "", "sandbox.clear"},
			{"POST", "/clock/advance", `{"by": "1s"}`, "clock.advance"},
		} {
			t.Run(test.method+" "+test.path, func(t *testing.T) {
				adas, roots := len(auditedActions(t, ada)), len(auditedActions(t, s.Root))
				want := http.StatusOK
				if kept {
					want = http.StatusForbidden
				}
				if answer := ada.Send(t, test.method, test.path, test.body); answer.Status != want {
					t.Errorf("kept %v, %s %s: %d %s; want %v", kept, test.method, test.path, answer.Status, answer.Text, want)
				}
				if answer := s.Root.Send(t, test.method, test.path, test.body); answer.Status != http.StatusOK {
					t.Errorf("kept %v, the owner, %s %s: %d %s; want %v", kept, test.method, test.path, answer.Status, answer.Text, http.StatusOK)
				}
				noted := func(action string) []string {
					if action == "" {
						return []string{}
					}
					return []string{action}
				}
				if lines := auditedActions(t, s.Root)[roots:]; !slices.Equal(lines, noted(test.action)) {
					t.Errorf("kept %v, %s %s: of the owner is noted %q", kept, test.method, test.path, lines)
				}
				allowed := test.action
				if kept {
					allowed = ""
				}
				if lines := auditedActions(t, ada)[adas:]; !slices.Equal(lines, noted(allowed)) {
					t.Errorf("kept %v, %s %s: of another is noted %q", kept, test.method, test.path, lines)
				}
			})
		}
		for path, status := range map[string]int{"/sandbox/calls": http.StatusOK, "/clock": http.StatusOK} {
			t.Run(path, func(t *testing.T) {
				if answer := ada.Send(t, http.MethodGet, path, ""); answer.Status != status {
					t.Errorf("kept %v, GET %s: %d %s; want %v", kept, path, answer.Status, answer.Text, status)
				}
			})
		}
	}
}

// auditedActions returns the actions of p in the audit log, oldest first.
func auditedActions(t testing.TB, p servertest.Caller) (actions []string) {
	t.Helper()
	for page := 0; ; page++ {
		list := at(p.OK(t, "auditLog.list", object{"limit": 100, "offset": page * 100}), "entries").([]any)
		for _, one := range list {
			if at(one, "actorId") == p.ID {
				actions = append([]string{at(one, "action").(string)}, actions...)
			}
		}
		if len(list) < 100 {
			return actions
		}
	}
}

// TestCallsOfOthers reads the outbound calls as two users.
func TestCallsOfOthers(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, inABox)
	ada, bob := s.NewUser(t, "ada"), s.NewUser(t, "bob")
	const word = "correct horse battery"
	id := ada.IDOf(t, "blueprint.create", object{
		"title": "secret", "environment_variables": []any{object{"name": "pw", "type": "string", "secret": true, "default": word}},
		"blueprint_map": object{"nodes": []any{node("a", "http-request", object{"method": "POST", "url": "https://a.example/{{pw}}?x={{pw}}", "body": object{"said": "{{pw}}"}})}},
	})
	answer := ada.Call(t, "blueprint.execute", object{"id": id})
	if at(answer.Payload(), "success") != true {
		t.Fatalf("%v, want success true", answer.Text)
	}
	for who, want := range map[*servertest.Caller]int{&ada: 1, &bob: 0, &s.Root: 1} {
		t.Run(who.Email, func(t *testing.T) {
			calls := sandboxCalls(t, *who, "")
			if len(calls) != want {
				t.Errorf("%s sees %d calls, want %v", who.Email, len(calls), want)
			}
			text := servertest.Encoded(t, calls)
			for _, hidden := range []string{word, "horse"} {
				if strings.Contains(text, hidden) {
					t.Errorf("%q is in %s", hidden, text)
				}
			}
		})
	}
	record := ada.OK(t, "execution.getRecord", object{"executionId": at(answer.Payload(), "executionId")})
	if at(record, "executionMetadata.sandbox") != true {
		t.Errorf("the record does not mention the sandbox: %s, want executionMetadata.sandbox true", servertest.Encoded(t, at(record, "executionMetadata")))
	}
	if file := ada.OK(t, "execution.export", object{"executionId": at(answer.Payload(), "executionId")}); at(file, "run.sandbox") != true {
		t.Error("the exported run does not mention the sandbox")
	}
}

// TestUnusualSettingsAreLogged checks the log lines about unusual settings at the start.
func TestUnusualSettingsAreLogged(t *testing.T) {
	t.Parallel()
	one := int64(1)
	const danger, moves, setup = "follow from --seed-ids", "CLOCK     virtual: stays at 2030-05-01T12:00:00.000Z", "sets your password"
	seeded := func(o *server.Options) { o.SeedIDs, o.APIKey = &one, "" }
	everywhere := func(o *server.Options) { o.Addr = "0.0.0.0:0" }
	for _, test := range []struct {
		name     string
		changes  []func(*server.Options)
		has, not []string
	}{
		{"usual", nil, []string{setup}, []string{danger, "CLOCK"}},
		{"seeded here", []func(*server.Options){seeded, servertest.AtNoon}, []string{setup, moves}, []string{danger}},
		{"seeded for all", []func(*server.Options){seeded, everywhere}, []string{danger}, []string{setup, "CLOCK"}},
		{"seeded behind a proxy", []func(*server.Options){seeded, func(o *server.Options) { o.PublicURL = "https://flows.example" }}, []string{danger}, []string{setup}},
	} {
		t.Run(test.name, func(t *testing.T) {
			said := &lockedBuffer{}
			changes := append([]func(*server.Options){func(o *server.Options) { o.Clock = clock.Real{}; o.Out = said }}, test.changes...)
			s := servertest.New(t, changes...)
			s.Stop()
			for _, part := range test.has {
				if !strings.Contains(said.String(), part) {
					t.Errorf("%q is not in\n%s", part, said)
				}
			}
			for _, part := range test.not {
				if strings.Contains(said.String(), part) {
					t.Errorf("%q is in\n%s", part, said)
				}
			}
		})
	}
}

// TestEarnestAndPlay starts a server on a database of the other kind: sandbox or not.
func TestEarnestAndPlay(t *testing.T) {
	t.Parallel()
	usual := func(*server.Options) {}
	for _, test := range []struct {
		name        string
		first, then func(*server.Options)
		hint        string
	}{
		{"a sandbox on the database of a real server", usual, inABox, "remove --sandbox"},
		{"a real server on the database of a sandbox", inABox, usual, "add --sandbox"},
		{"real time on the database of a virtual clock", servertest.AtNoon, usual, "add --clock virtual"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "my.db")
			servertest.New(t, servertest.OnFile(path), test.first).Stop()
			o := server.Options{Database: server.Database{Schema: schema, DB: path}, Network: server.Network{Addr: "127.0.0.1:0"}, Version: version, Clock: clock.Real{}, Logger: slog.New(slog.DiscardHandler), Out: io.Discard}
			test.then(&o)
			wired, err := server.New(t.Context(), o)
			if err == nil {
				wired.Listener.Close()
				t.Fatal("it starts, want an error")
			}
			if _, hint := blueprint.DescribeError(err); !strings.Contains(hint, test.hint) {
				t.Errorf("%v, hint %q; want %q in it", err, hint, test.hint)
			}
			servertest.New(t, servertest.OnFile(path), test.first).Stop() // stopped after the first start
		})
	}
}
