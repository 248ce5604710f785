package engine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"blueprintd/tests/stored"
)

// Processes of two versions share runs: each reads the entries, the records and the commands of
// the other. What a node stores in a pause (await.State) is in testdata/stored.txt of its package.
func TestStoredMembersHaveAForm(t *testing.T) {
	list := stored.Members(entry{}, storedRecord{}, command{}, answer{})
	file, err := parser.ParseFile(token.NewFileSet(), "journal.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "entry") {
			list["entry of kind "+spec.Values[0].(*ast.BasicLit).Value] = true
		}
		return true
	})
	stored.Check(t, "..", list)
}
