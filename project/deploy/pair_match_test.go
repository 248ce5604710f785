package deploy

import (
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// TestMatchTriggers gives the triggers of a file and those of the server as
// "type key=value ...", and expects for each of the first which of the second it
// is, and which are left.
func TestMatchTriggers(t *testing.T) {
	read := func(text string) (kind blueprint.TriggerType, config map[string]any) {
		words := strings.Fields(text)
		config = map[string]any{}
		for _, word := range words[1:] {
			name, value, _ := strings.Cut(word, "=")
			config[name] = value
		}
		return blueprint.TriggerType(words[0]), config
	}
	for _, c := range []struct{ name, want, have, matched, left string }{
		{"one of two webhooks is removed, the other changed", "webhook label=b respond=wait", "webhook label=a; webhook label=b", "1", "0"},
		{"one of two by its preset", "webhook preset=stripe respond=wait", "webhook preset=github; webhook preset=stripe", "1", "0"},
		{"one of two channels", "slack channel=C2 eventType=message", "slack channel=C1; slack channel=C2", "1", "0"},
		{"another order, all changed", "webhook label=b respond=wait; webhook label=a respond=wait", "webhook label=a; webhook label=b", "1 0", ""},
		{"no marks: their order", "webhook respond=wait; webhook respond=accept", "webhook; webhook respond=x", "0 1", ""},
		{"marked and not: not by order", "webhook label=a; webhook label=b", "webhook; webhook respond=wait", "- -", "0 1"},
		{"a label for the only one", "webhook label=a", "webhook", "0", ""},
		{"another label is another one", "webhook label=b", "webhook label=a", "-", "0"},
		{"the only one gets another preset", "webhook preset=stripe", "webhook preset=github", "0", ""},
		{"a new one first", "webhook label=n; webhook label=a respond=wait", "webhook label=a", "- 0", ""},
		{"schedules have no address", "scheduled cron=1; scheduled cron=2", "scheduled cron=3; scheduled cron=4", "0 1", ""},
		{"the same schedule first", "scheduled cron=2 timezone=UTC; scheduled cron=9", "scheduled cron=1; scheduled cron=2", "1 0", ""},
		{"types stay apart", "api label=a; manual", "webhook label=a; manual", "- 1", "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var want []project.DesiredTrigger
			var have []blueprint.Trigger
			for _, text := range strings.Split(c.want, "; ") {
				kind, config := read(text)
				want = append(want, project.DesiredTrigger{Type: kind, Config: config, Active: true})
			}
			for i, text := range strings.Split(c.have, "; ") {
				kind, config := read(text)
				have = append(have, blueprint.Trigger{ID: string(rune('0' + i)), Type: kind, Config: config, IsActive: true})
			}
			matched, left := matchTriggers(want, have)
			list := func(triggers []*blueprint.Trigger) string {
				var names []string
				for _, one := range triggers {
					if one == nil {
						names = append(names, "-")
					} else {
						names = append(names, one.ID)
					}
				}
				return strings.Join(names, " ")
			}
			if list(matched) != c.matched || list(left) != c.left {
				t.Errorf("%q, left %q, want %q, left %q", list(matched), list(left), c.matched, c.left)
			}
		})
	}
}

// TestTriggersChangedOnTheServer changes a trigger on the server and in its file.
func TestTriggersChangedOnTheServer(t *testing.T) {
	files := func(cron, zone string, active bool) []project.Desired {
		return []project.Desired{{Path: "a", Title: "A", Map: map[string]any{"nodes": []any{}}, Variables: []any{}, Triggers: []project.DesiredTrigger{
			{Type: blueprint.TriggerScheduled, Config: map[string]any{"cron": cron, "timezone": zone}, Active: active}}}}
	}
	off := false
	for _, c := range []struct {
		name   string
		change map[string]any
		active *bool
		files  []project.Desired
		force  bool
		want   string
	}{
		{"other keys", map[string]any{"cron": "9"}, nil, files("9", "B", true), false, `~ a  "A"  id1
    ~ trigger scheduled id2: config.timezone: "A" -> "B"
1 to update`},
		{"the same key", map[string]any{"cron": "9"}, nil, files("2", "A", true), false, `! a  "A"  id1
    config.cron of trigger scheduled id2 changed on the server; --force overwrites the change
    ~ trigger scheduled id2: config.cron: "9" -> "2"
1 conflict`},
		{"the file as it was", map[string]any{"cron": "9"}, nil, files("1", "A", true), false, `! a  "A"  id1
    config.cron of trigger scheduled id2 changed on the server; --force overwrites the change
    ~ trigger scheduled id2: config.cron: "9" -> "1"
1 conflict`},
		{"forced", map[string]any{"cron": "9"}, &off, files("1", "A", true), true, `~ a  "A"  id1
    ~ trigger scheduled id2: config.cron: "9" -> "1", isActive: false -> true
1 to update`},
		{"paused", nil, &off, files("1", "A", true), false, `? a  "A"  id1
    ? trigger scheduled id2: it is paused on the server; --force activates it
1 kept`},
		{"paused, and the file mended", nil, &off, files("2", "A", true), false, `~ a  "A"  id1
    ~ trigger scheduled id2: config.cron: "1" -> "2", it is paused on the server; --force activates it
1 to update`},
		{"paused by the file", nil, nil, files("1", "A", false), false, `~ a  "A"  id1
    ~ trigger scheduled id2: isActive: true -> false
1 to update`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake{}
			f.sync(t, files("1", "A", true), options(false, false))
			if err := f.UpdateTrigger(t.Context(), "id2", c.change, c.active); err != nil {
				t.Fatal(err)
			}
			p := f.sync(t, c.files, options(false, c.force))
			if got := text(p); got != c.want {
				t.Errorf("%s:\n%s", c.name, got)
			}
			if edited := f.have[0].Triggers[0].Edited; (len(edited) > 0) != (p.Conflicts() > 0) {
				t.Errorf("%q is noted", edited)
			}
			if c.active != nil && f.have[0].Triggers[0].IsActive != c.force {
				t.Errorf("active %v, want active %v", f.have[0].Triggers[0].IsActive, c.active)
			}
		})
	}
}
