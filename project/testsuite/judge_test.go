package testsuite

import (
	"context"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

func decoded(t testing.TB, text string) any {
	t.Helper()
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

func TestWhatFits(t *testing.T) {
	for _, test := range []struct{ want, got, wrong string }{
		{`1`, `1.0`, ""},
		{`10`, `1e1`, ""},
		{`1`, `"1"`, `: expected 1, got "1"`},
		{`null`, `null`, ""},
		{`{}`, `null`, `: expected {}, got null`},
		{`{"a":1}`, `{"a":1,"b":2}`, `b: expected nothing, got 2`},
		{`{"a":1,"b":2}`, `{"a":1}`, `b: expected 2, got nothing`},
		{`[1,2]`, `[1]`, `[1]: expected 2, got nothing`},
		{`[1]`, `[1,2]`, `[1]: expected nothing, got 2`},
		{`{"$any":true}`, `null`, ""},
		{`{"a":{"$any":true}}`, `{}`, `a: expected {"$any":true}, got nothing`},
		{`{"$type":"number"}`, `5`, ""},
		{`{"$type":"array"}`, `{}`, `: expected {"$type":"array"}, got {}`},
		{`{"$match":"^a+$"}`, `"aaa"`, ""},
		{`{"$match":"^a+$"}`, `5`, `: expected {"$match":"^a+$"}, got 5`},
		{`{"$partial":{"a":{"b":1}}}`, `{"a":{"b":1,"c":2},"d":3}`, ""},
		{`{"$partial":{"a":1}}`, `{"a":2}`, `$partial.a: expected 1, got 2`},
		{`{"$partial":[1]}`, `[1,2]`, ""},
		{`1e999999999`, `1e999999998`, `: expected 1e999999999, got 1e999999998`},
	} {
		t.Run(test.want+" "+test.got, func(t *testing.T) {
			m := &matching{}
			m.value([]any{"tests", 0, "expect"}, decoded(t, test.want), decoded(t, test.got), false)
			var lines []string
			for i := range m.found {
				lines = append(lines, m.found[i].String())
			}
			if got := strings.Join(lines, "; "); got != test.wrong {
				t.Errorf("%s and %s: %q, want %q", test.want, test.got, got, test.wrong)
			}
		})
	}
}

// A comparison stops with its context: the rest of a text is not read, and no further call fits.
func TestJudgingEndsWithItsContext(t *testing.T) {
	calls := []any{map[string]any{"url": map[string]any{"$match": "one"}}}
	outcome := &Outcome{Recording: &blueprint.Recording{
		Execution: &blueprint.Execution{Output: strings.Repeat("a", 2000) + "b"},
		Exchanges: []blueprint.Exchange{{NodeID: "a", Request: blueprint.ExchangeRequest{Method: "GET", URL: "https://one.example.com/"}}},
	}}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, test := range []struct {
		name         string
		expect       map[string]any
		whole, ended int // mismatches
	}{
		{"a long text", map[string]any{"output": map[string]any{"$match": "b"}}, 0, 1},
		{"unordered", map[string]any{"calls": map[string]any{"unordered": calls}}, 0, 2},
		{"none", map[string]any{"calls": map[string]any{"none": calls}}, 1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			judged := &Test{Expect: test.expect}
			if got := judged.judge(t.Context(), outcome); len(got) != test.whole {
				t.Errorf("%v, want length %d", got, test.whole)
			}
			if got := judged.judge(ended, outcome); len(got) != test.ended {
				t.Errorf("with an ended context %v, want length %d", got, test.ended)
			}
		})
	}
}

func TestKeysOfHosts(t *testing.T) {
	for _, test := range []struct{ scheme, host, want string }{
		{"https", "api.example.com", "api.example.com:443 api.example.com *.example.com:443 *.example.com *.com:443 *.com"},
		{"http", "localhost:8080", "localhost:8080 localhost"},
		{"smtp", "[::1]:25", "[::1]:25 [::1]"},
	} {
		t.Run(test.scheme, func(t *testing.T) {
			if got := strings.Join(hostKeys(test.scheme, test.host), " "); got != test.want {
				t.Errorf("%s: %s, want %s", test.host, got, test.want)
			}
		})
	}
}
