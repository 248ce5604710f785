package command

import (
	"regexp"
	"runtime"

	"github.com/urfave/cli/v2"

	"blueprintd/command/terminal"
	"blueprintd/engine/script"
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

func runTests(c *cli.Context) error {
	t := &testsuite.Suite{
		Names: c.Args().Slice(), Update: c.Bool("update"), Replay: c.Bool("replay"), Bail: c.Bool("bail"), Jobs: c.Int("jobs"), Junit: c.String("junit"),
		Out: c.App.Writer, Errors: c.App.ErrWriter, Version: programOf(c).Version, Complain: func(err error) { report(c.App.ErrWriter, err) },
	}
	var err error
	if t.Only, err = regexp.Compile(c.String("run")); err != nil {
		return usage("blueprintd test --run 'order.*'", "%s: %s", given(c, "run"), err)
	}
	switch {
	case c.Bool("tap") && c.Bool("json"):
		return usage("leave one of them out", "--tap and --json say different things")
	case t.Update && t.Replay:
		return usage("leave one of them out", "--update writes expectations, and --replay compares with a recording")
	case t.Update && t.Bail:
		return usage("leave one of them out", "--update writes what fails, and --bail stops there")
	case t.Jobs < 0:
		return usage("--jobs 4", "%s: must be 0 or more", given(c, "jobs"))
	case c.Bool("tap"):
		t.Format = "tap"
	case c.Bool("json"):
		t.Format = "json"
	}
	if t.Jobs == 0 {
		t.Jobs = runtime.GOMAXPROCS(0)
	}
	if len(t.Names) == 0 {
		t.Names = []string{"."}
	}
	t.Paint = terminal.NewScreen(t.Out).Paint
	t.Scripts = script.New(script.Options{})
	defer t.Scripts.Background()()
	ctx, release := untilInterrupted(c.Context)
	defer release()
	if c.Bool("watch") {
		return t.Watch(ctx)
	}
	return t.Once(ctx)
}
