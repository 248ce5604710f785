package testsuite

import (
	"strings"
	"testing"

	"blueprintd/blueprint"
)

func written(t *testing.T, name, text, expect string) (string, bool, error) {
	t.Helper()
	f, issues, err := Read(name, []byte(text), true)
	if err != nil || len(issues) > 0 {
		t.Fatalf("%s: %v %v, want none", text, issues, err)
	}
	out, err := f.withExpectations([]byte(text), map[int]map[string]any{0: decoded(t, expect).(map[string]any)})
	if err != nil {
		return "", false, err
	}
	return string(out.Data), out.Bare, nil
}

// Rewriting changes what differs, and nothing else.
func TestRewriteChangesWhatDiffers(t *testing.T) {
	const head = "blueprint: a\ntests:\n  - name: one\n"
	for _, test := range []struct{ name, before, expect, after string }{
		{"a scalar keeps its comment and its neighbours'", head + "    expect:\n      # why\n      status: completed # so\n      output:\n        a: 1 # one\n        b: two # two\n",
			`{"status": "completed", "output": {"a": 2, "b": "two"}}`, head + "    expect:\n      # why\n      status: completed # so\n      output:\n        a: 2 # one\n        b: two # two\n"},
		{"on one line", head + "    expect: {status: completed, output: {text: 3 copies}} # short\n", `{"status": "completed", "output": {"text": "4 copies, or so"}}`,
			head + "    expect: {status: completed, output: {text: \"4 copies, or so\"}} # short\n"},
		{"in braces over several lines", head + "    expect: {\n      status: completed, # }\n      output: {a: 1,\n        b: 2}\n    }\n", `{"status": "failed", "output": {"a": 1, "b": 3}}`,
			head + "    expect: {\n      status: failed, # }\n      output: {a: 1,\n        b: 3}\n    }\n"},
		{"members come and go", head + "    expect:\n      status: completed\n      output:\n        a: 1\n        b: 2\n        c: 3 # kept\n", `{"status": "completed", "output": {"a": 1, "c": 3, "d": [1]}}`,
			head + "    expect:\n      status: completed\n      output:\n        a: 1\n        c: 3 # kept\n        d:\n          - 1\n"},
		{"a block for a scalar", head + "    expect:\n      status: completed\n      output: 1 # one\n      error: x\n", `{"status": "completed", "output": {"a": 1}, "error": "x"}`,
			head + "    expect:\n      status: completed\n      output: # one\n        a: 1\n      error: x\n"},
		{"a scalar for a block", head + "    expect:\n      status: completed\n      output:\n        - 1\n        - 2\n      error: x\n", `{"status": "completed", "output": null, "error": "x"}`,
			head + "    expect:\n      status: completed\n      output: null\n      error: x\n"},
		{"nothing yet", head + "    expect:\n    stubs: {}\n", `{"status": "completed"}`, head + "    expect:\n      status: completed\n    stubs: {}\n"},
		{"no expect", head, `{"status": "completed", "error": "x"}`, head + "    expect:\n      status: completed\n      error: x\n"},
		{"a test in braces", "blueprint: a\ntests: [{name: one, expect: {status: failed}}, {name: two}]\n", `{"status": "completed"}`, "blueprint: a\ntests: [{name: one, expect: {status: completed}}, {name: two}]\n"},
		{"lines that end as elsewhere", strings.ReplaceAll(head+"    expect: {status: failed}\n", "\n", "\r\n"), `{"status": "completed"}`, strings.ReplaceAll(head+"    expect: {status: completed}\n", "\n", "\r\n")},
		{"a text of lines", head + "    expect:\n      status: completed\n      output: |\n        a\n        b\n", `{"status": "completed", "output": "c\nd\n"}`, head + "    expect:\n      status: completed\n      output: |\n        c\n        d\n"},
		{"JSON", "{\"blueprint\": \"a\", \"tests\": [{\"name\": \"one\", \"expect\": {\"status\": \"failed\", \"output\": [1, 2]}}]}", `{"status": "failed", "output": [1, 3]}`,
			"{\"blueprint\": \"a\", \"tests\": [{\"name\": \"one\", \"expect\": {\"status\": \"failed\", \"output\": [1, 3]}}]}"},
		{"JSON without", "{\"blueprint\": \"a\", \"tests\": [\n  {\n    \"name\": \"one\"\n  }\n]}", `{"status": "failed"}`,
			"{\"blueprint\": \"a\", \"tests\": [\n  {\n    \"name\": \"one\",\n    \"expect\": {\n      \"status\": \"failed\"\n    }\n  }\n]}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := "a.test.yaml"
			if strings.HasPrefix(test.name, "JSON") {
				file = "a.test.json"
			}
			got, bare, err := written(t, file, test.before, test.expect)
			if err != nil || got != test.after || bare {
				t.Errorf("%v, comments gone: %t\n%s\nwant\n%s", err, bare, got, test.after)
			}
		})
	}
}

// What is shared with something else is not written.
func TestRewriteRefusesWhatIsShared(t *testing.T) {
	for name, test := range map[string]struct {
		index int
		text  string
	}{
		"an anchor": {0, "  - name: one\n    expect: &e\n      status: failed\n  - name: two\n    expect: *e\n"},
		"an alias":  {0, "  - name: one\n    variables: {x: &e {status: failed}}\n    expect: *e\n"},
		"a merge":   {1, "  - &base\n    name: zero\n    expect: {status: completed}\n  - <<: *base\n    name: one\n"},
		"below":     {0, "  - name: one\n    expect: {status: &s failed}\n    inputData: *s\n"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "blueprint: a\ntests:\n" + test.text
			f, issues, err := Read("a.test.yaml", []byte(text), true)
			if err != nil || len(issues) > 0 {
				t.Fatalf("%v %v, want none", issues, err)
			}
			if out, err := f.withExpectations([]byte(text), map[int]map[string]any{test.index: {"status": "paused"}}); err == nil {
				t.Errorf("%s became %s, want an error", name, out.Data)
			} else if !strings.Contains(err.Error(), "edit it yourself") {
				t.Errorf("%v, want \"edit it yourself\" in it", err)
			}
		})
	}
}

// Comments are lost only in rewritten expectations, which is reported.
func TestRewriteTellsOfComments(t *testing.T) {
	got, bare, err := written(t, "a.test.yaml", "blueprint: a\ntests:\n  - name: one\n    expect:\n      status: completed\n      output:\n        # those\n        - 1\n", `{"status": "completed", "output": []}`)
	if err != nil || !bare || strings.Contains(got, "those") {
		t.Errorf("%s %t %v", got, bare, err)
	}
}

func TestMergedKeepsWhatFits(t *testing.T) {
	for _, test := range []struct{ want, got, out string }{
		{`{"a": {"$any": true}, "b": 1}`, `{"a": 5, "b": 2}`, `{"a":{"$any":true},"b":2}`},
		{`{"$partial": {"a": 1, "b": {"$type": "number"}, "gone": 1}}`, `{"a": 2, "b": 3, "c": 4}`, `{"$partial":{"a":2,"b":{"$type":"number"}}}`},
		{`{"$match": "x"}`, `"y"`, `"y"`},
		{`[{"$any": true}, 2]`, `[1, 3, 4]`, `[{"$any":true},3,4]`},
		{`1`, `{"$gt": 5}`, `{"$exact":{"$gt":5}}`},
		{`{"a": 1}`, `{"a": {"$any": true}}`, `{"a":{"$exact":{"$any":true}}}`},
		{`{"$exact": {"$any": true}}`, `{"$any": true}`, `{"$exact":{"$any":true}}`},
		{`{"a": 1, "b": 2}`, `{"$ref": "x"}`, `{"$exact":{"$ref":"x"}}`},
	} {
		t.Run(test.got, func(t *testing.T) {
			out := merged(decoded(t, test.want), decoded(t, test.got), false)
			data, err := blueprint.Encode(out)
			if err != nil || string(data) != test.out {
				t.Errorf("%s and %s: %s, want %s", test.want, test.got, data, test.out)
			}
			m := &matching{}
			if m.value(nil, out, decoded(t, test.got), false); len(m.found) > 0 {
				t.Errorf("%s does not fit %s, want none", data, test.got)
			}
		})
	}
}

func callsMade() []blueprint.Exchange {
	call := func(node, method, url string) blueprint.Exchange {
		return blueprint.Exchange{NodeID: node, Request: blueprint.ExchangeRequest{Method: method, URL: url, Headers: map[string]string{"x-a": "b"}}}
	}
	return []blueprint.Exchange{call("a", "GET", "https://One.example.com/1"), call("b", "POST", "https://two.example.com:8443/2"), call("c", "GET", "https://one.example.com/3")}
}

func TestCallsInAnyOrder(t *testing.T) {
	for _, test := range []struct{ want, wrong string }{
		{`[{"nodeId": "a"}, {"host": "TWO.example.com"}, {"headers": {"X-A": "b"}}]`, ""},
		{`{"unordered": [{"host": "one.example.com"}, {"method": "POST"}, {"nodeId": "a"}]}`, ""},
		{`{"unordered": [{"nodeId": "a"}, {"nodeId": "b"}]}`, `unordered (call 3): expected nothing, got {"method":"GET","nodeId":"c","url":"https://one.example.com/3"}`},
		{`{"some": [{"nodeId": "c"}]}`, ""},
		{`{"some": [{"nodeId": "c"}, {"nodeId": "c"}]}`, `some[1] (no match among 3 calls): expected {"nodeId":"c"}, got nothing`},
		{`{"none": [{"method": "DELETE"}]}`, ""},
		{`{"none": [{"nodeId": "c"}]}`, `none[0] (call 3): expected nothing, got {"method":"GET","nodeId":"c","url":"https://one.example.com/3"}`},
	} {
		t.Run(test.want, func(t *testing.T) {
			m := &matching{}
			m.calls([]any{"tests", 0, "expect"}, decoded(t, test.want), callsMade())
			var lines []string
			for i := range m.found {
				lines = append(lines, m.found[i].String())
			}
			if got := strings.Join(lines, "; "); got != test.wrong {
				t.Errorf("%q, want %q", got, test.wrong)
			}
			updated := mergedCalls(decoded(t, test.want), callsMade())
			m = &matching{}
			if m.calls(nil, updated, callsMade()); len(m.found) > 0 {
				t.Errorf("%s became %v, which does not fit: %v", test.want, updated, m.found)
			}
		})
	}
}
