package script

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"blueprintd/blueprint"
)

// TestMain makes this program one that sandboxes can start as their children.
func TestMain(m *testing.M) {
	Child()
	probe()
	goleak.VerifyTestMain(m)
}

// now is the instant at which scripts run in tests.
var now = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// running returns a pool that runs until the test ends.
func running(t testing.TB) *Pool {
	t.Helper()
	p := New(Options{Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	t.Cleanup(p.Background())
	return p
}

// script is a script of the tests' owner over some values.
func script(source string) Script {
	return Script{Owner: "o", Source: source, Now: now, Values: values(`{}`)}
}

// values are those with an input, given as JSON.
func values(input string) Values {
	value, err := blueprint.Decode([]byte(input))
	if err != nil {
		panic(err)
	}
	return Values{Input: value, InputData: value, Variables: map[string]any{"name": "Ada"}, Nodes: map[string]any{"first": map[string]any{"output": "x"}}}
}

// told returns an output as JSON, or a failure as its code and message.
func told(out *Outcome, err error) string {
	var failure *blueprint.Failure
	if errors.As(err, &failure) {
		return failure.Code + ": " + failure.Message
	}
	if err != nil {
		return err.Error()
	}
	data, err := blueprint.Encode(out.Output)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func do(p *Pool, s Script) string { return told(p.Do(context.Background(), s)) }
