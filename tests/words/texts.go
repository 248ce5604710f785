package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A sentence is a log message or an error text, with the package that says it.
type sentence struct{ folder, level, text string }

// levels are the methods of slog that take a message, with the place of the message
// among their arguments.
var levels = map[string]int{
	"Debug": 0, "Info": 0, "Warn": 0, "Error": 0,
	"DebugContext": 1, "InfoContext": 1, "WarnContext": 1, "ErrorContext": 1,
	"Log": 2, "LogAttrs": 2,
}

// failing are the functions whose arguments are the text of an error, an issue or a hint.
var failing = regexp.MustCompile(`^(errors\.New|(.*\.)?(\w*[eE]rrorf?|[fF]ail(ed|f|Now)?|usage|[iI]ssuef?|problem|[hH]inted|WithHint|SeeDocs|refuse\w*|reject\w*|invalid|warn\w*))$`)

// collect returns the log messages and the error texts of the program below a folder,
// sorted and each once, and the places of log messages that are not constant.
func collect(root string) (logs, errors []sentence, loose []string, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if name := entry.Name(); path != root && (skipped[name] || name == "tests" || name == "clients" || name == "packaging") {
				return fs.SkipDir
			}
			return nil
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := callee(call.Fun)
			method := name[strings.LastIndex(name, ".")+1:]
			if at, ok := levels[method]; ok && isLogger(call.Fun) {
				if len(call.Args) <= at {
					return true
				}
				if text, constant := literal(call.Args[at]); constant {
					logs = append(logs, sentence{folder, strings.ToLower(strings.TrimSuffix(method, "Context")), text})
				} else {
					loose = append(loose, files.Position(call.Pos()).String())
				}
				return true
			}
			if !failing.MatchString(name) {
				return true
			}
			for _, argument := range call.Args {
				if text, ok := literal(argument); ok && strings.Contains(text, " ") {
					errors = append(errors, sentence{folder: folder, text: text})
				}
			}
			return true
		})
		return nil
	})
	return unique(logs), unique(errors), loose, err
}

// isLogger reports whether a call is a method of a logger: slog itself, or a value
// called log or logger.
func isLogger(fun ast.Expr) bool {
	selector, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if _, ok := levels[selector.Sel.Name]; !ok {
		return false
	}
	name := strings.ToLower(callee(selector.X))
	return name == "slog" || strings.HasSuffix(name, "log") || strings.HasSuffix(name, "logger") || strings.HasSuffix(name, "log()")
}

// callee returns what is called, as dotted names.
func callee(fun ast.Expr) string {
	switch f := fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return callee(f.X) + "." + f.Sel.Name
	case *ast.CallExpr:
		return callee(f.Fun) + "()"
	case *ast.IndexExpr:
		return callee(f.X)
	}
	return ""
}

// literal returns the value of a string literal, or of literals that are joined.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.ParenExpr:
		return literal(e.X)
	case *ast.BinaryExpr:
		left, first := literal(e.X)
		right, second := literal(e.Y)
		return left + right, first && second && e.Op == token.ADD
	}
	return "", false
}

// unique returns the sentences sorted, each once.
func unique(all []sentence) []sentence {
	slices.SortFunc(all, func(a, b sentence) int {
		return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(a.text, b.text), cmp.Compare(a.level, b.level))
	})
	return slices.Compact(all)
}
