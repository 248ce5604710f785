package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func resolve(source string, scope Scope) (any, error) {
	template, err := compileTemplate(source)
	if err != nil {
		return nil, err
	}
	return template.Resolve(scope)
}

func TestResolve(t *testing.T) {
	tests := []struct{ source, want string }{
		// Text without placeholders, including single braces.
		{``, `""`}, {`plain`, `"plain"`}, {`{ {a} }`, `"{ {a} }"`}, {`a }} b`, `"a }} b"`}, {`{"a":{"b":1}}`, `"{\"a\":{\"b\":1}}"`},
		// One placeholder alone keeps the type and the digits.
		{`{{limit}}`, `3`}, {`{{ yes }}`, `true`}, {"{{\n\tnone\n}}", `null`}, {`{{inputData.user.tags}}`, `["a","b"]`},
		{`{{inputData.decimal}}`, `1.10`}, {`{{inputData.big}}`, `12345678901234567890`}, {`{{inputData.huge}}`, `1e999`}, {`{{text}}`, `"héllo"`},
		// Inside text.
		{` {{limit}}`, `" 3"`}, {`a{{yes}}b{{none}}c`, `"atruebnullc"`}, {`{{text}}{{limit}}`, `"héllo3"`},
		{`n={{inputData.decimal}};{{inputData.big}}`, `"n=1.10;12345678901234567890"`},
		{`{"tags":{{inputData.user.tags}},"x":{"y":{{limit}}}}`, `"{\"tags\":[\"a\",\"b\"],\"x\":{\"y\":3}}"`},
		{`o: {{nodes.my}}`, `"o: {\"a\":null,\"b\":\"<\"}"`},
		// Paths.
		{`{{inputData["weird-key"]}}{{inputData["sp ace"]}}`, `"ws"`}, {`{{nodes["my-node"].output.n}}`, `7`}, {`{{nodes.my-node.output.n}}`, `7`}, {`{{ inputData.weird-key }}`, `"w"`},
		{`{{my-variable}}-{{my-variable ?? 1}}`, `"v-v"`}, {`{{inputData.a--b}}`, `"two"`}, {`{{inputData.items[1].id}}`, `2`},
		{`{{inputData["u\u0073er"].name}}`, `"Zoë"`}, {`{{inputData.1}}`, `"one"`}, {`{{inputData["1"]}}`, `"one"`}, {`{{ inputData.user["tags"][0] }}`, `"a"`},
		// Defaults, where the path does not exist or is null.
		{`{{missing ?? "d"}}`, `"d"`}, {`{{inputData.nope.x ?? 1.50}}`, `1.50`}, {`{{none ?? []}}`, `[]`}, {`{{limit ?? 9}}`, `3`}, {`{{inputData.items[9]??null}}`, `null`},
		{`{{text.x.y ?? "}}"}}`, `"}}"`}, {`a{{missing ?? {"a":{"b":"}}"}} }}b`, `"a{\"a\":{\"b\":\"}}\"}}b"`}, {`{{missing ?? {"a":{"b":1}}}}`, `{"a":{"b":1}}`},
		{`{{missing ??true}}{{missing ?? ""}}`, `"true"`}, {`{{missing ?? "{{limit}}"}}`, `"{{limit}}"`},
		// Expressions.
		{`{{= limit + 1 }}`, `4`}, {`{{=limit}}!`, `"3!"`}, {`{{= "{{" }}x}}`, `"{{x}}"`}, {`{{= {a: {b: limit}} }}`, `{"a":{"b":3}}`}, {`{{={a: {b: 1}}}}`, `{"a":{"b":1}}`},
		{`{{= "}}" + '}}' }}`, `"}}}}"`}, {"{{= `}}` }}", `"}}"`}, {"{{= `a``}}b` }}", "\"a`}}b\""}, {`{{= "\"}}" }}`, `"\"}}"`}, {`{{= 1 /* }} ' */ }}`, `1`}, {"{{= 1 // }} '\n}}", `1`},
		{`{{= filter(inputData.items, {.id > 1}) | map(.id) }}`, `[2,3]`}, {`{{= map(1..2, {{a: #}}) }}`, `[{"a":1},{"a":2}]`}, {`{{= 4 / 2 }}`, `2`},
		// A value that looks like a template stays text.
		{`{{evil}}`, `"{{secret}} {{= 1 + 1 }}"`}, {`<{{evil}}>`, `"<{{secret}} {{= 1 + 1 }}>"`}, {`{{= evil }}{{limit}}`, `"{{secret}} {{= 1 + 1 }}3"`},
		{`{{= "{" + "{limit}" + "}" }}`, `"{{limit}}"`}, {`{{= "{" }}{limit}}`, `"{{limit}}"`},
	}
	scope := testScope(t)
	scope["nodes"].(map[string]any)["my"] = map[string]any{"b": "<", "a": nil}
	scope["my-variable"] = "v"
	scope["inputData"].(map[string]any)["a--b"] = "two"
	for _, test := range tests {
		t.Run(test.source, func(t *testing.T) {
			value, err := resolve(test.source, scope)
			if err != nil {
				t.Error(err)
				return
			}
			if got := encode(t, value); got != test.want {
				t.Errorf("%s = %s, want %s", test.source, got, test.want)
			}
		})
	}
}

func TestResolveFails(t *testing.T) {
	many := map[string]any{}
	for i := range 30 {
		many[fmt.Sprintf("key%02d", i)] = nil
	}
	scope := MapScope{
		"inputData": map[string]any{"user": map[string]any{"name": "s3cr3t"}, "action": "s3cr3t", "list": []any{"s3cr3t"}, "null": nil},
		"many":      many, "limit": true,
	}
	tests := []struct{ source, message string }{
		{`{{inputData.usr.name}}`, `inputData.usr.name: no such key "usr" (known here: user, list, null, action)`},
		{`{{inputDta}}`, `inputDta: no such name "inputDta" (known here: inputData, limit, many)`},
		{`x {{inputData.user.nam}}`, `inputData.user.nam: no such key "nam" (known here: name)`},
		{`{{inputData.list[1]}}`, `inputData.list[1]: no item 1, "list" has 1`},
		{`{{inputData.list.x}}`, `"list" is an array, it has no key "x"; its first item is written [0]`},
		{`{{inputData[0]}}`, `"inputData" is an object; its key is written ["0"]`},
		{`{{inputData.action.x}}`, `"action" is a string, it has no key "x"`},
		{`{{inputData.null.x}}`, `"null" is null, it has no key "x"`},
		{`{{inputData.user.name[0]}}`, `"name" is a string, it has no items`},
		{`{{inputData.list[0].x}}`, `"0" is a string, it has no key "x"`},
		{`{{many.key99}}`, `many.key99: no such key "key99" (known here: key09, key19, key29, key00, key01, key02, key03, key04 and 22 more)`},
		{`{{= inputDta.x }}`, `inputDta: no such name "inputDta" (known here: inputData`},
	}
	for _, test := range tests {
		t.Run(test.source, func(t *testing.T) {
			value, err := resolve(test.source, scope)
			wantError(t, test.source, value, err, CodeUnknownName, test.message)
			if err != nil && strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("shows a value: %v", err)
			}
		})
	}
	// Names are shortened, and too many are not listed.
	long := strings.Repeat("k", 10_000)
	if _, err := resolve("{{inputData."+long+"}}", scope); err == nil || len(err.Error()) > 1000 {
		t.Errorf("a long key: %v, want an error and length at most 1000", err)
	}
	crowd := map[string]any{}
	for i := range 2000 {
		crowd[fmt.Sprint(i)] = nil
	}
	value, err := resolve("{{crowd.x}}", MapScope{"crowd": crowd})
	wantError(t, "crowd", value, err, CodeUnknownName, "(2000 others are known here)")
	value, err = resolve("{{x}}", MapScope{})
	wantError(t, "empty scope", value, err, CodeUnknownName, "(no names are known here)")
}

func TestCompileTemplateRefuses(t *testing.T) {
	tests := []struct{ source, code, message string }{
		{`{{`, CodeBadTemplate, `template "{{", column 3: expected a name, found the end`},
		{`{{}}`, CodeBadTemplate, "column 3: expected a name, found '}'"},
		{`Hello {{name`, CodeBadTemplate, `column 13: expected "}}", found the end`},
		{"a\nbé {{ .x }}", CodeBadTemplate, "line 2, column 7"},
		{`{{a b}}`, CodeBadTemplate, "column 5"},
		{`{{a.}}`, CodeBadTemplate, "expected a key"},
		{`{{a.b-}}`, CodeBadTemplate, "column 6"}, {`{{-a}}`, CodeBadTemplate, "column 3"}, {`{{a.-b}}`, CodeBadTemplate, "column 5"}, {`{{a.b -c}}`, CodeBadTemplate, "column 7"},
		{`{{a . b}}`, CodeBadTemplate, "column 5"},
		{`{{a[}}`, CodeBadTemplate, "a whole number or a key in double quotes"},
		{`{{a[-1]}}`, CodeBadTemplate, "a whole number"},
		{`{{a['x']}}`, CodeBadTemplate, "in double quotes"},
		{`{{a[x]}}`, CodeBadTemplate, "in double quotes"},
		{`{{a["x"}}`, CodeBadTemplate, "in double quotes"},
		{`{{a["x]}}`, CodeBadTemplate, "in double quotes"},
		{`{{a["\q"]}}`, CodeBadTemplate, "in double quotes"},
		{`{{a[9999999999]}}`, CodeBadTemplate, "a whole number"},
		{`{{"a"}}`, CodeBadTemplate, `(to write "{{" itself: {{= "{{" }})`},
		{`{{a ?? }}`, CodeBadTemplate, "expected a JSON value"},
		{`{{a ?? b}}`, CodeBadTemplate, "expected a JSON value"},
		{`{{a ?? 'b'}}`, CodeBadTemplate, "expected a JSON value"},
		{`{{a ?? "b" c}}`, CodeBadTemplate, `expected "}}"`},
		{`{{a ?? 1 ?? 2}}`, CodeBadTemplate, `expected "}}"`},
		{`{{a ?? ` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}`, CodeBadTemplate, "too deeply"},
		{`{{a ? 1}}`, CodeBadTemplate, `expected "}}"`},
		{`{{a | upper}}`, CodeBadTemplate, `expected "}}"`},
		{`{{a()}}`, CodeBadTemplate, `expected "}}"`},
		{`{{a}`, CodeBadTemplate, `expected "}}"`},
		{`{{{a}}}`, CodeBadTemplate, "expected a name"},
		{`{{= 1 `, CodeBadTemplate, `column 1: this "{{=" has no "}}"`},
		{`{{= "a }}`, CodeBadTemplate, `has no "}}"`},
		{`{{= {a: 1 }}`, CodeBadTemplate, `has no "}}"`},
		{"{{= `a }}", CodeBadTemplate, `has no "}}"`},
		{"{{= /* a }}", CodeBadTemplate, `has no "}}"`},
		{"{{= 1 // a }}", CodeBadTemplate, `has no "}}"`},
		{`{{= }}`, CodeBadExpression, "the expression is empty"},
		{`ab {{= 1 + }}`, CodeBadExpression, "column 11: the expression ends too early"},
		{"x\ny {{= 1 +\n  now() }}", CodeBadExpression, "line 3, column 3: now() does not exist here"},
		{strings.Repeat("{{a}}", maxPlaceholders+1), CodeBadTemplate, "more than 10000 placeholders"},
	}
	for _, test := range tests {
		t.Run(test.code+" "+test.message, func(t *testing.T) {
			_, err := compileTemplate(test.source)
			wantError(t, test.source[:min(60, len(test.source))], nil, err, test.code, test.message)
			if err != nil && len(err.Error()) > 600 {
				t.Errorf("a message of %d bytes: %.200s", len(err.Error()), err)
			}
		})
	}
}

// Payloads for other template engines are errors or plain text.
func TestForeignPayloads(t *testing.T) {
	payloads := strings.Split(strings.TrimSpace(`
{{.}}
{{.Env}}
{{ . }}
{{$}}
{{$x := 1}}
{{printf "x"}}
{{printf "%s" .}}
{{html "x"}}
{{len "x"}}
{{range .}}x{{end}}
{{template "x"}}
{{define "x"}}{{end}}
{{if true}}x{{end}}
{{/* comment */}}
{{- a -}}
{{call .x}}
{{js "x"}}
{{7*7}}
{{7*'7'}}
{{ 7 * 7 }}
{{=7*7}}
{{= 7*7 }}x
{{constructor}}
{{__proto__}}
{{constructor.constructor("return process")()}}
{{this.constructor.constructor('return process')().mainModule.require('child_process').execSync('id')}}
{{= constructor.constructor("return process")() }}
{{= this.process }}
{{= this.constructor }}
{{= inputData.constructor("x") }}
{{= inputData.__proto__ }}
{{= inputData["__proto__"]["constructor"] }}
{{= (function(){return 1})() }}
{{= (() => 1)() }}
{{= require("fs") }}
{{= process.env }}
{{= globalThis }}
{{= eval("1") }}
{{= Function("x") }}
{{= import("os") }}
{{= os.Getenv("HOME") }}
{{= env("HOME") }}
{{= $env }}
{{= $env["inputData"] }}
{{= exec("id") }}
{{= system("id") }}
{{= println("x") }}
{{= inputData.String() }}
{{= inputData.Error() }}
{{= now() }}
{{= now.Unix() }}
{{= date("2020-01-01") }}
{{= timezone("UTC") }}
{{= duration("1h") }}
{{= reduce([1], #acc + #, 0) }}
{{= b"x" }}
{{ ''.__class__.__mro__[1].__subclasses__() }}
{{ config.items() }}
{{ self._TemplateReference__context }}
{{ request.application.__globals__ }}
{{ cycler.__init__.__globals__.os.popen('id').read() }}
{{ lipsum.__globals__["os"].popen("id").read() }}
{{ get_flashed_messages.__globals__ }}
{{ [].class.base.subclasses() }}
{{ url_for.__globals__ }}
{{ ()|attr('__class__') }}
{{ x|safe }}
{{ x|e }}
{{ _self.env.registerUndefinedFilterCallback("exec") }}
{{ ["id"]|filter("system") }}
{{ dump(app) }}
{{#with "s" as |string|}}x{{/with}}
{{#each this}}x{{/each}}
{{>partial}}
{{{raw}}}
{{&raw}}
{{!comment}}
{{^inverted}}{{/inverted}}
{{={{ }}=}}
{{@root}}
{{../x}}
{{this}}
{{lookup this "x"}}
{{ $json.x }}
{{ $node["x"].json }}
{{ $input.all() }}
{{ $('x').item }}
{{ env.SECRET }}
{{ process.env.SECRET }}
{{ inputData.__proto__ }}
{{ inputData.constructor.name }}
{{ inputData["constructor"] }}
{{ inputData.toString }}
{{ inputData.length }}
{{ nodes.x }}
{{%20}}
{{\u0061}}
{{<script>}}
{{"<script>"}}
{{1+1}}
{{a;b}}
{{a,b}}
{{a=b}}
{{a==b}}
{{a?b:c}}
{{a&&b}}
{{a||"x"}}
{{!a}}
{{-1}}
{{a[b]}}
{{a[0:1]}}
{{a['b']}}
{{a["b"
{{a.b.}}
{{a..b}}
{{.a}}
{{a?.b}}
{{a["b"]c}}
{{ {} }}
{{ [] }}
{{
${7*7}
$${7*7}
${{7*7}}
#{7*7}
#{ %x|id| }
*{7*7}
@(1+1)
@{7*7}
~{x}
<%= 7*7 %>
<%= system("id") %>
<% import os %>
<?php phpinfo() ?>
<?= 7 ?>
<#assign x=1>
[[7*7]]
[[${7*7}]]
{% for x in y %}
{% import os %}
{%raw%}
{$smarty.version}
{php}x{/php}
{if x}{/if}
{7*7}
{ {7*7} }
$(id)
%7B%7B7*7%7D%7D
&#123;&#123;7*7}}
\{\{7*7\}\}
`+"`id`"+`
__proto__
constructor
process.env`), "\n")
	scope := MapScope{"inputData": map[string]any{"x": "1"}, "nodes": map[string]any{}, "now": "2000-01-01T00:00:00.000Z"}
	computed := map[string]string{
		`{{=7*7}}`: "49", `{{= 7*7 }}x`: `"49x"`, // these are expressions here too
		`{{= inputData.__proto__ }}`: "null", `{{= inputData["__proto__"]["constructor"] }}`: "null", // only keys, and there is none
	}
	checked := 0
	for _, payload := range payloads {
		if want, ok := computed[payload]; ok {
			value, err := resolve(payload, scope)
			if err != nil || encode(t, value) != want {
				t.Errorf("%s: %v, %v, want %s", payload, value, err, want)
			}
			continue
		}
		for _, source := range []string{payload, "text " + payload, payload + "\nmore", `{"json": "` + payload + `"}`, "<b>" + payload + "</b>"} {
			checked++
			value, err := resolve(source, scope)
			if !strings.Contains(source, "{{") {
				if err != nil || value != source {
					t.Errorf("%s: %v, %v, want it unchanged", source, value, err)
				}
			} else if e := (*Error)(nil); !errors.As(err, &e) {
				t.Errorf("%s: %v, %v, want an error", source, value, err)
			}
		}
	}
	if checked < 500 {
		t.Errorf("only %d checked, want at least 500", checked)
	}
}

func TestSecondOrder(t *testing.T) {
	scope := MapScope{"a": "{{secret}}", "b": "{{", "c": "secret}}", "secret": "s3cr3t", "deep": map[string]any{"x": []any{"{{secret}}"}}}
	for source, want := range map[string]string{
		`{{a}}`: `"{{secret}}"`, `<{{a}}>`: `"<{{secret}}>"`, `{{b}}{{c}}`: `"{{secret}}"`, `{{b}}secret}}`: `"{{secret}}"`,
		`{{deep}}`: `{"x":["{{secret}}"]}`, `.{{deep}}`: `".{\"x\":[\"{{secret}}\"]}"`, `{{= b + c }}`: `"{{secret}}"`, `{{missing ?? "{{secret}}"}}`: `"{{secret}}"`,
	} {
		t.Run(source, func(t *testing.T) {
			value, err := resolve(source, scope)
			if err != nil || encode(t, value) != want {
				t.Errorf("%v, %v, want %s", value, err, want)
			}
		})
	}
}

func TestTemplateNames(t *testing.T) {
	template, err := compileTemplate(`{{b.x}} {{a ?? 1}} {{= c + b }} text d`)
	if err != nil {
		t.Fatal(err)
	}
	if got := template.Names(); !slices.Equal(got, []string{"a", "b", "c"}) || template.constant() {
		t.Error(got, template.constant())
	}
	template, err = compileTemplate(`text`)
	if err != nil || !template.constant() || len(template.Names()) != 0 {
		t.Error(err, template)
	}
}

func TestTemplateBudget(t *testing.T) {
	mega := strings.Repeat("x", 1<<20)
	scope := MapScope{"mega": mega, "list": []any{mega}}
	value, err := resolve(strings.Repeat("{{mega}}", 15), scope)
	if err != nil || len(value.(string)) != 15<<20 {
		t.Errorf("15 MiB: %v, want length %v", err, 15<<20)
	}
	for _, source := range []string{strings.Repeat("{{mega}}", 17), strings.Repeat("{{list}} ", 17), strings.Repeat("{{= mega }} ", 17)} {
		value, err = resolve(source, scope)
		wantError(t, source[:20], value, err, CodeBudgetExceeded, "")
	}
	// A placeholder alone passes on a value of any size.
	value, err = resolve("{{list}}", MapScope{"list": []any{strings.Repeat(mega, 20)}})
	if err != nil || value == nil {
		t.Error(err)
	}
}
