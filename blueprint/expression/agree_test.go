package expression

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/expr-lang/expr"

	"blueprintd/blueprint"
)

// reference evaluates with the expr library, which takes and returns Go values.
func reference(source string, scope MapScope) (any, error) {
	environment := map[string]any{}
	for name, value := range scope {
		environment[name] = goValue(value)
	}
	value, err := expr.Eval(source, environment)
	if err != nil {
		return nil, err
	}
	if f, ok := value.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil, fmt.Errorf("not finite")
	}
	return blueprint.Plain(value)
}

func goValue(value any) any {
	switch v := value.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return int(i)
		}
		f, _ := v.Float64()
		return f
	case []any:
		result := make([]any, len(v))
		for i, item := range v {
			result[i] = goValue(item)
		}
		return result
	case map[string]any:
		result := map[string]any{}
		for key, item := range v {
			result[key] = goValue(item)
		}
		return result
	default:
		return value
	}
}

// agree checks that an expression has the same result as in expr. Numbers are compared by
// value, because expr returns 2.0 where this package returns 2.
func agree(t *testing.T, source string, scope MapScope) {
	t.Helper()
	want, wantErr := reference(source, scope)
	x, err := CompileExpression(source)
	var got any
	if err == nil {
		got, err = x.Eval(scope)
	}
	if (err == nil) != (wantErr == nil) {
		t.Errorf("%s: here %v, %v; in expr %v, %v", source, got, err, want, wantErr)
		return
	}
	if err != nil {
		return
	}
	e := &evaluation{budget: newBudget()}
	if !e.equal(got, want) {
		t.Errorf("%s: here %s, in expr %s", source, encode(t, got), encode(t, want))
	}
}

// TestAgreesWithExpr evaluates one expression a line with both evaluators.
func TestAgreesWithExpr(t *testing.T) {
	scope := testScope(t)
	delete(scope["inputData"].(map[string]any), "big")
	delete(scope["inputData"].(map[string]any), "huge")
	scope["list"] = decode(t, `[3, 1, 2, 2]`)
	for _, source := range strings.Split(strings.TrimSpace(`
1 + 2 * 3 - 4
(1 + 2) * 3
7 / 2
7 % 3
-7 % 3
2 ** 3 ** 2
-2 ** 2
2 ^ 3
1 - -1
+limit
-limit + 1
0x1F + 0b11 + 0o17 + 1_000
1e3 + .5
"a" + 'b' + `+"`c`"+`
"\u00e9\n\t\x41"
"tab\\"
not true
!false and not (1 > 2)
true or false and false
1 < 2 and 2 <= 2 and 3 > 2 and 3 >= 3
1 < 2 < 3
1 == 1.0
"a" < "b"
"a" != "b"
nil == nil
none == nil
none ?? 1
none ?? nil ?? 2
limit ?? 1
yes ? 1 : 2
yes ? limit > 2 ? "a" : "b" : "c"
none?.x?.y
inputData?.user?.name
inputData.user.name
inputData["user"]["name"]
inputData.user.missing
inputData.items[0].id
inputData.items[-1].id
inputData.items[0]["price"]
list[1:3]
list[:2]
list[2:]
list[:]
list[-2:]
list[1:-1]
list[3:1]
2 in list
9 in list
9 not in list
"name" in inputData.user
"b" in inputData.user.tags
1..5
3..3
5..1
2 in 1..3
"hello" contains "ell"
"hello" startsWith "he"
"hello" endsWith "lo"
"hello" matches "h.*o"
"hello" not matches "^x"
[1, "a", nil, true, [2]]
{a: 1, "b": {c: 2}}
{a: 1, a: 2}
{"x": list}.x[0]
let a = 2; a * a
let a = 2; let b = a + 1; [a, b]
1; 2; 3
if limit > 2 { "big" } else { "small" }
if limit > 5 { 1 } else if limit > 2 { 2 } else { 3 }
all(list, # > 0)
all(list, {# > 1})
any(list, # == 3)
none(list, # > 5)
one(list, # == 3)
filter(list, # > 1)
filter(list, #index > 0)
map(list, # * 2)
map(list, #index)
map(inputData.items, .id)
map(inputData.items, {.id})
count(list, # == 2)
count([true, false, true])
sum(list)
sum(inputData.items, .price)
find(list, # < 3)
findIndex(list, # < 3)
findLast(list, # < 3)
findLastIndex(list, # < 3)
find(list, # > 10)
sortBy(list, #)
sortBy(list, -#)
sortBy(inputData.items, .price, "desc")
list | filter(# > 1) | map(# * 10) | sum()
inputData.items | map(.price) | max()
len(list)
len("abc")
len({a: 1})
type(1)
type(1.5)
type("a")
type(true)
type(nil)
type([])
type({})
abs(-2)
abs(2.5)
ceil(1.5)
floor(1.5)
round(1.5)
round(-1.5)
int("12")
int(2.9)
float("1.5")
float(1)
string(1)
string("a")
string(true)
trim("  a ")
trim("xxaxx", "x")
trimPrefix("abc", "ab")
trimSuffix("abc", "bc")
upper("abc")
lower("ABC")
split("a,b", ",")
split("a,b,c", ",", 2)
splitAfter("a,b", ",")
replace("aXbX", "X", "-")
replace("aXbX", "X", "-", 1)
repeat("ab", 2)
join(["a", "b"])
join(["a", "b"], "-")
indexOf("hello", "l")
lastIndexOf("hello", "l")
indexOf("hello", "z")
hasPrefix("abc", "a")
hasSuffix("abc", "c")
max(1, 2, 3)
max(list)
min(list)
min(1, [2, 0])
mean(list)
median(list)
median([1, 2, 3, 4])
fromJSON("[1, {\"a\": 2}]")
toBase64("abc")
fromBase64("YWJj")
first(list)
last(list)
first([])
get(inputData, "action")
get(inputData, "zz")
get(list, 1)
get(list, 9)
take(list, 2)
take(list, 9)
len(keys(inputData.user))
len(values(inputData.user))
len(toPairs(inputData.user))
reverse(list)
uniq(list)
concat(list, [9])
flatten([1, [2, [3]]])
sort(list)
sort(list, "desc")
sort(["b", "a"])
bitand(6, 3) + bitor(6, 3) + bitxor(6, 3) + bitnand(6, 3) + bitnot(5)
bitshl(1, 3) + bitshr(16, 2) + bitushr(16, 2)
any(list, any(inputData.items, .id == 2))
map(1..3, let x = #; filter(1..3, # > x))
1 + nil
nil > 1
not 1
1 and true
"a" + 1
"a" > 1
filter(nil, true)
filter(list, 1)
len(1)
inputData.action.x
unknownFunction(1)
1 +
(1
[1, 2
"open
a b
1 .. 2 ..
#
let x = 1
`), "\n") {
		agree(t, source, scope)
	}
}

// TestAgreesWithExprAtRandom compares many small random expressions.
func TestAgreesWithExprAtRandom(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	scope := MapScope{"a": json.Number("3"), "b": json.Number("-2"), "f": json.Number("1.5"), "s": "xyz", "l": []any{json.Number("1"), json.Number("2"), json.Number("5")}}
	compared := 0
	for compared < 5_000 && !t.Failed() {
		for _, source := range []string{randomBoolean(random, 3), randomNumber(random, 3)} {
			if _, err := CompileExpression(source); err == nil { // else it is over a limit
				agree(t, source, scope)
				compared++
			}
		}
	}
}

func randomNumber(random *rand.Rand, depth int) string {
	leaves := []string{"a", "b", "f", "1", "2", "0.5", "10", "len(l)", "l[0]", "l[-1]", "sum(l)", "len(s)"}
	if depth == 0 {
		return leaves[random.Intn(len(leaves))]
	}
	x, y := randomNumber(random, depth-1), randomNumber(random, depth-1)
	switch random.Intn(11) {
	case 0, 1:
		return "(" + x + " + " + y + ")"
	case 2:
		return x + " - (" + y + ")"
	case 3:
		return "(" + x + ") * (" + y + ")"
	case 4:
		return "(" + x + ") / 4"
	case 5:
		return "(" + randomBoolean(random, depth-1) + " ? " + x + " : " + y + ")"
	case 6:
		return "max(" + x + ", " + y + ")"
	case 7:
		return "count(l, # > " + x + ")"
	case 8:
		return "sum(map(l, # + " + y + "))"
	case 9:
		return "(let v = " + x + "; v + v)"
	default:
		return "abs(-(" + x + "))"
	}
}

func randomBoolean(random *rand.Rand, depth int) string {
	if depth == 0 {
		return []string{"true", "false", "a > b", `s == "xyz"`, "f in l"}[random.Intn(5)]
	}
	comparison := []string{" < ", " <= ", " == ", " != ", " > ", " >= "}[random.Intn(6)]
	switch random.Intn(6) {
	case 0:
		return "(" + randomBoolean(random, depth-1) + " and " + randomBoolean(random, depth-1) + ")"
	case 1:
		return "(" + randomBoolean(random, depth-1) + " || " + randomBoolean(random, depth-1) + ")"
	case 2:
		return "not (" + randomBoolean(random, depth-1) + ")"
	case 3:
		return "any(l, #" + comparison + randomNumber(random, depth-1) + ")"
	case 4:
		return "(" + randomNumber(random, depth-1) + ") in l"
	default:
		return randomNumber(random, depth-1) + comparison + randomNumber(random, depth-1)
	}
}
