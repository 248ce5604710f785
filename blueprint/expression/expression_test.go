package expression

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// decode decodes JSON to the values of a scope.
func decode(t testing.TB, text string) any {
	t.Helper()
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// encode encodes a value as JSON, to compare exact texts.
func encode(t testing.TB, value any) string {
	t.Helper()
	data, err := blueprint.Encode(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func testScope(t testing.TB) MapScope {
	return MapScope(decode(t, `{
		"inputData": {
			"user": {"name": "Zoë", "age": 41, "tags": ["a", "b"], "nothing": null},
			"action": "open",
			"items": [{"id": 1, "price": 2.5, "kind": "x"}, {"id": 2, "price": 4, "kind": "y"}, {"id": 3, "price": 1.25, "kind": "x"}],
			"big": 12345678901234567890,
			"huge": 1e999,
			"long": 9007199254740993,
			"decimal": 1.10,
			"weird-key": "w", "sp ace": "s", "1": "one"
		},
		"limit": 3,
		"text": "héllo",
		"empty": [],
		"none": null,
		"yes": true,
		"evil": "{{secret}} {{= 1 + 1 }}",
		"nodes": {"my-node": {"output": {"n": 7}}}
	}`).(map[string]any))
}

func TestEval(t *testing.T) {
	tests := []struct{ source, want string }{
		// Values keep their digits.
		{`inputData.decimal`, `1.10`},
		{`inputData.big`, `12345678901234567890`},
		{`inputData.huge`, `1e999`},
		{`inputData.long + 1`, `9007199254740994`},
		{`inputData.long - 1`, `9007199254740992`},
		{`[inputData.decimal, inputData.big]`, `[1.10,12345678901234567890]`},
		{`inputData.big == 12345678901234567890.0 ? "approximately" : "no"`, `"approximately"`},
		{`inputData.big == inputData.big`, `true`},
		{`inputData.huge == inputData.huge`, `true`},
		{`inputData.big > limit`, `true`},
		{`limit < inputData.big and -1 < inputData.big`, `true`},
		{`inputData.big in [1, inputData.big]`, `true`},
		{`9223372036854775807 == 9223372036854775808.0`, `false`},
		{`9223372036854775807 < 9223372036854775808.0`, `true`},
		{`9007199254740993 == 9007199254740992.0`, `false`},
		{`max(inputData.big, 3)`, `12345678901234567890`},
		{`round(inputData.big)`, `12345678901234567890`},

		// Missing values are nil at any depth.
		{`inputData.nope`, `null`},
		{`inputData.nope.deeper.still`, `null`},
		{`inputData.nope["x"][3].y`, `null`},
		{`inputData.items[9].id`, `null`},
		{`inputData.items[-9]`, `null`},
		{`inputData.items[-1].id`, `3`},
		{`inputData[none]`, `null`},
		{`inputData.user.nothing.x`, `null`},
		{`none.x.y ?? "d"`, `"d"`},
		{`inputData?.nope?.x ?? 1`, `1`},
		{`inputData.nope == nil and inputData.nope == null`, `true`},
		{`get(inputData.action, "x")`, `null`},
		{`get(limit, "x") ?? get(inputData, "action")`, `"open"`},
		{`"x" in none`, `false`},
		{`none contains "x"`, `false`},

		// Keys of all sorts.
		{`inputData["weird-key"] + inputData["sp ace"]`, `"ws"`},
		{`nodes["my-node"].output.n`, `7`},
		{`inputData[1]`, `"one"`},
		{`{(limit): 1, "a": 2, b: 3}`, `{"3":1,"a":2,"b":3}`},
		{`{a: 1, a: 2}`, `{"a":1}`},

		// Numbers by value.
		{`7 / 2`, `3.5`}, {`6 / 2`, `3`}, {`1 / 3`, `0.3333333333333333`}, {`4.0 % 3`, `1`}, {`-7 % 3`, `-1`},
		{`9223372036854775807 / 1`, `9223372036854775807`}, {`-9223372036854775807 - 1`, `-9223372036854775808`},
		{`2 ** 10`, `1024`}, {`2 ^ 0.5 > 1.41`, `true`}, {`0.1 + 0.2`, `0.30000000000000004`}, {`-0.0`, `0`},
		{`1e300 * 1e8`, `1e+308`}, {`1.0 == 1`, `true`}, {`"1" == 1`, `false`}, {`1 != "1"`, `true`},
		{`1 < 2 < 3`, `true`}, {`3 > 2 > 2`, `false`},
		{`type(1.0) + type(1.5) + type(inputData.big) + type(nil) + type({}) + type([]) + type("") + type(yes)`, `"intfloatintnilmaparraystringbool"`},
		{`int("42") + int(3.9) + int("-1")`, `44`}, {`float("1.5")`, `1.5`}, {`float(2)`, `2`},
		{`abs(-3) + ceil(1.2) + floor(1.8) + round(2.5)`, `9`},
		{`[max(1, [5, [7]]), min([3, 2]), mean(1, 2), median([3, 1, 2]), mean([]), max([])]`, `[7,2,1.5,2,0,null]`},
		{`[bitand(6, 3), bitor(6, 3), bitxor(6, 3), bitnand(6, 3), bitnot(0), bitshl(1, 4), bitshr(-8, 1), bitushr(-1, 60)]`, `[2,7,5,4,-1,16,-4,15]`},

		// Text counts in characters.
		{`len(text)`, `5`}, {`text[1]`, `"é"`}, {`text[-1]`, `"o"`}, {`text[1:3]`, `"él"`}, {`text[:2] + text[3:]`, `"hélo"`}, {`text[9:]`, `""`},
		{`text[9]`, `null`}, {`indexOf(text, "l")`, `2`}, {`lastIndexOf(text, "l")`, `3`}, {`indexOf(text, "z")`, `-1`},
		{`upper(text) + lower("ABC")`, `"HÉLLOabc"`}, {`trim("  a ") + trim("xax", "x")`, `"aa"`},
		{`trimPrefix("abc", "a") + trimSuffix("abc", "c") + trimPrefix(" a")`, `"bcaba"`},
		{`split("a,b,c", ",")`, `["a","b","c"]`}, {`split("a,b,c", ",", 2)`, `["a","b,c"]`}, {`split("héy", "")`, `["h","é","y"]`},
		{`split("a,b", ",", 0)`, `[]`}, {`splitAfter("a,b", ",")`, `["a,","b"]`},
		{`replace("aaa", "a", "b")`, `"bbb"`}, {`replace("aaa", "a", "b", 2)`, `"bba"`}, {`replace("ab", "", "-")`, `"-a-b-"`},
		{`repeat("ab", 3) + repeat("", 1000000000000)`, `"ababab"`}, {`join(["a", 1, true, nil], "-")`, `"a-1-true-null"`}, {`join([])`, `""`},
		{`hasPrefix("abc", "ab") and hasSuffix("abc", "bc")`, `true`},
		{`"abc" contains "b" and "abc" startsWith "a" and "abc" endsWith "c"`, `true`},
		{`"abc" not contains "z"`, `true`}, {`"abc" matches "^a.c$"`, `true`}, {`"abc" matches inputData.action`, `false`},
		{`toBase64("hé") == "aMOp" and fromBase64("aMOp") == "hé"`, `true`},
		{`string(1.10) + string(inputData.decimal) + string(nil) + string([1, "<"])`, `"1.11.10null[1,\"<\"]"`},
		{`toJSON({b: 1, a: [inputData.decimal, "<&>"]})`, `"{\"a\":[1.10,\"<&>\"],\"b\":1}"`},
		{`fromJSON("{\"a\": 1.10}").a`, `1.10`},
		{`"{{" + '}}'`, `"{{}}"`},

		// Lists and objects.
		{`filter(inputData.items, .price > 2) | map(.id)`, `[1,2]`},
		{`map(inputData.items, ({id: .id, n: #index}))[1]`, `{"id":2,"n":1}`},
		{`sum(inputData.items, .price)`, `7.75`}, {`sum([])`, `0`}, {`count([true, false, true])`, `2`}, {`count(inputData.items, .kind == "x")`, `2`},
		{`[all(empty, false), any(empty, true), none(empty, true), one([1, 2], # == 2)]`, `[true,false,true,true]`},
		{`[find([1, 2, 3], # > 1), findLast([1, 2, 3], # > 1), findIndex([1, 2], # == 2), findLastIndex([1, 1], # == 1), find([], true)]`, `[2,3,1,1,null]`},
		{`groupBy(inputData.items, .kind)["x"] | map(.id)`, `[1,3]`},
		{`groupBy([1, 2, 3], # % 2 == 0)`, `{"false":[1,3],"true":[2]}`},
		{`sortBy(inputData.items, .price) | map(.id)`, `[3,1,2]`}, {`sortBy(inputData.items, .kind, "desc") | map(.id)`, `[2,1,3]`},
		{`sort([3, 1.5, 2])`, `[1.5,2,3]`}, {`sort(["b", "a"], "desc")`, `["b","a"]`},
		{`uniq([1, 1.0, "1", [1], [1], {a: 1, b: 2}, {b: 2, a: 1}, nil, nil])`, `[1,"1",[1],{"a":1,"b":2},null]`},
		{`concat([1], [2, 3])`, `[1,2,3]`}, {`flatten([1, [2, [3]]])`, `[1,2,3]`}, {`reverse([1, 2])`, `[2,1]`},
		{`[first([1, 2]), last([1, 2]), first([]), first(none)]`, `[1,2,null,null]`}, {`take([1, 2, 3], 2)`, `[1,2]`}, {`take([1], 9)`, `[1]`},
		{`keys({b: 1, a: 2})`, `["a","b"]`}, {`values({b: 1, a: 2})`, `[2,1]`}, {`toPairs({b: 1, a: 2})`, `[["a",2],["b",1]]`},
		{`fromPairs([["a", 1], ["b", 2]])`, `{"a":1,"b":2}`}, {`[1, 2, 3][1:]`, `[2,3]`}, {`[1, 2, 3][:-1]`, `[1,2]`},
		{`1..3`, `[1,2,3]`}, {`3..1`, `[]`}, {`2 in 1..3 and 9 not in 1..3`, `true`}, {`"age" in inputData.user`, `true`},
		{`[1, [2]] == [1.0, [2]]`, `true`}, {`{a: 1} == {a: 2}`, `false`}, {`{a: 1} == {b: 1}`, `false`},
		{`any(inputData.items, any(inputData.user.tags, # == "b"))`, `true`},
		{`map(1..2, let x = #; map(1..2, # * x))`, `[[1,2],[2,4]]`},

		// Control.
		{`let a = 1; let b = a + 1; a + b`, `3`}, {`1; 2`, `2`}, {`yes ? "a" : "b"`, `"a"`}, {`if yes { 1 } else { 2 }`, `1`}, {`none ?? 0`, `0`},
		{`false && none.x > 1`, `false`}, {`true || 1 / 0 == 1`, `true`}, {`not yes or !yes`, `false`},
		{`inputData.count ?? 0 /* comment */ // more`, `0`},
	}
	scope := testScope(t)
	for _, test := range tests {
		t.Run(test.source, func(t *testing.T) {
			x, err := CompileExpression(test.source)
			if err != nil {
				t.Error(err)
				return
			}
			value, err := x.Eval(scope)
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

func TestEvalFails(t *testing.T) {
	tests := []struct{ source, code, message string }{
		{`missing`, CodeUnknownName, `missing: no such name "missing" (known here: `},
		{`missing ?? 1`, CodeUnknownName, "missing"},
		{`false and missing.x`, CodeUnknownName, "missing"},
		{`limt > 2`, CodeUnknownName, "(known here: limit, "},
		{`inputData.nope > 3`, CodeExpressionFailed, `column 16: > cannot compare null and a number`},
		{`inputData.action.first`, CodeExpressionFailed, `a string has no key "first"`},
		{`inputData.items.id`, CodeExpressionFailed, `an array has no key "id"`},
		{`inputData.items["x"]`, CodeExpressionFailed, `an array has no key "x"`},
		{`inputData.items[yes]`, CodeExpressionFailed, "an index must be a whole number, not a boolean"},
		{`limit[0]`, CodeExpressionFailed, "a number has no keys"},
		{`inputData[[1]]`, CodeExpressionFailed, "an object key must be a string, not an array"},
		{`not none`, CodeExpressionFailed, "must be true or false, not null"},
		{`none and yes`, CodeExpressionFailed, "the left side of and must be true or false, not null"},
		{`none ? 1 : 2`, CodeExpressionFailed, "must be true or false"},
		{`filter(inputData.items, .id)`, CodeExpressionFailed, "the condition of filter must be true or false, not a number"},
		{`filter(inputData.nope, true)`, CodeExpressionFailed, "filter takes an array, not null"},
		{`"a" + 1`, CodeExpressionFailed, "string(...)"},
		{`[1] + [2]`, CodeExpressionFailed, "+ cannot take an array and an array"},
		{`1 / 0`, CodeExpressionFailed, "division by zero"},
		{`1.5 % 2`, CodeExpressionFailed, "% takes whole numbers"},
		{`9223372036854775807 + 1`, CodeExpressionFailed, "beyond 64 bits"},
		{`-9223372036854775807 - 2`, CodeExpressionFailed, "beyond 64 bits"},
		{`9223372036854775807 * 2`, CodeExpressionFailed, "beyond 64 bits"},
		{`(-9223372036854775807 - 1) / -1`, CodeExpressionFailed, "beyond 64 bits"},
		{`-(-9223372036854775807 - 1)`, CodeExpressionFailed, "beyond 64 bits"},
		{`inputData.big + 1`, CodeExpressionFailed, "beyond 64 bits"},
		{`inputData.huge + 1`, CodeExpressionFailed, "too large to compute with"},
		{`1e308 * 10`, CodeExpressionFailed, "not a finite number"},
		{`(-8) ** 0.5`, CodeExpressionFailed, "not a finite number"},
		{`0.0 / 0`, CodeExpressionFailed, "division by zero"},
		{`float("NaN")`, CodeExpressionFailed, "the text is not a number"},
		{`float("Inf")`, CodeExpressionFailed, "the text is not a number"},
		{`int("4.5")`, CodeExpressionFailed, "not a whole number"},
		{`int("secret value")`, CodeExpressionFailed, "the text is not a number"},
		{`int(1e30)`, CodeExpressionFailed, "beyond 64 bits"},
		{`sort([1, "a"])`, CodeExpressionFailed, "numbers and strings together"},
		{`sort([true])`, CodeExpressionFailed, "sort takes numbers or strings, not a boolean"},
		{`sort([1], "up")`, CodeExpressionFailed, `"asc" or "desc"`},
		{`"a" in "abc"`, CodeExpressionFailed, "use contains for text"},
		{`1 contains "a"`, CodeExpressionFailed, "contains takes strings"},
		{`"a" matches inputData.user.tags`, CodeExpressionFailed, "matches takes strings"},
		{`"a" matches ("(" + "")`, CodeExpressionFailed, "the pattern is malformed"},
		{`fromBase64("/w==")`, CodeExpressionFailed, "not UTF-8"},
		{`fromBase64("!")`, CodeExpressionFailed, "not base64"},
		{`fromJSON("{")`, CodeExpressionFailed, "not a JSON value"},
		{`fromPairs([[1]])`, CodeExpressionFailed, "a key and a value"},
		{`{([1]): 2}`, CodeExpressionFailed, "an object key must be a string"},
		{`len(limit)`, CodeExpressionFailed, "len takes"},
		{`upper(limit)`, CodeExpressionFailed, "upper takes a string, not a number"},
		{`bitshl(1, -1)`, CodeExpressionFailed, "negative"},
		{`repeat("a", -1)`, CodeExpressionFailed, "at least 0"},
		{`take([1], -1)`, CodeExpressionFailed, "at least 0"},
		{`1.5..3`, CodeExpressionFailed, "two whole numbers"},
	}
	scope := testScope(t)
	for _, test := range tests {
		t.Run(test.source, func(t *testing.T) {
			x, err := CompileExpression(test.source)
			if err != nil {
				t.Error(err)
				return
			}
			value, err := x.Eval(scope)
			wantError(t, test.source, value, err, test.code, test.message)
		})
	}
}

// wantError checks an error's code and a part of its text.
func wantError(t *testing.T, source string, value any, err error, code, message string) {
	t.Helper()
	e := (*Error)(nil)
	if !errors.As(err, &e) {
		t.Errorf("%s: got %v, %v, want a %s error", source, value, err, code)
		return
	}
	if e.Code != code || !strings.Contains(e.Error(), message) {
		t.Errorf("%s: got %s %q, want %s ... %q", source, e.Code, e.Error(), code, message)
	}
}

func TestCompileExpressionRefuses(t *testing.T) {
	shared := strings.Repeat("(1 < ", 50) + "1" + strings.Repeat(" < 2)", 50)
	elvis := strings.Repeat("(", 60) + "yes" + strings.Repeat(" ?: no)", 60)
	tests := []struct{ source, message string }{
		{``, "the expression is empty"},
		{`   `, "the expression is empty"},
		{`1 +`, "column 3: the expression ends too early"},
		{`a b`, "column 3: unexpected token"},
		{"a +\n b c", "line 2, column 4"},
		{`"open`, "literal not terminated"},
		{`99999999999999999999`, "integer literal"},
		{`map(empty, {a: #})`, "is written ({key: value})"},
		{`reduce([1], # + #acc, 0)`, "reduce does not exist here"},
		{`now()`, "the name now holds the time"},
		{`date("2020-01-01")`, "the name now holds the time"},
		{`duration("1h")`, "the name now holds the time"},
		{`timezone("UTC")`, "the name now holds the time"},
		{`fetch("http://x")`, `no such function "fetch" (known here: `},
		{`lenn([1])`, "(known here: len, "},
		{`sume([1])`, `did you mean "sum"?`},
		{`filtr([1], .a > 1)`, "; .name is only defined inside a predicate, such as map(list, .name)"},
		{`{{inputData.count}} > 1`, "an expression is written without {{ }}: inputData.count > 1"},
		{`system("id")`, "no such function"},
		{`inputData.toString()`, "values have no methods"},
		{`inputData.items.filter(#)`, ""},
		{`inputData.constructor.constructor("return process")()`, ""},
		{`(1)()`, ""},
		{`b"bytes"`, "not supported"},
		{`$env`, "$env does not exist here"},
		{`$env["inputData"]`, "$env does not exist here"},
		{`map([1], #acc)`, "#acc does not exist"},
		{`#`, ""},
		{`.x`, ""},
		{`let a = 1; let a = 2; a`, "a is declared twice"},
		{`len()`, "len takes 1 argument, not 0"},
		{`split("a")`, "split takes 2 to 3 arguments, not 1"},
		{`max()`, "max takes at least 1 arguments"},
		{`get(inputData)`, "get takes 2 arguments"},
		{`any([1], any([1], any([1], true)))`, "any is nested in 2 other predicates"},
		{`map(1..9, filter(1..9, count(1..9, true) > 1))`, "the maximum is one"},
		{`"a" matches "("`, "column 5: the pattern is malformed"},
		{`"a" matches "(a{999}){999}"`, "pattern"},
		{`"a" matches "a{1000}b{1000}c{1000}"`, "repeats too much"},
		{`"a" matches "` + strings.Repeat("a", 1001) + `"`, "at most 1000 bytes"},
		{strings.Repeat("1+", 150) + "1", "more than 200 operations"},
		{shared, "more than 200 operations"},
		{elvis, "more than 200 operations"},
		{strings.Repeat(" ", 4097), "longer than 4096 bytes"},
	}
	for _, test := range tests {
		_, err := CompileExpression(test.source)
		wantError(t, test.source, nil, err, CodeBadExpression, test.message)
	}
}

func TestExpressionNames(t *testing.T) {
	for source, want := range map[string][]string{
		`1 + 1`:                                    {},
		`b.x + a["y"] + b.z`:                       {"a", "b"},
		`let v = a; map(list, # + v + .x)`:         {"a", "list"},
		`inputData[key] ?? null`:                   {"inputData", "key"},
		`let a = 1; a`:                             {},
		`(let a = 1; a) + a`:                       {"a"},
		`filter(items, .price > limit) | map(.id)`: {"items", "limit"},
	} {
		t.Run(source, func(t *testing.T) {
			x, err := CompileExpression(source)
			if err != nil {
				t.Error(err)
				return
			}
			if got := x.Names(); !slices.Equal(got, want) {
				t.Errorf("names %v, want %v", got, want)
			}
		})
	}
}

// The engine may put Go numbers into a scope.
func TestGoNumbers(t *testing.T) {
	scope := MapScope{"index": 2, "wide": int64(3), "ratio": 0.5, "list": []any{json.Number("1"), 1}}
	x, err := CompileExpression(`[index + wide, ratio * 2, index, list[0] == list[1], string(index)]`)
	if err != nil {
		t.Fatal(err)
	}
	value, err := x.Eval(scope)
	if err != nil {
		t.Fatal(err)
	}
	if got := encode(t, value); got != `[5,1,2,true,"2"]` {
		t.Errorf("%v, want [5,1,2,true,\"2\"]", got)
	}
	x, _ = CompileExpression(`index`)
	if value, err := x.Eval(scope); err != nil || value != json.Number("2") {
		t.Errorf("%#v, %v", value, err)
	}
}

// Errors do not contain values, which could be secret.
func TestErrorsShowNoValues(t *testing.T) {
	scope := MapScope{"token": "s3cr3t-value", "data": map[string]any{"key": "s3cr3t-value", "n": json.Number("31337")}}
	for _, source := range []string{
		`token + 1`, `token.x`, `token > 1`, `int(token)`, `float(token)`, `fromJSON(token)`, `fromBase64(token)`, `sort([1, token])`, `token ? 1 : 2`,
		`"x" matches (token + "(")`, `filter([1], token)`, `data[data]`, `data.n[0]`, `{(data): 1}`, `1 in token`, `sort([1], token)`, `data.n + token`, `fromPairs(token)`,
		`date(token)`, `repeat(token, -1)`, `sortBy([1], #, token)`,
	} {
		x, err := CompileExpression(source)
		if err == nil {
			_, err = x.Eval(scope)
		}
		if err == nil || strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "31337") {
			t.Errorf("%s: %v, want an error, no \"s3cr3t\" and no \"31337\"", source, err)
		}
	}
}
