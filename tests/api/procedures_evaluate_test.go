package api

import (
	"fmt"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/servertest"
)

// evaluating returns the input of blueprint.evaluateExpressions for expressions over more.
func evaluating(more object, texts ...string) object {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = object{"text": text, "language": "expression"}
	}
	input := object{"expressions": list}
	for name, value := range more {
		input[name] = value
	}
	return input
}

func TestEvaluateExpressions(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	for _, test := range []struct{ input, want string }{
		{`{"expressions": [{"text": "Dear {{input.name}}"}, {"text": "{{= input.total * 2 }}"}, {"text": "input.total > 100", "language": "expression"}, {"text": "plain"}],
			"data": {"input": {"name": "Ada", "total": 12.50}}}`,
			`{"results": [{"value": "Dear Ada"}, {"value": 25}, {"value": false}, {"value": "plain"}]}`},
		{`{"expressions": [{"text": "{{= input.total * }}"}, {"text": "a +\n  b b", "language": "expression"}, {"text": "{{input.x"}, {"text": "{{inptu.x}}"}, {"text": "input.name * 2", "language": "expression"}],
			"data": {"input": {"name": "Ada"}}}`,
			`{"results": [
				{"value": null, "error": {"code": "bad_expression", "message": "the expression ends too early", "line": 1, "column": 18}},
				{"value": null, "error": {"code": "bad_expression", "message": "unexpected token Identifier(\"b\")", "line": 2, "column": 5}},
				{"value": null, "error": {"code": "bad_template", "message": "expected \"}}\", found the end (to write \"{{\" itself: {{= \"{{\" }})", "line": 1, "column": 10}},
				{"value": null, "error": {"code": "unknown_name", "message": "inptu.x: no such name \"inptu\" (known here: input, now)"}},
				{"value": null, "error": {"code": "expression_failed", "message": "* cannot take a string and a number", "line": 1, "column": 12}}]}`},
		{`{"expressions": [{"text": "now", "language": "expression"}, {"text": "{{nodes.a.output ?? \"none\"}}"}], "data": {"nodes": {"a": {"output": null}}}}`,
			`{"results": [{"value": "` + noonText + `"}, {"value": "none"}]}`},
		{`{"expressions": [{"text": "input.token == \"x\"", "language": "expression"}], "data": {"input": {"token": "***"}}}`, `{"results": [{"value": false, "masked": true}]}`},
		{`{"expressions": [{"text": "input.total > 100", "language": "condition"}, {"text": "input.total", "language": "condition"}, {"text": "input.gone", "language": "condition"},
			{"text": "input.name * 2", "language": "condition"}, {"text": "input.token", "language": "condition"}, {"text": "repeat(\"x\", 1048576)", "language": "condition"}],
			"data": {"input": {"name": "Ada", "total": 120, "token": "***"}}}`,
			`{"results": [
				{"value": true},
				{"value": 120, "error": {"code": "not_boolean", "message": "must be true or false, and is a number"}},
				{"value": null, "error": {"code": "not_boolean", "message": "must be true or false, and is null"}},
				{"value": null, "error": {"code": "expression_failed", "message": "* cannot take a string and a number", "line": 1, "column": 12}},
				{"value": "***", "masked": true}, {"value": null, "omitted": true}]}`},
		{`{"expressions": [{"text": "repeat(\"x\", 1048576)", "language": "expression"}, {"text": "1", "language": "expression"}]}`, `{"results": [{"value": null, "omitted": true}, {"value": 1}]}`},
	} {
		servertest.Shape(t, test.input, ada.OK(t, "blueprint.evaluateExpressions", servertest.Decoded(t, test.input)), test.want)
	}
	for _, input := range []string{
		`{}`, `{"expressions": []}`, `{"expressions": [{"language": "expression"}]}`, `{"expressions": [{"text": "1", "language": "javascript"}]}`, `{"expressions": [{"text": "1"}], "nodeId": "a"}`,
		`{"expressions": [` + strings.Repeat(`{"text": "1"},`, 50) + `{"text": "1"}]}`, `{"expressions": [{"text": "` + strings.Repeat("x", 65537) + `"}]}`, `{"expressions": [{"text": "1"}], "data": []}`,
	} {
		ada.Refused(t, blueprint.CodeBadRequest, "blueprint.evaluateExpressions", servertest.Decoded(t, input))
	}
}

// Over a run, names have the values that the run shows, and data takes precedence.
func TestEvaluateOverRun(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	ada := s.NewUser(t, "ada")
	inner := []any{node("double", "transform", object{"expression": "item * 2"}), node("say", "template", object{"text": "{{input}}"})}
	id := ada.IDOf(t, "blueprint.create", object{
		"title": "t", "environment_variables": []any{object{"name": "city"}},
		"blueprint_map": object{"nodes": []any{
			node("mark", "set", object{"values": object{"level": "{{inputData.level}}"}}),
			node("list", "transform", object{"expression": "[1, 2]"}),
			node("each", "for-each", object{"items": "{{input}}", "nodes": inner}),
		}},
	})
	answer := ada.OK(t, "blueprint.execute", object{"id": id, "variables": object{"city": "Bern"}, "inputData": object{"level": 3}})
	run := object{"executionId": at(answer, "executionId")}
	of := func(node string, data object) object {
		return object{"executionId": run["executionId"], "nodeId": node, "data": data}
	}
	for _, test := range []struct {
		over       object
		expression string
		want       string
	}{
		{run, `inputData.level + level`, `{"value": 6}`},
		{run, `city`, `{"value": "Bern"}`},
		{run, `execution.id`, fmt.Sprintf(`{"value": %q}`, run["executionId"])},
		{run, `nodes.each.output`, `{"value": [{"text": "2"}, {"text": "4"}]}`},
		{run, `input`, `{"value": null, "error": {"code": "unknown_name", "message": "input: no such name \"input\" (known here: inputData, now, city, level, nodes, execution)"}}`},
		{of("each", nil), `input`, `{"value": [1, 2]}`},
		{of("each[1]/say", nil), `[input, nodes.double.output, nodes.list.output]`, `{"value": [4, 4, [1, 2]]}`},
		{of("each[0]/say", nil), `nodes.double.output`, `{"value": 2}`},
		{of("each[0]/say", object{"input": 7, "nodes": object{"double": object{"output": 8}}, "city": "Chur", "item": 1}), `[input, nodes.double.output, nodes.list.output, city, item]`, `{"value": [7, 8, [1, 2], "Chur", 1]}`},
	} {
		t.Run(test.expression, func(t *testing.T) {
			got := ada.OK(t, "blueprint.evaluateExpressions", evaluating(test.over, test.expression))
			servertest.Shape(t, test.expression, got, `{"results": [`+test.want+`]}`)
		})
	}
	ada.Refused(t, blueprint.CodeBadRequest, "blueprint.evaluateExpressions", evaluating(of("gone", nil), "1"))
	ada.Refused(t, blueprint.CodeNotFound, "blueprint.evaluateExpressions", evaluating(object{"executionId": "exec_1_unknown"}, "1"))
}

// What an expression returns over a run does not depend on what the run masks: two runs
// with different secrets have the same responses.
func TestEvaluateCannotProbeSecrets(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada, eve := s.NewUser(t, "ada"), s.NewUser(t, "eve")
	id := ada.IDOf(t, "blueprint.create", object{
		"title": "t", "environment_variables": []any{object{"name": "token", "secret": true}},
		"blueprint_map": object{"nodes": []any{
			node("make", "template", object{"text": "Bearer {{token}}"}),
			node("pick", "transform", object{"expression": `{password: inputData.password, token: token, half: token[0:9], n: 1}`}),
			node("pass", "transform", object{"expression": `[input, token]`}),
		}},
	})
	secrets := []string{"s3cret-of-the-first-run", "another one, and a longer one"}
	probes := []string{
		`token`, `nodes.make.output.text`, `nodes.pick.output`, `nodes.pass.output`, `input`, `inputData`, `inputData.password`, `toJSON(nodes)`, `toJSON(inputData)`,
		`token == "` + secrets[0] + `"`, `nodes.make.output.text contains "` + secrets[0] + `"`, `len(nodes.make.output.text)`, `nodes.make.output.text[7:8]`, `nodes.make.output.text > "Bearer b"`,
		`indexOf(nodes.make.output.text, "a")`, `nodes.make.output.text matches "s3cret"`, `inputData.password == "` + secrets[0] + `"`, `len(inputData.password)`, `split(nodes.make.output.text, "")`,
		`any(values(nodes.pick.output), string(#) == "` + secrets[0] + `")`, `nodes["ma" + "ke"].output.text endsWith "run"`, `fromJSON(nodes.make.output.text)`, `toBase64(nodes.make.output.text)`,
		`[1, 2, 3][len(nodes.make.output.text) % 3]`, `nodes.make.output.text * 1`, `nodes[nodes.make.output.text]`, `[1][nodes.make.output.text]`, `int(nodes.make.output.text)`, `filter(1..100, # == len(nodes.pick.output.token))`,
	}
	var texts [2]string
	for i, secret := range secrets {
		answer := ada.OK(t, "blueprint.execute", object{"id": id, "variables": object{"token": secret}, "inputData": object{"password": secret}})
		execution := at(answer, "executionId").(string)
		for _, probe := range probes {
			for _, node := range []string{"make", "pick", "pass"} {
				over := object{"executionId": execution, "nodeId": node}
				result := servertest.Encoded(t, ada.OK(t, "blueprint.evaluateExpressions", evaluating(over, probe)))
				for _, part := range secrets {
					if !strings.Contains(probe, part) && strings.Contains(result, part) {
						t.Errorf("%s at %s returns %s", probe, node, result)
					}
				}
				texts[i] += probe + " at " + node + ": " + result + "\n"
			}
		}
		eve.Refused(t, blueprint.CodeNotFound, "blueprint.evaluateExpressions", evaluating(object{"executionId": execution}, "1"))
	}
	if texts[0] != texts[1] {
		first, second := strings.Split(texts[0], "\n"), strings.Split(texts[1], "\n")
		for i := range first {
			if first[i] != second[i] {
				t.Errorf("with another secret\n%s\nbecomes\n%s", first[i], second[i])
			}
		}
	}
	if strings.Count(texts[0], `"masked":true`) < 60 {
		t.Errorf("too few are reported as masked:\n%s", texts[0])
	}
}

// Data of a run that belongs to another user is not evaluated, and nothing is written.
func TestEvaluateKeepsDataOfStrangers(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada, eve := s.NewUser(t, "ada"), s.NewUser(t, "eve")
	id := ada.Blueprint(t, "Public", node("say", "template", object{"text": "{{inputData.word}}"}))
	ada.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
	over := object{"executionId": at(eve.OK(t, "blueprint.execute", object{"id": id, "inputData": object{"word": "canary"}}), "executionId")}
	servertest.Shape(t, "for its caller", eve.OK(t, "blueprint.evaluateExpressions", evaluating(over, "nodes.say.output")), `{"results": [{"value": {"text": "canary"}}]}`)
	audited := func() string { return ada.Call(t, "auditLog.list", object{"limit": 100}).Text }
	before := audited()
	message := ada.Refused(t, blueprint.CodeForbidden, "blueprint.evaluateExpressions", evaluating(over, "nodes.say.output", "inputData"))
	if strings.Contains(message, "canary") {
		t.Errorf("the refusal is %s", message)
	}
	ada.OK(t, "blueprint.evaluateExpressions", evaluating(nil, "1 + 1"))
	if after := audited(); after != before {
		t.Errorf("the audit log was\n%s\nand is\n%s", before, after)
	}
}

// TestHostileEvaluations bounds the memory of each call, and that of all of them in one.
func TestHostileEvaluations(t *testing.T) {
	s := servertest.New(t)
	most := 0.0
	check := func(texts ...string) {
		var results []any
		used := allocated(func() {
			results = at(s.Root.OK(t, "blueprint.evaluateExpressions", evaluating(object{"data": object{"input": object{}}}, texts...)), "results").([]any)
		})
		most = max(most, used)
		if used > 256<<20 || len(results) != len(texts) {
			t.Errorf("%.60q: %.1f MiB and %d results, want at most 256 and %d", texts, used/(1<<20), len(results), len(texts))
		}
	}
	var given []string
	for _, source := range hostile {
		if source != "" {
			given = append(given, source)
			check(source)
		}
	}
	for len(given) > 0 {
		n := min(50, len(given))
		check(given[:n]...)
		given = given[n:]
	}
	t.Logf("at most %.1f MiB", most/(1<<20))
}
