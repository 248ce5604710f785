package nodes

import (
	"strings"
	"testing"

	"blueprintd/blueprint"
)

func TestPlaces(t *testing.T) {
	value := object(t, `{"body":{"a":[{"id":1},{"id":2}],"b c":{"d-e":3},"":4,"é":5,"n":null,"0":6}}`)
	for _, test := range []struct{ source, want string }{
		{"body.a[0].id", "1"}, {"body.a[-1].id", "2"}, {"body.a[-2].id", "1"}, {" body.a[1].id ", "2"},
		{`body["b c"].d-e`, "3"}, {`body["b c"]["d-e"]`, "3"}, {`body[""]`, "4"}, {"body.é", "5"}, {`body["\u00e9"]`, "5"}, {"body.0", "6"},
		{"body.a[2].id", "null"}, {"body.a[-3]", "null"}, {"body.n.x", "null"}, {"body.a.id", "null"}, {"body[0]", "null"}, {"x", "null"},
		{"", "bad"}, {".", "bad"}, {"body.", "bad"}, {"body..a", "bad"}, {"body[]", "bad"}, {"body[x]", "bad"}, {"body[1.5]", "bad"}, {"body[0", "bad"}, {`body["a`, "bad"}, {`body["a"`, "bad"},
		{"body[0]x", "bad"}, {"body a", "bad"}, {"[0]", "bad"}, {`["body"]`, "bad"}, {"body[99999999999]", "bad"}, {"body[--1]", "bad"},
		{"a" + strings.Repeat(".a", maxSteps-1), "null"}, {"a" + strings.Repeat(".a", maxSteps), "bad"}, {strings.Repeat("a", maxPlace+1), "bad"},
	} {
		got := "bad"
		if p, ok := parsePlace(test.source); ok {
			got = asJSON(t, p.in(value))
		}
		if got != test.want {
			t.Errorf("%q: got %s", test.source, got)
		}
	}
	p, _ := parsePlace("a.b")
	for before, after := range map[string]string{
		`{}`: `{"a":{"b":7}}`, `{"a":{"b":1,"c":2},"d":3}`: `{"a":{"b":7,"c":2},"d":3}`, `{"a":"text"}`: `{"a":{"b":7}}`,
	} {
		original := object(t, before)
		if got := asJSON(t, p.put(original, 7)); got != after {
			t.Errorf("%s: got %s", before, got)
		}
		if asJSON(t, original) != before {
			t.Errorf("%s was changed", before)
		}
	}
}

func FuzzPlace(f *testing.F) {
	for _, seed := range []string{"body.a[0]", `body["x"].y[-1]`, "a..b", `["`} {
		f.Add(seed)
	}
	value := mustDecode(`{"body":{"a":[1,[2],{"x":{"y":[3]}}]}}`)
	f.Fuzz(func(t *testing.T, source string) {
		p, ok := parsePlace(source)
		if !ok {
			return
		}
		if len(p) == 0 || len(p) > maxSteps {
			t.Fatalf("%q has %d steps", source, len(p))
		}
		p.in(value)
		if p.keysOnly() {
			if got := p.in(p.put(nil, blueprint.MaxDepth)); got != blueprint.MaxDepth {
				t.Fatalf("%q: put and found %v", source, got)
			}
		}
	})
}
