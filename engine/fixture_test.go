package engine_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // the tests hold little
	goleak.VerifyTestMain(m)
}

var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// fixture is an engine with its journal, clock and nodes.
type fixture struct {
	testing.TB
	*engine.Engine
	*lab
	journal *journal
	clock   *clock.Virtual
	key     []byte
	options func(*engine.Options)

	logMu sync.Mutex
	log   bytes.Buffer // what the engine logged

	halt  context.CancelFunc
	fail  context.CancelCauseFunc // stops the engine with a cause
	ended chan error
}

// Write appends to the engine's log.
func (w *fixture) Write(data []byte) (int, error) {
	w.logMu.Lock()
	defer w.logMu.Unlock()
	return w.log.Write(data)
}

func (w *fixture) logged() string {
	w.logMu.Lock()
	defer w.logMu.Unlock()
	return w.log.String()
}

// test runs a test in a synctest bubble, in which all timers are virtual and idleness
// can be awaited.
func test(t *testing.T, f func(w *fixture)) {
	t.Helper()
	testWith(t, nil, f)
}

func testWith(t *testing.T, options func(*engine.Options), f func(w *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, newJournal(), newLab(), masterKey, options)
		defer w.stop()
		f(w)
	})
}

// masterKey is shared by all fixtures, so that one can read the journal of another.
var masterKey = secret.NewKey()

// newFixture starts an engine over a journal.
func newFixture(t testing.TB, j *journal, l *lab, key []byte, options func(*engine.Options)) *fixture {
	w := &fixture{TB: t, lab: l, journal: j, key: key, options: options}
	w.boot(epoch)
	return w
}

// boot starts an engine over the present journal.
func (w *fixture) boot(now time.Time) {
	w.clock = clock.NewVirtual(now)
	sealer, err := secret.NewSealer(w.key)
	if err != nil {
		w.Fatal(err)
	}
	o := engine.Options{
		Catalogue: w.lab.catalogue(), Journal: w.journal, Clock: w.clock, IDs: ids.New(nil), Sealer: sealer,
		Logger: slog.New(slog.NewTextHandler(w, nil)),
	}
	if w.options != nil {
		w.options(&o)
	}
	w.Engine = engine.New(o)
	var ctx context.Context
	ctx, w.fail = context.WithCancelCause(context.Background())
	fail := w.fail
	w.halt = func() { fail(nil) }
	w.ended = make(chan error, 1)
	ready := make(chan struct{})
	go func() { w.ended <- w.Run(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-w.ended:
		w.Fatal(err)
	}
}

// stop stops the engine and waits for its end.
func (w *fixture) stop() {
	w.Helper()
	if w.halt == nil {
		return
	}
	w.halt()
	w.halt = nil
	if err := <-w.ended; err != nil {
		w.Errorf("the engine ended with %v", err)
	}
}

// reboot stops the engine and starts another over the same journal.
func (w *fixture) reboot() {
	w.stop()
	w.boot(w.clock.Now())
}

// definitions counts the blueprints of all tests.
var definitions atomic.Int64

// define defines a blueprint from lines: "id type {config} | {more members}" is a node,
// "a -> b" or "a -x> b" an edge.
func (w *fixture) define(lines string) *blueprint.Definition {
	w.Helper()
	return w.defineWith(lines, `[]`)
}

func (w *fixture) defineWith(lines, variables string) *blueprint.Definition {
	w.Helper()
	m, issues := blueprint.ParseMap(w.decode(mapText(lines)))
	if issues != nil {
		w.Fatalf("%v, want nil", issues)
	}
	declared, issues := blueprint.ParseVariables(w.decode(variables).([]any))
	if issues != nil {
		w.Fatalf("%v, want nil", issues)
	}
	id := fmt.Sprintf("00000000-0000-0000-0000-%012d", definitions.Add(1))
	d := &blueprint.Definition{BlueprintID: id, OrganizationID: "org", Title: "Test", Version: "1.0.0", Map: m, Variables: declared}
	w.journal.add(d)
	return d
}

func mapText(lines string) string {
	var nodes, edges []string
	for _, line := range strings.Split(lines, "\n") {
		line = strings.TrimSpace(line)
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if strings.HasSuffix(words[1], ">") {
			edges = append(edges, fmt.Sprintf(`{"source": %q, "target": %q, "sourceHandle": %q}`, words[0], words[2], cmp.Or(strings.Trim(words[1], "->"), "main")))
			continue
		}
		rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(line, words[0])), words[1]))
		config, more, _ := strings.Cut(rest, "|")
		if config = strings.TrimSpace(config); config == "" {
			config = "{}"
		}
		members := ""
		if more = strings.TrimSpace(more); more != "" {
			members = ", " + strings.TrimSuffix(strings.TrimPrefix(more, "{"), "}")
		}
		nodes = append(nodes, fmt.Sprintf(`{"id": %q, "type": %q, "title": %q, "config": %s%s}`, words[0], words[1], strings.ToUpper(words[0]), config, members))
	}
	return fmt.Sprintf(`{"nodes": [%s], "edges": [%s]}`, strings.Join(nodes, ","), strings.Join(edges, ","))
}

func (w *fixture) decode(text string) any {
	w.Helper()
	return decodeText(w, text)
}

// owner is the default principal of tests.
var owner = blueprint.Principal{UserID: "owner"}

// request returns a request for a run by the owner, with input data {"n": 1}.
func request(d *blueprint.Definition) *blueprint.StartRequest {
	return &blueprint.StartRequest{Definition: d, Principal: owner, CanManage: true, InputData: map[string]any{"n": blueprintNumber(1)}}
}

// requestOf returns a request for a run by another user, which is a flow of its own.
func requestOf(user string, d *blueprint.Definition) *blueprint.StartRequest {
	r := request(d)
	r.Principal.UserID = user
	return r
}

func (w *fixture) start(d *blueprint.Definition) *engine.Handle {
	w.Helper()
	return w.startWith(request(d), engine.Soon)
}

func (w *fixture) startWith(r *blueprint.StartRequest, urgency engine.Urgency) *engine.Handle {
	w.Helper()
	h, err := w.Start(r, urgency)
	if err != nil {
		w.Fatal(err)
	}
	return h
}

// run runs a blueprint until it ends or pauses.
func (w *fixture) run(d *blueprint.Definition) *blueprint.Execution {
	w.Helper()
	return w.wait(w.start(d))
}

func (w *fixture) wait(h *engine.Handle) *blueprint.Execution {
	w.Helper()
	x, err := h.Wait(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	// Ending agrees with Wait.
	want := blueprint.Ending{Status: x.Status, Output: x.Output, Failure: x.Failure}
	if strings.Contains(encode(x.Output), secret.Mask) { // the ending is not masked
		ending, _ := h.Ending(w.Context())
		want.Output = ending.Output
	}
	if ending, err := h.Ending(w.Context()); err != nil || !reflect.DeepEqual(ending, want) {
		w.Errorf("the ending is %+v, %v; the record says %+v", ending, err, want)
	}
	return x
}

// view returns the record of a run.
func (w *fixture) view(id string) *blueprint.Execution {
	w.Helper()
	stored := w.journal.stored(id)
	if stored == nil {
		stored = &blueprint.StoredExecution{Row: blueprint.ExecutionRow{ID: id, Status: blueprint.StatusRunning}}
	}
	x, err := w.View(w.Context(), stored)
	if err != nil {
		w.Fatal(err)
	}
	return x
}

// settle waits until the engine is idle and returns the record of a run.
func (w *fixture) settle(id string) *blueprint.Execution {
	w.Helper()
	synctest.Wait()
	return w.view(id)
}

// pass sleeps in real time, which takes none in a bubble.
func (w *fixture) pass(d time.Duration) {
	w.Helper()
	timer := time.NewTimer(d)
	<-timer.C
	synctest.Wait()
}

func (w *fixture) advance(by time.Duration) {
	w.Helper()
	if err := w.clock.Advance(w.Context(), w.clock.Now().Add(by)); err != nil {
		w.Fatal(err)
	}
}

func (w *fixture) answer(id, node string, input any) error {
	return w.Resume(w.Context(), blueprint.ResumeAnswer{ExecutionID: id, NodeID: node, Input: input, UserID: owner.UserID, CanManage: true})
}

func (w *fixture) answerOK(id, node string, input any) {
	w.Helper()
	if err := w.answer(id, node, input); err != nil {
		w.Fatal(err)
	}
}

// sum formats the essence of a record in one line.
func sum(x *blueprint.Execution) string {
	var parts []string
	for i := range x.Steps {
		step := &x.Steps[i]
		part := step.NodeID + "=" + string(step.Status)
		if step.Error != nil {
			part += "(" + step.Error.Message + ")"
		}
		parts = append(parts, part)
	}
	out := string(x.Status) + ": " + strings.Join(parts, " ")
	if x.Output != nil {
		out += " -> " + encode(x.Output)
	}
	if x.Failure != nil {
		out += fmt.Sprintf(" !%s:%s", x.Failure.NodeID, x.Failure.Message)
	}
	return out
}

func encode(value any) string {
	data, err := blueprint.Encode(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func (w *fixture) expect(x *blueprint.Execution, want string) {
	w.Helper()
	if got := sum(x); got != want {
		w.Errorf("\ngot  %s\nwant %s", got, want)
	}
}

// code checks the code of an error.
func (w *fixture) code(err error, want blueprint.Code) {
	w.Helper()
	if blueprint.CodeOf(err) != want {
		w.Errorf("got %v, want %s", err, want)
	}
}

func step(x *blueprint.Execution, node string) *blueprint.Step {
	i := slices.IndexFunc(x.Steps, func(s blueprint.Step) bool { return s.NodeID == node })
	return &x.Steps[i]
}

func outputs(x *blueprint.Execution) string {
	var parts []string
	for _, node := range slices.Sorted(maps.Keys(x.Outputs)) {
		parts = append(parts, node+"="+encode(x.Outputs[node]))
	}
	return strings.Join(parts, " ")
}

func sortedWords(text string) string {
	words := strings.Fields(text)
	slices.Sort(words)
	return strings.Join(words, " ")
}
