package deploy

import (
	"fmt"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/project"
)

func TestReplace(t *testing.T) {
	for _, c := range []struct{ value, want, found string }{
		{`{"nodes":[{"id":"a","type":"http_request","config":{"connectionId":{"$connection":"crm"}}}]}`,
			`{"nodes":[{"id":"a","type":"http_request","config":{"connectionId":"#"}}]}`, "crm http-request [nodes 0 config connectionId $connection]"},
		{`{"nodes":[{"id":"a","type":"ai-prompt","config":{"mcpConnectionIds":["x",{"$connection":"tools"}]}}]}`,
			`{"nodes":[{"id":"a","type":"ai-prompt","config":{"mcpConnectionIds":["x","#"]}}]}`, "tools ai-prompt several [nodes 0 config mcpConnectionIds 1 $connection]"},
		{`{"nodes":[{"type":"for-each","config":{"nodes":[{"type":"blueprint","config":{"blueprintId":{"$blueprint":"b.blueprint.yaml"}}}]}}]}`,
			`{"nodes":[{"type":"for-each","config":{"nodes":[{"type":"blueprint","config":{"blueprintId":"#"}}]}}]}`, "b.blueprint.yaml blueprint [nodes 0 config nodes 0 config blueprintId $blueprint]"},
		{`[{"triggerType":"event","config":{"blueprintId":{"$blueprint":"b.blueprint.yaml"}}}]`, `[{"triggerType":"event","config":{"blueprintId":"#"}}]`, "b.blueprint.yaml event [0 config blueprintId $blueprint]"},
		{`{"connectionId":{"$blueprint":"b"},"blueprintId":{"$connection":"b"},"other":{"$connection":"b"}}`, ``, ""},
		{`{"connectionId":{"$connection":"b","more":1},"mcpConnectionIds":{"$connection":"b"}}`, ``, ""},
		{`{"connectionId":{"$connection":""},"blueprintId":{"$blueprint":3}}`, ``, ""},
	} {
		t.Run(c.value, func(t *testing.T) {
			var found []string
			before := value(t, c.value)
			got := project.Replace(before, nil, func(r project.Reference) any {
				several := ""
				if r.Several {
					several = " several"
				}
				found = append(found, fmt.Sprintf("%s %s%s %v", r.Name, r.Within, several, r.Path))
				return "#"
			})
			want := c.want
			if want == "" {
				want = c.value
			}
			if !blueprint.Equal(got, value(t, want)) || strings.Join(found, ";") != c.found {
				t.Errorf("%v, %q; want %v and found %v", got, found, want, c.found)
			}
			if !blueprint.Equal(before, value(t, c.value)) {
				t.Errorf("%s was changed", c.value)
			}
		})
	}
}

func TestWellformed(t *testing.T) {
	for name, want := range map[string]bool{
		"b.blueprint.yaml": true, "../b.blueprint.json": true, "sub/b.blueprint.yml": true,
		"/b.blueprint.yaml": false, `sub\b.blueprint.yaml`: false, "b.yaml": false, "b.test.yaml": false, "/etc/passwd": false,
	} {
		t.Run(name, func(t *testing.T) {
			if got := (project.Reference{Key: project.BlueprintKey, Name: name}).Wellformed(); got != want {
				t.Errorf("%t, want %v", got, want)
			}
		})
	}
}

// calling is a file with a node for each file that it refers to.
func calling(t *testing.T, path string, names ...string) project.Desired {
	t.Helper()
	var nodes []string
	for i, name := range names {
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"blueprint","title":"N","config":{"blueprintId":{"$blueprint":%q}}}`, i, name))
	}
	return project.Desired{Path: path, Title: path, Map: value(t, `{"nodes":[`+strings.Join(nodes, ",")+`]}`), Variables: []any{}}
}

func TestFindDangling(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string][]string
		want  string
	}{
		{"none", map[string][]string{"a": nil}, ""},
		{"a chain, and a target of two", map[string][]string{"a": {"b", "sub/c"}, "b": {"sub/c"}, "sub/c": nil}, ""},
		{"unknown", map[string][]string{"a": {"b"}}, "a: there is no such blueprint file here: b.blueprint.yaml"},
		{"outside", map[string][]string{"sub/a": {"../../b"}}, "sub/a: there is no such blueprint file here: ../b.blueprint.yaml"},
		{"itself", map[string][]string{"a": {"a"}}, "a: refers back to this file (a -> a)"},
		{"a cycle, and a file that refers to it", map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"b"}},
			"a: waits for b.blueprint.yaml; b: refers back to this file (b -> c -> b); c: refers back to this file (c -> b -> c)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var files []project.Desired
			for _, path := range []string{"a", "b", "c", "sub/a", "sub/c"} {
				if names, there := c.files[path]; there {
					for i := range names {
						names[i] += ".blueprint.yaml"
					}
					files = append(files, calling(t, path+".blueprint.yaml", names...))
				}
			}
			var got []string
			for _, d := range project.FindDangling(files) {
				message := strings.ReplaceAll(d.Message, ".blueprint.yaml ->", " ->")
				if before, _, found := strings.Cut(message, "; remove one"); found {
					message = strings.ReplaceAll(before, ".blueprint.yaml)", ")")
				}
				got = append(got, strings.TrimSuffix(d.File, ".blueprint.yaml")+": "+message)
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("%q, want %v", got, c.want)
			}
		})
	}
}

// What refers to another is made after it, with its id, and is then as its file.
func TestReferencesAreMadeInOrder(t *testing.T) {
	f := &fake{}
	files := []project.Desired{calling(t, "a.blueprint.yaml", "sub/b.blueprint.yaml"), calling(t, "sub/b.blueprint.yaml", "../z.blueprint.yaml"), calling(t, "z.blueprint.yaml")}
	files[2].Triggers = []project.DesiredTrigger{{Type: blueprint.TriggerManual, Config: map[string]any{}, Active: true}}
	files[0].Triggers = []project.DesiredTrigger{{Type: blueprint.TriggerEvent, Config: map[string]any{"event": "execution.failed", "blueprintId": map[string]any{project.BlueprintKey: "z.blueprint.yaml"}}, Active: true}}
	p := f.sync(t, files, options(false, false))
	var made []string
	for _, c := range p.Changes {
		made = append(made, c.Path)
	}
	if got := strings.Join(made, " "); got != "z.blueprint.yaml sub/b.blueprint.yaml a.blueprint.yaml" {
		t.Errorf("made %s, want z.blueprint.yaml sub/b.blueprint.yaml a.blueprint.yaml", got)
	}
	byTitle := map[string]*project.Deployed{}
	for i := range f.have {
		byTitle[f.have[i].Title] = &f.have[i]
	}
	text := fmt.Sprint(byTitle["a.blueprint.yaml"].BlueprintMap, byTitle["a.blueprint.yaml"].Triggers[0].Config)
	if !strings.Contains(text, "blueprintId:"+byTitle["sub/b.blueprint.yaml"].ID) || !strings.Contains(text, "blueprintId:"+byTitle["z.blueprint.yaml"].ID) || strings.Contains(text, "$") {
		t.Errorf("stored %s, want %q in it, %q in it and no \"$\"", text, "blueprintId:"+byTitle["sub/b.blueprint.yaml"].ID, "blueprintId:"+byTitle["z.blueprint.yaml"].ID)
	}
	if again := f.sync(t, files, options(true, false)); len(again.Changes) != 0 || len(again.quiet) != 0 {
		t.Errorf("again: %v, want none and none", again.Changes)
	}

	// A changed reference is reported by name; its target is created before it.
	files[0] = calling(t, "a.blueprint.yaml", "new.blueprint.yaml")
	files[0].Triggers = []project.DesiredTrigger{{Type: blueprint.TriggerEvent, Config: map[string]any{"event": "execution.failed", "blueprintId": map[string]any{project.BlueprintKey: "z.blueprint.yaml"}}, Active: true}}
	files = append(files, calling(t, "new.blueprint.yaml"))
	p = f.sync(t, files, options(false, false))
	if len(p.Changes) != 2 || p.Changes[0].Path != "new.blueprint.yaml" {
		t.Fatalf("%+v, want length 2 and Path new.blueprint.yaml", p.Changes)
	}
	want := `    ~ node n0: config.blueprintId: {"$blueprint":"sub/b.blueprint.yaml"} -> {"$blueprint":"new.blueprint.yaml"}`
	if got := p.Changes[1].Lines()[1]; got != want {
		t.Errorf("%s, want %v", got, want)
	}
	if again := f.sync(t, files, options(true, false)); len(again.Changes) != 0 {
		t.Errorf("again: %v, want none", again.Changes)
	}
}

// Changed connections are reported by name too.
func TestConnectionsAreReportedByName(t *testing.T) {
	f := &fake{}
	file := func(name string) []project.Desired {
		d := project.Desired{Path: "a.blueprint.yaml", Title: "A", Variables: []any{},
			Map: value(t, `{"nodes":[{"id":"a","type":"http-request","title":"A","config":{"connectionId":{"$connection":"`+name+`"}}}]}`)}
		return []project.Desired{d.Connect(func(r project.Reference) string { return "id-of-" + r.Name })}
	}
	o := options(false, false)
	o.Connections = map[string]string{"id-of-one": "one", "id-of-two": "two"}
	f.sync(t, file("one"), o)
	p := f.sync(t, file("two"), o)
	if got := text(p); !strings.Contains(got, `config.connectionId: {"$connection":"one"} -> {"$connection":"two"}`) {
		t.Error(got)
	}
}
