package dev

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/command/terminal"
	"blueprintd/project"
	"blueprintd/project/testsuite"
)

// testFile holds the references of a test file to other files of the folder.
type testFile struct {
	info   fs.FileInfo // of the test file when it was read
	tested string      // the tested blueprint; "" if the file cannot be read
	needs  []string    // all blueprints and cassettes, including tested
}

// testFile returns the references of a test file, cached until the file changes.
func (l *loop) testFile(name string, info fs.FileInfo) testFile {
	if known, ok := l.tests[name]; ok && info != nil && known.info.Size() == info.Size() && known.info.ModTime().Equal(info.ModTime()) && os.SameFile(known.info, info) {
		return known
	}
	t := testFile{info: info}
	data, err := project.ReadListed(l.Dir, name, document.MaxSize)
	if err != nil {
		return t
	}
	if doc, err := document.Parse(name, data); err == nil {
		object, _ := doc.Value.(map[string]any)
		beside := func(value any) string {
			if text, _ := value.(string); text != "" {
				t.needs = append(t.needs, path.Join(path.Dir(name), filepath.ToSlash(text)))
				return t.needs[len(t.needs)-1]
			}
			return ""
		}
		t.tested = beside(object["blueprint"])
		others, _ := object["blueprints"].(map[string]any)
		for _, id := range slices.Sorted(maps.Keys(others)) {
			beside(others[id])
		}
		tests, _ := object["tests"].([]any)
		for _, element := range tests {
			one, _ := element.(map[string]any)
			beside(one["cassette"])
		}
	}
	if info != nil {
		l.tests[name] = t
	}
	return t
}

func (l *loop) scan() (project.Listing, error) {
	listing, err := project.Scan(l.Dir)
	if err == nil {
		listing = l.withCassettes(listing)
	}
	return listing, err
}

// withCassettes adds the other files of the folder that its tests name.
func (l *loop) withCassettes(listing project.Listing) project.Listing {
	root, err := os.OpenRoot(l.Dir)
	if err != nil {
		return listing
	}
	defer root.Close()
	out := maps.Clone(listing)
	for name, info := range listing {
		if project.KindOf(name) != project.KindTest {
			continue
		}
		for _, needed := range l.testFile(name, info).needs {
			if out[needed] != nil || project.KindOf(needed) != "" {
				continue
			}
			if info, err := root.Stat(needed); err == nil && info.Mode().IsRegular() {
				out[needed] = info
			}
		}
	}
	return out
}

// testsOf returns the test files to run for a file: those with the name of a blueprint or
// that name it. A test of no blueprint of the folder is its own test.
func (l *loop) testsOf(name string) (tests []string) {
	listing, err := project.Scan(l.Dir)
	if err != nil {
		return nil
	}
	for _, test := range slices.Sorted(maps.Keys(listing)) {
		if project.KindOf(test) == project.KindTest && slices.Contains(l.testedBy(test, listing[test]), name) {
			tests = append(tests, filepath.Join(l.Dir, filepath.FromSlash(test)))
		}
	}
	return tests
}

// testedBy returns the blueprint files that a test file tests, or the test file itself if
// there are none: running it reports the reason.
func (l *loop) testedBy(name string, info fs.FileInfo) []string {
	tested := l.testFile(name, info).tested
	if _, there := l.wanted[tested]; there {
		return []string{tested}
	}
	if of := l.namesake(name); tested == "" && len(of) > 0 {
		return of
	}
	return []string{name}
}

// affected returns what to run when a file was saved: blueprints, and tests without one.
func (l *loop) affected(name string) (out []string) {
	listing, err := project.Scan(l.Dir)
	if err != nil {
		return nil
	}
	switch project.KindOf(name) {
	case project.KindBlueprint:
		out = append(out, name)
	case project.KindTest:
		return l.testedBy(name, listing[name])
	case project.KindInput:
		return l.namesake(name)
	}
	for test, info := range listing {
		if project.KindOf(test) == project.KindTest && l.needed(l.testFile(test, info).needs, name) {
			out = append(out, l.testedBy(test, info)...)
		}
	}
	return out
}

// needed reports whether a file is one of names or one of the blueprints to which they
// refer, directly or not.
func (l *loop) needed(names []string, name string) bool {
	seen := map[string]bool{}
	for queue := slices.Clone(names); len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if seen[at] {
			continue
		}
		if seen[at] = true; at == name {
			return true
		}
		d := l.wanted[at]
		for _, to := range d.References() {
			if to.Key == project.BlueprintKey {
				queue = append(queue, to.Target(at))
			}
		}
	}
	return false
}

// namesake returns the blueprint files with the stem of a file.
func (l *loop) namesake(name string) (out []string) {
	for wanted := range l.wanted {
		if project.Stem(wanted) == project.Stem(name) {
			out = append(out, wanted)
		}
	}
	return out
}

func (l *loop) test(ctx context.Context, files []string) {
	t := &testsuite.Suite{
		Names: files, Jobs: runtime.GOMAXPROCS(0), Only: regexp.MustCompile(""), Out: l.Screen.Lines(), Errors: l.Problems,
		Scripts: l.server.Scripts, Paint: l.Screen.Paint, Version: l.Version,
	}
	err := t.Once(ctx)
	if err == nil || ctx.Err() != nil {
		return
	}
	if message, _ := blueprint.DescribeError(err); message != "" {
		l.Screen.Say(terminal.Red, "%s", message)
	}
}
