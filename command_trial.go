package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/engine/script"
	"blueprintd/foundation/fileio"
	"blueprintd/project"
	"blueprintd/project/testsuite"
)

func commandTest() *cli.Command {
	return &cli.Command{
		Name: "test", Usage: "run the tests kept beside blueprint files", ArgsUsage: "[FILE or DIR]...",
		Description: "Runs every *.test.yaml and *.test.json of the folders, the present one when none is named. Nothing real is reached:\n" +
			"what a blueprint asks of other services is answered by the stubs of its test, or by its cassette. Time is virtual.\n" +
			"Exits with 0 when all passed, 1 when one failed, 2 when a file is bad or there is no test.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "update", Usage: "write what comes of each test that fails, or expects nothing yet, into its expect"},
			&cli.BoolFlag{Name: "watch", Usage: "run them again whenever a file of the folders changes"},
			&cli.BoolFlag{Name: "replay", Usage: "run only the tests with a cassette, from it alone, and tell whatever is not as recorded"},
			&cli.StringFlag{Name: "run", Usage: "only the tests whose names match this `REGEXP`"},
			&cli.BoolFlag{Name: "bail", Usage: "stop at the first test that fails"},
			&cli.IntFlag{Name: "jobs", Usage: "run `NUMBER` at the same time; 0 = as many as there are processors"},
			&cli.StringFlag{Name: "junit", Usage: "also write the results to `FILE` as JUnit XML"},
			&cli.BoolFlag{Name: "tap", Usage: "print the results as TAP"},
			&cli.BoolFlag{Name: "json", Usage: "print the results as JSON"},
		},
		Action: runTests,
	}
}

// trials is one call of the command.
type trials struct {
	names   []string // files and folders
	update  bool
	replay  bool
	bail    bool
	jobs    int
	only    *regexp.Regexp
	junit   string
	format  string // "", "tap" or "json"
	out     io.Writer
	errors  io.Writer
	paint   testsuite.Paint
	scripts *script.Pool
	named   project.Listing // the files that the tests name, as they were read; nil = nobody asks
}

func runTests(c *cli.Context) error {
	t := &trials{
		names: c.Args().Slice(), update: c.Bool("update"), replay: c.Bool("replay"), bail: c.Bool("bail"), jobs: c.Int("jobs"), junit: c.String("junit"),
		out: c.App.Writer, errors: c.App.ErrWriter,
	}
	var err error
	if t.only, err = regexp.Compile(c.String("run")); err != nil {
		return usage("blueprintd test --run 'order.*'", "%s: %s", given(c, "run"), err)
	}
	switch {
	case c.Bool("tap") && c.Bool("json"):
		return usage("leave one of them out", "--tap and --json say different things")
	case t.update && t.replay:
		return usage("leave one of them out", "--update writes expectations, and --replay compares with a recording")
	case t.update && t.bail:
		return usage("leave one of them out", "--update writes what fails, and --bail stops there")
	case t.jobs < 0:
		return usage("--jobs 4", "%s: must be 0 or more", given(c, "jobs"))
	case c.Bool("tap"):
		t.format = "tap"
	case c.Bool("json"):
		t.format = "json"
	}
	if t.jobs == 0 {
		t.jobs = runtime.GOMAXPROCS(0)
	}
	if len(t.names) == 0 {
		t.names = []string{"."}
	}
	t.paint = terminal.NewScreen(t.out).Paint
	t.scripts = script.New(script.Options{})
	defer runScripts(t.scripts)()
	ctx, release := untilInterrupted(c.Context)
	defer release()
	if c.Bool("watch") {
		return t.watch(ctx)
	}
	return t.once(ctx)
}

// once runs all tests and tells how they went.
func (t *trials) once(ctx context.Context) error {
	for _, name := range t.names {
		if project.KindOf(name) == project.KindBlueprint {
			return usage("blueprintd run "+blueprint.ShellWord(name)+" runs it; its tests stand in *.test.yaml files", "%s is a blueprint and not a test file", name)
		}
	}
	files, err := testFiles(t.names)
	if err != nil {
		return err
	}
	files = onceEach(files)
	cases, bad := t.load(files)
	if len(cases) == 0 && bad == nil {
		return usage("blueprintd test DIR; a test file is named *.test.yaml", "there are no tests here%s", t.filter())
	}
	results := append(t.runAll(ctx, cases), bad...)
	testsuite.Order(results)
	if err := t.report(results, ctx.Err() != nil); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return failed("", "interrupted")
	case bad != nil:
		return &exit{code: exitUsage}
	case slices.ContainsFunc(results, (*testsuite.Result).Failed):
		return &exit{code: exitFailed}
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

func (t *trials) filter() string {
	switch {
	case t.only.String() != "":
		return fmt.Sprintf(" whose names match %q", t.only)
	case t.replay:
		return " that have a cassette"
	}
	return ""
}

// runAll runs tests side by side. Results come in the order of the tests; each is
// told as soon as those before it are. What the end of ctx or --bail left undone
// is told as not run, and with --update nothing of it is written.
func (t *trials) runAll(whole context.Context, cases []*trialCase) []*testsuite.Result {
	ctx, cancel := context.WithCancel(whole)
	defer cancel()
	results := make([]*testsuite.Result, len(cases))
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
	for range min(t.jobs, len(cases)) {
		group.Go(func() {
			for i := range next {
				result := cases[i].result(ctx)
				mu.Lock()
				results[i] = result
				for ; !t.update && told < len(results) && results[told] != nil && !results[told].NotRun; told++ {
					t.tell(results[told])
				}
				if t.bail && result.Failed() {
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	for i := range results {
		if results[i] == nil {
			results[i] = &testsuite.Result{File: cases[i].name, Test: cases[i].test.Name, NotRun: true}
		}
	}
	if t.update && whole.Err() == nil {
		t.write(cases, results)
	}
	for _, r := range results[told:] { // those that were written, or lie behind one that was not run
		t.tell(r)
	}
	return results
}

// tell shows people one result. A reader who went away is noticed at the sum.
func (t *trials) tell(r *testsuite.Result) {
	if t.format == "" {
		_ = testsuite.Tell(t.out, r, t.paint)
	}
}

// report writes the results in the forms that were asked for.
func (t *trials) report(results []*testsuite.Result, interrupted bool) error {
	if t.junit != "" {
		f, err := os.Create(t.junit)
		if err == nil {
			err = errors.Join(testsuite.JUnit(f, results), f.Close())
		}
		if err != nil {
			return failed("check the path of --junit", "%s cannot be written: %s", t.junit, fileio.Cause(err))
		}
	}
	switch t.format {
	case "tap":
		return testsuite.TAP(t.out, results, interrupted)
	case "json":
		return testsuite.JSON(t.out, results)
	}
	return testsuite.Sum(t.out, results, t.paint)
}
