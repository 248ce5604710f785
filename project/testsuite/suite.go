package testsuite

import (
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

// Suite are the tests of some files and folders, and how to run and report them.
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
	// complain tells what went wrong between two runs of a watch.
	Complain func(error)
	named    project.Listing // the files that the tests name, as they were read; nil = nobody asks
}

// Once runs all tests and tells how they went.
func (t *Suite) Once(ctx context.Context) error {
	for _, name := range t.Names {
		if project.KindOf(name) == project.KindBlueprint {
			return blueprint.InputErrorf("blueprintd run "+blueprint.ShellWord(name)+" runs it; its tests stand in *.test.yaml files", "%s is a blueprint and not a test file", name)
		}
	}
	files, err := testFiles(t.Names)
	if err != nil {
		return err
	}
	files = onceEach(files)
	cases, bad := t.load(files)
	if len(cases) == 0 && bad == nil {
		return blueprint.InputErrorf("blueprintd test DIR; a test file is named *.test.yaml", "there are no tests here%s", t.filter())
	}
	results := append(t.runAll(ctx, cases), bad...)
	Order(results)
	if err := t.report(results, ctx.Err() != nil); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return blueprint.Hinted("", "interrupted")
	case bad != nil:
		return &blueprint.InputError{} // what is wrong was told
	case slices.ContainsFunc(results, (*Result).Failed):
		return &blueprint.Error{Code: blueprint.CodeInternal} // which tests was told
	}
	return nil
}

// onceEach leaves out the files that are named twice, however they are named.
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

// runAll runs tests side by side. Results come in the order of the tests; each is
// told as soon as those before it are. What the end of ctx or --bail left undone
// is told as not run, and with --update nothing of it is written.
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
	told := 0
	var group sync.WaitGroup
	for range min(t.Jobs, len(cases)) {
		group.Go(func() {
			for i := range next {
				result := cases[i].result(ctx)
				mu.Lock()
				results[i] = result
				for ; !t.Update && told < len(results) && results[told] != nil && !results[told].NotRun; told++ {
					t.tell(results[told])
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
	for _, r := range results[told:] { // those that were written, or lie behind one that was not run
		t.tell(r)
	}
	return results
}

// tell shows people one result. A reader who went away is noticed at the sum.
func (t *Suite) tell(r *Result) {
	if t.Format == "" {
		_ = Tell(t.Out, r, t.Paint)
	}
}

// report writes the results in the forms that were asked for.
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
