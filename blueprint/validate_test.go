package blueprint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// checkUses is a ConfigChecker: the texts of config.uses are references, such as "name",
// "execution.id", "nodes.a.output" and, with a default, "name?". Those of config.wrong are
// issues.
func checkUses(config map[string]any, _ func([]any) bool) (refs []blueprint.Reference, issues []blueprint.Issue) {
	uses, _ := config["uses"].([]any)
	for i, use := range uses {
		text, optional := strings.CutSuffix(use.(string), "?")
		ref := blueprint.Reference{Path: []any{"uses", i}, Optional: optional}
		if ref.Name, ref.Key, _ = strings.Cut(text, "."); ref.Name == "nodes" {
			ref.NodeID, ref.Key, _ = strings.Cut(ref.Key, ".")
		}
		refs = append(refs, ref)
	}
	wrong, _ := config["wrong"].([]any)
	for i, message := range wrong {
		issues = append(issues, blueprint.Issue{Path: []any{"wrong", i}, Message: message.(string)})
	}
	return refs, issues
}

var validated = blueprint.Catalogue{
	"note": {Type: "note", Title: "Note", Effect: blueprint.EffectPure},
	"send": {Type: "send", Title: "Send", Effect: blueprint.EffectOnce, Check: func(config map[string]any) []blueprint.Issue {
		if config["to"] == nil {
			return []blueprint.Issue{{Path: []any{"to"}, Message: "required"}}
		}
		return nil
	}},
	"stop":   {Type: "stop", Title: "Stop"},
	"set":    {Type: "set", Title: "Set"},
	"if":     {Type: "if", Title: "If", Handles: []string{"false", "true"}},
	"any":    {Type: "any", Title: "Any", Handles: []string{"*"}},
	"switch": {Type: "switch", Title: "Switch", Handles: []string{"default"}},
	"wait":   {Type: "wait", Title: "Wait", Waits: "time"},
	"human":  {Type: "human", Title: "Human", Answer: func(*blueprint.Task, any) (blueprint.Result, error) { return blueprint.Result{}, nil }},
	"each": {Type: "each", Title: "Each", Body: func(config map[string]any) (map[string]any, []any) {
		body, _ := config["nodes"].(map[string]any)
		return body, []any{"nodes"}
	}},
	"made": {Type: "made", Title: "Made", Body: func(map[string]any) (map[string]any, []any) {
		return map[string]any{"nodes": "generated"}, nil
	}},
	"code": {Type: "code", Title: "Code", Verbatim: func(path []any) bool { return len(path) == 1 && path[0] == "source" }},
	"refs": {Type: "refs", Title: "Refs", References: func(map[string]any) []blueprint.Reference {
		return []blueprint.Reference{{Path: []any{"more"}, Name: "missing"}}
	}},
	"opaque": {Type: "opaque", Title: "Opaque", References: func(map[string]any) []blueprint.Reference {
		return []blueprint.Reference{{Name: blueprint.AnyVariable, Optional: true}}
	}},
}

// findings validates a map, given without the words that all nodes share, and variables.
func findings(t *testing.T, m, variables string) []string {
	t.Helper()
	var list []any
	if variables != "" {
		list = array(t, variables)
	}
	var texts []string
	for _, issue := range blueprint.Validate(decode(t, m), list, validated, checkUses) {
		text := blueprint.PathText(issue.Path) + ": " + issue.Message
		if issue.Severity != blueprint.SeverityError {
			text = issue.Severity + " " + text
		}
		texts = append(texts, strings.Replace(text, "blueprint_map.", "", 1))
	}
	return texts
}

// node returns the JSON of a node with the title of its id; more are further members.
func node(id, kind, config string, more ...string) string {
	return fmt.Sprintf(`{"id":%q,"type":%q,"title":%q,"config":{%s}%s}`, id, kind, id, config, strings.Join(append([]string{""}, more...), ","))
}

// nodes returns the JSON of a map without edges.
func nodes(list ...string) string { return `{"nodes":[` + strings.Join(list, ",") + `]}` }

// graph returns the JSON of a map with edges such as "a b" and "a b handle".
func graph(edges string, list ...string) string {
	var links []string
	for edge := range strings.SplitSeq(edges, ",") {
		words := append(strings.Fields(edge), "")
		links = append(links, fmt.Sprintf(`{"source":%q,"target":%q,"sourceHandle":%q}`, words[0], words[1], words[2]))
	}
	return `{"nodes":[` + strings.Join(list, ",") + `],"edges":[` + strings.Join(links, ",") + `]}`
}

type validation struct {
	m, variables string
	want         []string
}

func checkFindings(t *testing.T, tests map[string]validation) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, findings(t, test.m, test.variables)); diff != "" {
				t.Errorf("issues (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidateNodes(t *testing.T) {
	deep := node("x", "note", "")
	for range 16 {
		deep = node("x", "each", `"nodes":`+nodes(deep))
	}
	checkFindings(t, map[string]validation{
		"empty":                 {`{"nodes":[]}`, "", []string{"warning nodes: is empty: there is nothing to run"}},
		"no map":                {`5`, "", []string{"blueprint_map: must be an object with a nodes array"}},
		"good":                  {nodes(node("a", "note", ""), node("b", "send", `"to":"x"`)), "", nil},
		"unknown type":          {nodes(node("a", "noet", "")), "", []string{`nodes[0].type: unknown node type "noet"; known types: any, code, each, human, if, made, note, opaque, refs, send, set, stop, switch, wait; did you mean "note"?`}},
		"unknown, but disabled": {nodes(node("a", "strangest", "", `"disabled":true`)), "", []string{`warning nodes[0].type: unknown node type "strangest"; known types: any, code, each, human, if, made, note, opaque, refs, send, set, stop, switch, wait`}},
		"config by its type":    {nodes(node("a", "send", "")), "", []string{"nodes[0].config.to: required"}},
		"config by its check":   {nodes(node("a", "note", `"wrong":["is bad","is worse"]`)), "", []string{"nodes[0].config.wrong[0]: is bad", "nodes[0].config.wrong[1]: is worse"}},
		"invalid member":        {nodes(node("a", "note", "", `"onError":"no"`)), "", []string{`nodes[0].onError: must be "stop", "continue" or "branch"`}},
		"cycle":                 {graph("a b,b a", node("a", "note", ""), node("b", "note", "")), "", []string{"edges: form a cycle: a -> b -> a"}},
		"timeouts": {nodes(node("a", "note", "", `"timeoutMs":5`), node("b", "wait", "", `"timeoutMs":5`), node("c", "human", "", `"timeoutMs":5`), node("d", "each", "", `"timeoutMs":5`), node("e", "wait", "")), "", []string{
			"warning nodes[1].timeoutMs: has no effect on a node that only waits", "warning nodes[2].timeoutMs: has no effect on a node that only waits", "warning nodes[3].timeoutMs: has no effect on a node that only waits",
		}},
		"errors inside":     {nodes(node("a", "each", `"nodes":`+nodes(node("b", "send", "")))), "", []string{"nodes[0].config.nodes.nodes[0].config.to: required"}},
		"generated inside":  {nodes(node("a", "made", "")), "", nil},
		"empty inside":      {nodes(node("a", "each", `"nodes":`+nodes())), "", nil},
		"ambiguous ids":     {nodes(node("a]/b", "note", ""), node("c", "each", "")), "", []string{`nodes[0].id: must not contain "]/" in a blueprint with a for-each node: give the node another id`}},
		"no ambiguity":      {nodes(node("a]/b", "note", "")), "", nil},
		"nested 16 deep":    {nodes(deep), "", nil},
		"nested 17 deep":    {nodes(node("y", "each", `"nodes":`+nodes(deep))), "", []string{"nodes[0]" + strings.Repeat(".config.nodes.nodes[0]", 16) + ".config.nodes: each nodes are nested more than 16 deep"}},
		"several of a kind": {nodes(node("a", "note", ""), node("a", "note", "")), "", []string{`nodes[1].id: "a" is the id of nodes[0] already`, "warning nodes[1].title: is also the title of nodes[0]: their steps are hard to distinguish"}},
	})
}

// TestValidateShapeAndMore checks that a map with mistakes in its shape shows those of its other
// parts too, but none that follow from them.
func TestValidateShapeAndMore(t *testing.T) {
	send, unknown := node("s", "send", ""), node("u", "noet", "")
	wrongSend, wrongType := "config.to: required", `unknown node type "noet"; known types: any, code, each, human, if, made, note, opaque, refs, send, set, stop, switch, wait; did you mean "note"?`
	list := func(list string, edges string) string { return `{"nodes":[` + list + `],"edges":[` + edges + `]}` }
	checkFindings(t, map[string]validation{
		"title": {nodes(`{"id":"a","type":"send","config":{}}`, send), "", []string{"nodes[0].title: required", "nodes[0].config.to: required", "nodes[1]." + wrongSend}},
		"type and config": {nodes(`{"id":"a","title":"A"}`, `{"id":"b","type":"send","title":"B"}`, unknown), "", []string{
			"nodes[0].type: required", "nodes[0].config: required", "nodes[1].config: required", "nodes[2].type: " + wrongType}},
		"no node": {nodes(`5`, send), "", []string{"nodes[0]: must be an object", "nodes[1]." + wrongSend}},
		"edges": {list(node("i", "if", "")+","+send, `5,{"source":"i"},{"source":"i","target":"nowhere"},{"source":"i","target":"s","sourceHandle":"ture"}`), "", []string{
			"edges[0]: must be an object", "edges[1].target: required", `edges[2].target: no node has the id "nowhere"`, "nodes[1]." + wrongSend,
			`warning edges[3].sourceHandle: is never taken: "if" has no handle "ture"; did you mean "true"?`}},
		"edges no list": {`{"nodes":[` + send + `,` + node("n", "note", "") + `],"edges":5}`, "", []string{"edges: must be an array", "nodes[0]." + wrongSend}},
		"edges and a cycle": {list(node("a", "note", "")+","+node("b", "note", ""), `{"source":"a","target":"b"},{"source":"b","target":"a"},5`), "", []string{
			"edges[2]: must be an object", "edges: form a cycle: a -> b -> a"}},
		"ids": {list(`{"type":"note","title":"A","config":{}},`+node("b", "note", `"uses":["nodes.fetch.output","zebra"]`)+","+node("b", "send", ""), `{"source":"b","target":"b","sourceHandle":"yes"}`), "", []string{
			"nodes[0].id: required", `nodes[2].id: "b" is the id of nodes[1] already`, `warning nodes[1].config.uses[1]: uses the variable "zebra", which is not declared: every run must pass it`, "nodes[2].config.to: required",
			"warning nodes[2].title: is also the title of nodes[1]: their steps are hard to distinguish",
		}},
		"ids of edges":     {list(`{"id":5,"type":"note","title":"A","config":{}}`, `{"source":"5","target":"a"}`), "", []string{"nodes[0].id: must be a string"}},
		"a broken set":     {nodes(`{"id":"a","type":"set","title":"A"}`, node("b", "note", `"uses":["zebra","nodes.zebra.output"]`)), "", []string{"nodes[0].config: required", `nodes[1].config.uses[1]: refers to the node "zebra", which does not exist`}},
		"unused variables": {nodes(`{"id":"a","type":"note","title":"A"}`), `[{"name":"x"}]`, []string{"nodes[0].config: required"}},
		"no nodes":         {`{"nodes":5,"edges":5}`, "", []string{"nodes: must be an array"}},
		"inside":           {nodes(node("a", "each", `"nodes":`+nodes(`{"id":"b","type":"note","title":"B"}`, send))), "", []string{"nodes[0].config.nodes.nodes[0].config: required", "nodes[0].config.nodes.nodes[1]." + wrongSend}},
		"variables":        {nodes(send), `[{"name":5}]`, []string{"environment_variables[0].name: must be a string", "nodes[0]." + wrongSend}},
	})
}

func TestValidateReferences(t *testing.T) {
	uses := func(texts string) string { return `"uses":["` + strings.Join(strings.Fields(texts), `","`) + `"]` }
	checkFindings(t, map[string]validation{
		"declared":              {nodes(node("a", "note", uses("x"))), `[{"name":"x"}]`, nil},
		"undeclared":            {nodes(node("a", "note", uses("color"))), `[{"name":"colour"}]`, []string{`warning nodes[0].config.uses[0]: uses the variable "color", which is not declared: every run must pass it; did you mean "colour"?`, "warning environment_variables[0].name: is used by no node"}},
		"undeclared, twice":     {nodes(node("a", "note", uses("zebra zebra")), node("b", "note", uses("zebra"))), "", []string{`warning nodes[0].config.uses[0]: uses the variable "zebra", which is not declared: every run must pass it`, `warning nodes[1].config.uses[0]: uses the variable "zebra", which is not declared: every run must pass it`}},
		"with a default":        {nodes(node("a", "note", uses("zebra?"))), "", nil},
		"set by a node":         {nodes(node("a", "note", uses("zebra")), node("b", "set", `"values":{"zebra":1}`)), "", nil},
		"values of others":      {nodes(node("a", "note", uses("zebra")), node("b", "note", `"values":{"zebra":1}`)), "", []string{`warning nodes[0].config.uses[0]: uses the variable "zebra", which is not declared: every run must pass it`}},
		"reserved names":        {nodes(node("a", "note", uses("input now inputData"))), "", nil},
		"by the type":           {nodes(node("a", "refs", "")), "", []string{`warning nodes[0].config.more: uses the variable "missing", which is not declared: every run must pass it`}},
		"item outside":          {nodes(node("a", "note", uses("item index?"))), "", []string{"nodes[0].config.uses[0]: uses item, which only exists inside a for-each node", "warning nodes[0].config.uses[1]: uses index, which only exists inside a for-each node"}},
		"item inside":           {nodes(node("a", "each", `"nodes":`+nodes(node("b", "note", uses("item index"))))), "", nil},
		"keys":                  {nodes(node("a", "note", uses("execution.id blueprint.title trigger.headers input.any"))), "", nil},
		"unknown key":           {nodes(node("a", "note", uses("execution.idd execution.user blueprint.titel?"))), "", []string{`nodes[0].config.uses[0]: execution has no key "idd"; did you mean "id"?`, `nodes[0].config.uses[1]: execution has no key "user"; it has id`, `warning nodes[0].config.uses[2]: blueprint has no key "titel"; did you mean "title"?`}},
		"earlier node":          {nodes(node("a", "note", ""), node("b", "note", uses("nodes.a.output nodes.a"))), "", nil},
		"key of a node":         {nodes(node("a", "note", ""), node("b", "note", uses("nodes.a.outptu nodes.a.error?"))), "", []string{`nodes[1].config.uses[0]: nodes.a has no key "outptu"; did you mean "output"?`, `warning nodes[1].config.uses[1]: nodes.a has no key "error"; it has output`}},
		"later node":            {nodes(node("a", "note", uses("nodes.b.output nodes.a.output?")), node("b", "note", "")), "", []string{`warning nodes[0].config.uses[0]: refers to the node "b", which does not lead to this one: its output is never available`, `warning nodes[0].config.uses[1]: refers to the node "a", which does not lead to this one: its output is never available`}},
		"node beside":           {graph("a b,a c", node("a", "note", ""), node("b", "note", ""), node("c", "note", uses("nodes.b.output nodes.a.output"))), "", []string{`warning nodes[2].config.uses[0]: refers to the node "b", which does not lead to this one: its output is never available`}},
		"unknown node":          {nodes(node("fetch", "note", uses("nodes.fecth.output nodes.zebra.output?"))), "", []string{`nodes[0].config.uses[0]: refers to the node "fecth", which does not exist; did you mean "fetch"?`, `warning nodes[0].config.uses[1]: refers to the node "zebra", which does not exist`}},
		"from inside":           {nodes(node("a", "note", ""), node("b", "each", `"nodes":`+nodes(node("c", "note", uses("nodes.a.output nodes.d.output nodes.zebra.output x")))), node("d", "note", "")), `[{"name":"x"}]`, []string{`warning nodes[1].config.nodes.nodes[0].config.uses[1]: refers to the node "d", which does not lead to this one: its output is never available`, `nodes[1].config.nodes.nodes[0].config.uses[2]: refers to the node "zebra", which does not exist`}},
		"own node hides others": {nodes(node("a", "note", ""), node("b", "each", `"nodes":`+nodes(node("c", "note", uses("nodes.a.output")), node("a", "note", "")))), "", []string{`warning nodes[1].config.nodes.nodes[0].config.uses[0]: refers to the node "a", which does not lead to this one: its output is never available`}},
		"names of inside":       {nodes(node("a", "each", `"nodes":`+nodes(node("b", "set", `"values":{"zebra":1}`))), node("c", "note", uses("zebra"))), "", []string{`warning nodes[1].config.uses[0]: uses the variable "zebra", which is not declared: every run must pass it`}},
		"hint of outside":       {nodes(node("b", "each", `"nodes":`+nodes(node("c", "note", uses("color"))))), `[{"name":"colour"}]`, []string{`warning nodes[0].config.nodes.nodes[0].config.uses[0]: uses the variable "color", which is not declared: every run must pass it; did you mean "colour"?`, "warning environment_variables[0].name: is used by no node"}},
		"in a cycle":            {graph("a b,b a", node("a", "note", uses("nodes.b.output")), node("b", "note", "")), "", []string{"edges: form a cycle: a -> b -> a"}},
	})
}

// Similar names are searched for a bounded number of times.
func TestValidateHintsAreBounded(t *testing.T) {
	// The 50th search is made, the next one is not.
	for _, test := range []struct{ use, hint string }{{"color%s", "color1"}, {"nodes.node%s.output", "node1"}} {
		t.Run(test.use, func(t *testing.T) {
			for before, want := range map[int]bool{49: true, 50: false} {
				t.Run(fmt.Sprint(before), func(t *testing.T) {
					var uses []string
					for i := range before {
						uses = append(uses, fmt.Sprintf(`"`+test.use+`"`, fmt.Sprint("xyzxyz", i)))
					}
					uses = append(uses, fmt.Sprintf(`"`+test.use+`"`, "11"))
					got := findings(t, nodes(node("node1", "note", `"uses":[`+strings.Join(uses, ",")+`]`)), `[{"name":"color1"}]`)
					if last := got[before]; strings.Contains(last, `did you mean "`+test.hint) != want {
						t.Errorf("after %d searches: %q; want a hint: %v", before, last, want)
					}
				})
			}
		})
	}
}

func TestValidateEdges(t *testing.T) {
	a, b, c, d := node("a", "note", ""), node("b", "note", ""), node("c", "note", ""), node("d", "note", "")
	checkFindings(t, map[string]validation{
		"good":                {graph("a b,b c,a c", a, b, c), "", nil},
		"twice":               {graph("a b,a b", a, b), "", []string{"warning edges[1]: duplicates edges[0]"}},
		"other handle":        {graph("a b true,a b false,a b", node("a", "if", ""), b), "", nil},
		"unconnected":         {graph("a b", a, b, c, node("d", "note", "", `"disabled":true`)), "", []string{"warning nodes[2]: is connected to no other node: it runs at the start, in parallel with the others"}},
		"handle of others":    {graph("a b yes", a, b), "", []string{`warning edges[0].sourceHandle: is never taken, so the node "b" never runs: "note" has no handle "yes"`}},
		"slip in a handle":    {graph("a b ture", node("a", "if", ""), b), "", []string{`warning edges[0].sourceHandle: is never taken, so the node "b" never runs: "if" has no handle "ture"; did you mean "true"?`}},
		"any handle":          {graph("a b yes", node("a", "any", ""), b), "", nil},
		"handle of a case":    {graph("a b yes,a c default,a c no", node("a", "switch", `"cases":[{"handle":"yes"},{},5,{"handle":7}]`), b, c), "", []string{`warning edges[2].sourceHandle: is never taken: "switch" has no handle "no"`}},
		"handle of no case":   {graph("a b yess", node("a", "switch", `"cases":[{"handle":"yes"}]`), b), "", []string{`warning edges[0].sourceHandle: is never taken, so the node "b" never runs: "switch" has no handle "yess"; did you mean "yes"?`}},
		"error":               {graph("a b error", node("a", "note", "", `"onError":"branch"`), b), "", nil},
		"error, no branch":    {graph("a b error", node("a", "note", "", `"onError":"continue"`), b), "", []string{`warning edges[0].sourceHandle: is never taken, so the node "b" never runs: the source does not have "onError": "branch"`}},
		"disabled":            {graph("a b,a c true", node("a", "if", "", `"disabled":true`), b, c), "", []string{`warning edges[1].sourceHandle: is never taken, so the node "c" never runs: a disabled node takes only edges without a sourceHandle`}},
		"from a stop":         {graph("a b,a c error,b d,b d", node("a", "stop", ""), b, c, d), "", []string{"warning edges[3]: duplicates edges[2]", `warning edges[0]: is never taken, so the node "b" never runs, nor what only follows it (1): the source ends the run`, `warning edges[1].sourceHandle: is never taken, so the node "c" never runs: the source ends the run`}},
		"from a stop that":    {graph("a b", node("a", "stop", "", `"onError":"continue"`), b), "", nil},
		"joined again":        {graph("a b yes,a c,b d,c d", a, b, c, d), "", []string{`warning edges[0].sourceHandle: is never taken, so the node "b" never runs: "note" has no handle "yes"`}},
		"two ways into one":   {graph("a c yes,b c no,c d", a, b, c, d), "", []string{`warning edges[0].sourceHandle: is never taken: "note" has no handle "yes"`, `warning edges[1].sourceHandle: is never taken, so the node "c" never runs, nor what only follows it (1): "note" has no handle "no"`}},
		"one way of two":      {graph("a c yes,b c", a, b, c), "", []string{`warning edges[0].sourceHandle: is never taken: "note" has no handle "yes"`}},
		"counted once":        {graph("a b yes,a c no,b d,c d", a, b, c, d), "", []string{`warning edges[0].sourceHandle: is never taken, so the node "b" never runs, nor what only follows it (1): "note" has no handle "yes"`, `warning edges[1].sourceHandle: is never taken, so the node "c" never runs: "note" has no handle "no"`}},
		"after a lost node":   {graph("a b yes,b c,b d no", a, b, c, d), "", []string{`warning edges[0].sourceHandle: is never taken, so the node "b" never runs, nor what only follows it (2): "note" has no handle "yes"`, `warning edges[2].sourceHandle: is never taken: "note" has no handle "no"`}},
		"behind a stop":       {nodes(a, node("b", "stop", ""), c, d, node("e", "note", "")), "", []string{`warning nodes[2]: never runs: the node "b" before it ends the run, also for the 2 after it`}},
		"one behind a stop":   {nodes(node("b", "stop", ""), c), "", []string{`warning nodes[1]: never runs: the node "b" before it ends the run`}},
		"two stops":           {nodes(node("b", "stop", ""), node("c", "stop", ""), d), "", []string{`warning nodes[1]: never runs: the node "b" before it ends the run, also for the 1 after it`}},
		"stop at the end":     {nodes(a, node("b", "stop", "")), "", nil},
		"disabled stop":       {nodes(node("b", "stop", "", `"disabled":true`), c), "", nil},
		"stop that continues": {nodes(node("b", "stop", "", `"onError":"continue"`), c), "", nil},
		"stop with edges":     {graph("b c", node("b", "note", ""), c, node("d", "stop", "")), "", []string{"warning nodes[2]: is connected to no other node: it runs at the start, in parallel with the others"}},
		"one node and edges":  {`{"nodes":[` + a + `],"edges":[]}`, "", nil},
	})
}

func TestValidateHabits(t *testing.T) {
	titled := func(id, kind, title string, more ...string) string {
		return fmt.Sprintf(`{"id":%q,"type":%q,"title":%q,"config":{}%s}`, id, kind, title, strings.Join(append([]string{""}, more...), ","))
	}
	var wide []string
	for i := range 95 {
		wide = append(wide, fmt.Sprintf(`"x%d":1`, i))
	}
	checkFindings(t, map[string]validation{
		"same title":            {nodes(titled("a", "note", "Get it"), titled("b", "note", "Get it"), titled("c", "note", "Get it")), "", []string{"warning nodes[1].title: is also the title of nodes[0]: their steps are hard to distinguish", "warning nodes[2].title: is also the title of nodes[0]: their steps are hard to distinguish"}},
		"default title":         {nodes(titled("a", "note", "Note"), titled("b", "note", "Note")), "", nil},
		"title of another type": {nodes(titled("a", "note", "Stop"), titled("b", "note", "Stop")), "", []string{"warning nodes[1].title: is also the title of nodes[0]: their steps are hard to distinguish"}},
		"no titles":             {nodes(titled("a", "note", ""), titled("b", "note", ""), titled("c", "note", " "), titled("d", "note", " ")), "", nil},
		"same title of unknown": {nodes(titled("a", "lost", "Get it", `"disabled":true`), titled("b", "lost", "Get it", `"disabled":true`)), "", []string{
			`warning nodes[0].type: unknown node type "lost"; known types: any, code, each, human, if, made, note, opaque, refs, send, set, stop, switch, wait`, `warning nodes[1].type: unknown node type "lost"; known types: any, code, each, human, if, made, note, opaque, refs, send, set, stop, switch, wait`,
			"warning nodes[1].title: is also the title of nodes[0]: their steps are hard to distinguish",
		}},
		"retry of once":       {nodes(node("a", "send", `"to":1`, `"retry":{"maxAttempts":2}`)), "", []string{"warning nodes[0].retry: has little effect: this node must not act twice, so it is retried only if nothing was sent"}},
		"one attempt":         {nodes(node("a", "send", `"to":1`, `"retry":{"maxAttempts":1}`)), "", nil},
		"retry of the rest":   {nodes(node("a", "note", "", `"retry":{"maxAttempts":2}`)), "", nil},
		"declared harmless":   {nodes(node("a", "send", `"to":1`, `"retry":{"maxAttempts":2}`, `"effect":"idempotent"`)), "", nil},
		"declared once":       {nodes(node("a", "note", "", `"retry":{"maxAttempts":2}`, `"effect":"once"`)), "", []string{"warning nodes[0].retry: has little effect: this node must not act twice, so it is retried only if nothing was sent"}},
		"misspelled members":  {nodes(node("a", "note", "", `"on_eror":"stop"`, `"retries":2`, `"position":1`, `"retry":{"attempts":3,"maxAttempts":2,"delay_ms":1}`)), "", []string{`warning nodes[0].on_eror: has no effect; did you mean "onError"?`, `warning nodes[0].retries: has no effect; did you mean "retry"?`, `warning nodes[0].retry.attempts: has no effect; did you mean "maxAttempts"?`, `warning nodes[0].retry.delay_ms: has no effect; did you mean "delayMs"?`}},
		"present member":      {nodes(node("a", "note", "", `"titel":"x"`)), "", []string{`warning nodes[0].titel: has no effect; did you mean "title"?`}},
		"present short name":  {nodes(node("a", "note", "", `"i":"x"`)), "", nil},
		"absent one is meant": {`{"nodes":[` + node("a", "note", "") + `],"edges":[{"source":"a","target":"a","sourceHandel":"x"}]}`, "", []string{"edges: form a cycle: a -> a", `warning edges[0].sourceHandel: has no effect; did you mean "sourceHandle"?`}},
		"99 members":          {nodes(node("a", "note", "", append(wide, `"on_eror":"x"`)...)), "", []string{`warning nodes[0].on_eror: has no effect; did you mean "onError"?`}},
		"100 members":         {nodes(node("a", "note", "", append(wide, `"on_eror":"x"`, `"y":1`)...)), "", nil},
		"id of an edge":       {`{"nodes":[` + node("a", "note", "") + `,` + node("b", "note", "") + `],"edges":[{"id":"e","source":"a","target":"b"}]}`, "", nil},
		"unused variable":     {nodes(node("a", "note", `"uses":["x"]`)), `[{"name":"x","typ":"number"},{"name":"y"}]`, []string{`warning environment_variables[0].typ: has no effect; did you mean "type"?`, "warning environment_variables[1].name: is used by no node"}},
		"any may be used":     {nodes(node("a", "opaque", "")), `[{"name":"x"}]`, nil},
		"wrong variables":     {nodes(node("a", "note", "")), `[{"name":"x"},5]`, []string{"environment_variables[1]: must be an object"}},
		"of unknown types":    {nodes(titled("a", "lost", "x", `"disabled":true`)), `[{"name":"x"}]`, []string{`warning nodes[0].type: unknown node type "lost"; known types: any, code, each, human, if, made, note, opaque, refs, send, set, stop, switch, wait`}},
	})
}

// The issues are bounded. The last one reports that some are omitted, with their worst severity.
func TestValidateIsBounded(t *testing.T) {
	for name, test := range map[string]struct {
		each     string // members of each node beside its id
		count    int
		want     int
		severity string
	}{
		"as many as are shown": {`"type":"note","title":"x","config":{}`, 1001, 1000, ""},
		"one warning more":     {`"type":"note","title":"x","config":{}`, 1002, 1001, "warning"},
		"warnings":             {`"type":"note","title":"x","config":{}`, 2000, 1001, "warning"},
		"errors":               {`"type":"note","title":"","config":{"wrong":["is bad"]}`, 1001, 1001, "error"},
		"errors, many":         {`"type":"note","title":"","config":{"wrong":["is bad","is worse"]}`, 1001, 1001, "error"},
	} {
		t.Run(name, func(t *testing.T) {
			var list []string
			for i := range test.count {
				list = append(list, fmt.Sprintf(`{"id":"n%d",%s}`, i, test.each))
			}
			issues := blueprint.Validate(decode(t, nodes(list...)), nil, validated, checkUses)
			if len(issues) != test.want {
				t.Fatalf("got %d issues, want %d", len(issues), test.want)
			}
			last := issues[len(issues)-1]
			if more := strings.Contains(last.Message, "there are more issues"); more != (test.severity != "") || more && last.Severity != test.severity {
				t.Errorf("the last issue is %+v; want one that says there are more, of severity %q", last, test.severity)
			}
		})
	}
}
