package store

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func TestListSummaries(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		public, published := blueprint.VisibilityPublic, blueprint.StatusPublished
		add := func(by, title, organization string, tags ...string) blueprint.Blueprint {
			advance(t, s, time.Second)
			return must(s.CreateBlueprint(ctx, people[by], blueprint.NewBlueprint{Title: title, Map: oneNode("set"), OrganizationID: organization, Tags: tags}))(t)
		}
		ours := add("creator", "Ours", team, "x", "y", "x")
		open := add("creator", "Öpen", team, "x")
		edited := add("stranger", "edited", "", "z")
		add("stranger", "private", "")
		gone := add("creator", "gone", team, "x")
		must(s.DeleteBlueprint(ctx, people["creator"], gone.ID))(t)
		lend(t, s, edited, people["editor"], "editor")
		must(s.UpdateBlueprint(ctx, people["creator"], open.ID, blueprint.BlueprintPatch{Visibility: &public, Status: &published}))(t)
		advance(t, s, time.Second)
		must(s.UpdateBlueprint(ctx, people["creator"], ours.ID, blueprint.BlueprintPatch{Description: &published}))(t)
		check(t, s.write(ctx, func(w *transaction) error {
			for _, query := range []string{
				fmt.Sprintf("INSERT INTO favorites SELECT id, '%s' FROM blueprints", people["former member"].UserID), // of before
				fmt.Sprintf("INSERT INTO categories VALUES ('%s', '%s', 'C', 'c')", ours.ID, team),
				fmt.Sprintf("INSERT INTO blueprint_categories VALUES ('%[1]s', '%[1]s')", ours.ID),
			} {
				if _, err := w.exec(query); err != nil {
					return err
				}
			}
			return nil
		}))
		for _, test := range []struct {
			who    string
			filter blueprint.SummaryFilter
			want   string
		}{
			{"creator", blueprint.SummaryFilter{Scope: blueprint.ScopeAll}, "Ours Öpen"},
			{"creator", blueprint.SummaryFilter{Scope: blueprint.ScopeAll, Sort: "created"}, "Öpen Ours"},
			{"creator", blueprint.SummaryFilter{Scope: blueprint.ScopeAll, Sort: "title"}, "Ours Öpen"},
			{"creator", blueprint.SummaryFilter{Scope: blueprint.ScopeShared}, ""},
			{"creator", blueprint.SummaryFilter{Scope: blueprint.ScopeAll, Search: "öP"}, "Öpen"},
			{"creator", blueprint.SummaryFilter{Scope: blueprint.ScopeAll, Tag: "x"}, "Ours Öpen"},
			{"creator", blueprint.SummaryFilter{Scope: blueprint.ScopeAll, Tag: "y"}, "Ours"},
			{"creator", blueprint.SummaryFilter{Scope: blueprint.ScopeAll, CategoryID: ours.ID}, "Ours"},
			{"creator", blueprint.SummaryFilter{Scope: blueprint.ScopeAll, Status: published}, "Öpen"},
			{"creator", blueprint.SummaryFilter{Scope: blueprint.ScopeAll, Limit: 1, Page: 2}, "Öpen"},
			{"member", blueprint.SummaryFilter{Scope: blueprint.ScopeAll}, "Ours Öpen"},
			{"member", blueprint.SummaryFilter{Scope: blueprint.ScopeOwn}, ""},
			{"member", blueprint.SummaryFilter{Scope: blueprint.ScopeAll, OrganizationID: team}, "Ours Öpen"},
			{"editor", blueprint.SummaryFilter{Scope: blueprint.ScopeAll}, "edited"},
			{"stranger", blueprint.SummaryFilter{Scope: blueprint.ScopeAll, Sort: "title"}, "edited private"},
			{"stranger", blueprint.SummaryFilter{Scope: blueprint.ScopePublic}, "Öpen"},
			{"former member", blueprint.SummaryFilter{Scope: blueprint.ScopeAll}, ""},
			{"former member", blueprint.SummaryFilter{Scope: blueprint.ScopeFavorites}, "Öpen"},
			{"stranger", blueprint.SummaryFilter{Scope: blueprint.ScopeAll, OrganizationID: team}, "FORBIDDEN"},
		} {
			t.Run(fmt.Sprint(test.who, " ", test.filter.Scope, " ", test.want), func(t *testing.T) {
				f := test.filter
				f.Page = max(f.Page, 1)
				if f.Sort == "" {
					f.Sort = "updated"
				}
				if f.Limit == 0 {
					f.Limit = 20
				}
				list, total, err := s.ListSummaries(ctx, people[test.who], f)
				var titles []string
				for _, one := range list {
					titles = append(titles, one.Title)
				}
				got := strings.Join(titles, " ")
				if err != nil {
					got = string(blueprint.CodeOf(err))
				} else if total != len(list) && f.Page == 1 {
					t.Errorf("%+v: %d in all", test, total)
				}
				if got != test.want {
					t.Errorf("%s %+v: %q, want %q", test.who, test.filter, got, test.want)
				}
			})
		}
		if got := must(s.ListTags(ctx, people["member"], 200))(t); !cmp.Equal(got, []blueprint.TagCount{{Tag: "x", Count: 2}, {Tag: "y", Count: 1}}) {
			t.Errorf("tags %+v", got)
		}
		if got := must(s.ListTags(ctx, people["member"], 1))(t); len(got) != 1 {
			t.Errorf("tags %+v, want length 1", got)
		}
		if got := must(s.CountBlueprints(ctx, people["creator"]))(t); got != 2 {
			t.Errorf("%d blueprints, want 2", got)
		}
	})
}

// TestAnyText stores texts with every kind of character where lists and filters look into
// JSON.
func TestAnyText(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		texts := []string{"a", "a\x00b", "a\x01b", "\x01\x01", `a\u0000b`, `a","b`, ",", `"`, "<&>\u2028", "é"}
		for i, text := range texts {
			advance(t, s, time.Second)
			m := map[string]any{"nodes": []any{map[string]any{"id": text, "type": "set"}}, text: []any{text}}
			b := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: fmt.Sprint(i), Map: m, Tags: []string{"all", text, "x" + text, text}}))(t)
			trigger := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerManual, nil))(t)
			config, off := map[string]any{text: text, "z": true, "b": true}, false
			must(s.UpdateTrigger(ctx, ann, trigger.ID, func(blueprint.Trigger) (map[string]any, error) { return config, nil }, nil))(t)
			edited := must(s.ListTriggers(ctx, ann, b.ID))(t)[0].Edited
			if want := slices.Sorted(maps.Keys(config)); !slices.Equal(edited, want) {
				t.Errorf("edited %q, want %q", edited, want)
			}
			by := blueprint.WithActor(ctx, &blueprint.Actor{UserID: ann.UserID, Via: blueprint.ViaAPI, Action: "off"})
			config = map[string]any{}
			must(s.UpdateTrigger(by, ann, trigger.ID, func(blueprint.Trigger) (map[string]any, error) { return config, nil }, &off))(t)
			if e := must(s.TriggerStory(ctx, trigger.ID))(t).Deactivated; e == nil || e.Action != "off" {
				t.Errorf("%q: deactivated by %+v, want off", text, e)
			}
		}
		for i, text := range texts {
			list, total, err := s.ListSummaries(ctx, ann, blueprint.SummaryFilter{Scope: blueprint.ScopeAll, Sort: "created", Page: 1, Limit: 20, Tag: text})
			check(t, err)
			var got []string
			for _, one := range list {
				got = append(got, fmt.Sprintf("%s %q %d", one.Title, one.Tags[1], *one.NodeCount))
			}
			if want := []string{fmt.Sprintf("%d %q 1", i, text)}; total != 1 || !slices.Equal(got, want) {
				t.Errorf("tagged %q: %d, %q; want %q", text, total, got, want)
			}
		}
		tags := must(s.ListTags(ctx, ann, 200))(t)
		if want := (blueprint.TagCount{Tag: "all", Count: len(texts)}); len(tags) != 1+2*len(texts) || tags[0] != want {
			t.Errorf("tags %+v, want %d, %+v first", tags, 1+2*len(texts), want)
		}
	})
}

// The summary of a blueprint depends on the caller.
func TestSummary(t *testing.T) {
	s := open(t, testOptions(t))
	ctx := context.Background()
	people, team := cast(t, s)
	public := blueprint.VisibilityPublic
	b := must(s.CreateBlueprint(ctx, people["creator"], blueprint.NewBlueprint{Title: "T", Map: oneNode("set"), OrganizationID: team}))(t)
	must(s.UpdateBlueprint(ctx, people["creator"], b.ID, blueprint.BlueprintPatch{Visibility: &public}))(t)
	off := false
	must(s.CreateTrigger(ctx, people["creator"], b.ID, blueprint.TriggerManual, nil))(t)
	stopped := must(s.CreateTrigger(ctx, people["creator"], b.ID, blueprint.TriggerManual, nil))(t)
	must(s.UpdateTrigger(ctx, people["creator"], stopped.ID, nil, &off))(t)
	theirs := finished(s, b, people["stranger"], []byte("x"))
	check(t, s.Commit(ctx, theirs))
	advance(t, s, time.Second)
	ours := finished(s, b, people["member"], []byte("x"))
	check(t, s.Commit(ctx, ours))
	runs := func(list ...*blueprint.JournalCommit) []blueprint.LastRun {
		out := make([]blueprint.LastRun, len(list))
		for i, c := range list {
			out[i] = blueprint.LastRun{ExecutionID: c.Row.ID, Status: c.Row.Status, StartTime: c.Row.StartTime, EndTime: c.Row.EndTime}
		}
		return out
	}
	for who, want := range map[string]struct {
		runs               []blueprint.LastRun
		canManage, isOwner bool
	}{"creator": {runs(ours, theirs), true, true}, "member": {runs(ours, theirs), true, false}, "stranger": {runs(theirs), false, false}, "former member": {runs(), false, false}} {
		t.Run(who, func(t *testing.T) {
			scope := blueprint.ScopeAll
			if !want.canManage {
				scope = blueprint.ScopePublic
			}
			list, _, err := s.ListSummaries(ctx, people[who], blueprint.SummaryFilter{Scope: scope, Sort: "updated", Page: 1, Limit: 20})
			check(t, err)
			one := 1
			summary := blueprint.BlueprintSummary{
				ID: b.ID, Title: "T", Status: "draft", Visibility: "public", Version: "1.0.1", Tags: []string{}, CreatedBy: b.CreatedBy, CreatorName: "creator",
				OrganizationID: team, OrganizationName: "team", CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt, Categories: []blueprint.Label{}, NodeCount: &one,
				Triggers: blueprint.TriggerCounts{Active: 1, Total: 2}, RecentRuns: want.runs, CanManage: want.canManage, IsOwner: want.isOwner,
			}
			if len(want.runs) > 0 {
				summary.LastRun = &want.runs[0]
			}
			if diff := cmp.Diff([]blueprint.BlueprintSummary{summary}, list); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for range mostRecent {
		advance(t, s, time.Second)
		check(t, s.Commit(ctx, finished(s, b, people["creator"], []byte("x"))))
	}
	newest := finished(s, b, people["creator"], []byte("x"))
	advance(t, s, time.Second)
	check(t, s.Commit(ctx, newest))
	large := oneNode("set").(map[string]any)
	large["more"] = strings.Repeat("x", countedMap)
	var m any = large
	must(s.UpdateBlueprint(ctx, people["creator"], b.ID, blueprint.BlueprintPatch{Map: &m}))(t)
	list, _, err := s.ListSummaries(ctx, people["creator"], blueprint.SummaryFilter{Scope: blueprint.ScopeOwn, Sort: "updated", Page: 1, Limit: 20})
	if err != nil || list[0].NodeCount != nil {
		t.Errorf("%v, %+v; want NodeCount nil", err, list)
	}
	if list[0].LastRun.ExecutionID != newest.Row.ID || len(list[0].RecentRuns) != mostRecent {
		t.Errorf("last run %s, %d recent runs; want %s, %d", list[0].LastRun.ExecutionID, len(list[0].RecentRuns), newest.Row.ID, mostRecent)
	}
}

func TestOpinions(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		b := create(t, s, ann, "T")
		public := blueprint.VisibilityPublic
		must(s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Visibility: &public}))(t)
		rating := func(v float64) *float64 { return &v }
		for _, step := range []struct {
			who    blueprint.Principal
			rating float64
			want   blueprint.Ratings
		}{
			{ann, 5, blueprint.Ratings{AverageRating: 5, RatingCount: 1, UserRating: rating(5)}},
			{bob, 2.5, blueprint.Ratings{AverageRating: 3.75, RatingCount: 2, UserRating: rating(2.5)}},
			{bob, 4, blueprint.Ratings{AverageRating: 4.5, RatingCount: 2, UserRating: rating(4)}},
			{ann, 0, blueprint.Ratings{AverageRating: 4, RatingCount: 1}},
			{ann, 0, blueprint.Ratings{AverageRating: 4, RatingCount: 1}},
			{bob, 0, blueprint.Ratings{}},
		} {
			if got := must(s.Rate(ctx, step.who, b.ID, step.rating))(t); !cmp.Equal(got, step.want) {
				t.Errorf("rating %v: %s", step.rating, cmp.Diff(step.want, got))
			}
			got := must(s.GetBlueprint(ctx, step.who, b.ID))(t)
			if got.AverageRating != step.want.AverageRating || got.RatingCount != step.want.RatingCount || !cmp.Equal(got.UserRating, step.want.UserRating) {
				t.Errorf("after rating %v: %+v, want AverageRating %v, RatingCount %v and %v", step.rating, got, step.want.AverageRating, step.want.RatingCount, step.want.UserRating)
			}
		}
		for _, wrong := range []float64{-1, 5.1, math.NaN(), math.Inf(1)} {
			_, err := s.Rate(ctx, ann, b.ID, wrong)
			wantCode(t, err, blueprint.CodeBadRequest)
		}
		for _, favorite := range []bool{true, true, false, false} {
			if got := must(s.Favorite(ctx, bob, b.ID, favorite))(t); got.IsFavorited != favorite {
				t.Errorf("favorite %v: %+v", favorite, got)
			}
			if got := must(s.GetBlueprint(ctx, bob, b.ID))(t); got.IsFavorited != favorite {
				t.Errorf("favorite %v: %+v", favorite, got)
			}
			if must(s.GetBlueprint(ctx, ann, b.ID))(t).IsFavorited {
				t.Error("it became ann's favorite")
			}
		}
	})
}
