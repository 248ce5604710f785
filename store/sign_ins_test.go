package store

import (
	"bytes"
	"context"
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
				t.Errorf("after %+v: %q", step, got)
			}
		}
		wantCode(t, s.SaveToken(ctx, id, ann.UserID, make([]byte, mostToken+1), []byte("2")), blueprint.CodeBadRequest)
		check(t, s.SaveToken(ctx, other, bob.UserID, []byte("bob's"), nil))
		check(t, s.DeleteToken(ctx, id, ann.UserID))
		check(t, s.DeleteToken(ctx, id, ann.UserID))
		if got := must(s.Token(ctx, id, ann.UserID))(t); got != nil {
			t.Errorf("after the deletion: %q", got)
		}
		check(t, s.DeleteConnection(ctx, ann, id))
		if got := must(s.Token(ctx, other, bob.UserID))(t); string(got) != "bob's" {
			t.Errorf("bob's token is %q", got)
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
		if list := must(s.WaitingSignIns(ctx, c.ID, ann.UserID))(t); !cmp.Equal(list, []blueprint.SignIn{first, second}) {
			t.Error(cmp.Diff([]blueprint.SignIn{first, second}, list))
		}
		if got := must(s.TakeSignIn(ctx, first.StateHash))(t); !cmp.Equal(got, first) {
			t.Error(cmp.Diff(first, got))
		}
		for _, state := range [][]byte{first.StateHash, nil, {}, make([]byte, 32), []byte("x")} {
			_, err := s.TakeSignIn(ctx, state)
			wantCode(t, err, blueprint.CodeNotFound)
		}
		// Who left comes back in vain.
		check(t, s.RemoveMember(ctx, team, ann.UserID))
		_, err := s.TakeSignIn(ctx, second.StateHash)
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
			t.Errorf("expired ones wait: %+v", list)
		}
		_, err := s.TakeSignIn(ctx, signIn(c.ID, ann, 1).StateHash)
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
