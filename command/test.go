package command

import (
	"cmp"
	"regexp"
	"runtime"

	"github.com/urfave/cli/v2"

	"blueprintd/command/terminal"
	"blueprintd/engine/script"
	"blueprintd/project/testsuite"
)

func commandTest() *cli.Command {
	return &cli.Command{
		Name: "test", Usage: "run the tests of blueprint files", ArgsUsage: "[FILE or DIR]...",
		Description: "Runs all *.test.yaml and *.test.json files of the folders; by default of the current one. No real service is\n" +
			"reached: the stubs of a test, or its cassette, answer all requests. Time is virtual.\n" +
			"Exits with 0 when all tests passed, 1 when one failed, 2 when a file is invalid or there is no test.",
		UsageText: "blueprintd test flows\nblueprintd test flows/order.test.yaml --run 'large order' --watch\nblueprintd test --junit report.xml",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "run only the tests whose names match this `REGEXP`"},
			&cli.BoolFlag{Name: "bail", Usage: "stop at the first failed test"},
			&cli.IntFlag{Name: "jobs", Usage: "run `NUMBER` tests at the same time; 0 is one per processor"},
			&cli.BoolFlag{Name: "watch", Usage: "run the tests again when a file changes"},
			&cli.BoolFlag{Name: "update", Usage: "write the actual results of failed tests, and of tests without expectations, to their expect"},
			&cli.BoolFlag{Name: "replay", Usage: "run only the tests with a cassette, without stubs, and report every difference from the recording"},
		}, under("report",
			&cli.StringFlag{Name: "junit", Usage: "also write the results to `FILE` as JUnit XML"},
			&cli.BoolFlag{Name: "tap", Usage: "print the results as TAP"},
			jsonFlag(),
		)...),
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
		return exclude("--tap and --json are different formats")
	case t.Update && t.Replay:
		return exclude("--update writes expectations, and --replay compares with a recording")
	case t.Update && t.Bail:
		return exclude("--update needs the results of all tests, and --bail stops early")
	case t.Jobs < 0:
		return usage("--jobs 4", "%s: must be 0 or more", given(c, "jobs"))
	case c.Bool("tap"):
		t.Format = "tap"
	case c.Bool("json"):
		t.Format = "json"
	}
	t.Jobs = cmp.Or(t.Jobs, runtime.GOMAXPROCS(0))
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
