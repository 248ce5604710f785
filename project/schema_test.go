package project_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/project"
)

var update = flag.Bool("update", false, "write golden files")

// golden compares a file of the repository with the text that the program generates.
func golden(t *testing.T, name string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the program generates (%v); run make goldens", name, err)
	}
}

// decoded returns the value of JSON; numbers keep their digits.
func decoded(t *testing.T, text string) any {
	t.Helper()
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// TestSchemas keeps the schemas that editors are pointed to.
func TestSchemas(t *testing.T) {
	t.Parallel()
	for _, name := range project.SchemaNames {
		text, err := project.SchemaText(name)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "../clients/schemas/"+name+".schema.json", text)
		compiledSchema(t, name)
	}
}

func compiledSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	text, err := project.SchemaText(name)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", decoded(t, string(text))); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return schema
}

// TestSchemaOfBlueprints holds every example, every file and the broken kin of
// one against the schema.
func TestSchemaOfBlueprints(t *testing.T) {
	t.Parallel()
	schema := compiledSchema(t, "blueprint")
	for name, kind := range project.Catalogue() {
		for _, spelling := range project.Spellings(name) {
			value := map[string]any{"title": "x", "blueprint_map": map[string]any{"nodes": []any{map[string]any{"id": "a", "type": spelling, "title": "A", "config": kind.Example}}}}
			if err := schema.Validate(value); err != nil {
				t.Errorf("the example of %v: %v", spelling, err)
			}
		}
	}
	paths, err := filepath.Glob("../testdata/blueprints/*.blueprint.*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no blueprints: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := document.Parse(path, data)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc.Value); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	one := func(node string) string { return `{"title":"x","blueprint_map":{"nodes":[` + node + `]}}` }
	trigger := func(trigger string) string {
		return `{"title":"x","blueprint_map":{"nodes":[]},"triggers":[` + trigger + `]}`
	}
	for text, good := range map[string]bool{
		`{"title":"x","blueprint_map":{"nodes":[]}}`:                                 true,
		`{"title":"","blueprint_map":{"nodes":[]}}`:                                  false,
		`{"blueprint_map":{"nodes":[]}}`:                                             false,
		`{"title":"x"}`:                                                              false,
		`{"title":"x","blueprint_map":{}}`:                                           false,
		`{"title":"x","blueprint_map":{"nodes":[]},"nodes":[]}`:                      false,
		one(`{"id":"a","type":"wait","title":"A","config":{"durationMs":5}}`):        true,
		one(`{"id":"a","type":"wait","title":"A","config":{"durationMs":"{{ms}}"}}`): true,
		one(`{"id":"a","type":"wait","title":"A","config":{"durationMs":"soon"}}`):   false,
		one(`{"id":"a","type":"http_request","title":"A","config":{}}`):              false,
		one(`{"id":"a","type":"http-request","title":"A","config":{"url":"https://example.org"},"retry":{"maxAttempts":3},"onError":"branch"}`):                                                          true,
		one(`{"id":"a","type":"http-request","title":"A","config":{"url":"https://example.org"},"onError":"ignore"}`):                                                                                    false,
		one(`{"id":"a","type":"human_checkpoint","title":"A","config":{"prompt":"?"}}`):                                                                                                                  true,
		one(`{"id":"a","type":"teleport","title":"A","config":{}}`):                                                                                                                                      false,
		one(`{"id":"a","type":"set","title":"A"}`):                                                                                                                                                       false,
		one(`{"id":"a","type":"for-each","title":"A","config":{"items":"input","nodes":[{"id":"b","type":"wait","title":"B","config":{"durationMs":"soon"}}]}}`):                                         false,
		one(`{"id":"a","type":"for-each","title":"A","config":{"items":"input","nodes":[{"id":"b","type":"log","title":"B","config":{"message":"{{item}}"}}],"edges":[]},"disabled":null,"retry":null}`): true,
		trigger(`{"triggerType":"scheduled","config":{"cron":"0 9 * * *"},"isActive":false}`):                                                                                                            true,
		trigger(`{"triggerType":"scheduled"}`):                                                  false,
		trigger(`{"triggerType":"webhook"}`):                                                    true,
		trigger(`{"triggerType":"webhook","config":{"respond":"later"}}`):                       false,
		trigger(`{"triggerType":"webhook","config":{"secret":null,"concurrency":{"limit":1}}}`): true,
		trigger(`{"triggerType":"slack","config":{"signingSecret":null}}`):                      true,
		trigger(`{"triggerType":"event","config":{"event":"custom.order"}}`):                    true,
		trigger(`{"triggerType":"event","config":{"event":"order"}}`):                           false,
		trigger(`{"triggerType":"pigeon"}`):                                                     false,
	} {
		t.Run(text, func(t *testing.T) {
			if err := schema.Validate(decoded(t, text)); (err == nil) != good {
				t.Errorf("%v, want it valid: %v", err, good)
			}
		})
	}
}

// TestSchemasOfOtherFiles holds a file of each kind against its schema.
func TestSchemasOfOtherFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		schema, text string
		good         bool
	}{
		{"seed", wholeSeed, true},
		{"seed", strings.Replace(wholeSeed, "role: owner", "role: boss", 1), false},
		{"seed", strings.Replace(wholeSeed, "0 * * * *", "", 1), false},
		{"test", "blueprint: a.yaml\ntests: [{name: a, expect: {status: completed}}]\n", true},
		{"test", "blueprint: a.yaml\ntests: [{name: a, expect: {status: over}}]\n", false},
		{"cassette", "format: blueprintd-cassette/1\nexchanges: [{request: {method: GET, url: 'http://a/'}, response: {status: 200}}]\n", true},
		{"cassette", "format: blueprintd-cassette/2\nexchanges: []\n", false},
		{"run", "format: blueprintd-run/1\nblueprint: {title: x, blueprint_map: {nodes: []}}\nrun: {id: a, status: completed}\ncassette: null\n", true},
		{"run", "format: blueprintd-run/1\nblueprint: {title: x, blueprint_map: {nodes: [{}]}}\nrun: {id: a, status: completed}\n", false},
	} {
		t.Run(fmt.Sprintf("%s %v %.60s", c.schema, c.good, c.text), func(t *testing.T) {
			doc, err := document.Parse(c.schema+".yaml", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if err := compiledSchema(t, c.schema).Validate(doc.Value); (err == nil) != c.good {
				t.Errorf("%v, want it valid: %v", err, c.good)
			}
		})
	}
	tests, err := filepath.Glob("../testdata/blueprints/*.test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range tests {
		if err := compiledSchema(t, "test").Validate(yamlFile(t, path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestSchemaKnowsEveryMember holds the schema against what the reader of
// blueprint files knows.
func TestSchemaKnowsEveryMember(t *testing.T) {
	t.Parallel()
	var members []string
	for name := range project.BlueprintSchema()["properties"].(map[string]any) {
		members = append(members, name)
	}
	want := slices.Clone(project.FileMembers)
	slices.Sort(want)
	if slices.Sort(members); !slices.Equal(members, want) {
		t.Errorf("the schema has %q, a file %q", members, want)
	}
	_, configs := project.TriggerSchema()
	for _, kind := range []blueprint.TriggerType{blueprint.TriggerManual, blueprint.TriggerScheduled, blueprint.TriggerWebhook, blueprint.TriggerEmail, blueprint.TriggerSlack, blueprint.TriggerEvent, blueprint.TriggerAPI} {
		if configs["trigger."+string(kind)] == nil {
			t.Errorf("the schema knows no %s trigger", kind)
		}
	}
	if text, err := blueprint.Encode(project.BlueprintSchema()); err != nil || strings.Contains(string(text), `"x-kind"`) {
		t.Error("the schema holds what only forms ask")
	}
}

// TestSchemaOfSeeds holds the schema against what the reader takes: what it
// cannot know is what other parts of the file and the environment say.
func TestSchemaOfSeeds(t *testing.T) {
	t.Parallel()
	schema := compiledSchema(t, "seed")
	beyond := map[string]bool{ // for a schema
		"twice": true, "short key": true, "short password": true, "not set": true, "unknown organization": true, "bad connection": true, "unknown connection": true,
		"bad node": true, "bad cron": true, "same title": true, "unknown owner": true, "unknown member of a team": true, "member twice": true, "owner outside": true,
		"same title of the owner": true, "place of a connection": true, "connection of another": true, "connection of a team without them": true,
		"connection named later": true, "empty secret of the environment": true,
	}
	for _, c := range append(seedCases(),
		seedCase{"null lists", wholeSeed, "users: null\norganizations: null\nconnections: null\nblueprints: null\n", ""},
		seedCase{"nothing", wholeSeed, "{}", ""},
		seedCase{"number", "name: Grace", "name: 5", "name: must be a string"},
		seedCase{"no members", "members: [{email: ada@example.org, role: owner}, {email: grace@example.org, role: member}]", "members: []", "role is owner"},
		seedCase{"more than a connection", "{$connection: shop}", "{$connection: shop, x: 1}", "connectionId"},
		seedCase{"connection by number", "{$connection: shop}", "{$connection: 5}", "connectionId"},
	) {
		t.Run(c.name, func(t *testing.T) {
			doc, err := document.Parse("seed.yaml", []byte(c.text(t)))
			if err != nil {
				return
			}
			_, _, issues, _ := project.ReadSeed("seed.yaml", []byte(c.text(t)), seedLookup)
			taken := !slices.ContainsFunc(issues, func(i blueprint.Issue) bool { return i.Severity != blueprint.SeverityWarning })
			if taken != (c.want == "") {
				t.Errorf("the reader takes it: %t, %v; want %v", taken, issues, c.want)
			}
			if err := schema.Validate(doc.Value); (err == nil) != (taken || beyond[c.name]) {
				t.Errorf("the schema says %v", err)
			}
		})
	}
}

func yamlFile(t *testing.T, path string) map[string]any {
	t.Helper()
	doc, err := document.Parse(path, []byte(readText(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	return doc.Value.(map[string]any)
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
