package describe

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
)

// comments are the comments of the fields of structs, by struct and field.
type comments map[string]map[string]string

// commentsOf holds the comments of packages by import path.
var commentsOf sync.Map

// comment returns the comment of a field in the sources, "" if it has none.
func comment(of reflect.Type, field string) string {
	load, _ := commentsOf.LoadOrStore(of.PkgPath(), sync.OnceValue(func() comments { return readComments(of.PkgPath()) }))
	name, _, _ := strings.Cut(of.Name(), "[")
	return load.(func() comments)()[name][field]
}

// readComments parses the sources of a package of this module.
func readComments(pkg string) comments {
	found := comments{}
	_, path, ours := strings.Cut(pkg, "/")
	if !ours {
		return found
	}
	root := "."
	for _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil; _, err = os.Stat(filepath.Join(root, "go.mod")) {
		root = filepath.Join(root, "..")
	}
	names, _ := filepath.Glob(filepath.Join(root, path, "*.go")) // the pattern is valid
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			panic(fmt.Sprintf("describe: %v", err)) // it was compiled
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if fields, ok := spec.Type.(*ast.StructType); ok {
					found[spec.Name.Name] = fieldComments(fields)
				}
			}
			return true
		})
	}
	return found
}

var (
	nilWord  = regexp.MustCompile(`\bnil\b`)
	newlines = regexp.MustCompile(`\s*\n\s*`)
)

// fieldComments returns the comments before and behind the fields of a struct, without the name
// of the field at the beginning, and the full stop of a single sentence.
func fieldComments(of *ast.StructType) map[string]string {
	found := map[string]string{}
	for _, field := range of.Fields.List {
		text := newlines.ReplaceAllString(strings.TrimSpace(field.Doc.Text()+field.Comment.Text()), " ")
		for _, name := range field.Names {
			own := text
			for _, verb := range []string{" is ", " are ", " reports that ", " describes ", " describe "} {
				own = strings.TrimPrefix(own, name.Name+verb)
			}
			if strings.Count(own, ". ") == 0 {
				own = strings.TrimSuffix(own, ".")
			}
			found[name.Name] = own
		}
	}
	return found
}
