package nodes

import (
	"strings"
	"testing"
)

func TestNextLink(t *testing.T) {
	for _, test := range []struct{ values, want string }{
		{``, ``},
		{`<https://api.example/items?page=2>; rel="next", <https://api.example/items?page=9>; rel="last"`, `https://api.example/items?page=2`},
		{`<https://api.example/items?page=1>; rel="prev", </items?a=1,2;3&page=3>; rel="next"`, `/items?a=1,2;3&page=3`},
		{`<a>; rel=prev|<b>; rel=next`, `b`},
		{`<a>;rel=next;title="x, <c>; rel=y"`, `a`},
		{`<a>; title="rel=next, \" <z>; rel=next"; rel="last", <b>; REL = "Next"`, `b`},
		{`<a>; rel="last next"`, `a`},
		{`<a>; rel="nextish", <b>; rel="x-next"`, ``},
		{`<a>; rel="last"; rel="next"`, ``},
		{`<a>; rel="next"; anchor="#x", <b>; rel="next"`, `b`},
		{`<a>; results="true"; rel="next"`, `a`},
		{`< a >; rel="next"`, `a`},
		{`<>; rel="next"`, ``},
		{`<a>, <b>; rel="next"`, `b`},
		{`<a; rel="next"`, ``}, {`a>; rel="next"`, ``}, {`<a> rel="next"`, `a`}, {`<a>; rel="next`, `a`}, {`<a>; rel=`, ``}, {`<a>; rel`, ``}, {`<a>; =next`, ``}, {`;,;,<a>;;,;rel=next`, ``},
	} {
		if got := nextLink(strings.Split(test.values, "|")); got != test.want {
			t.Errorf("%s: got %q", test.values, got)
		}
	}
}

func FuzzLink(f *testing.F) {
	for _, seed := range []string{`<a>; rel="next"`, `<a>; x="\"<b>"; rel=next, <c>`, `<<>>;;==""`, `<a>; rel="`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if target := nextLink([]string{value}); !strings.Contains(value, target) || strings.Contains(target, ">") {
			t.Fatalf("%q leads to %q", value, target)
		}
	})
}
