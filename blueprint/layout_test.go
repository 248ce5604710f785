package blueprint

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLayout(t *testing.T) {
	decoded := func(text string) any {
		t.Helper()
		value, err := Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	const base = `{"nodes":[{"id":"a","position":{"x":1}},{"id":"b","position":{"x":2}},{"id":"c"}],"notes":[{"text":"old"}],"groups":[1]}`
	if diff := cmp.Diff(decoded(`{"nodes":[{"id":"a"},{"id":"b"},{"id":"c"}]}`), WithoutLayout(decoded(base))); diff != "" {
		t.Errorf("without its layout (-want +got):\n%s", diff)
	}
	for _, c := range []struct{ name, changed, current, want string }{
		{"moved meanwhile", `{"nodes":[{"id":"a","position":{"x":1},"config":{"n":1}},{"id":"b","position":{"x":2}},{"id":"c"}],"notes":[{"text":"old"}],"groups":[1]}`,
			`{"nodes":[{"id":"a","position":{"x":9}},{"id":"b"},{"id":"c","position":{"x":3}}],"notes":[{"text":"new"}]}`,
			`{"nodes":[{"id":"a","position":{"x":9},"config":{"n":1}},{"id":"b"},{"id":"c","position":{"x":3}}],"notes":[{"text":"new"}]}`},
		{"moved by the change", `{"nodes":[{"id":"a","position":{"x":5}},{"id":"d","position":{"x":6}}],"notes":[{"text":"mine"}],"groups":[1]}`,
			`{"nodes":[{"id":"a","position":{"x":9}},{"id":"b","position":{"x":2}}],"notes":[{"text":"old"}],"groups":[1,2]}`,
			`{"nodes":[{"id":"a","position":{"x":5}},{"id":"d","position":{"x":6}}],"notes":[{"text":"mine"}],"groups":[1,2]}`},
		{"no map", `5`, base, `5`},
		{"no nodes", `{"nodes":5}`, base, `{"nodes":5}`},
		{"strange nodes", `{"nodes":[5,{"id":5,"position":1}],"notes":[{"text":"old"}],"groups":[1]}`, base, `{"nodes":[5,{"id":5,"position":1}],"notes":[{"text":"old"}],"groups":[1]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(decoded(c.want), MergeLayout(decoded(base), decoded(c.changed), decoded(c.current))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
