package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

const oneHash, otherHash = "$argon2id$one", "$argon2id$other"

// pass moves the clock of a test's store.
func pass(t testing.TB, s *Store, by time.Duration) {
	t.Helper()
	c := s.options.Clock.(*clock.Virtual)
	check(t, c.Advance(context.Background(), c.Now().Add(by)))
}

// signedIn makes a session of a user whose password has the hash oneHash.
func signedIn(t testing.TB, s *Store, userID, token string) blueprint.Session {
	t.Helper()
	check(t, s.SetPassword(context.Background(), userID, oneHash))
	return must(s.BeginSession(context.Background(), userID, oneHash, token, "a browser"))(t)
}

func admitted(t testing.TB, s *Store, token string) bool {
	t.Helper()
	p, err := s.AuthenticateSession(context.Background(), token)
	if err != nil {
		wantCode(t, err, blueprint.CodeUnauthorized)
	}
	return p.UserID != ""
}

func TestSessions(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		_, err := s.BeginSession(ctx, ann.UserID, "", "t", "")
		wantCode(t, err, blueprint.CodeUnauthorized) // who has no password
		made := signedIn(t, s, ann.UserID, "one")
		if want := blueprint.TimeOf(start.Add(blueprint.SessionIdle)); made.ExpiresAt != want || made.Agent != "a browser" {
			t.Errorf("made %+v, want ExpiresAt %v and Agent a browser", made, want)
		}
		_, err = s.BeginSession(ctx, ann.UserID, otherHash, "t", "")
		wantCode(t, err, blueprint.CodeUnauthorized)
		other := must(s.BeginSession(ctx, ann.UserID, oneHash, "two", "another"))(t)
		p := must(s.AuthenticateSession(ctx, "one"))(t)
		if p.UserID != ann.UserID || p.SessionID != made.ID || p.KeyID != "" {
			t.Errorf("principal %+v, want UserID %v, SessionID %v and KeyID nothing", p, ann.UserID, made.ID)
		}
		for _, token := range []string{"", "three", "ONE"} {
			if admitted(t, s, token) {
				t.Errorf("%q is admitted", token)
			}
		}
		if list := must(s.Sessions(ctx, ann))(t); len(list) != 2 || len(must(s.Sessions(ctx, bob))(t)) != 0 {
			t.Errorf("sessions %+v, want length 2 and none", list)
		}
		wantCode(t, s.EndSession(ctx, bob, made.ID), blueprint.CodeNotFound)
		wantCode(t, s.EndSession(ctx, ann, "nothing"), blueprint.CodeNotFound)
		if !admitted(t, s, "one") {
			t.Error("it was ended by another user")
		}
		check(t, s.EndSession(ctx, ann, made.ID))
		if admitted(t, s, "one") || !admitted(t, s, "two") {
			t.Error("not the one session was ended")
		}
		wantCode(t, s.ChangePassword(ctx, p, otherHash, oneHash), blueprint.CodeConflict)
		signedIn(t, s, bob.UserID, "bob's")
		three := must(s.BeginSession(ctx, ann.UserID, oneHash, "three", ""))(t)
		check(t, s.ChangePassword(ctx, blueprint.Principal{UserID: ann.UserID, SessionID: other.ID}, oneHash, otherHash))
		if admitted(t, s, "three") || !admitted(t, s, "two") || !admitted(t, s, "bob's") {
			t.Errorf("another password left not the one session; %s", three.ID)
		}
		check(t, s.EndSessionOf(ctx, "nothing"))
		check(t, s.EndSessionOf(ctx, "bob's"))
		if admitted(t, s, "bob's") || !admitted(t, s, "two") {
			t.Error("not the one session was ended by its token")
		}
		must(s.BeginSession(ctx, bob.UserID, oneHash, "bob's", ""))(t)
		check(t, s.EndSessions(ctx, ann))
		if admitted(t, s, "two") || !admitted(t, s, "bob's") {
			t.Error("not all sessions of the one were ended")
		}
		check(t, s.SetPassword(ctx, bob.UserID, otherHash))
		if admitted(t, s, "bob's") {
			t.Error("a session outlived its password")
		}
		wantCode(t, s.SetPassword(ctx, "nobody", otherHash), blueprint.CodeNotFound)
		for id := range s.sessionUses.byKey.Range {
			t.Errorf("the use of session %s is kept after its end", id)
		}
	})
}

// A session lasts as long as it is used, but not for ever.
func TestSessionsSlide(t *testing.T) {
	const day = 24 * time.Hour
	everywhere(t, func(t *testing.T, s *Store) {
		ann := user(t, s, "ann")
		signedIn(t, s, ann.UserID, "idle")
		must(s.BeginSession(context.Background(), ann.UserID, oneHash, "used", ""))(t)
		for days := 20; days < 90; days += 20 {
			pass(t, s, 20*day)
			if !admitted(t, s, "used") {
				t.Fatalf("ended after %d days", days)
			}
			if days > 30 && admitted(t, s, "idle") {
				t.Error("outlived its idle time")
			}
		}
		if list := must(s.Sessions(context.Background(), ann))(t); len(list) != 1 || list[0].ExpiresAt != blueprint.TimeOf(start.Add(blueprint.SessionLifetime)) {
			t.Errorf("sessions %+v", list)
		}
		pass(t, s, 10*day-time.Millisecond)
		if !admitted(t, s, "used") {
			t.Error("ended before its time")
		}
		pass(t, s, time.Millisecond)
		if admitted(t, s, "used") || len(must(s.Sessions(context.Background(), ann))(t)) != 0 {
			t.Error("outlived its time")
		}
	})
}

func TestMostSessions(t *testing.T) {
	s := open(t, testOptions(t))
	ann, bob := user(t, s, "ann"), user(t, s, "bob")
	signedIn(t, s, bob.UserID, "bob's")
	check(t, s.SetPassword(context.Background(), ann.UserID, oneHash))
	for i := range blueprint.MaxSessions + 2 {
		must(s.BeginSession(context.Background(), ann.UserID, oneHash, fmt.Sprint(i), ""))(t)
		pass(t, s, time.Millisecond)
	}
	for token, want := range map[string]bool{"0": false, "1": false, "2": true, "101": true, "bob's": true} {
		t.Run(token, func(t *testing.T) {
			if admitted(t, s, token) != want {
				t.Errorf("%s is admitted: %v", token, !want)
			}
		})
	}
}

// When a session was used is stored now and then, at the end, and before
// anything is pruned by it.
func TestSessionUses(t *testing.T) {
	ctx, options := context.Background(), testOptions(t)
	options.KeepExecutions = Keep{Age: 1000 * time.Hour}
	s := must(Open(ctx, options))(t)
	stop := run(t, s)
	ann := user(t, s, "ann")
	signedIn(t, s, ann.UserID, "a-very-secret-token")
	must(s.BeginSession(ctx, ann.UserID, oneHash, "idle", ""))(t)
	before := s.commits.Load()
	s.storeUses(ctx)
	pass(t, s, time.Minute)
	admitted(t, s, "a-very-secret-token")
	s.storeUses(ctx)
	s.storeUses(ctx)
	if got := s.commits.Load() - before; got != 1 {
		t.Errorf("%d transactions for one use, want 1", got)
	}
	pass(t, s, 20*24*time.Hour)
	admitted(t, s, "a-very-secret-token")
	pass(t, s, 20*24*time.Hour) // with passes of the pruner on the way
	check(t, s.CreateSetupLink(ctx, ann.UserID, "link"))
	if !admitted(t, s, "a-very-secret-token") {
		t.Error("a session in use was pruned")
	}
	count := func(s *Store) (sessions, links int) {
		check(t, s.read(ctx, func(q *session) error {
			return q.row("SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM setup_links)", nil, &sessions, &links)
		}))
		return sessions, links
	}
	if sessions, _ := count(s); sessions != 1 {
		t.Errorf("%d sessions are left, want 1", sessions)
	}
	pass(t, s, 2*24*time.Hour)
	if _, links := count(s); links != 0 {
		t.Errorf("an old link is left: %v, want 0", links)
	}
	admitted(t, s, "a-very-secret-token")
	check(t, stop())
	check(t, s.Close())
	if data := must(os.ReadFile(options.Path))(t); bytes.Contains(data, []byte("secret-token")) {
		t.Error("the token is in the database")
	}
	again := open(t, options)
	if list := must(again.Sessions(ctx, ann))(t); len(list) != 1 || list[0].LastUsedAt != blueprint.TimeOf(options.Clock.Now()) {
		t.Errorf("sessions %+v", list)
	}
}

// What a tool does beside a server is seen by the very next request.
func TestToolEndsSessions(t *testing.T) {
	ctx := context.Background()
	server := open(t, testOptions(t))
	run(t, server)
	tool := beside(t, server)
	ann := user(t, server, "ann")
	signedIn(t, server, ann.UserID, "one")
	for range 2 {
		if !admitted(t, server, "one") {
			t.Fatal("not admitted")
		}
	}
	check(t, tool.SetPassword(ctx, ann.UserID, otherHash))
	if admitted(t, server, "one") {
		t.Error("admitted with a password that is gone")
	}
	must(tool.BeginSession(ctx, ann.UserID, otherHash, "two", ""))(t)
	if !admitted(t, server, "two") {
		t.Error("not admitted")
	}
}
