package testsuite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"blueprintd/blueprint"
	"blueprintd/engine/script"
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
		return blueprint.InputErrorf("name a folder with *.test.yaml files", "there are no tests%s", t.filter())
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

func (t *Suite) filter() string {
	switch {
	case t.Only.String() != "":
		return fmt.Sprintf(" whose names match %q", t.Only)
	case t.Replay:
		return " that have a cassette"
	}
	return ""
}

// runAll runs tests concurrently. Results are in the order of the tests, and each is
// printed after those before it. Tests that the end of ctx or Bail leaves out are not
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
