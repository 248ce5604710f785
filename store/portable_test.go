package store

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type refusal struct{ spelling, instead string }

// refused are the constructs that PostgreSQL does not have, or understands differently, and
// for which both databases have another spelling.
var refused = []refusal{
	{`\bINSERT OR\b|\bREPLACE INTO\b`, "INSERT ... ON CONFLICT"},
	{`ON CONFLICT DO UPDATE`, "ON CONFLICT (the columns of the key) DO UPDATE"},
	{`CROSS JOIN \w+( \w+)? ON\b`, "the condition in WHERE"},
	{`\b(iif|ifnull|total|group_concat|printf|typeof|zeroblob|strftime|unixepoch|julianday|datetime|random|randomblob)\(`, "CASE, coalesce, or an argument"},
	{`\bsubstr\([^()]*, ?-`, "substr(x, length(x) - n)"},
	{`\bIS (NOT )?\?`, "= and IS NULL"},
	{`\?\d* IS (NOT )?NULL (OR|AND)`, "the comparison that shows the type of the parameter before IS NULL"},
	{`\b(GLOB|MATCH|REGEXP|NOT INDEXED)\b|==`, "standard operators"},
	{`\bcoalesce\([^()]*=.*, [01]\)`, "coalesce(x = y, false)"},
	{`\bLIMIT -`, "no LIMIT"},
	{`x'[0-9a-fA-F]*'`, "an argument"},
	{`DATETIME|CURRENT_TIMESTAMP`, "a time of the store's clock as an argument"},
}

// remaining are the constructs that only SQLite has and that its statements keep, with the
// files they are in. A second database needs a variant of these, and nothing else.
var remaining = []struct{ spelling, reason, files string }{
	{`(?i)\bpragma(_\w+)? ?|\bsqlite_\w+`, "about the file; another database has its own administration", "backup.go checkpoint.go copy.go diagnose.go disk.go lost_files.go open.go restore.go upgrade.go"},
	{`\bVACUUM\b`, "copies and shrinks the file", "disk.go lost_files.go"},
	{`\bINDEXED BY\b`, "guards the plan; can be removed from a text mechanically", "breaker.go executions.go firings.go firings_read.go prune.go runs.go summaries.go"},
	{`\binstr\(`, "the same function has another name; LIKE would ignore letter case here and not there", "audit.go blueprints.go firings_read.go summaries.go triggers.go"},
	{`\bjson_\w+\(|->>`, "json_each of a list of numbers; PostgreSQL cannot read JSON that contains \\u0000", "runs.go summaries.go triggers.go"},
	{`\browid\b`, "a table whose key is not a number, and violations that a check of the file found", "diagnose.go seal.go"},
}

// TestPortable keeps the statements of the store valid for SQLite and PostgreSQL, apart
// from those that remaining lists.
func TestPortable(t *testing.T) {
	t.Parallel()
	texts, literals := sqlTexts(t)
	if len(texts) < 300 {
		t.Fatalf("%d texts, want at least 300", len(texts))
	}
	for _, text := range texts {
		if problem := notPortable(text.sql); problem != "" {
			t.Errorf("%s: %q\n%s", text.place, text.sql, problem)
		}
	}
	for _, rule := range remaining {
		t.Run(rule.spelling, func(t *testing.T) {
			files := map[string]bool{}
			for _, text := range literals {
				if regexp.MustCompile(rule.spelling).MatchString(text.sql) {
					files[text.place.Filename] = true
				}
			}
			if diff := cmp.Diff(strings.Fields(rule.files), slices.Sorted(maps.Keys(files))); diff != "" {
				t.Errorf("%s; files (-want +got):\n%s", rule.reason, diff)
			}
		})
	}
}

// notPortable returns what is wrong with a text, "" for nothing.
func notPortable(sql string) string {
	if i := slices.IndexFunc(refused, func(r refusal) bool { return regexp.MustCompile(r.spelling).MatchString(sql) }); i >= 0 {
		return "want " + refused[i].instead
	}
	if call := scalarExtreme(sql); call != "" {
		return "want CASE in place of the scalar " + call
	}
	if subquery := unnamedSubquery(sql); subquery != "" {
		return "want a name behind " + subquery
	}
	return ""
}

// TestPortableRules checks the rules themselves.
func TestPortableRules(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]bool{
		"INSERT OR REPLACE INTO a VALUES (1)":                                     true,
		"INSERT INTO a VALUES (1) ON CONFLICT DO UPDATE SET b = 1":                true,
		"INSERT INTO a VALUES (1) ON CONFLICT (b) DO UPDATE SET b = 1":            false,
		"INSERT INTO a VALUES (1) ON CONFLICT DO NOTHING":                         false,
		"SELECT 1 FROM a CROSS JOIN b ON a.x = b.x":                               true,
		"SELECT 1 FROM a CROSS JOIN b c ON a.x = c.x":                             true,
		"SELECT 1 FROM a CROSS JOIN b c JOIN d ON c.x = d.x WHERE a.x = c.x":      false,
		"SELECT max(coalesce(a, 0), ?) FROM b":                                    true,
		"SELECT max(coalesce(a, 0)), min(b) FROM c":                               false,
		"SELECT count(*) FROM (SELECT 1 FROM a WHERE b IN (1, 2)) WHERE c":        true,
		"SELECT count(*) FROM (SELECT 1 FROM a WHERE b IN (1, 2)) d WHERE c":      false,
		"SELECT 1 FROM a JOIN (SELECT 1)":                                         true,
		"SELECT a FROM b WHERE (?1 IS NULL OR a = ?1)":                            true,
		"SELECT a FROM b WHERE (a = ?1 OR ?1 IS NULL)":                            false,
		"SELECT substr(a, -26) FROM b":                                            true,
		"SELECT coalesce(a.b = (SELECT c FROM d WHERE e = ?1), 0) FROM a":         true,
		"UPDATE a SET b = x'00'":                                                  true,
		"SELECT a FROM b WHERE c IS ?":                                            true,
		"SELECT a FROM b WHERE c IS NOT NULL AND d = ? ORDER BY e LIMIT ? OFFSET": false,
	} {
		t.Run(sql, func(t *testing.T) {
			t.Parallel()
			if got := notPortable(sql); (got != "") != want {
				t.Errorf("got %q; want a problem: %v", got, want)
			}
		})
	}
}

type sqlText struct {
	place token.Position
	sql   string
}

var looksLikeSQL = regexp.MustCompile(`\b(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|JOIN|ORDER BY|LIMIT|AND|OR|NULL|CASE|COMMIT|BEGIN|SAVEPOINT|ROLLBACK|RELEASE|VACUUM|PRAGMA|EXISTS|CONFLICT)\b|\w\.\w+|rowid`)

// sqlTexts returns the constant texts of the package that look like SQL, with constants
// folded, and the literals that they consist of. The constant parts of a text that is put
// together at run time are texts of their own.
func sqlTexts(t *testing.T) (list, literals []sqlText) {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	names, err := os.ReadDir(".")
	check(t, err)
	for _, name := range names {
		if strings.HasSuffix(name.Name(), ".go") && !strings.HasSuffix(name.Name(), "_test.go") {
			files = append(files, must(parser.ParseFile(set, name.Name(), nil, parser.SkipObjectResolution))(t))
		}
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	lenient := types.Config{Importer: noImports{}, Error: func(error) {}} // what other packages declare is of no interest
	_, _ = lenient.Check("store", set, files, info)
	for _, file := range files {
		outermost := token.NoPos // end of the constant that the node is in
		ast.Inspect(file, func(node ast.Node) bool {
			if _, ok := node.(*ast.ImportSpec); ok {
				return false
			}
			expression, ok := node.(ast.Expr)
			if !ok {
				return true
			}
			literal, isLiteral := expression.(*ast.BasicLit)
			isLiteral = isLiteral && literal.Kind == token.STRING
			value := info.Types[expression].Value
			if value == nil && isLiteral {
				value = constant.MakeFromLiteral(literal.Value, token.STRING, 0)
			}
			if value == nil || value.Kind() != constant.String {
				return true
			}
			text := sqlText{set.Position(node.Pos()), strings.Join(strings.Fields(constant.StringVal(value)), " ")}
			if !looksLikeSQL.MatchString(text.sql) {
				return true
			}
			if isLiteral {
				literals = append(literals, text)
			}
			if node.End() > outermost {
				list = append(list, text)
				outermost = node.End()
			}
			return true
		})
	}
	return list, literals
}

// noImports imports nothing, so that the constants of other packages are unknown.
type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) {
	return nil, fmt.Errorf("%s is not loaded", path)
}

var extreme = regexp.MustCompile(`\b(max|min)\(`)

// scalarExtreme returns a call of max or min with several arguments, "" if there is none.
func scalarExtreme(sql string) string {
	for _, at := range extreme.FindAllStringIndex(sql, -1) {
		if inside, _ := parenthesized(sql, at[1]); strings.Contains(inside, ",") {
			return sql[at[0]:at[1]] + inside + ")"
		}
	}
	return ""
}

var subqueries = regexp.MustCompile(`\b(FROM|JOIN) ?\( ?SELECT\b`)

// keywords may follow a subquery, but are not its name.
var keywords = strings.Fields("WHERE ORDER GROUP LIMIT JOIN LEFT CROSS INNER UNION ON HAVING")

// unnamedSubquery returns the end of a subquery in FROM that has no name, "" if there is
// none.
func unnamedSubquery(sql string) string {
	for _, at := range subqueries.FindAllStringIndex(sql, -1) {
		open := at[0] + strings.Index(sql[at[0]:at[1]], "(") + 1
		_, end := parenthesized(sql, open)
		if end < 0 {
			continue // the rest is put together at run time
		}
		rest := strings.TrimSpace(sql[end:])
		name := regexp.MustCompile(`^(AS )?\w+`).FindString(rest)
		if name == "" || slices.Contains(keywords, name) {
			return sql[max(open, end-30):end]
		}
	}
	return ""
}

// parenthesized returns what is between an opened parenthesis and its end, without what is
// in parentheses within, and the position behind the end, -1 if there is none.
func parenthesized(sql string, from int) (inside string, end int) {
	depth, quoted := 1, false
	var b strings.Builder
	for i := from; i < len(sql); i++ {
		switch c := sql[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return b.String(), i + 1
			}
		case depth == 1:
			b.WriteByte(c)
		}
	}
	return b.String(), -1
}
