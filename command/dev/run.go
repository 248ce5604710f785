package dev

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/command/terminal"
	"blueprintd/engine"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/fileio"
	"blueprintd/project"
)

// activeRun is the run of a saved file, or of its tests.
type activeRun struct {
	stop context.CancelCauseFunc
	done chan struct{}
}

// errSavedAgain is the cause of the end of a run whose file was saved meanwhile.
var errSavedAgain = errors.New("its file was saved again")

// rerun starts the tests of a file, or its blueprint, and stops the previous run first.
func (l *loop) rerun(ctx context.Context, path string, tests []string) {
	l.endRun(path)
	ctx, stop := context.WithCancelCause(ctx)
	r := &activeRun{stop, make(chan struct{})}
	l.running[path] = r
	done := l.showRunning(path)
	go func() {
		defer close(r.done)
		defer stop(context.Canceled)
		defer done()
		if len(tests) > 0 {
			l.test(ctx, tests)
			return
		}
		l.start(ctx, path)
	}()
}

func (l *loop) endRun(path string) {
	if before := l.running[path]; before != nil {
		before.stop(errSavedAgain)
		<-before.done
		delete(l.running, path)
	}
}

func (l *loop) endRuns() {
	for path := range l.running {
		l.running[path].stop(context.Canceled)
	}
	for path := range l.running {
		l.endRun(path)
	}
}

// start runs the stored blueprint of a file and prints the outcome.
func (l *loop) start(ctx context.Context, path string) {
	outcome, err := l.execute(ctx, path)
	switch {
	case ctx.Err() != nil: // the file was saved again, or dev ends
	case err != nil:
		message, _ := blueprint.DescribeError(err)
		l.Screen.Say(terminal.Red, "%s: not run: %s", path, message)
	case outcome == nil:
		l.Screen.Say("", "%s: has no nodes to run", path)
	case outcome.Status == blueprint.StatusCompleted:
		l.Screen.Say(terminal.Green, "%s: completed: %s", path, valueLine(outcome.Output))
	case outcome.Status == blueprint.StatusPaused:
		what := "an answer"
		if a := outcome.AwaitingInput; a != nil {
			what = string(a.Kind) + " at node " + a.NodeID + ": " + blueprint.OneLine(a.Prompt)
		}
		l.Screen.Say(terminal.Yellow, "%s: paused, waits for %s", path, what)
		l.Screen.Say("", "  %s/runs/%s", l.server.APIHost(), outcome.ID)
	default:
		l.Screen.Say(terminal.Red, "%s: %s: %s", path, outcome.Status, blueprint.OneLine(outcome.FailureText()))
		l.Screen.Say("", "  %s/runs/%s", l.server.APIHost(), outcome.ID)
	}
}

// execute runs the stored blueprint of a file. It returns nil if there is nothing to run.
func (l *loop) execute(ctx context.Context, path string) (*blueprint.Execution, error) {
	s := l.server
	list, _, err := s.Store.ListBlueprints(ctx, l.owner, blueprint.BlueprintFilter{Source: project.SourceOf(l.Deploy.Name, path), Page: 1, Limit: 1})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	definition, _, err := s.Store.Definition(ctx, l.owner, list[0].ID)
	if err != nil || definition.Map == nil || len(definition.Map.Nodes) == 0 {
		return nil, err
	}
	input, err := l.input(ctx, path, list[0].ID)
	if err != nil {
		return nil, err
	}
	handle, err := s.Engine.Start(&blueprint.StartRequest{Definition: definition, Principal: l.owner, CanManage: true, InputData: input}, engine.AtEnd)
	if err != nil {
		return nil, err
	}
	outcome, err := handle.Wait(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errSavedAgain) {
		// CodeConflict: the run has ended meanwhile.
		if err := s.Engine.Cancel(context.WithoutCancel(ctx), handle.ID, errSavedAgain.Error()); err != nil && blueprint.CodeOf(err) != blueprint.CodeConflict {
			return nil, err
		}
	}
	return outcome, err
}

// input returns the input of a run: the content of the blueprint's input file, the input
// of its last run, or {}.
func (l *loop) input(ctx context.Context, path, blueprintID string) (any, error) {
	listing, err := project.Scan(l.Dir)
	if err != nil {
		return nil, err
	}
	name := project.Stem(path) + ".input.json"
	if listing[name] != nil {
		data, err := project.ReadListed(l.Dir, name, document.MaxSize)
		if err != nil {
			return nil, err
		}
		value, err := blueprint.Decode(data)
		if err != nil {
			return nil, blueprint.Hinted("", "%s: %s", filepath.Join(l.Dir, name), err)
		}
		return value, nil
	}
	last, err := l.server.Store.ExecutionLogs(ctx, l.owner, blueprintID, 1, 0)
	if err == nil && len(last) > 0 {
		view, err := l.server.Engine.View(ctx, last[0])
		if err == nil && view.InputData != nil {
			return view.InputData, nil
		}
	}
	return map[string]any{}, err
}

func valueLine(value any) string {
	data, err := blueprint.Encode(value)
	if err != nil {
		return "?"
	}
	return blueprint.OneLine(short500(string(data)))
}

// slowRun is the real time after which a line reports that a run is still going.
const slowRun = time.Second

// showRunning shows that a file is running until ended is called: at once in the status
// line, or without one in a line after slowRun. With a virtual clock, the line explains
// how to advance it, as waiting nodes never end otherwise.
func (l *loop) showRunning(path string) (ended func()) {
	var mu sync.Mutex
	over := false
	erase := l.Screen.Running(path)
	now := clock.Real{}.Now()
	timer := clock.Real{}.At(now.Add(slowRun), func() {
		mu.Lock()
		defer mu.Unlock()
		virtual := l.server.Options.Virtual()
		switch {
		case over:
		case virtual != nil:
			l.Screen.Say(terminal.Yellow, "%s: running; POST %s/clock/advance moves the clock, which is at %s", path, l.server.APIHost(), blueprint.TimeOf(virtual.Now()))
		case !l.Screen.Erases():
			l.Screen.Say("", "%s: running", path)
		}
	})
	return func() {
		timer.Stop()
		erase()
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}

// show opens an address in a browser. All users of the machine can read command lines,
// so a secret address is opened through a page that only its owner can read.
func (l *loop) show(address string, secret bool) {
	var err error
	if secret {
		if l.page, err = os.MkdirTemp("", "blueprintd-dev-*"); err == nil { // of mode 0700
			address, err = writePage(l.page, address)
		}
	}
	if err == nil {
		err = browse(address, func(err error) {
			l.Screen.Say(terminal.Red, "cannot open the dashboard in a browser: %s; open the address above yourself", err)
		})
	}
	if err != nil {
		l.Screen.Say(terminal.Red, "cannot start a browser: %s; open the address above yourself", fileio.Cause(err))
	}
}

// writePage writes a page that redirects a browser to an address without a referrer.
func writePage(folder, address string) (path string, err error) {
	const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=%[1]s">
<title>blueprintd</title>
<p><a href="%[1]s" rel="noreferrer">Open the dashboard</a></p>
`
	path = filepath.Join(folder, "dashboard.html")
	return path, os.WriteFile(path, fmt.Appendf(nil, page, html.EscapeString(address)), 0o600)
}

// browse opens an address or a file in the user's browser. It does not wait; failed is
// called if the browser exits with an error.
func browse(what string, failed func(error)) error {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	browser := exec.Command(command[0], append(command[1:], what)...)
	if err := browser.Start(); err != nil {
		return err
	}
	go func() {
		var ended *exec.ExitError // its code is -1 after a signal, such as by Ctrl+C
		if err := browser.Wait(); errors.As(err, &ended) && ended.ExitCode() > 0 {
			failed(fmt.Errorf("%s ended with status %d", command[0], ended.ExitCode()))
		}
	}()
	return nil
}
