package script

import (
	"context"
	"os"
	"strings"
	"testing"
)

type escape struct{ name, want, source string }

// escapes reads the corpus.
func escapes(t testing.TB) []escape {
	t.Helper()
	data, err := os.ReadFile("testdata/escapes.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []escape
	for _, block := range strings.Split(string(data), "\n=== ")[1:] {
		head, source, _ := strings.Cut(block, "\n")
		name, want, ok := strings.Cut(head, ": ")
		if !ok {
			t.Fatalf("%q says not what must come of it", head)
		}
		all = append(all, escape{name, want, strings.TrimSuffix(source, "\n")})
	}
	return all
}

func TestEscapes(t *testing.T) {
	p := running(t)
	all := escapes(t)
	if len(all) < 60 {
		t.Errorf("only %d scripts are left, want at least 60", len(all))
	}
	for _, e := range all {
		t.Run(e.name, func(t *testing.T) {
			s := script(e.source)
			s.Still = true
			out, err := p.Do(context.Background(), s)
			got := told(out, err)
			prefix, open := strings.CutSuffix(e.want, "*")
			if got != e.want && !(open && strings.HasPrefix(got, prefix)) {
				t.Errorf("%s\n got %s\nwant %s", e.source, got, e.want)
			}
			if strings.HasPrefix(got, CodeFailed) || strings.HasPrefix(got, CodeTimeout) && got != e.want {
				t.Errorf("%s\n%s", e.source, got)
			}
		})
		if got := do(p, script("return typeof left + typeof leak + ({}).a")); got != `"undefinedundefinedundefined"` {
			t.Errorf("after %s, another script sees %s; want \"undefinedundefinedundefined\"", e.name, got)
		}
	}
}
