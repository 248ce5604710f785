package expression

import (
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"

	theirs "github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/google/go-cmp/cmp"
)

// outline writes the nodes of a tree with their places and fields. It reads the trees of
// both packages, whose types have the same names; functions of the library are calls.
func outline(b *strings.Builder, value reflect.Value, indent string) {
	for value.Kind() == reflect.Interface || value.Kind() == reflect.Pointer {
		if value.IsNil() {
			fmt.Fprintf(b, "%snone\n", indent)
			return
		}
		if builtin, ok := value.Interface().(*theirs.BuiltinNode); ok {
			if _, isPredicate := arity[builtin.Name]; !isPredicate {
				call := &theirs.CallNode{Callee: &theirs.IdentifierNode{Value: builtin.Name}, Arguments: builtin.Arguments}
				call.SetLocation(builtin.Location())
				call.Callee.SetLocation(builtin.Location())
				outline(b, reflect.ValueOf(call), indent)
				return
			}
		}
		if node, ok := value.Interface().(interface{ Location() file.Location }); ok && value.Kind() == reflect.Pointer {
			fmt.Fprintf(b, "%s%s at %v\n", indent, value.Elem().Type().Name(), node.Location())
		}
		value = value.Elem()
	}
	switch {
	case value.Kind() == reflect.Struct:
		for i := range value.NumField() {
			field := value.Type().Field(i)
			if !field.IsExported() || slices.Contains([]string{"Throws", "Map", "Threshold"}, field.Name) {
				continue // the library's optimizer alone has it
			}
			fmt.Fprintf(b, "%s %s\n", indent, field.Name)
			outline(b, value.Field(i), indent+"  ")
		}
	case value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Interface:
		for i := range value.Len() {
			outline(b, value.Index(i), indent+"  ")
		}
	default:
		fmt.Fprintf(b, "%s%#v\n", indent, value.Interface())
	}
}

func outlineOf(root any) string {
	var b strings.Builder
	outline(&b, reflect.ValueOf(root), "")
	return b.String()
}

// parseAlike compares the tree or the error of a source with the library's.
func parseAlike(t *testing.T, source string) {
	t.Helper()
	got, err := parse(source)
	want, wantErr := parser.Parse(source)
	if err != nil || wantErr != nil {
		var here, there *file.Error
		if !errors.As(err, &here) || !errors.As(wantErr, &there) {
			t.Fatalf("%q: here %v; in expr %v", source, err, wantErr)
		}
		// Where a source has several mistakes, the library may report one of its lexer.
		if (here.Message != there.Message || here.Line != there.Line || here.Column != there.Column) && there.From <= here.From {
			t.Fatalf("%q: here %v; in expr %v", source, err, wantErr)
		}
		return
	}
	if diff := cmp.Diff(outlineOf(want.Node), outlineOf(got)); diff != "" {
		t.Fatalf("%q: the tree differs (-expr +here):\n%s", source, diff)
	}
}

// sources are expressions of all kinds, well-formed or not.
func sources(t testing.TB) []string {
	t.Helper()
	all := []string{
		"", " ", "1 +", "a.", "a?.b?.[0].c(1)[2:]", "a?.[1:2]", "[1,,2]", "{a: 1,,}", "{,}", "{a: 1,}", "{(a + b): 1, 1: 2, 'x': 3}", "{-1: 2}", "f(1,)", "f(,)", "map(list)", "map()", "count(list,)", "list | count()",
		"list | sortBy(.a, 'desc')", "sortBy(list, .a, 'desc', 1)", "reduce(list, #acc + #, 0)", "a ?? b + c", "a ?? b ?? c", "a ?? b | f()", "not a in b", "a not in b", "a not + b", "a not", "1 not in 2 + 3", "1 + 2 not in x",
		"-2 ** 2", "2 ** -1", "a ? b : c ? d : e", "a ?: b ?: c", "a ? : b", "if a {b}", "if a {b} else if c {d} else {e}", "let x = 1; let y = 2; x + y", "let 1 = 2", "let x = 1", "1;2;", ";", "::len(x)", "::x", ":: 1", "f::g",
		"filter(list, {let x = #; x > 1})", "filter(list, # > 1; 2)", "filter(list, .a.b > #index)", "#", ".a", "a.not.in", "a.1", "a[", "a[:]", "a[:1", "a[1:2:3]", "0x", "0xFFFFFFFFFFFFFFFFFF", "0b2", "1e", "1e999", "1_0.5_0", "99999999999999999999",
		"b'x'", "b\"\\xff\"", "'\\q'", "'", "`a``b`", "// x", "/* x", "a /* b */ + c", "a = b", "a === b", "a & b", "a @ b", "1 < 2 <= 3 > 4", "1 < 2 == 3 < 4", "a matches 'b' not contains 'c'", "true.x", "true[0]", "nil()", "1.x", "1[0]", "(1)[0]", "(a; b).c", "a(1)(2)", "x.y(1).z",
		strings.Repeat("(", 500) + "1" + strings.Repeat(")", 500), strings.Repeat("1+", 6000) + "1", strings.Repeat("f(", 200) + strings.Repeat(")", 200),
	}
	return append(all, strings.Split(strings.TrimSpace(alike), "\n")...)
}

// TestParserAgreesWithExpr compares trees and errors with those of the library, also of
// sources whose tokens were mixed.
func TestParserAgreesWithExpr(t *testing.T) {
	all := sources(t)
	for _, source := range all {
		parseAlike(t, source)
	}
	random := rand.New(rand.NewSource(1))
	for range 20_000 {
		a, b := all[random.Intn(len(all))], all[random.Intn(len(all))]
		if len(a)+len(b) > 400 {
			continue
		}
		from, to := random.Intn(len(a)+1), random.Intn(len(b)+1)
		parseAlike(t, a[:from]+b[to:])
	}
}

func FuzzParser(f *testing.F) {
	for _, source := range sources(f) {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) <= maxSource {
			parseAlike(t, source)
		}
	})
}
