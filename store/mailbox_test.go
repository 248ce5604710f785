package store

import (
	"context"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// TestMailbox: an email trigger's address is its own, is shown, is not stored
// with the config, and finds it until it is deleted.
func TestMailbox(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		b := create(t, s, ann, "T")
		made := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerEmail, map[string]any{"address": "mine", "attachments": "ignore"}))(t)
		local, found := strings.CutSuffix(made.Config["address"].(string), "@"+DefaultMailDomain)
		if !found || len(local) != 26 {
			t.Errorf("address %v", made.Config["address"])
		}
		if id, err := s.Mailbox(ctx, local); err != nil || id != made.ID {
			t.Errorf("%s %v", id, err)
		}
		for _, stranger := range []string{"", local[1:], strings.ToUpper(local), "mine"} {
			if _, err := s.Mailbox(ctx, stranger); blueprint.CodeOf(err) != blueprint.CodeNotFound {
				t.Errorf("%q: %v", stranger, err)
			}
		}
		for _, config := range []map[string]any{{"address": "theirs"}, {"address": nil}, {}} {
			changed := must(s.UpdateTrigger(ctx, ann, made.ID, func(blueprint.Trigger) (map[string]any, error) { return config, nil }, nil))(t)
			read := must(s.GetTrigger(ctx, ann, made.ID))(t)
			if changed.Config["address"] != made.Config["address"] || read.Config["address"] != made.Config["address"] || len(read.Config) != 1 {
				t.Errorf("%v: %v, then %v", config, changed.Config, read.Config)
			}
		}
		other := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, map[string]any{"address": "anything"}))(t)
		if read := must(s.GetTrigger(ctx, ann, other.ID))(t); read.Config["address"] != "anything" {
			t.Errorf("a webhook's config %v", read.Config)
		}
		check(t, s.DeleteTrigger(ctx, ann, made.ID))
		if _, err := s.Mailbox(ctx, local); blueprint.CodeOf(err) != blueprint.CodeNotFound {
			t.Errorf("deleted: %v", err)
		}
	})
}

// TestFile: what came with a firing is for who may see its run or manage its
// trigger, and goes with the firing.
func TestFile(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		b := create(t, s, ann, "T")
		trigger := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerEmail, nil))(t)
		row := firing(s, trigger, "k")
		row.Delivery = &blueprint.Delivery{Body: []byte("body"), Size: 4}
		row.Files = []blueprint.File{{ID: strings.Repeat("f", 32), Part: 3, Name: "a.png", ContentType: "image/png", Size: 7}}
		check(t, s.RecordFiring(ctx, row))
		again := firing(s, trigger, "k")
		again.Source, again.Delivery = blueprint.SourceRedelivery, &blueprint.Delivery{Size: 4}
		again.Delivery.Note(blueprint.RedeliveredFrom, row.ID)
		again.Files = []blueprint.File{{ID: strings.Repeat("g", 32), Name: "b.png"}}
		check(t, s.RecordFiring(ctx, again))
		lost := firing(s, trigger, "l")
		lost.Delivery = &blueprint.Delivery{Size: 4}
		lost.Files = []blueprint.File{{ID: strings.Repeat("h", 32)}}
		check(t, s.RecordFiring(ctx, lost))
		for _, test := range []struct {
			who  blueprint.Principal
			id   string
			want blueprint.File
		}{
			{ann, row.Files[0].ID, row.Files[0]}, {ann, again.Files[0].ID, again.Files[0]}, {bob, row.Files[0].ID, blueprint.File{}}, {ann, "x", blueprint.File{}}, {ann, lost.Files[0].ID, blueprint.File{}},
		} {
			file, body, err := s.File(ctx, test.who, test.id)
			if file != test.want || test.want.ID == "" && blueprint.CodeOf(err) != blueprint.CodeNotFound || test.want.ID != "" && string(body) != "body" {
				t.Errorf("%s: %+v %q %v", test.id, file, body, err)
			}
		}
		check(t, s.write(ctx, func(q *transaction) error {
			_, err := q.exec("DELETE FROM firings WHERE id = ?", row.ID)
			return err
		}))
		for _, id := range []string{row.Files[0].ID, again.Files[0].ID} {
			if _, _, err := s.File(ctx, ann, id); blueprint.CodeOf(err) != blueprint.CodeNotFound {
				t.Errorf("pruned: %v", err)
			}
		}
	})
}
