package rpc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// notes records the entries that are not written with the change.
type notes struct {
	Store
	lines []string
}

func (n *notes) NoteAction(_ context.Context, e *blueprint.AuditEntry) {
	n.lines = append(n.lines, fmt.Sprint(e.ActorID, " ", e.Via, " ", e.Action, " ", e.TargetType, " ", e.TargetID, " ", e.Detail))
}

func (n *notes) Connection(context.Context, blueprint.Principal, string) (blueprint.Connection, error) {
	return blueprint.Connection{}, nil
}

// elsewhere is a service where only the user u can sign in.
type elsewhere struct{ ConnectionTester }

func (elsewhere) SignIn(_ context.Context, userID, _ string) (string, error) {
	if userID != "u" {
		return "", errors.New("no")
	}
	return "https://elsewhere", nil
}

// The request for the URL of a sign-in is audited with its connection.
func TestSignInIsNoted(t *testing.T) {
	for user, want := range map[string]string{"u": "[u api connection.signIn connection c map[]]", "other": "[]"} {
		t.Run(user, func(t *testing.T) {
			store := &notes{}
			s := &Service{Options: Options{Connections: elsewhere{}, Store: store}}
			table := audited(store, []trpc.Procedure{trpc.Mutation("connection.signIn", blueprint.ScopeRead, s.connectionSignIn)})
			id := map[string]any{"id": "3b241101-e2bb-4255-8caf-4136c566a962"}
			ask(t, table[0], user, id)
			if got := strings.ReplaceAll(fmt.Sprint(store.lines), id["id"].(string), "c"); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// A mutation that changed something has one audit entry, by the database or by audited.
func TestNoting(t *testing.T) {
	type call = func(ctx context.Context, caller *trpc.Caller, _ struct{}) (succeeded, error)
	for name, c := range map[string]struct {
		run  call
		want string
	}{
		"about something": {func(_ context.Context, caller *trpc.Caller, _ struct{}) (succeeded, error) {
			caller.Note("execution", "e", map[string]any{"n": 1})
			return succeeded{true}, nil
		}, "[u api x.y execution e map[n:1]]"},
		"about nothing in particular": {func(context.Context, *trpc.Caller, struct{}) (succeeded, error) { return succeeded{true}, nil }, "[u api x.y   map[]]"},
		"signed in by it": {func(_ context.Context, caller *trpc.Caller, _ struct{}) (succeeded, error) {
			caller.UserID = "new"
			return succeeded{true}, nil
		}, "[new api x.y   map[]]"},
		"noted in its transaction": {func(ctx context.Context, _ *trpc.Caller, _ struct{}) (succeeded, error) {
			actor := blueprint.ActorOf(ctx)
			if actor.UserID != "u" || actor.Action != "x.y" || actor.Via != "api" {
				t.Errorf("the actor is %+v, want UserID u, Action x.y and Via api", actor)
			}
			actor.MarkAudited()
			return succeeded{true}, nil
		}, "[]"},
		"nothing changed": {func(_ context.Context, caller *trpc.Caller, _ struct{}) (succeeded, error) {
			caller.NoteNothing()
			return succeeded{true}, nil
		}, "[]"},
		"it failed": {func(context.Context, *trpc.Caller, struct{}) (succeeded, error) {
			return succeeded{}, errors.New("no")
		}, "[]"},
		"it failed when it was done": {func(_ context.Context, caller *trpc.Caller, _ struct{}) (succeeded, error) {
			caller.Note("execution", "e", nil)
			return succeeded{}, context.Canceled
		}, "[u api x.y execution e map[]]"},
		"it failed, and nothing changed": {func(_ context.Context, caller *trpc.Caller, _ struct{}) (succeeded, error) {
			caller.Note("execution", "e", nil)
			caller.NoteNothing()
			return succeeded{}, context.Canceled
		}, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			store := &notes{}
			table := audited(store, []trpc.Procedure{trpc.Mutation("x.y", blueprint.ScopeRead, c.run), trpc.Query("x.z", blueprint.ScopeRead, c.run)})
			ask(t, table[0], "u", nil)
			if name != "noted in its transaction" {
				ask(t, table[1], "u", nil) // a query never has one
			}
			if got := fmt.Sprint(store.lines); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
