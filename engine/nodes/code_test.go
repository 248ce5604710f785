package nodes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine/script"
	"blueprintd/foundation/clock"
)

// codeIn returns the type with a sandbox that runs until the test ends.
func codeIn(t *testing.T, c clock.Clock) *blueprint.NodeType {
	t.Helper()
	scripts := script.New(script.Options{})
	t.Cleanup(scripts.Background())
	return code(Dependencies{Scripts: scripts, Clock: c})
}

func TestCode(t *testing.T) {
	kind := codeIn(t, clock.NewVirtual(now))
	for _, test := range []struct{ config, want, log string }{
		{`{"source":"return input.a + inputData.b"}`, `3`, ""},
		{`{"source":"return [input, variables.name, nodes]"}`, `[{"a":1,"id":9007199254740992},"Ada",{"n":{"output":1}}]`, "warn input.id is a number that JavaScript cannot hold exactly; send it as a string"},
		{`{"source":"return eval('var'+'iables').name"}`, `"Ada"`, "warn input.id is a number that JavaScript cannot hold exactly; send it as a string"},
		{`{"source":"return vari\\u0061bles.name"}`, `"Ada"`, "warn input.id is a number that JavaScript cannot hold exactly; send it as a string"},
		{`{"source":"return '{{name}}'"}`, `"{{name}}"`, ""},
		{`{"source":"return new Date()"}`, `"2026-01-31T12:00:00.000Z"`, ""},
		{`{"source":"console.log('a', 1, {b: [2]}); console.error(new TypeError('c')); console.warn(); console.debug(undefined, null, 5n, Symbol('s'))"}`, `null`,
			"info a 1 {\"b\":[2]}\nerror TypeError: c\nwarn \ndebug undefined null 5 Symbol(s)"},
		{`{"source":"console.info('before'); throw new Error('no')"}`, `script_error: Error: no (line 1, column 40)`, "info before"},
		{`{"source":"return variables.token"}`, `script_error: Error: variable "token" is secret, and the user who started this run may not use it`, ""},
		{`{"source":"return 1 +"}`, `syntax_error: *`, ""},
		{`{"source":"for (;;);","timeoutMs":50}`, `timeout: the script took longer than 50 ms`, ""},
		{`{"source":"const a = []; for (;;) a.push(new Array(1000).fill(1))","memoryMb":8}`, `memory_exceeded: the script used more than its 8 MiB of memory`, ""},
		{`{"source":"return 'x'.repeat(1 << 20)"}`, `output_too_large: the result is larger than 1024 KiB as JSON`, ""},
		{`{"source":"return 1","memoryMb":513}`, `bad_config: config: memoryMb: must be from 1 to 512`, ""},
		{`{"source":"return 1","timeoutMs":300001}`, `bad_config: config: timeoutMs: must be from 1 to 300000`, ""},
		{`{"source":"return 1","language":"python"}`, `bad_config: config: language: must be "javascript"`, ""},
	} {
		t.Run(test.config, func(t *testing.T) {
			task := newTask(t, kind, test.config, `{"input":{"a":1,"id":9007199254740993},"inputData":{"b":2}}`)
			task.Scope = func() blueprint.NodeScope {
				return blueprint.NodeScope{Variables: object(t, `{"name":"Ada"}`), Nodes: object(t, `{"n":{"output":1}}`), Denied: []string{"token"}}
			}
			var log []string
			task.Log = func(level, message string, _ any) { log = append(log, level+" "+message) }
			result, err := kind.Run(context.Background(), task)
			got := asJSON(t, result.Output)
			var failure *blueprint.Failure
			if errors.As(err, &failure) {
				got = failure.Code + ": " + failure.Message
			} else if err != nil {
				got = err.Error()
			}
			prefix, open := strings.CutSuffix(test.want, "*")
			if !open {
				got = strings.TrimSuffix(got, " (line 1, column 17)")
			}
			if got != test.want && !(open && strings.HasPrefix(got, prefix)) {
				t.Errorf("%s\n got %s\nwant %s", test.config, got, test.want)
			}
			if lines := strings.Join(log, "\n"); lines != test.log && !(test.log == "" && strings.HasPrefix(lines, "warn input.id")) {
				t.Errorf("the log is\n%s\nwant\n%s", lines, test.log)
			}
		})
	}
}

// Blueprints of one organization share what it may use at once, and leave the
// rest to others.
func TestCodeOfOneOrganization(t *testing.T) {
	kind := codeIn(t, clock.Real{})
	ctx, stop := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	for i := range 64 {
		task := newTask(t, kind, `{"source":"for (;;);","timeoutMs":300000}`, `{}`)
		task.BlueprintID, task.OrganizationID = fmt.Sprint("b", i), "org"
		loops.Go(func() { kind.Run(ctx, task) })
	}
	for i := range 10 {
		task := newTask(t, kind, `{"source":"return 1"}`, `{}`)
		task.BlueprintID, task.OrganizationID = fmt.Sprint("c", i), "other"
		patience, enough := context.WithTimeout(ctx, time.Minute)
		if result, err := kind.Run(patience, task); err != nil || asJSON(t, result.Output) != "1" {
			t.Errorf("%v, %v; want 1", result.Output, err)
		}
		enough()
	}
	stop()
	loops.Wait()
}

// Without a sandbox nothing runs, and with one that is cancelled the context's
// own error comes back, which tells the engine why.
func TestCodeThatCannotRun(t *testing.T) {
	kind := typeOf(t, "code")
	if _, failed := run(t, kind, newTask(t, kind, `{"source":"return 1"}`, `{}`)); failed != script.CodeUnavailable {
		t.Errorf("got %s, want %v", failed, script.CodeUnavailable)
	}
	kind = codeIn(t, clock.Real{})
	cause := errors.New("the node's own time-out")
	ctx, cancel := context.WithTimeoutCause(context.Background(), 50*time.Millisecond, cause)
	defer cancel()
	if _, err := kind.Run(ctx, newTask(t, kind, `{"source":"for (;;);"}`, `{}`)); !errors.Is(err, cause) {
		t.Errorf("got %v, want %v", err, cause)
	}
}
