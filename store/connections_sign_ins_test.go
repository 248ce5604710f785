package store

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// signIn is one of a user, with a state of its own, that is good for ten minutes.
func signIn(connectionID string, by blueprint.Principal, state byte) blueprint.SignIn {
	return blueprint.SignIn{
		StateHash: bytes.Repeat([]byte{state}, 32), ConnectionID: connectionID, UserID: by.UserID, Secret: []byte{state}, ExecutionID: "exec_1", Address: "a[1]/b",
		CreatedAt: blueprint.TimeOf(start), ExpiresAt: blueprint.TimeOf(start.Add(10 * time.Minute)),
	}
}

func TestTokens(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		id := connection(t, s, ann, "").ID
		other := connection(t, s, bob, "").ID
		for _, step := range []struct {
			token, replaced string
			want            blueprint.Code
			then            string
		}{
			{"1", "0", blueprint.CodeConflict, ""}, {"1", "", "", "1"}, {"2", "", blueprint.CodeConflict, "1"}, {"2", "0", blueprint.CodeConflict, "1"},
			{"2", "1", "", "2"}, {"2", "2", "", "2"}, {"", "2", blueprint.CodeBadRequest, "2"},
		} {
			wantCode(t, s.SaveToken(ctx, id, ann.UserID, []byte(step.token), []byte(step.replaced)), step.want)
			if got := must(s.Token(ctx, id, ann.UserID))(t); string(got) != step.then {
				t.Errorf("after %+v: %q, want %v", step, got, step.then)
			}
		}
		wantCode(t, s.SaveToken(ctx, id, ann.UserID, make([]byte, mostToken+1), []byte("2")), blueprint.CodeBadRequest)
		check(t, s.SaveToken(ctx, other, bob.UserID, []byte("bob's"), nil))
		check(t, s.DeleteToken(ctx, id, ann.UserID))
		check(t, s.DeleteToken(ctx, id, ann.UserID))
		if got := must(s.Token(ctx, id, ann.UserID))(t); got != nil {
			t.Errorf("after the deletion: %q, want nil", got)
		}
		check(t, s.DeleteConnection(ctx, ann, id))
		if got := must(s.Token(ctx, other, bob.UserID))(t); string(got) != "bob's" {
			t.Errorf("bob's token is %q, want bob's", got)
		}
	})
}

func TestSignIns(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		ann := people["member"]
		c := connection(t, s, people["creator"], team)
		first, second := signIn(c.ID, ann, 1), signIn(c.ID, ann, 2)
		second.ExpiresAt = blueprint.TimeOf(start.Add(time.Hour))
		for _, i := range []blueprint.SignIn{first, second} {
			check(t, s.BeginSignIn(ctx, i))
		}
		wantCode(t, s.BeginSignIn(ctx, first), blueprint.CodeConflict)
		big := signIn(c.ID, ann, 3)
		big.Secret = make([]byte, mostSignInSecret+1)
		wantCode(t, s.BeginSignIn(ctx, big), blueprint.CodeBadRequest)
		bare := []blueprint.SignIn{first, second}
		bare[0].Secret, bare[1].Secret = nil, nil
		if list := must(s.WaitingSignIns(ctx, c.ID, ann.UserID))(t); !cmp.Equal(list, bare) {
			t.Error(cmp.Diff(bare, list))
		}
		if got := must(s.FindSignIn(ctx, first.StateHash))(t); !cmp.Equal(got, first) {
			t.Error(cmp.Diff(first, got))
		}
		if got := must(s.TakeSignIn(ctx, first.StateHash))(t); !cmp.Equal(got, first) {
			t.Error(cmp.Diff(first, got))
		}
		for _, state := range [][]byte{first.StateHash, nil, {}, make([]byte, 32), []byte("x")} {
			_, err := s.FindSignIn(ctx, state)
			wantCode(t, err, blueprint.CodeNotFound)
			_, err = s.TakeSignIn(ctx, state)
			wantCode(t, err, blueprint.CodeNotFound)
		}
		// Who left comes back in vain.
		check(t, s.DropMember(ctx, ann, team, ann.UserID))
		_, err := s.FindSignIn(ctx, second.StateHash)
		wantCode(t, err, blueprint.CodeNotFound)
		_, err = s.TakeSignIn(ctx, second.StateHash)
		wantCode(t, err, blueprint.CodeNotFound)
	})
}

func TestSignInsExpire(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		c := connection(t, s, ann, "")
		check(t, s.BeginSignIn(ctx, signIn(c.ID, ann, 1)))
		check(t, s.BeginSignIn(ctx, signIn(c.ID, ann, 2)))
		advance(t, s, 10*time.Minute)
		if list := must(s.WaitingSignIns(ctx, c.ID, ann.UserID))(t); len(list) > 0 {
			t.Errorf("expired ones wait: %+v, want none", list)
		}
		_, err := s.FindSignIn(ctx, signIn(c.ID, ann, 1).StateHash)
		wantCode(t, err, blueprint.CodeNotFound)
		_, err = s.TakeSignIn(ctx, signIn(c.ID, ann, 1).StateHash)
		wantCode(t, err, blueprint.CodeNotFound)
		later := signIn(c.ID, ann, 3)
		later.ExpiresAt = blueprint.TimeOf(start.Add(time.Hour))
		check(t, s.BeginSignIn(ctx, later))
		rows := 0
		check(t, s.read(ctx, func(q *session) error { return q.row("SELECT count(*) FROM sign_ins", nil, &rows) }))
		if rows != 1 {
			t.Errorf("%d rows are left, want 1", rows)
		}
		check(t, s.DeleteConnection(ctx, ann, c.ID))
		_, err = s.TakeSignIn(ctx, later.StateHash)
		wantCode(t, err, blueprint.CodeNotFound)
	})
}

// TestTickets opens one for each place that waits, and one for all others when
// there are too many.
func TestTickets(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		ann, bob := people["member"], people["admin"]
		c := connection(t, s, people["creator"], team)
		state := 0
		ticket := func(by blueprint.Principal, execution, address string) blueprint.SignIn {
			state++
			i := signIn(c.ID, by, 0)
			i.StateHash = fmt.Appendf(nil, "%032d", state)
			i.Secret, i.ExecutionID, i.Address, i.CreatedAt = i.StateHash[20:], execution, address, blueprint.TimeOf(s.options.Clock.Now())
			i.ExpiresAt = blueprint.TimeOf(s.options.Clock.Now().Add(time.Hour))
			return i
		}
		ask := func(i blueprint.SignIn) blueprint.SignIn { return must(s.OpenTicket(ctx, i))(t) }
		one := ask(ticket(ann, "exec_1", "a"))
		advance(t, s, time.Minute)
		for name, other := range map[string]blueprint.SignIn{
			"another node": ask(ticket(ann, "exec_1", "b")), "another run": ask(ticket(ann, "exec_2", "a")), "another user": ask(ticket(bob, "exec_1", "a")), "no run": ask(ticket(ann, "", "")),
		} {
			t.Run(name, func(t *testing.T) {
				if bytes.Equal(other.StateHash, one.StateHash) || !other.Ticket {
					t.Errorf("%s shares it: %+v", name, other)
				}
			})
		}
		again := ask(ticket(ann, "exec_1", "a"))
		want := one
		want.CreatedAt, want.ExpiresAt = blueprint.TimeOf(start.Add(time.Minute)), blueprint.TimeOf(start.Add(time.Minute+time.Hour))
		if !cmp.Equal(again, want) || !cmp.Equal(must(s.FindSignIn(ctx, one.StateHash))(t), want) {
			t.Error(cmp.Diff(want, again))
		}
		advance(t, s, time.Hour)
		if fresh := ask(ticket(ann, "exec_1", "a")); bytes.Equal(fresh.StateHash, one.StateHash) {
			t.Error("an expired one is given out")
		}
		advance(t, s, time.Hour)
		// Ways that were begun count apart from tickets, and are fewer.
		for n := range mostAway {
			i := ticket(ann, "exec_1", "a")
			wantCode(t, s.BeginSignIn(ctx, i), "")
			if n == 0 {
				wantCode(t, s.BeginSignIn(ctx, i), blueprint.CodeConflict)
			}
		}
		wantCode(t, s.BeginSignIn(ctx, ticket(ann, "exec_1", "a")), blueprint.CodeTooManyRequests)
		wantCode(t, s.BeginSignIn(ctx, ticket(bob, "exec_1", "a")), "")
		check(t, s.write(ctx, func(w *transaction) error {
			for i := range mostTickets {
				_, err := w.exec("INSERT INTO sign_ins (state_hash, ticket, connection_id, user_id, sealed_secret, execution_id, address, versions, created_at, expires_at) VALUES (?, 1, ?, ?, ?, 'run', ?, '[]', ?, ?)",
					fmt.Appendf(nil, "%032x", i+1_000_000), c.ID, ann.UserID, []byte{0}, fmt.Sprint(i), blueprint.TimeOf(s.options.Clock.Now()), blueprint.TimeOf(s.options.Clock.Now().Add(time.Hour)))
				if err != nil {
					return err
				}
			}
			return nil
		}))
		asking := ticket(ann, "exec_9", "a")
		asking.Versions = []blueprint.VersionRef{{BlueprintID: "blueprint", Version: "1.0.0", Author: bob.UserID}}
		first, second := ask(asking), ask(ticket(ann, "exec_10", "a"))
		if stored := must(s.FindSignIn(ctx, first.StateHash))(t); len(first.Versions)+len(second.Versions)+len(stored.Versions) > 0 {
			t.Errorf("the one that all share grants the version of one run: %+v, stored %+v; want none", first, stored)
		}
		if first.ExecutionID != "" || first.Address != "" || !bytes.Equal(first.StateHash, second.StateHash) {
			t.Errorf("one too many is %+v, then %+v; want ExecutionID nothing, Address nothing and %v", first, second, second.StateHash)
		}
		if got := ask(ticket(bob, "exec_9", "a")); got.ExecutionID != "exec_9" {
			t.Errorf("bob's is %+v, want ExecutionID exec_9", got)
		}
		check(t, s.DropMember(ctx, ann, team, ann.UserID))
		_, err := s.OpenTicket(ctx, ticket(ann, "exec_1", "a"))
		wantCode(t, err, blueprint.CodeNotFound)
	})
}
