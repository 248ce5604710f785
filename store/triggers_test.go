package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// firing is a row of the ledger that starts nothing.
func firing(s *Store, trigger blueprint.Trigger, key string) blueprint.Firing {
	now := s.options.Clock.Now()
	return blueprint.Firing{
		ID: s.options.IDs.ULID(now), TriggerID: trigger.ID, Source: blueprint.SourceWebhook, Key: key,
		ReceivedAt: blueprint.TimeOf(now), Decision: blueprint.DecisionRefused, Reason: "the trigger is not active", Why: blueprint.NewReason(blueprint.ReasonInactive),
	}
}

func TestTriggers(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		b := create(t, s, ann, "T")
		public, off := blueprint.VisibilityPublic, false
		must(s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Visibility: &public}))(t)
		manual := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerManual, nil))(t)
		config := map[string]any{"secret": "hidden", "respond": "wait"}
		hook := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, config))(t)
		want := blueprint.Trigger{ID: hook.ID, BlueprintID: b.ID, Type: "webhook", Config: config, IsActive: true, CreatedBy: ann.UserID}
		if !cmp.Equal(hook, want) || !blueprint.IsUUID(hook.ID) || manual.Config == nil {
			t.Error(cmp.Diff(want, hook))
		}
		if list := must(s.ListTriggers(ctx, ann, b.ID))(t); !cmp.Equal(list, []blueprint.Trigger{manual, want}) {
			t.Errorf("ann lists %+v, want %v", list, []blueprint.Trigger{manual, want})
		}
		list, err := s.ListTriggers(ctx, bob, b.ID) // the id of a webhook is its address
		if wantCode(t, err, blueprint.CodeForbidden); len(list) > 0 {
			t.Errorf("bob lists %+v, want none", list)
		}
		updated := must(s.UpdateTrigger(ctx, ann, hook.ID, func(present blueprint.Trigger) (map[string]any, error) {
			return blueprint.MergeConfig(present.Config, map[string]any{"secret": nil, "respond": nil, "x": "y"}), nil
		}, &off))(t)
		want.Config, want.IsActive = map[string]any{"secret": "hidden", "x": "y"}, false
		if got := must(s.GetTrigger(ctx, ann, hook.ID))(t); !cmp.Equal(got, want) || !cmp.Equal(updated, want) {
			t.Error(cmp.Diff(want, got), cmp.Diff(want, updated))
		}
		refused := errors.New("refused")
		if _, err := s.UpdateTrigger(ctx, ann, hook.ID, func(blueprint.Trigger) (map[string]any, error) { return nil, refused }, nil); !errors.Is(err, refused) {
			t.Errorf("merge's error came back as %v, want %v", err, refused)
		}
		check(t, s.DeleteTrigger(ctx, ann, hook.ID))
		_, err = s.GetTrigger(ctx, ann, hook.ID)
		wantCode(t, err, blueprint.CodeNotFound)
		_, err = s.Binding(ctx, hook.ID)
		wantCode(t, err, blueprint.CodeNotFound)
		if list := must(s.ListTriggers(ctx, ann, b.ID))(t); len(list) != 1 {
			t.Errorf("after the deletion %+v, want length 1", list)
		}
	})
}

// Secrets are nowhere in the files, and sealed text does not move.
func TestSealedAtRest(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	s := open(t, options)
	ann := user(t, s, "ann")
	secret := []any{map[string]any{"name": "token", "secret": true, "default": "canary-one"}}
	var ids []string
	for range 2 {
		made := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", Map: oneNode("set"), Variables: secret}))(t)
		must(s.CreateTrigger(ctx, ann, made.ID, blueprint.TriggerSlack, map[string]any{"signingSecret": "canary-two"}))(t)
		ids = append(ids, made.ID)
	}
	for _, suffix := range []string{"", "-wal"} {
		if data := must(os.ReadFile(options.Path + suffix))(t); bytes.Contains(data, []byte("canary")) {
			t.Errorf("a secret is in the file %q", suffix)
		}
	}
	check(t, s.write(ctx, func(t *transaction) error {
		_, err := t.exec("UPDATE blueprint_contents SET sealed_variables = (SELECT sealed_variables FROM blueprint_contents WHERE blueprint_id = ?) WHERE blueprint_id = ?", ids[0], ids[1])
		return err
	}))
	must(s.GetBlueprint(ctx, ann, ids[0]))(t)
	_, err := s.GetBlueprint(ctx, ann, ids[1])
	wantCode(t, err, blueprint.CodeInternal)
}

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
			t.Errorf("%s %v, want %v", id, err, made.ID)
		}
		for _, stranger := range []string{"", local[1:], strings.ToUpper(local), "mine"} {
			if _, err := s.Mailbox(ctx, stranger); blueprint.CodeOf(err) != blueprint.CodeNotFound {
				t.Errorf("%q: %v, want %v", stranger, err, blueprint.CodeNotFound)
			}
		}
		for _, config := range []map[string]any{{"address": "theirs"}, {"address": nil}, {}} {
			changed := must(s.UpdateTrigger(ctx, ann, made.ID, func(blueprint.Trigger) (map[string]any, error) { return config, nil }, nil))(t)
			read := must(s.GetTrigger(ctx, ann, made.ID))(t)
			if changed.Config["address"] != made.Config["address"] || read.Config["address"] != made.Config["address"] || len(read.Config) != 1 {
				t.Errorf("%v: %v, then %v; want address %v, address %v and length 1", config, changed.Config, read.Config, made.Config["address"], made.Config["address"])
			}
		}
		other := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, map[string]any{"address": "anything"}))(t)
		if read := must(s.GetTrigger(ctx, ann, other.ID))(t); read.Config["address"] != "anything" {
			t.Errorf("a webhook's config %v, want address anything", read.Config)
		}
		check(t, s.DeleteTrigger(ctx, ann, made.ID))
		if _, err := s.Mailbox(ctx, local); blueprint.CodeOf(err) != blueprint.CodeNotFound {
			t.Errorf("deleted: %v, want %v", err, blueprint.CodeNotFound)
		}
	})
}
