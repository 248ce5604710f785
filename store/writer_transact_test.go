package store

import (
	"context"
	"errors"
	"testing"

	"blueprintd/blueprint"
)

// everything of a Transact is stored, or nothing, and what it reads it sees as it
// wrote it.
func TestTogether(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		name string
		end  func(s *Store, cancel func()) error // what the last step of it does
		want error
	}{
		{"all", func(*Store, func()) error { return nil }, nil},
		{"failure", func(*Store, func()) error { return broken }, broken},
		{"the context ends", func(_ *Store, cancel func()) error { cancel(); return nil }, context.Canceled},
		{"the commit fails", func(s *Store, _ func()) error {
			s.writer.beforeCommit = func() error { return broken }
			return nil
		}, broken},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, ephemeral := range []bool{false, true} {
				options := testOptions(t)
				options.Ephemeral = ephemeral
				s := open(t, options)
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				before := must(s.CreateUser(ctx, "before@example.org", "Before"))(t)
				principal := blueprint.Principal{UserID: before.ID}
				generation := must(s.Generation(ctx))(t)
				err := s.Transact(ctx, func() error {
					ann := must(s.CreateUser(ctx, "ann@example.org", "Ann"))(t)
					_, err := s.CreateUser(ctx, "ANN@example.org", "Again")
					wantCode(t, err, blueprint.CodeConflict) // which undoes that alone
					if got := must(s.UserByEmail(ctx, "ann@example.org"))(t); got.ID != ann.ID {
						t.Errorf("it reads %+v, want ID %v", got, ann.ID)
					}
					must(s.CreateKey(ctx, ann.ID, "k", "key-of-ann"))(t)
					if got, err := s.Authenticate(ctx, "key-of-ann"); err != nil || got.UserID != ann.ID || !must(s.HasKey(ctx, ann.ID, "key-of-ann"))(t) {
						t.Errorf("the key is of %+v, %v", got, err)
					}
					b := must(s.CreateBlueprint(ctx, principal, blueprint.NewBlueprint{Title: "B"}))(t)
					must(s.CreateTrigger(ctx, principal, b.ID, blueprint.TriggerManual, map[string]any{}))(t)
					if list := must(s.ListTriggers(ctx, principal, b.ID))(t); len(list) != 1 {
						t.Errorf("it reads the triggers %+v, want length 1", list)
					}
					if err := s.Transact(ctx, func() error { return nil }); err == nil {
						t.Error("one is in another, want an error")
					}
					return test.end(s, cancel)
				})
				s.writer.beforeCommit = nil
				if !errors.Is(err, test.want) {
					t.Fatalf("it gave %v, want %v", err, test.want)
				}
				ctx = context.Background()
				_, err = s.UserByEmail(ctx, "ann@example.org")
				_, unknown := s.Authenticate(ctx, "key-of-ann")
				_, total, listErr := s.ListBlueprints(ctx, principal, blueprint.BlueprintFilter{Scope: blueprint.ScopeOwn, Page: 1, Limit: 10})
				if stored := test.want == nil; (err == nil) != stored || (unknown == nil) != stored || (total == 1) != stored || listErr != nil {
					t.Errorf("afterwards: %v, %v, %d blueprints, %v; want %v, %v, %v and nil", err, unknown, total, listErr, stored, stored, stored)
				}
				if after := must(s.Generation(ctx))(t); (after > generation) != (test.want == nil) {
					t.Errorf("the generation was %d and is %d, want %v", generation, after, test.want)
				}
				must(s.CreateUser(ctx, "after@example.org", "After"))(t) // it goes on
			}
		})
	}
}

// A step that panics leaves nothing behind either.
func TestTogetherPanics(t *testing.T) {
	s := open(t, testOptions(t))
	ctx := context.Background()
	func() {
		defer func() { _ = recover() }()
		_ = s.Transact(ctx, func() error {
			must(s.CreateUser(ctx, "ann@example.org", "Ann"))(t)
			panic("at the disco")
		})
	}()
	_, err := s.UserByEmail(ctx, "ann@example.org")
	wantCode(t, err, blueprint.CodeNotFound)
}

// Transact refuses a store that Run serves already.
func TestTransactOnlyBeforeRun(t *testing.T) {
	s := open(t, testOptions(t))
	run(t, s)
	if err := s.Transact(context.Background(), func() error { return nil }); err == nil {
		t.Error("Transact accepted a running store, want an error")
	}
}
