package main

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"

	"blueprintd/blueprint/file"
	"blueprintd/folder"
)

// testsBeside gives the test files of a blueprint file: those that have its name,
// and those that name it.
func (l *devLoop) testsBeside(name string) (tests []string) {
	listing, err := folder.Scan(l.dir)
	if err != nil {
		return nil
	}
	for _, test := range slices.Sorted(maps.Keys(listing)) {
		if folder.KindOf(test) == folder.Test && slices.Contains(l.concerned(test), name) {
			tests = append(tests, filepath.Join(l.dir, filepath.FromSlash(test)))
		}
	}
	return tests
}

// concerned gives the blueprint files of the folder that a file is about.
func (l *devLoop) concerned(name string) []string {
	switch folder.KindOf(name) {
	case folder.Blueprint:
		return []string{name}
	case folder.Test:
		if tested := l.tested(name); tested != "" {
			return []string{tested}
		}
	}
	var out []string
	for wanted := range l.wanted {
		if folder.Stem(wanted) == folder.Stem(name) {
			out = append(out, wanted)
		}
	}
	return out
}

// tested gives the blueprint file that a test file names, "" when it cannot be read.
func (l *devLoop) tested(name string) string {
	data, err := folder.Read(l.dir, name, file.MaxSize)
	if err != nil {
		return ""
	}
	document, err := file.Parse(name, data)
	if err != nil {
		return ""
	}
	object, _ := document.Value.(map[string]any)
	of, _ := object["blueprint"].(string)
	if of == "" {
		return ""
	}
	return path.Join(path.Dir(name), filepath.ToSlash(of))
}

// test runs test files and says how they went.
func (l *devLoop) test(ctx context.Context, files []string) {
	t := &trials{
		names: files, jobs: runtime.GOMAXPROCS(0), only: regexp.MustCompile(""), out: l.screen.beside(l.screen.out), errors: l.problems,
		scripts: l.server.scripts,
	}
	if l.screen.coloured {
		t.paint = l.screen.paint
	}
	err := t.once(ctx)
	if err == nil || ctx.Err() != nil {
		return
	}
	if _, message, _ := explain(err); message != "" {
		l.screen.say(red, "%s", message)
	}
}
