package command

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/engine/script"
	"blueprintd/project"
)

// Each warning has a file that causes it and a similar one that does not.
func TestWarnings(t *testing.T) {
	file := func(nodes string, more ...string) string {
		return "title: T\nblueprint_map:\n  nodes:\n" + nodes + strings.Join(more, "")
	}
	const a, b, gate = "    - {id: a, type: template, title: A, config: {text: a}}\n", "    - {id: b, type: template, title: B, config: {text: b}}\n", "    - {id: g, type: conditional, title: G, config: {condition: 'true'}}\n"
	stop := "    - {id: s, type: stop, title: S, config: {}}\n"
	uses := func(text string) string {
		return "    - {id: u, type: template, title: U, config: {text: '" + text + "'}}\n"
	}
	code := func(source string) string {
		return "    - {id: c, type: code, title: C, config: {source: '" + source + "'}}\n"
	}
	mail := "    - {id: m, type: send-email, title: M, retry: {maxAttempts: 2}, EFFECT config: {connectionId: 11111111-1111-4111-8111-111111111111, to: a@example.org, subject: s, text: t}}\n"
	edges := func(list string) string { return "  edges: [" + list + "]\n" }
	variable := func(text string) string { return "environment_variables:\n  - {" + text + "}\n" }
	for _, c := range []struct{ name, bad, want, good string }{
		{"unused variable", variable("name: v") + file(a), "is used by no node", variable("name: v") + file(uses("{{v}}"))},
		{"used in an expression", variable("name: v") + file(uses("{{= w ?? 1}}")), "is used by no node", variable("name: v") + file(uses("{{= v + 1}}"))},
		{"used in a condition", variable("name: v") + file(gate), "is used by no node", variable("name: v") + file(strings.Replace(gate, "true", "v > 1", 1))},
		{"used in code", variable("name: v") + file(code("return variables.w")), "is used by no node", variable("name: v") + file(code("return variables.v"))},
		{"used by code somehow", variable("name: v") + file(code("return w")), "is used by no node", variable("name: v") + file(code("const {v} = variables; return v"))},
		{"used for items", variable("name: v") + file("    - {id: f, type: for-each, title: F, config: {items: '[1]', nodes: [{id: i, type: template, title: I, config: {text: '{{item}}'}}]}}\n"), "is used by no node",
			variable("name: v") + file("    - {id: f, type: for-each, title: F, config: {items: v, nodes: [{id: i, type: template, title: I, config: {text: '{{item}}'}}]}}\n")},
		{"undeclared", file(uses("{{v}}")), `uses the variable "v", which is not declared`, file(uses(`{{v ?? 1}}`))},
		{"undeclared in an expression", file(strings.Replace(gate, "true", "v > 1", 1)), `uses the variable "v"`, file(strings.Replace(gate, "true", "let v = 1; v > 1", 1))},
		{"set, within an item", file("    - {id: f, type: for-each, title: F, config: {items: '[1]', nodes: [{id: i, type: template, title: I, config: {text: '{{v}}'}}]}}\n"), `uses the variable "v"`,
			file("    - {id: s, type: set, title: S, config: {values: {v: 1}}}\n    - {id: f, type: for-each, title: F, config: {items: '[1]', nodes: [{id: i, type: template, title: I, config: {text: '{{v}}'}}]}}\n")},
		{"near name", variable("name: greeting") + file(uses("{{greting}} {{greeting}}")), `did you mean "greeting"?`, variable("name: greeting") + file(uses("{{greeting}}"))},
		{"item outside", file(uses("{{item ?? 1}}")), "uses item, which only exists inside a for-each node", file("    - {id: f, type: for-each, title: F, config: {items: '[1]', nodes: [{id: i, type: template, title: I, config: {text: '{{item}} {{= index + 1}}'}}]}}\n")},
		{"key of the scope", file(uses("{{= execution.ID}}")), `execution has no key "ID"; did you mean "id"?`, file(uses("{{= execution.id + blueprint.title}} {{trigger.headers.x}} {{blueprint.id}}"))},
		{"key of a node", file(a, uses("{{= nodes.a.outputs.text}}")), `nodes.a has no key "outputs"; did you mean "output"?`, file(a, uses("{{= nodes.a.output.text + nodes[\"a\"][\"output\"].outputs}}"))},
		{"edge twice", file(gate, a, edges("{source: g, target: a, sourceHandle: 'true'}, {source: g, target: a, sourceHandle: 'true'}")), "duplicates edges[0]", file(gate, a, edges("{source: g, target: a, sourceHandle: 'true'}, {source: g, target: a, sourceHandle: 'false'}"))},
		{"method", file("    - {id: h, type: http-request, title: H, config: {method: GETT, url: 'https://example.com/'}}\n"), `did you mean "GET"?`, file("    - {id: h, type: http-request, title: H, config: {method: PURGE, url: 'https://example.com/'}}\n    - {id: i, type: http-request, title: I, config: {method: PUT, url: 'https://example.com/'}}\n")},
		{"node member beside the right one", file(strings.Replace(a, "title", "confg: {}, title", 1)), `did you mean "config"?`, file(strings.Replace(a, "title", "position: {}, data: {}, style: {}, title", 1))},
		{"other name", file(strings.Replace(a, "title", "retries: 3, title", 1)), `did you mean "retry"?`, file(strings.Replace(a, "title", "tries: 3, title", 1))},
		{"name with _", file(strings.Replace(a, "title", "time_out: 3, title", 1)), `did you mean "timeoutMs"?`, file(a)},
		{"handle that is not", file(gate, a, edges("{source: g, target: a, sourceHandle: yes}")), `has no handle "yes"`, file(gate, a, edges("{source: g, target: a, sourceHandle: 'true'}"))},
		{"never runs", file(gate, a, edges("{source: g, target: a, sourceHandle: error}")), `, so the node "a" never runs`, file(strings.Replace(gate, "title", "onError: branch, title", 1), a, edges("{source: g, target: a, sourceHandle: error}"))},
		{"fed by dead edges", file(gate, a, b, edges("{source: g, target: a, sourceHandle: error}, {source: a, target: b}")), `so the node "a" never runs, nor what only follows it (1)`, file(gate, a, b, edges("{source: g, target: a, sourceHandle: error}, {source: a, target: b}, {source: g, target: b}"))},
		{"behind stop", file(stop, a, edges("{source: s, target: a}")), "never runs: the source ends the run", file(a, stop, edges("{source: a, target: s}"))},
		{"in a row behind stop", file(stop, a), `never runs: the node "s" before it ends the run`, file(strings.Replace(stop, "title", "disabled: true, title", 1), a)},
		{"disabled", file(strings.Replace(gate, "title", "disabled: true, title", 1), a, edges("{source: g, target: a, sourceHandle: 'true'}")), "a disabled node takes only edges", file(strings.Replace(gate, "title", "disabled: true, title", 1), a, edges("{source: g, target: a}"))},
		{"alone", file(gate, a, b, edges("{source: g, target: a}")), "is connected to no other node", file(gate, a, b)},
		{"node that does not lead", file(a, uses("{{nodes.a.output}}"), edges("{source: u, target: a}")), "does not lead to this one", file(a, uses("{{nodes.a.output}}"), edges("{source: a, target: u}"))},
		{"node in an expression", file(uses("{{= nodes.nobody.output}}")), `refers to the node "nobody", which does not exist`, file(a, uses("{{= nodes.a.output}}"))},
		{"near node", file(a, strings.Replace(b, "id: b", "id: other", 1), uses("{{nodes.othr.output}}")), `did you mean "other"?`, file(a, strings.Replace(b, "id: b", "id: other", 1), uses("{{nodes.other.output}}"))},
		{"titles", file(a, strings.Replace(b, "title: B", "title: A", 1)), "is also the title of nodes[0]", file(a, b)},
		{"titles of types", file(a, strings.Replace(b, "title: B", "title: A", 1)), "is also the title of nodes[0]", file(strings.Replace(a, "title: A", "title: Template", 1), strings.Replace(b, "title: B", "title: Template", 1))},
		{"once again", file(strings.Replace(mail, "EFFECT", "", 1)), "has little effect", file(strings.Replace(mail, "EFFECT", "effect: idempotent,", 1))},
		{"config key", file("    - {id: l, type: log, title: L, config: {message: m, levle: info}}\n"), `did you mean "level"?`, file("    - {id: l, type: log, title: L, config: {message: m, level: info}}\n")},
		{"node member", file(strings.Replace(a, "title", "onerror: stop, title", 1)), `did you mean "onError"?`, file(strings.Replace(a, "title", "colour: red, size: 5, name: x, label: a, title", 1))},
		{"edge member", file(gate, a, edges("{source: g, target: a, sourcehandle: x}")), `did you mean "sourceHandle"?`, file(gate, a, edges("{source: g, target: a, targetHandle: in, label: x, animated: true}"))},
		{"file member", "tittle: x\n" + file(a), `did you mean`, file(a)},
		{"secret default", variable("name: v, secret: true, default: hush-hush") + file(uses("{{v}}")), "is a secret in the file", variable("name: v, secret: true, default: null") + file(uses("{{v}}"))},
		{"open webhook", file(a) + "triggers: [{triggerType: webhook}]\n", "has no secret", file(a) + "triggers: [{triggerType: webhook, config: {secret: shared-with-them}}]\n"},
		{"unknown key of a trigger", file(a) + "triggers: [{triggerType: manual, config: {colour: red}}]\n", "colour: unknown key, kept without effect", file(a) + "triggers: [{triggerType: manual, config: {breaker: false}}]\n"},
		{"slack without a secret", file(a) + "triggers: [{triggerType: slack}]\n", "has no signingSecret, so it refuses every delivery", file(a) + "triggers: [{triggerType: slack, config: {signing_secret: shared-with-them}}]\n"},
		{"open webhook, off", file(a) + "triggers: [{triggerType: webhook, config: {respond: wait}}]\n", "has no secret", file(a) + "triggers: [{triggerType: webhook, isActive: false}]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if told := lines(checked(t, c.bad)); !strings.Contains(told, c.want) || strings.Contains(told, "error ") && c.name != "near node" && c.name != "file member" {
				t.Errorf("%v, want %v", told, c.want)
			}
			if told := lines(checked(t, c.good)); told != "" && (!strings.Contains(told, "never") || strings.Contains(told, c.want)) {
				t.Errorf("%s, when all is well: %s; want %v", c.name, told, c.want)
			}
		})
	}
}

func lines(issues []blueprint.Issue) string {
	var out strings.Builder
	for _, issue := range issues {
		out.WriteString(issue.Severity + " " + blueprint.PathText(issue.Path) + ": " + issue.Message + "\n")
	}
	return out.String()
}

// Secrets in plain text are reported and never shown.
func TestSecretsInPlainText(t *testing.T) {
	j := func(parts ...string) string { return strings.Join(parts, "") } // keeps secret scanners from reporting these
	for _, c := range []struct{ key, value, want string }{
		{"x", j("bp", "d_0123456789abcdefghij"), "an API key of this service"},
		{"x", j("say s", "k-proj-0123456789abcdefghij now"), "an API key"},
		{"x", j("s", "k_live_0123456789abcdefgh"), "an API key"},
		{"x", j("xo", "xb-0123456789-abcdef"), "a Slack token"},
		{"x", j("gh", "p_0123456789abcdefghijABCDEFGHIJ012345"), "a GitHub token"},
		{"x", j("github", "_pat_0123456789abcdefghijAB"), "a GitHub token"},
		{"x", j("glp", "at-0123456789abcdefghij"), "a GitLab token"},
		{"x", j("AK", "IAIOSFODNN7EXAMPLE"), "an AWS access key"},
		{"x", j("AI", "za0123456789abcdefghijABCDEFGHIJ01234"), "a Google API key"},
		{"x", j("-----BEGIN RSA PRIV", "ATE KEY-----\nMIIB\n-----END"), "a private key"},
		{"x", j("ey", "J0123456789.eyJ0123456789.abcdefghijk"), "a JSON web token"},
		{"x", "postgres://ada:swordfish@db.example.com/x", "an address with a password"},
		{"x", "https://example.com/v1?a=1&api_key=abcdef012345&b=2", "a secret in an address"},
		{"x", "see https://example.com/v1?access-token=abcdef012345 there", "a secret in an address"},
		{"x", j("s", "k-proj-0123456789abcdefghij and gh", "p_0123456789abcdefghijABCDEFGHIJ012345"), "an API key"},
		{"x", "https://example.com/v1?api_key={{key}}&token=abc{{rest}}&tokens=abcdef012345", ""},
		{"x", "https://example.com/v1?pageToken=abcdef012345&key=abcdefgh&password=", ""},
		{"Authorization", "Bearer 0123456789", "credentials"},
		{"authorization", "Basic YWRhOnN3b3JkZmlzaA==", "credentials"},
		{"password", "swordfish", "a secret"},
		{"API-Key", "0a1b2c3d", "a secret"},
		{"clientSecret", "0a1b2c3d", "a secret"},
		{"Authorization", "Bearer {{token}}", ""},
		{"Authorization", "Bearer", ""},
		{"password", "{{password}}", ""},
		{"password", "none", ""},
		{"token", "", ""},
		{"secret", "a text of several words", ""},
		{"passwordHint", "swordfish", ""},
		{"x", "task-management-of-a-whole-department-2026", ""},
		{"x", "sk-learn-is-a-library-for-machines", ""},
		{"x", "postgres://ada:{{password}}@db.example.com/x", ""},
		{"x", "https://example.com/a:b@c", ""},
		{"x", "https://example.com:8080/@me", ""},
		{"x", "ghp_short and AKIA and eyJ.eyJ", ""},
	} {
		t.Run(c.key+" "+c.value, func(t *testing.T) {
			value, err := json.Marshal(c.value)
			if err != nil {
				t.Fatal(err)
			}
			text := `{"title": "T", "blueprint_map": {"nodes": [{"id": "a", "type": "set", "title": "A", "config": {"values": {"` + c.key + `": ` + string(value) + `}}}]}}`
			doc, err := document.Parse("x.json", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			r := &project.Reader{Blueprint: &project.Blueprint{Document: doc}}
			r.Read()
			told, secret := "", false
			for _, issue := range r.Issues {
				if strings.Contains(issue.Message, "looks like ") {
					told, secret = issue.Message, true
					if shown := doc.ExcerptOf(issue) + doc.Point(issue); strings.Contains(shown, c.value) || strings.Contains(shown, "0123456789") || strings.Contains(shown, "012345") || !strings.Contains(shown, "****") {
						t.Errorf("%s is shown: %s", c.want, shown)
					}
				}
			}
			if secret != (c.want != "") || !strings.Contains(told, c.want+" in plain text") && secret {
				t.Errorf("%s: %.12s...: %q, want %q", c.key, c.value, told, c.want)
			}
		})
	}
}

// The blueprints in this repository have no warnings, except that the webhook of the
// sample has no secret.
func TestNoFalseAlarm(t *testing.T) {
	names, err := filesToCheck([]string{filepath.Join("..", "testdata", "blueprints")})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		found, err := checkerOf(name)(&validation{files: &project.Inputs{}}, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			if !strings.HasPrefix(p.Message, "has no secret: ") {
				t.Errorf("%v, want \"has no secret: \" at the start", p.line)
			}
		}
	}
	for _, kind := range project.Catalogue() {
		node := map[string]any{"id": "a", "type": kind.Type, "title": kind.Title, "config": kind.Example}
		for _, issue := range blueprint.Validate(map[string]any{"nodes": []any{node}}, nil, project.Catalogue(), project.CheckConfig) {
			if issue.Severity == blueprint.SeverityError {
				t.Errorf("the example of %s: %+v, want Severity other than %v", kind.Type, issue, blueprint.SeverityError)
			}
		}
	}
	literal := func(file, start, end string) string { // of TypeScript that is JavaScript too
		t.Helper()
		source, err := os.ReadFile(filepath.Join("../web/src", file))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, found := strings.Cut(string(source), start)
		text, _, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("%s has no %q", file, start)
		}
		return text + end
	}
	texts := literal("text/blueprints.ts", "export const templatesText = ", "\n}")
	list := literal("pages/blueprints/templates.ts", "export const templates: Template[] = ", "\n]")
	pool := script.New(script.Options{})
	defer pool.Background()()
	outcome, err := pool.Do(context.Background(), script.Script{Owner: "test", Source: "const templatesText = " + texts + "\nreturn " + list, Now: time.Unix(0, 0), Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	templates, _ := outcome.Output.([]any)
	if len(templates) < 3 {
		t.Fatalf("%v, want length at least 3", templates)
	}
	for _, each := range templates {
		template := each.(map[string]any)
		for _, issue := range blueprint.Validate(template["map"], nil, project.Catalogue(), project.CheckConfig) {
			if path := issue.Path; path[len(path)-1] != "connectionId" { // left to fill in
				t.Errorf("%v: %+v, want connectionId", template["key"], issue)
			}
		}
	}
}
