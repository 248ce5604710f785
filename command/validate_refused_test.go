package command

import (
	"strings"
	"testing"
)

// Validation reports what every run of the blueprint would refuse.
func TestWhatARunRefusesIsAnError(t *testing.T) {
	node := func(kind, config string) string {
		return "title: T\nblueprint_map:\n  nodes:\n    - {id: first, type: log, title: First, config: {message: m}}\n    - {id: n, type: " + kind + ", title: N, config: {" + config + "}}\n"
	}
	text := func(text string) string { return node("template", "text: '"+text+"'") }
	each := func(condition string) string {
		return node("for-each", "items: '[1]', nodes: [{id: c, type: conditional, title: C, config: {condition: '"+condition+"'}}]")
	}
	for _, c := range []struct{ bad, want, good string }{
		{text("{{item}}"), "uses item, which only exists inside a for-each node", each("item == 1")},
		{text("{{= index + 1}}"), "uses index, which", each("index > 1")},
		{node("transform", "expression: item.x"), "uses item, which", node("transform", "expression: 'let item = 1; item'")},
		{node("for-each", "items: item.parts, nodes: [{id: i, type: log, title: I, config: {message: m}}]"), "uses item, which",
			node("for-each", "items: '[[1]]', nodes: [{id: i, type: for-each, title: I, config: {items: item, nodes: [{id: j, type: log, title: J, config: {message: '{{item}}'}}]}}]")},
		{text("{{nodes.first.outputs}}"), `nodes.first has no key "outputs"; did you mean "output"?`, text("{{nodes.first.output.outputs}}")},
		{text("{{execution.ID}}"), `execution has no key "ID"; did you mean "id"?`, text("{{execution.id}}")},
		{text("{{execution.started}}"), `execution has no key "started"; it has id`, text("{{execution}}")},
		{text("{{trigger.header.x}}"), `trigger has no key "header"; did you mean "headers"?`, text("{{trigger.headers.x}}")},
		{node("conditional", "condition: '5'"), "must be true or false, this is always a number", node("conditional", "condition: '5 > 4'")},
		{node("conditional", `condition: '"input.total > 5"'`), "this is always a string", node("conditional", `condition: 'input.total > 5'`)},
		{each("len(item)"), "this is always a number", each("len(item) > 1")},
		{node("switch", "cases: [{when: 'true', handle: a}, {when: '[]', handle: b}]"), "config.cases[1].when: a condition must be true or false, this is always an array", node("switch", "cases: [{when: 'input.a', handle: a}]")},
	} {
		t.Run(c.want, func(t *testing.T) {
			if told := lines(checked(t, c.bad)); !strings.Contains(told, c.want) || !strings.HasPrefix(told, "error ") || strings.Count(told, "\n") != 1 {
				t.Errorf("%v, want %q in it, \"error \" at the start and 1", told, c.want)
			}
			if told := lines(checked(t, c.good)); told != "" {
				t.Errorf("%s: %s, want nothing", c.good, told)
			}
		})
	}
}

// A single mistake is one issue, which includes the consequences.
func TestOneMistakeIsReportedOnce(t *testing.T) {
	text := "title: T\nblueprint_map:\n  nodes:\n    - {id: g, type: conditional, title: G, config: {condition: input.a}}\n"
	for _, id := range []string{"a", "b", "c", "d"} {
		text += "    - {id: " + id + ", type: log, title: " + id + ", config: {message: m}}\n"
	}
	text += "  edges: [{source: g, target: a, sourceHandle: ture}, {source: a, target: b}, {source: b, target: c}, {source: a, target: c}, {source: g, target: d}]\n"
	want := "warning blueprint_map.edges[0].sourceHandle: is never taken, so the node \"a\" never runs, nor what only follows it (2): \"conditional\" has no handle \"ture\"; did you mean \"true\"?\n"
	if told := lines(checked(t, text)); told != want {
		t.Errorf("%s, want\n%s", told, want)
	}
}
