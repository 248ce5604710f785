package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/servertest"
)

// bomb is an input whose cost could be out of proportion to its size.
type bomb struct {
	name, procedure string
	text            func(size int) string // of about size bytes
	code            blueprint.Code        // "" = it succeeds
	wants           string
	most            float64 // bytes that the server may allocate for each byte
}

func repeated(before, piece, after string) func(int) string {
	return func(size int) string {
		return before + strings.TrimSuffix(strings.Repeat(piece+",", size/(len(piece)+1)), ",") + after
	}
}

// numbered repeats a text with its position in it.
func numbered(before, piece, after string) func(int) string {
	return func(size int) string {
		var text strings.Builder
		text.WriteString(before)
		for i := 0; text.Len() < size; i++ {
			if i > 0 {
				text.WriteByte(',')
			}
			text.WriteString(strings.ReplaceAll(piece, "N", fmt.Sprint(i)))
		}
		return text.String() + after
	}
}

const oneNode = `{"id":"a","type":"merge","title":"","config":{}}`

var bombs = []bomb{
	// Refused while parsing: next to nothing is allocated.
	{"brackets", "blueprint.create", func(n int) string { return strings.Repeat("[", n) }, "BAD_REQUEST", "nested deeper", 16},
	{"brackets at the end", "blueprint.create", repeated(`{"json":[`, `1`, strings.Repeat("[", 200)), "BAD_REQUEST", "nested deeper", 16},
	{"numbers that never end", "blueprint.create", repeated(`{"json":{"tags":[`, `1`, ``), "BAD_REQUEST", "ends unexpectedly", 16},
	{"a text that never ends", "blueprint.create", func(n int) string { return `{"json":"` + strings.Repeat("x", n) }, "BAD_REQUEST", "ends unexpectedly", 16},
	{"invalid UTF-8 at the end", "blueprint.create", repeated(`{"json":{"tags":[`, `1`, "]}}\xff"), "BAD_REQUEST", "UTF-8", 16},
	// Refused after decoding.
	{"a long number", "blueprint.create", func(n int) string { return `{"json":{"title":` + strings.Repeat("9", n) + `}}` }, "BAD_REQUEST", "title: must be a string", 16},
	{"a long name", "blueprint.create", func(n int) string { return `{"json":{"` + strings.Repeat("k", n) + `":1}}` }, "BAD_REQUEST", "title: required", 16},
	{"a long title", "blueprint.create", func(n int) string { return `{"json":{"title":"` + strings.Repeat("x", n) + `"}}` }, "BAD_REQUEST", "title: must have at most 500 characters", 16},
	{"a long id", "blueprint.get", func(n int) string { return `{"json":{"id":"` + strings.Repeat("f", min(n, 20_000)) + `"}}` }, "BAD_REQUEST", "id: must be a UUID", 64},
	{"many names", "blueprint.create", numbered(`{"json":{`, `"kN":1`, `}}`), "BAD_REQUEST", "title: required", 64},
	{"one name again and again", "blueprint.create", repeated(`{"json":{"title":5,`, `"title":[]`, `}}`), "BAD_REQUEST", "title: must be a string", 64},
	{"many tags", "blueprint.create", repeated(`{"json":{"title":"t","tags":[`, `1`, `]}}`), "BAD_REQUEST", "tags: must have at most 100 elements", 64},
	{"many edges that are none", "blueprint.create", repeated(`{"json":{"title":"t","blueprint_map":{"nodes":[],"edges":[`, `1`, `]}}}`), "BAD_REQUEST", "blueprint_map.edges[999]: must be an object", 64},
	{"many edges to nowhere", "blueprint.create", repeated(`{"json":{"title":"t","blueprint_map":{"nodes":[],"edges":[`, `{"source":"a","target":"b"}`, `]}}}`), "BAD_REQUEST", `blueprint_map.edges[0].source: no node has the id "a"`, 64},
	{"many nodes that are none", "blueprint.create", repeated(`{"json":{"title":"t","blueprint_map":{"nodes":[`, `{}`, `]}}}`), "BAD_REQUEST", "blueprint_map.nodes: must hold at most 10000 nodes", 64},
	{"10,001 nodes", "blueprint.create", func(int) string { return numberedNodes(10_001) }, "BAD_REQUEST", "blueprint_map.nodes: must hold at most 10000 nodes", 64},
	{"many nodes of one id", "blueprint.create", func(n int) string {
		return repeated(`{"json":{"title":"t","blueprint_map":{"nodes":[`, oneNode, `]}}}`)(min(n, 400_000))
	}, "BAD_REQUEST", `blueprint_map.nodes[1].id: "a" is the id of nodes[0] already`, 64},
	{"many variables", "blueprint.create", repeated(`{"json":{"title":"t","environment_variables":[`, `1`, `]}}`), "BAD_REQUEST", "environment_variables: must have at most 1000 elements", 64},
	{"many nodes to run", "execution.executeBlueprintWithLogging", repeated(`{"json":{"options":{"blueprintId":"6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412"},"nodes":[`, `1`, `]}}`), "BAD_REQUEST", "nodes: must hold at most 10000 nodes", 96},
	// Annotations of superjson.
	{"annotations that lead nowhere", "blueprint.create", numbered(`{"json":{"title":"t","tags":[1]},"meta":{"v":1,"values":{`, `"a.b.N":["Date"]`, `}}}`), "BAD_REQUEST", "tags[0]", 64},
	{"annotations of one element", "blueprint.create", func(n int) string {
		var text strings.Builder
		for i := 1; text.Len() < n; i++ {
			fmt.Fprintf(&text, `,"tags.%s0":["Date"]`, strings.Repeat("0", i))
		}
		return `{"json":{"title":"t","tags":["x"]},"meta":{"v":1,"values":{` + text.String()[1:] + `}}}`
	}, "BAD_REQUEST", "tags[0]", 64},
	{"a deep annotation", "blueprint.create", func(n int) string {
		return `{"json":{"title":5},"meta":{"v":1,"values":{"` + strings.Repeat("a.", n/2) + `":["Date"]}}}`
	}, "BAD_REQUEST", "title: must be a string", 64},
	{"an annotation with dots in old style", "blueprint.create", func(n int) string {
		return `{"json":{"title":5},"meta":{"values":{"` + strings.Repeat(".", n) + `":["Date"]}}}`
	}, "BAD_REQUEST", "title: must be a string", 64},
	{"equalities", "blueprint.create", numbered(`{"json":{"title":5},"meta":{"v":1,"referentialEqualities":{`, `"a.N":["b.N","c.N"]`, `}}}`), "BAD_REQUEST", "title: must be a string", 64},
	{"undefined elements", "blueprint.create", numbered(`{"json":{"title":5,"tags":[1,2,3]},"meta":{"v":1,"values":{`, `"tags.N":["undefined"]`, `}}}`), "BAD_REQUEST", "title: must be a string", 64},
	// Valid calls whose responses could be larger than their inputs.
	{"templates that are none", "blueprint.validate", func(n int) string { return templates(n, `{{`) }, "", "there are more issues", 64},
	{"expressions that are none", "blueprint.validate", func(n int) string { return templates(n, `{{= 1 + }}`) }, "", "there are more issues", 64},
	{"expressions", "blueprint.validate", func(n int) string { return templates(n, `{{= a + b }}`) }, "", "a", 400},
	{"unknown types", "blueprint.validate", func(n int) string { return numberedNodesOf(min(n, 400_000), "nope") }, "", "there are more issues", 160},
	{"variables that are none", "blueprint.validate", repeated(`{"json":{"blueprint_map":{"nodes":[]},"environment_variables":[`, `1`, `]}}`), "", "there are more issues", 64},
}

func numberedNodes(count int) string {
	return numberedNodesOf(count*len(`{"id":"N1234","type":"merge","title":"","config":{}},`), "merge")
}

func numberedNodesOf(size int, kind string) string {
	return numbered(`{"json":{"title":"t","blueprint_map":{"nodes":[`, `{"id":"N","type":"`+kind+`","title":"","config":{}}`, `]}}}`)(min(size, 520_000))
}

// templates returns nodes with lists of one template.
func templates(size int, template string) string {
	list := `["` + strings.Repeat(template+`","`, 99) + `"]`
	return numbered(`{"json":{"blueprint_map":{"nodes":[`, `{"id":"N","type":"set","title":"","config":{"values":{"x":`+list+`}}}`, `]}}}`)(size)
}

// TestBombs sends each bomb, with -thorough in two larger sizes: allocations and the
// response are bounded by the size of the input, and nothing changes.
func TestBombs(t *testing.T) {
	v := newVictim(t)
	sizes := []int{1 << 19}
	if *thorough {
		sizes = []int{1 << 20, 2 << 20}
	}
	for _, bomb := range bombs {
		t.Run(bomb.name, func(t *testing.T) {
			v.unharmed(t, func() {
				for _, size := range sizes {
					text := bomb.text(size)
					v.explode(t, &bomb, text)
				}
			})
		})
	}
}

func (v *victim) explode(t *testing.T, bomb *bomb, text string) {
	t.Helper()
	var answer servertest.Reply
	used := allocated(func() {
		if bomb.procedure == "blueprint.get" {
			answer = v.Root.Send(t, http.MethodGet, "/api/trpc/"+bomb.procedure+"?input="+text, "")
		} else {
			answer = v.Root.Send(t, http.MethodPost, "/api/trpc/"+bomb.procedure, text)
		}
	})
	status := http.StatusOK
	if bomb.code != "" {
		status = bomb.code.HTTPStatus()
	}
	if answer.Status != status || answer.Code() != string(bomb.code) || !strings.Contains(strings.ReplaceAll(answer.Text, `\"`, `"`), bomb.wants) {
		t.Errorf("%d bytes: %d %.500s, want %v, Code %v and %q in it", len(text), answer.Status, answer.Text, status, string(bomb.code), bomb.wants)
	}
	if len(answer.Text) > 1<<20 {
		t.Errorf("%d bytes are answered with %d, want at most %v", len(text), len(answer.Text), 1<<20)
	}
	t.Logf("%d bytes: %.1f for each, answer of %d", len(text), used/float64(len(text)), len(answer.Text))
	if bound := bomb.most*float64(len(text)) + 5<<20; used > bound {
		t.Errorf("%.1f MiB for %.1f MiB, want at most %v", used/(1<<20), float64(len(text))/(1<<20), bound)
	}
}
