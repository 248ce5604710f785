package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func TestVersions(t *testing.T) {
	text := func(v string) *string { return &v }
	value := func(v any) *any { return &v }
	secret := func(v any) *[]any {
		return &[]any{map[string]any{"name": "s", "secret": true, "default": v}}
	}
	tags := []string{"x"}
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		b := create(t, s, ann, "T")
		for _, step := range []struct {
			name  string
			patch blueprint.BlueprintPatch
			want  string // "" = CodeBadRequest
		}{
			{"nothing", blueprint.BlueprintPatch{}, "1.0.0"},
			{"the same", blueprint.BlueprintPatch{Title: text("T"), Map: value(oneNode("set"))}, "1.0.0"},
			{"title", blueprint.BlueprintPatch{Title: text("U")}, "1.0.1"},
			{"description", blueprint.BlueprintPatch{Description: text("D")}, "1.0.2"},
			{"map", blueprint.BlueprintPatch{Map: value(oneNode("log"))}, "1.1.0"},
			{"map and title", blueprint.BlueprintPatch{Map: value(oneNode("stop")), Title: text("V")}, "1.2.0"},
			{"tags", blueprint.BlueprintPatch{Tags: &tags}, "1.2.1"},
			{"status", blueprint.BlueprintPatch{Status: text("published")}, "1.2.2"},
			{"visibility", blueprint.BlueprintPatch{Visibility: text("public")}, "1.2.3"},
			{"secret", blueprint.BlueprintPatch{Variables: secret("hidden")}, "1.3.0"},
			{"secret sent back as null", blueprint.BlueprintPatch{Variables: secret(nil)}, "1.3.0"},
			{"secret removed", blueprint.BlueprintPatch{Variables: secret("")}, "1.4.0"},
			{"lower", blueprint.BlueprintPatch{Version: text("1.3.9"), Title: text("W")}, ""},
			{"equal", blueprint.BlueprintPatch{Version: text("1.4.0")}, ""},
			{"higher", blueprint.BlueprintPatch{Version: text("1.10.0")}, "1.10.0"},
			{"numbers, not texts", blueprint.BlueprintPatch{Version: text("1.9.0")}, ""},
			{"higher with a map", blueprint.BlueprintPatch{Version: text("2.0.0"), Map: value(oneNode("set"))}, "2.0.0"},
			{"after it", blueprint.BlueprintPatch{Title: text("X")}, "2.0.1"},
		} {
			advance(t, s, time.Second)
			updated, err := s.UpdateBlueprint(ctx, ann, b.ID, step.patch)
			if step.want == "" {
				wantCode(t, err, blueprint.CodeBadRequest)
				continue
			}
			if err != nil || updated.Version != step.want {
				t.Errorf("%s: version %q, want %q: %v", step.name, updated.Version, step.want, err)
			}
			if got := must(s.GetBlueprint(ctx, ann, b.ID))(t); !cmp.Equal(got.Blueprint, updated) {
				t.Errorf("%s: %s", step.name, cmp.Diff(got.Blueprint, updated))
			}
		}
		var got []string
		for _, v := range must(s.Versions(ctx, ann, b.ID))(t) {
			kind := v.BlueprintMap.(map[string]any)["nodes"].([]any)[0].(map[string]any)["type"]
			got = append(got, fmt.Sprintf("%s %s %d", v.Version, kind, len(v.EnvironmentVariables)))
			definition := must(s.DefinitionVersion(ctx, b.ID, v.Version))(t)
			if definition.Version != v.Version || definition.Map.Nodes[0].Type != kind || len(definition.Variables) != len(v.EnvironmentVariables) {
				t.Errorf("definition of %s: %+v, want Version %v, Type %v and length %v", v.Version, definition, v.Version, kind, len(v.EnvironmentVariables))
			}
			if definition.Variables != nil && definition.Variables[0].HasDefault != (v.Version == "1.3.0") {
				t.Errorf("variables of %s: %+v", v.Version, definition.Variables)
			}
		}
		want := []string{
			"2.0.1 set 1", "2.0.0 set 1", "1.10.0 stop 1", "1.4.0 stop 1", "1.3.0 stop 1", "1.2.3 stop 0", "1.2.2 stop 0", "1.2.1 stop 0",
			"1.2.0 stop 0", "1.1.0 log 0", "1.0.2 set 0", "1.0.1 set 0", "1.0.0 set 0",
		}
		if !cmp.Equal(got, want) {
			t.Error(cmp.Diff(want, got))
		}
		if first := must(s.DefinitionVersion(ctx, b.ID, "1.0.0"))(t); first.Title != "T" {
			t.Errorf("title of the first version is %q, want T", first.Title)
		}
		_, err := s.DefinitionVersion(ctx, b.ID, "9.9.9")
		wantCode(t, err, blueprint.CodeNotFound)
		must(s.DeleteBlueprint(ctx, ann, b.ID))(t)
		must(s.DefinitionVersion(ctx, b.ID, "1.0.1"))(t)
		_, _, err = s.Definition(ctx, ann, b.ID)
		wantCode(t, err, blueprint.CodeNotFound)
	})
}

// What does not parse is the caller's mistake when it is to run, not before.
func TestMalformedDefinition(t *testing.T) {
	ctx := context.Background()
	s := open(t, testOptions(t))
	ann := user(t, s, "ann")
	made := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{
		Title: "T", Map: map[string]any{"nodes": []any{map[string]any{"id": "a"}}}, Variables: []any{map[string]any{"name": "input"}},
	}))(t)
	_, _, err := s.Definition(ctx, ann, made.ID)
	wantCode(t, err, blueprint.CodeBadRequest)
	for _, part := range []string{"blueprint_map.nodes[0].type: required", "environment_variables[0].name"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
}

// Each version is given as it was, secrets included, to a user who can manage it.
func TestVersionContent(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		first := []any{map[string]any{"name": "token", "secret": true, "default": "one"}}
		second := []any{map[string]any{"name": "token", "secret": true, "default": "two"}}
		m := map[string]any{"nodes": []any{}}
		b := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", Map: m, Variables: first}))(t)
		changed := must(s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Variables: &second}))(t)
		title := "U"
		named := must(s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Title: &title}))(t)
		for version, want := range map[string][]any{b.Version: first, changed.Version: second, named.Version: second} {
			t.Run(version, func(t *testing.T) {
				got := must(s.VersionContent(ctx, ann, b.ID, version))(t)
				if got.Version != version || got.CreatedBy != ann.UserID || !cmp.Equal(got.EnvironmentVariables, want) || !cmp.Equal(got.BlueprintMap, any(m)) {
					t.Errorf("version %s: %+v, want %v", version, got, want)
				}
			})
		}
		for _, c := range []struct {
			who         blueprint.Principal
			id, version string
			code        blueprint.Code
		}{
			{ann, b.ID, "9.9.9", blueprint.CodeNotFound},
			{ann, "unknown", b.Version, blueprint.CodeNotFound},
			{bob, b.ID, b.Version, blueprint.CodeForbidden},
		} {
			_, err := s.VersionContent(ctx, c.who, c.id, c.version)
			wantCode(t, err, c.code)
		}
		visibility := blueprint.VisibilityPublic
		must(s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Visibility: &visibility}))(t)
		_, err := s.VersionContent(ctx, bob, b.ID, b.Version) // which bob may see by now
		wantCode(t, err, blueprint.CodeForbidden)
	})
}

func TestNextVersion(t *testing.T) {
	for _, test := range []struct {
		present, asked string
		content        bool
		want           string
	}{
		{"1.0.0", "", false, "1.0.1"}, {"1.2.3", "", true, "1.3.0"}, {"1.9.9", "", true, "1.10.0"}, {"1.0.9", "", false, "1.0.10"},
		{"1.0.0", "1.0.1", true, "1.0.1"}, {"1.9.0", "1.10.0", false, "1.10.0"}, {"1.10.0", "1.9.0", false, ""}, {"1.0.0", "1.0.0", true, ""},
		{"1.0.0", "0.9.9", false, ""}, {"1.0.0", "2", false, ""}, {"1.0.0", "2.0", false, ""}, {"1.0.0", "2.0.0.0", false, ""},
		{"1.0.0", "v2.0.0", false, ""}, {"1.0.0", "2.00.0", false, ""}, {"1.0.0", "+2.0.0", false, ""}, {"1.0.0", "2.0.0-beta", false, ""},
		{"1.0.0", " 2.0.0", false, ""}, {"1.0.0", "9999999999.0.0", false, ""}, {"1.0.0", "999999999.0.0", false, "999999999.0.0"},
	} {
		t.Run(test.present+" "+test.asked, func(t *testing.T) {
			var asked *string
			if test.asked != "" {
				asked = &test.asked
			}
			got, err := nextVersion(test.present, asked, test.content)
			if got != test.want || (err == nil) != (test.want != "") {
				t.Errorf("%+v: %q, %v; want %v", test, got, err, test.want)
			}
		})
	}
}

func FuzzParseVersion(f *testing.F) {
	for _, text := range []string{"1.0.0", "0.0.0", "1.2", "1.2.3.4", "01.0.0", "-1.0.0", "1.0.0\n", "999999999.999999999.999999999", "1e3.0.0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if v, ok := parseVersion(text); ok && v.String() != text {
			t.Errorf("%q reads as %s", text, v)
		}
	})
}
