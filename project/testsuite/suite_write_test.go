package testsuite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testFolder makes a folder of a blueprint in b/ and a test of it in t/, which
// does not expect what comes.
func testFolder(t *testing.T) (folder string, write func(name, text string)) {
	t.Helper()
	folder = t.TempDir()
	write = func(name, text string) {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("b/a.blueprint.yaml", "title: A\nblueprint_map:\n  nodes:\n    - {id: a, type: template, title: A, config: {text: one}}\n")
	write("t/a.test.yaml", "blueprint: ../b/a.blueprint.yaml\ntests:\n  - name: a\n    expect: {status: completed, output: {text: two}}\n")
	return folder, write
}

// What was interrupted is neither judged nor written.
func TestAnInterruptedTestIsNotWritten(t *testing.T) {
	folder, _ := testFolder(t)
	path := filepath.Join(folder, "t", "a.test.yaml")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := &heardBuffer{}
	suite := testsIn(folder, out)
	suite.Update = true
	cases, _ := suite.load([]string{path})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	results := suite.runAll(ctx, cases)
	if len(results) != 1 || !results[0].NotRun || results[0].Failed() || !strings.Contains(out.take(), "a.test.yaml: a (not run)") {
		t.Errorf("%+v", results[0])
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(before) {
		t.Errorf("%s %v, want %v", now, err, string(before))
	}
}

// A file that was changed meanwhile is not overwritten.
func TestAFileThatWasChangedIsNotWritten(t *testing.T) {
	folder, write := testFolder(t)
	path := filepath.Join(folder, "t", "a.test.yaml")
	suite := testsIn(folder, &heardBuffer{})
	suite.Update = true
	cases, _ := suite.load([]string{path})
	write("t/a.test.yaml", "mine\n")
	results := suite.runAll(t.Context(), cases)
	if r := results[0]; r.Fault == nil || r.Updated || !strings.Contains(r.Fault.Error(), "it changed while the tests ran") {
		t.Errorf("%+v, want Fault not nil, not Updated and \"it changed while the tests ran\" in it", r)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != "mine\n" {
		t.Errorf("%s %v, want %v", now, err, "mine\n")
	}
}

// A file that is written keeps its mode, and leaves nothing beside it.
func TestAWrittenFileKeepsItsMode(t *testing.T) {
	folder, _ := testFolder(t)
	path := filepath.Join(folder, "t", "a.test.yaml")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	suite := testsIn(folder, &heardBuffer{})
	suite.Update = true
	cases, _ := suite.load([]string{path})
	if r := suite.runAll(t.Context(), cases)[0]; !r.Updated {
		t.Fatalf("%+v", r)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Error(info.Mode(), err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Error(left, err)
	}
}

// Watching sees the files that tests name elsewhere, and tells by name what is
// gone.
func TestWatchSeesWhatTestsName(t *testing.T) {
	folder, write := testFolder(t)
	path := filepath.Join(folder, "t", "a.test.yaml")
	watching(t, path, func(t *testing.T, later func() string) {
		if got := later(); !strings.Contains(got, `expected "two", got "one"`) || strings.Count(got, "waiting for changes") != 1 {
			t.Errorf("at first: %s, want expected \"two\", got \"one\" in it and 1", got)
		}
		write("b/a.blueprint.yaml", "title: A\nblueprint_map:\n  nodes:\n    - {id: a, type: template, title: A, config: {text: two }}\n")
		if got := later(); !strings.Contains(got, "1 passed") {
			t.Errorf("after a change elsewhere: %s, want \"1 passed\" in it", got)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if got := later(); !strings.Contains(got, path+" cannot be read") || !strings.Contains(got, "hint: check the path") {
			t.Errorf("without the file: %s, want %q in it and \"hint: check the path\" in it", got, path+" cannot be read")
		}
	})
}
