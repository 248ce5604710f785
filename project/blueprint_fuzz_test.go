package project

import (
	"os"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
)

// FuzzBlueprintFile reads blueprint files as validate, run and import do. Every issue
// has a place in the file, a file without errors has everything that an import needs,
// and YAML and the equivalent JSON have the same issues.
func FuzzBlueprintFile(f *testing.F) {
	sample, err := os.ReadFile("../testdata/blueprints/hello.blueprint.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sample, false)
	for _, seed := range []string{
		`{"title":"t","blueprint_map":{"nodes":[]}}`,
		`{"title":5,"tags":[1],"environment_variables":{},"blueprint_map":{"nodes":[{}]},"triggers":[{"triggerType":"scheduled","config":{"cron":"x"}}],"extra":1}`,
		`{"title":"t","blueprint_map":{"nodes":[{"id":"a","type":"set","title":"","config":{"values":{"x":"{{y"}}}],"edges":[{"source":"a","target":"a"}]},"triggers":[{"triggerType":"webhook","config":{"secret":null}}]}`,
		`{"title":"t","environment_variables":[{"name":"k","type":"number","default":"x"}],"blueprint_map":{"nodes":[{"id":"a","type":"nope","title":"","config":{},"retry":{"maxAttempts":0}}]}}`,
	} {
		f.Add([]byte(seed), true)
	}
	f.Add([]byte("title: t\nblueprint_map:\n  nodes:\n    - {id: a, type: transform, title: x, config: {expression: '1 +'}}\n"), false)
	f.Fuzz(func(t *testing.T, data []byte, asJSON bool) {
		name := "f.blueprint.yaml"
		if asJSON {
			name = "f.blueprint.json"
		}
		b, issues, err := ReadFile(&Inputs{Stdin: strings.NewReader(string(data))}, "-")
		if asJSON {
			var doc *document.Document
			if doc, err = document.Parse(name, data); err == nil {
				r := &Reader{Blueprint: &Blueprint{Document: doc}}
				r.Read()
				b, issues = r.Blueprint, r.Issues
			}
		}
		if err != nil {
			return // FuzzParse of package document looks at these
		}
		bad := false
		for _, issue := range issues {
			bad = bad || issue.Severity == blueprint.SeverityError
			at := b.Document.At(issue.Path)
			line := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + 1
			if at.Line < 0 || at.Line > line || issue.Message == "" || issue.Severity == "" {
				t.Fatalf("%q: %+v at %+v of %d lines, want Line at least 0, Line at most %v, Message not empty and Severity not empty", data, issue, at, line, line)
			}
		}
		if len(issues) > 2*blueprint.MaxIssues+len(data) {
			t.Fatalf("%d issues in %d bytes, want at most %v", len(issues), len(data), 2*blueprint.MaxIssues+len(data))
		}
		if bad {
			return
		}
		if m, wrong := blueprint.ParseMap(b.Map); b.Title == "" || m == nil || len(wrong) > 0 {
			t.Fatalf("%q: accepted without a title or map: %+v, want Title not empty, not nil and none", data, wrong)
		}
		whole := b.Document.Value.(map[string]any)
		var members []document.Member
		for key, value := range whole {
			members = append(members, document.Member{Name: key, Value: value})
		}
		for _, asJSON := range []bool{false, true} {
			text, err := document.Marshal(members, asJSON)
			if err != nil {
				t.Fatal(err)
			}
			name := "again.yaml"
			if asJSON {
				name = "again.json"
			}
			again, err := document.Parse(name, text)
			if err != nil || !blueprint.Equal(again.Value, b.Document.Value) {
				t.Fatalf("%q is written as %q, which reads back as %v; want %v", data, text, err, b.Document.Value)
			}
		}
	})
}
