package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

func main() {
	places := os.Args[1:]
	if len(places) == 0 {
		places = []string{"."}
	}
	count := 0
	for _, place := range places {
		found, err := check(place)
		if err != nil {
			fmt.Fprintln(os.Stderr, "words:", err)
			os.Exit(2)
		}
		for _, line := range found {
			fmt.Println(line)
		}
		count += len(found)
	}
	if count > 0 {
		fmt.Printf("%d findings\nhint: say it in the words of the field; the table is tests/words/phrases.go\n", count)
		os.Exit(1)
	}
}

// skipped are folders with generated or foreign texts.
var skipped = map[string]bool{".git": true, "node_modules": true, "testdata": true, "dist": true, "words": true}

// check reads every file below a folder, or one file, and returns its findings.
func check(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && skipped[entry.Name()]:
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		var lines []string
		switch filepath.Ext(path) {
		case ".go":
			lines, err = checkGo(path)
		case ".ts", ".tsx", ".css", ".sql", ".sh", ".md":
			lines, err = checkLines(path)
		}
		found = append(found, lines...)
		return err
	})
	return found, err
}

// checkGo reads the comments and the string literals of a Go file.
func checkGo(path string) ([]string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	var found []string
	report := func(at token.Pos, texts ...string) {
		for _, text := range texts {
			if text != "" {
				found = append(found, fmt.Sprintf("%s:%d: %s", path, files.Position(at).Line, text))
			}
		}
	}
	for _, group := range file.Comments {
		report(group.Pos(), findings(flat(group.Text()))...)
	}
	if strings.HasSuffix(path, "_test.go") {
		return found, nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
				report(n.Pos(), findings(flat(text))...)
			}
		}
		return true
	})
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			report(d.Pos(), checkDoc(d.Name.Name, flat(d.Doc.Text())))
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok {
					doc := s.Doc
					if doc == nil && len(d.Specs) == 1 {
						doc = d.Doc
					}
					report(s.Pos(), checkDoc(s.Name.Name, flat(doc.Text())))
				}
			}
		}
	}
	return found, nil
}

// flat returns a text on one line.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// code is what Markdown and comments quote: a fenced block's line or an inline span.
var code = regexp.MustCompile("`[^`]*`")

// comments find the comment of a line by the file's extension.
var comments = map[string]*regexp.Regexp{
	".ts": regexp.MustCompile(`(?:^|\s)(?://|/?\*)(.*)`), ".css": regexp.MustCompile(`/\*(.*)`),
	".sql": regexp.MustCompile(`--(.*)`), ".sh": regexp.MustCompile(`(?:^|\s)#(.*)`),
}

// checkLines reads a file of another language: its comments, or all of it where it is
// Markdown, except for code.
func checkLines(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	comment := comments[strings.TrimSuffix(filepath.Ext(path), "x")]
	var found []string
	fenced := false
	for lines, number := bufio.NewScanner(file), 1; lines.Scan(); number++ {
		text := lines.Text()
		if strings.HasPrefix(strings.TrimSpace(text), "```") {
			fenced = !fenced
			continue
		}
		if comment != nil {
			match := comment.FindStringSubmatch(text)
			if match == nil {
				continue
			}
			text = match[1]
		} else if fenced {
			continue
		}
		for _, finding := range findings(code.ReplaceAllString(text, "")) {
			found = append(found, fmt.Sprintf("%s:%d: %s", path, number, finding))
		}
	}
	return found, nil
}
