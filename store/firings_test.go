package store

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func TestFirings(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		b := create(t, s, ann, "T")
		trigger := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, nil))(t)
		other := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, nil))(t)
		check(t, record(s, firing(s, other, "k")))
		var rows []blueprint.Firing
		for _, decision := range []blueprint.Decision{blueprint.DecisionRefused, blueprint.DecisionSkipped, blueprint.DecisionDuplicate, blueprint.DecisionCoalesced} {
			f := firing(s, trigger, "the same key")
			f.Decision, f.DueAt = decision, blueprint.TimeOf(start)
			if decision == blueprint.DecisionDuplicate {
				id := "exec_1_first"
				f.ExecutionID = &id
			}
			check(t, record(s, f))
			rows = append([]blueprint.Firing{f}, rows...)
		}
		list, total, err := s.Firings(ctx, ann, trigger.ID, 20, 0)
		if err != nil || total != 4 || !cmp.Equal(list, rows) {
			t.Errorf("%d, %v: %s", total, err, cmp.Diff(rows, list))
		}
		list, total, err = s.Firings(ctx, ann, trigger.ID, 2, 1)
		if err != nil || total != 4 || !cmp.Equal(list, rows[1:3]) {
			t.Errorf("%d, %v: %s", total, err, cmp.Diff(rows[1:3], list))
		}
		if got := must(s.Firing(ctx, ann, rows[0].ID))(t); !cmp.Equal(got, rows[0]) {
			t.Error(cmp.Diff(rows[0], got))
		}
		_, err = s.Firing(ctx, bob, rows[0].ID)
		wantCode(t, err, blueprint.CodeNotFound)
		_, err = s.Firing(ctx, ann, "unknown")
		wantCode(t, err, blueprint.CodeNotFound)
		check(t, s.DeleteTrigger(ctx, ann, trigger.ID))
		_, err = s.Firing(ctx, ann, rows[0].ID)
		wantCode(t, err, blueprint.CodeNotFound)
		_, _, err = s.Firings(ctx, ann, trigger.ID, 20, 0)
		wantCode(t, err, blueprint.CodeNotFound)
	})
}

// TestFile checks that a file of a firing can be read by users who may see its run or
// manage its trigger, and is removed with the firing.
func TestFile(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		b := create(t, s, ann, "T")
		trigger := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerEmail, nil))(t)
		row := firing(s, trigger, "k")
		row.Delivery = &blueprint.Delivery{Body: []byte("body"), Size: 4}
		row.Files = []blueprint.File{{ID: strings.Repeat("f", 32), Part: 3, Name: "a.png", ContentType: "image/png", Size: 7}}
		check(t, record(s, row))
		again := firing(s, trigger, "k")
		again.Source, again.Delivery = blueprint.SourceRedelivery, &blueprint.Delivery{Size: 4}
		again.Delivery.AddFact(blueprint.FactRedeliveryOf, row.ID)
		again.Files = []blueprint.File{{ID: strings.Repeat("g", 32), Name: "b.png"}}
		check(t, record(s, again))
		lost := firing(s, trigger, "l")
		lost.Delivery = &blueprint.Delivery{Size: 4}
		lost.Files = []blueprint.File{{ID: strings.Repeat("h", 32)}}
		check(t, record(s, lost))
		for _, test := range []struct {
			who  blueprint.Principal
			id   string
			want blueprint.File
		}{
			{ann, row.Files[0].ID, row.Files[0]}, {ann, again.Files[0].ID, again.Files[0]}, {bob, row.Files[0].ID, blueprint.File{}}, {ann, "x", blueprint.File{}}, {ann, lost.Files[0].ID, blueprint.File{}},
		} {
			t.Run(test.id, func(t *testing.T) {
				file, body, err := s.File(ctx, test.who, test.id)
				if file != test.want || test.want.ID == "" && blueprint.CodeOf(err) != blueprint.CodeNotFound || test.want.ID != "" && string(body) != "body" {
					t.Errorf("%+v %q %v, want %+v", file, body, err, test.want)
				}
			})
		}
		check(t, s.write(ctx, func(q *transaction) error {
			_, err := q.exec("DELETE FROM firings WHERE id = ?", row.ID)
			return err
		}))
		for _, id := range []string{row.Files[0].ID, again.Files[0].ID} {
			if _, _, err := s.File(ctx, ann, id); blueprint.CodeOf(err) != blueprint.CodeNotFound {
				t.Errorf("pruned: %v, want %v", err, blueprint.CodeNotFound)
			}
		}
	})
}

// The hashes that distinguish the bodies of deliveries are useless to a reader of the
// file, and do not decrypt in another row.
func TestBodyHashIsSealed(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		trigger := must(s.CreateTrigger(ctx, ann, create(t, s, ann, "T").ID, blueprint.TriggerAPI, nil))(t)
		first, second := firing(s, trigger, "1"), firing(s, trigger, "2")
		first.BodyHash, second.BodyHash = "digest of a body", "digest of another"
		check(t, record(s, first))
		check(t, record(s, second))
		read := func() (hashes []string) {
			check(t, s.read(ctx, func(q *session) error {
				return q.each("SELECT "+firingColumns+" FROM firings f ORDER BY f.seq", nil, func(scan func(...any) error) error {
					f, err := s.scanFiring(scan)
					hashes = append(hashes, f.BodyHash)
					return err
				})
			}))
			return hashes
		}
		if got := read(); !slices.Equal(got, []string{first.BodyHash, second.BodyHash}) {
			t.Errorf("read %q, want %v", got, []string{first.BodyHash, second.BodyHash})
		}
		check(t, s.write(ctx, func(w *transaction) error {
			var stored []byte
			if err := w.row("SELECT sealed_body_hash FROM firings WHERE id = ?", []any{first.ID}, &stored); err != nil || bytes.Contains(stored, []byte("digest")) {
				t.Errorf("stored %q, %v", stored, err)
			}
			_, err := w.exec("UPDATE firings SET sealed_body_hash = ? WHERE id = ?", stored, second.ID)
			return err
		}))
		if got := read(); !slices.Equal(got, []string{first.BodyHash, "unreadable"}) {
			t.Errorf("moved, it reads %q; want %v", got, []string{first.BodyHash, "unreadable"})
		}
	})
}

// TestFiringIDTwice checks that a firing with the id of another one is refused and stores
// nothing, whatever its decision, and that the transaction goes on.
func TestFiringIDTwice(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ann := user(t, s, "ann")
		trigger := must(s.CreateTrigger(t.Context(), ann, create(t, s, ann, "T").ID, blueprint.TriggerWebhook, nil))(t)
		first := firing(s, trigger, "k")
		check(t, record(s, first))
		for _, decision := range []blueprint.Decision{blueprint.DecisionStarted, blueprint.DecisionSkipped} {
			again, run := firing(s, trigger, "another key"), "exec_1_first"
			again.ID, again.Decision, again.ExecutionID = first.ID, decision, &run
			again.Files = []blueprint.File{{ID: strings.Repeat("f", 32), Name: "a.png"}}
			wantCode(t, record(s, again), blueprint.CodeConflict)
		}
		check(t, record(s, firing(s, trigger, "l")))
		if _, total, err := s.Firings(t.Context(), ann, trigger.ID, 20, 0); err != nil || total != 2 {
			t.Errorf("%d firings, %v, want 2", total, err)
		}
	})
}
