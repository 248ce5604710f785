package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// called is what a call of the command "go" gets.
type called struct {
	Name    string
	Fast    bool
	Count   int
	Ratio   float64
	Wait    time.Duration
	List    []string
	Pairs   []string
	Set     []string
	Args    []string
	Mistake error
}

func call(t *testing.T, args ...string) called {
	t.Helper()
	var got called
	names := []string{"name", "fast", "count", "ratio", "wait", "list", "pairs"}
	app := &App{
		Name: "x", Writer: io.Discard,
		OnUsageError: func(_ *Context, err error) error { return err },
		Action:       func(*Context) error { return errors.New("no command") },
		Commands: []*Command{{
			Name: "go",
			Flags: []Flag{
				&StringFlag{Name: "name", Value: "Ada"}, &BoolFlag{Name: "fast", EnvVars: []string{"X_FAST"}}, &IntFlag{Name: "count", EnvVars: []string{"X_COUNT"}},
				&Float64Flag{Name: "ratio"}, &DurationFlag{Name: "wait", Value: time.Second},
				&StringSliceFlag{Name: "list", EnvVars: []string{"X_LIST"}}, &StringSliceFlag{Name: "pairs", EnvVars: []string{"X_PAIRS"}, KeepCommas: true},
			},
			Action: func(c *Context) error {
				got = called{
					Name: c.String("name"), Fast: c.Bool("fast"), Count: c.Int("count"), Ratio: c.Float64("ratio"), Wait: c.Duration("wait"),
					List: c.StringSlice("list"), Pairs: c.StringSlice("pairs"), Args: c.Args().Slice(),
				}
				for _, name := range names {
					if c.IsSet(name) {
						got.Set = append(got.Set, name)
					}
				}
				return nil
			},
		}},
	}
	got.Mistake = app.Run(context.Background(), append([]string{"x"}, args...))
	return got
}

func TestFlags(t *testing.T) {
	for variable, text := range map[string]string{"X_COUNT": "7", "X_LIST": "a, b", "X_PAIRS": "a=1, b=2"} {
		t.Setenv(variable, text)
	}
	fromEnvironment := []string{"count", "list", "pairs"}
	for _, c := range []struct {
		args string
		want called
	}{
		{"go", called{Name: "Ada", Count: 7, Wait: time.Second, List: []string{"a", "b"}, Pairs: []string{"a=1", " b=2"}, Set: fromEnvironment}},
		{"go --name Bob --fast -count=0x10 --ratio 1e2 --wait 2m x -y", called{
			Name: "Bob", Fast: true, Count: 16, Ratio: 100, Wait: 2 * time.Minute, List: []string{"a", "b"}, Pairs: []string{"a=1", " b=2"},
			Set: []string{"name", "fast", "count", "ratio", "wait", "list", "pairs"}, Args: []string{"x", "-y"},
		}},
		{"go --list c --list d,e --pairs k=v,w --pairs= --fast=false -- --name", called{
			Name: "Ada", Count: 7, Wait: time.Second, List: []string{"c", "d", "e"}, Pairs: []string{"k=v,w", ""},
			Set: []string{"fast", "count", "list", "pairs"}, Args: []string{"--name"},
		}},
		{"go --nam x", called{Mistake: &FlagError{Err: ErrUnknown, Name: "nam"}}},
		{"go --name", called{Mistake: &FlagError{Err: ErrBare, Name: "name"}}},
		{"go ---name", called{Mistake: &FlagError{Err: ErrSyntax, Name: "---name"}}},
		{"go --count 1.5", called{Mistake: &FlagError{Err: ErrValue, Name: "count", Value: "1.5"}}},
		{"go --fast=maybe", called{Mistake: &FlagError{Err: ErrValue, Name: "fast", Value: "maybe"}}},
		{"help nothing", called{Mistake: &NoTopicError{"nothing"}}},
		{"go help", called{}},
		{"go --help", called{}},
	} {
		t.Run(c.args, func(t *testing.T) {
			got := call(t, strings.Fields(c.args)...)
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty(), cmp.Comparer(sameMistake)); diff != "" {
				t.Errorf("the call differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBadVariable(t *testing.T) {
	t.Setenv("X_FAST", "maybe")
	var wrong *FlagError
	if err := call(t, "go").Mistake; !errors.As(err, &wrong) || wrong.Variable != "X_FAST" || wrong.Value != "maybe" {
		t.Errorf("got %v, want the variable and its value", err)
	}
}

// sameMistake compares errors with all that they say.
func sameMistake(a, b error) bool {
	var left, right *FlagError
	if errors.As(a, &left) && errors.As(b, &right) {
		return *left == *right
	}
	return (a == nil) == (b == nil) && (a == nil || a.Error() == b.Error())
}
