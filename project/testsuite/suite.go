package testsuite

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"blueprintd/blueprint"
	"blueprintd/engine/script"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/fileio"
	"blueprintd/project"
)

// Suite runs and reports the tests of files and folders.
type Suite struct {
	Names   []string // files and folders
	Update  bool
	Replay  bool
	Bail    bool
	Jobs    int
	Only    *regexp.Regexp
	Junit   string
	Format  string // "", "tap" or "json"
	Out     io.Writer
	Errors  io.Writer
	Paint   Paint
	Scripts *script.Pool
	Version string
	Room    int // bytes that the runs of a test may keep; 0 = no limit
	// Complain reports the errors of Watch.
	Complain func(error)
	named    project.Listing // the files on which the tests depend; nil if not watching
}

// Once runs all tests and reports the results.
func (t *Suite) Once(ctx context.Context) error {
	for _, name := range t.Names {
		if project.KindOf(name) == project.KindBlueprint {
			return blueprint.InputErrorf("name a *.test.yaml file, or run blueprintd run "+blueprint.ShellWord(name), "%s is a blueprint, not a test file", name)
		}
	}
	files, err := testFiles(t.Names)
	if err != nil {
		return err
	}
	files = onceEach(files)
	cases, bad := t.load(files)
	if len(cases) == 0 && bad == nil {
		return t.noTests(files)
	}
	results := append(t.runAll(ctx, cases), bad...)
	slices.SortStableFunc(results, func(a, b *Result) int { return cmp.Compare(a.File, b.File) })
	if err := t.report(results, ctx.Err() != nil); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return blueprint.Hinted("", "interrupted")
	case bad != nil:
		return &blueprint.InputError{} // already reported
	case slices.ContainsFunc(results, (*Result).Failed):
		return &blueprint.Error{Code: blueprint.CodeInternal} // already reported
	}
	return nil
}

// onceEach removes duplicates of the same file.
func onceEach(files []string) (out []string) {
	seen := map[string]bool{}
	for _, name := range files {
		path, err := filepath.Abs(name)
		if err != nil {
			path = name
		}
		if !seen[path] {
			out = append(out, name)
		}
		seen[path] = true
	}
	return out
}

// noTests returns the error that files have no tests to run.
func (t *Suite) noTests(files []string) error {
	const noFiles = "name a folder with *.test.yaml files"
	var filters []string
	hint := noFiles
	if t.Only.String() != "" {
		filters, hint = append(filters, fmt.Sprintf(" whose names match %q", t.Only)), "choose other names with --run"
	}
	if t.Replay {
		filters, hint = append(filters, " that have a cassette"), blueprint.SeeDocs("record a run, or run the tests without --replay", "testing-blueprints")
	}
	if len(files) == 0 {
		hint = noFiles
	}
	return blueprint.InputErrorf(hint, "there are no tests%s", strings.Join(filters, " and"))
}

// runAll runs tests concurrently. Results are in the order of the tests, and each is
// printed after those before it. Tests skipped because ctx ended or because of Bail are not
// run, and their expectations are not written.
func (t *Suite) runAll(whole context.Context, cases []*testCase) []*Result {
	ctx, cancel := context.WithCancel(whole)
	defer cancel()
	results := make([]*Result, len(cases))
	next := make(chan int)
	go func() {
		defer close(next)
		for i := range cases {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	var mu sync.Mutex
	printed := 0
	var group sync.WaitGroup
	for range min(t.Jobs, len(cases)) {
		group.Go(func() {
			for i := range next {
				result := cases[i].result(ctx)
				mu.Lock()
				results[i] = result
				for ; !t.Update && printed < len(results) && results[printed] != nil && !results[printed].NotRun; printed++ {
					t.print(results[printed])
				}
				if t.Bail && result.Failed() {
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	for i := range results {
		if results[i] == nil {
			results[i] = &Result{File: cases[i].name, Test: cases[i].test.Name, NotRun: true}
		}
	}
	if t.Update && whole.Err() == nil {
		t.write(cases, results)
	}
	for _, r := range results[printed:] { // updated tests, and those after one that did not run
		t.print(r)
	}
	return results
}

// print prints a result. It ignores errors, as Sum fails too if the output is closed.
func (t *Suite) print(r *Result) {
	if t.Format == "" {
		_ = Print(t.Out, r, t.Paint)
	}
}

// report writes the results in the chosen formats.
func (t *Suite) report(results []*Result, interrupted bool) error {
	if t.Junit != "" {
		f, err := os.Create(t.Junit)
		if err == nil {
			err = errors.Join(JUnit(f, results), f.Close())
		}
		if err != nil {
			return blueprint.Hinted("check the path of --junit", "%s cannot be written: %s", t.Junit, fileio.Cause(err))
		}
	}
	switch t.Format {
	case "tap":
		return TAP(t.Out, results, interrupted)
	case "json":
		return JSON(t.Out, results)
	}
	return Sum(t.Out, results, t.Paint)
}

// write writes actual results of failed tests, and of those without expectations.
func (t *Suite) write(cases []*testCase, results []*Result) {
	files := map[string][]int{}
	for i, r := range results {
		switch wanted := len(r.Mismatches) > 0 || len(cases[i].test.Expect) == 0; {
		case !wanted || r.Fault != nil || r.NotRun:
		case cases[i].doubles.unready() != "":
			r.Fault = fmt.Errorf("%s is not written, because the test is incomplete: %s", r.File, cases[i].doubles.unready())
		default:
			files[r.File] = append(files[r.File], i)
		}
	}
	for name, list := range files {
		expectations := map[int]map[string]any{}
		for _, i := range list {
			expectations[cases[i].test.Index] = cases[i].test.Present(cases[i].outcome)
		}
		first := cases[list[0]]
		written, err := first.test.File.withExpectations(first.data, expectations)
		if err == nil {
			err = replaceFile(name, first.data, written.Data)
		}
		for _, i := range list {
			if results[i].Updated = err == nil; err != nil {
				results[i].Fault = fmt.Errorf("%s: %s", name, project.MessageOf(err))
			}
		}
		if err == nil && written.Bare {
			last := results[list[len(list)-1]]
			last.Notes = append(last.Notes, name+": comments inside changed values were lost")
		}
	}
}

// replaceFile atomically replaces a file that has not changed since it was read.
func replaceFile(name string, before, now []byte) (err error) {
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	old, err := os.OpenFile(path, os.O_RDWR, 0) // fails for a read-only file
	if err != nil {
		return err
	}
	defer old.Close()
	data, err := io.ReadAll(io.LimitReader(old, int64(len(before))+1))
	if err != nil {
		return err
	}
	if !bytes.Equal(data, before) {
		return errors.New("it changed while the tests ran, so it is not written; run them again")
	}
	info, err := old.Stat()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(now)
	if err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Watch runs the tests, and again when a file on which they depend changes.
func (t *Suite) Watch(ctx context.Context) error {
	return t.watchBy(ctx, clock.Real{}, func(w *project.Watcher) { w.Follow(t.folders) })
}

// watchBy is Watch with a clock; begin prepares the watcher.
func (t *Suite) watchBy(ctx context.Context, c clock.Clock, begin func(*project.Watcher)) error {
	seen, err := t.scan()
	if err != nil {
		return err
	}
	var watcher *project.Watcher
	for {
		t.named = project.Listing{}
		if err := t.Once(ctx); err != nil && ctx.Err() == nil {
			t.Complain(err)
		}
		if ctx.Err() != nil {
			return nil
		}
		if watcher == nil {
			for path, info := range t.named {
				if seen[path] == nil {
					seen[path] = info
				}
			}
			watcher = project.NewWatcher(c, seen, t.scan)
			begin(watcher)
			defer watcher.Close()
		}
		fmt.Fprintln(t.Errors, "waiting for changes")
		if _, err := watcher.Next(ctx); ctx.Err() != nil {
			return nil
		} else if err != nil {
			t.Complain(err)
		}
	}
}

func (t *Suite) roots() []string {
	folders := make([]string, len(t.Names))
	for i, name := range t.Names {
		folders[i] = name
		if info, err := os.Stat(name); err == nil && !info.IsDir() || err != nil && IsTestFile(name) {
			folders[i] = filepath.Dir(name)
		}
	}
	return folders
}

// folders returns all folders of the files that scan lists.
func (t *Suite) folders() []string {
	var all []string
	for _, root := range t.roots() {
		all = append(all, project.Folders(root)...)
	}
	for path := range t.named {
		all = append(all, filepath.Dir(path))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// scan lists the YAML and JSON files in the folders of the tests, and the files on which
// the tests depend elsewhere.
func (t *Suite) scan() (project.Listing, error) {
	list := project.Listing{}
	for _, name := range t.roots() {
		err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil && path == name:
				return blueprint.InputErrorf("check the path", "%s cannot be read: %s", path, fileio.Cause(err))
			case err != nil:
				return nil
			case entry.IsDir() && path != name && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
				return filepath.SkipDir
			case entry.IsDir() || !strings.HasSuffix(path, ".yaml") && !strings.HasSuffix(path, ".yml") && !strings.HasSuffix(path, ".json"):
				return nil
			}
			if info, err := entry.Info(); err == nil && len(list) < maxWatched {
				list[path] = info
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for path := range t.named {
		if info, err := os.Stat(path); err == nil {
			list[path] = info
		}
	}
	return list, nil
}
