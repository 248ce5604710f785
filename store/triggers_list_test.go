package store

import (
	"context"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
)

func TestListAllTriggers(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		ours := must(s.CreateBlueprint(ctx, people["creator"], blueprint.NewBlueprint{Title: "Größe", OrganizationID: team}))(t)
		theirs := create(t, s, people["stranger"], "theirs")
		names := map[string]string{}
		add := func(name, by string, b blueprint.Blueprint, kind blueprint.TriggerType, config map[string]any) blueprint.Trigger {
			made := must(s.CreateTrigger(ctx, people[by], b.ID, kind, config))(t)
			names[made.ID] = name
			return made
		}
		webhook := add("webhook", "creator", ours, blueprint.TriggerWebhook, map[string]any{"secret": "s3cret"})
		add("api", "creator", ours, blueprint.TriggerAPI, map[string]any{"label": "Öffnen"})
		mail := add("email", "creator", ours, blueprint.TriggerEmail, nil)
		add("other", "stranger", theirs, blueprint.TriggerManual, nil)
		gone := add("gone", "creator", ours, blueprint.TriggerManual, nil)
		check(t, s.DeleteTrigger(ctx, people["creator"], gone.ID))
		on, off := true, false
		must(s.UpdateTrigger(ctx, people["creator"], mail.ID, nil, &off))(t)
		address, _, _ := strings.Cut(mail.Config["address"].(string), "@")
		for _, test := range []struct {
			who    string
			filter blueprint.TriggerFilter
			want   string
		}{
			{"creator", blueprint.TriggerFilter{}, "email api webhook"},
			{"member", blueprint.TriggerFilter{}, "email api webhook"},
			{"member", blueprint.TriggerFilter{OrganizationID: team, Limit: 2}, "email api"},
			{"member", blueprint.TriggerFilter{Type: blueprint.TriggerAPI}, "api"},
			{"member", blueprint.TriggerFilter{Active: &on}, "api webhook"},
			{"member", blueprint.TriggerFilter{Active: &off}, "email"},
			{"member", blueprint.TriggerFilter{Search: "ÖFF"}, "api"},
			{"member", blueprint.TriggerFilter{Search: "größ", Limit: 1, Page: 3}, "webhook"},
			{"member", blueprint.TriggerFilter{Search: address[2:20]}, "email"},
			{"member", blueprint.TriggerFilter{Search: "s3cret"}, ""},
			{"stranger", blueprint.TriggerFilter{}, "other"},
			{"former member", blueprint.TriggerFilter{}, ""},
			{"stranger", blueprint.TriggerFilter{OrganizationID: team}, "FORBIDDEN"},
		} {
			t.Run(test.who+" "+test.want, func(t *testing.T) {
				f := test.filter
				if f.Page = max(f.Page, 1); f.Limit == 0 {
					f.Limit = 20
				}
				list, total, err := s.ListAllTriggers(ctx, people[test.who], f)
				var got []string
				for _, one := range list {
					got = append(got, names[one.ID])
				}
				text := strings.Join(got, " ")
				if err != nil {
					text = string(blueprint.CodeOf(err))
				} else if total != len(list) && test.filter.Limit == 0 {
					t.Errorf("%+v: %d in all", test, total)
				}
				if text != test.want {
					t.Errorf("%s %+v: %q, want %q", test.who, test.filter, text, test.want)
				}
			})
		}
		_, err := s.TriggerDetails(ctx, people["stranger"], webhook.ID)
		wantCode(t, err, blueprint.CodeForbidden)
		_, err = s.TriggerDetails(ctx, people["creator"], gone.ID)
		wantCode(t, err, blueprint.CodeNotFound)
	})
}

// Only who can manage a trigger's blueprint gets its details.
func TestTriggerDetails(t *testing.T) {
	s := open(t, testOptions(t))
	ctx := context.Background()
	people, team := cast(t, s)
	public := blueprint.VisibilityPublic
	b := must(s.CreateBlueprint(ctx, people["creator"], blueprint.NewBlueprint{Title: "T", OrganizationID: team}))(t)
	must(s.UpdateBlueprint(ctx, people["creator"], b.ID, blueprint.BlueprintPatch{Visibility: &public}))(t)
	trigger := must(s.CreateTrigger(ctx, people["creator"], b.ID, blueprint.TriggerWebhook, map[string]any{"secret": nil}))(t)
	for _, key := range []string{"one", "two"} {
		f := firing(s, trigger, key)
		f.Decision, f.ReceivedAt = blueprint.DecisionRefused, blueprint.TimeOf(start.Add(time.Minute))
		f.SetReason(blueprint.MessageReason(blueprint.ReasonMessage, "because of "+key))
		check(t, s.RecordFirings(ctx, trigger.ID, []blueprint.Firing{f}, 0))
	}
	paused := blueprint.TimeOf(start)
	check(t, s.write(ctx, func(w *transaction) error {
		_, err := w.exec("UPDATE triggers SET is_active = 0, paused_failures = 20, paused_run = 'exec_1', paused_at = ? WHERE id = ?", int64(paused), trigger.ID)
		return err
	}))
	seen, err := s.TriggerDetails(ctx, people["stranger"], trigger.ID)
	if wantCode(t, err, blueprint.CodeForbidden); seen.ID != "" || strings.Contains(err.(interface{ Unwrap() error }).Unwrap().Error(), b.ID) {
		t.Errorf("%+v, %v; want ID nothing and no %q", seen, err, b.ID)
	}
	managed := must(s.TriggerDetails(ctx, people["member"], trigger.ID))(t)
	if !managed.CanManage || managed.LastFiring == nil || managed.LastFiring.Reason != "because of two" {
		t.Errorf("can manage %v, last firing %+v, want true and the reason because of two", managed.CanManage, managed.LastFiring)
	}
	if want := "20 runs in a row failed, the last of them exec_1; a delivery after 15 minutes"; managed.PausedReason == nil || !strings.HasPrefix(*managed.PausedReason, want) {
		t.Errorf("%+v, want the reason %q", managed, want)
	}
	if want := paused + blueprint.Time(blueprint.BreakerPause.Milliseconds()); managed.RetryAt != want {
		t.Errorf("retry at %v, want %v", managed.RetryAt, want)
	}
}
