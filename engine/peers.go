package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/mutant"
)

// Peers are the other processes of a server, which share its journal. An unfinished run
// belongs to one process. Others send it commands for the run.
type Peers interface {
	// Lease waits until this process may act outside. It fails when ctx ends or another
	// process has taken over the runs of this one.
	Lease(ctx context.Context) error
	// Ask sends a command to the process that has a run and returns its answer; nil if no
	// other process has the run. Errors: CodeUnavailable without an answer in seconds.
	Ask(ctx context.Context, executionID string, command []byte) (answer []byte, err error)
	// Answer answers a command of another process.
	Answer(ctx context.Context, seq int64, answer []byte) error
	// Answered returns the answer about a run that was handed to another process; nil while
	// there is none.
	Answered(ctx context.Context, executionID string) ([]byte, error)
}

// errElsewhere is returned for a run that another process has.
var errElsewhere = errors.New("another process of the server has the run")

// command is what one process asks of another: an answer, a cancellation, or a sign-in.
type command struct {
	Answer   *blueprint.ResumeAnswer `json:"answer,omitempty"`
	Asked    *blueprint.QuestionID   `json:"asked,omitempty"`    // what Answer is for; zero = nothing was asked
	Cancel   *string                 `json:"cancel,omitempty"`   // the reason
	SignedIn *string                 `json:"signedIn,omitempty"` // the address of the node
}

// answer is the outcome of a command, or the response of a run that was handed over.
type answer struct {
	Error    *answerError        `json:"error,omitempty"`
	Moved    bool                `json:"moved,omitempty"` // the run belongs to a third process by now
	Response *blueprint.Response `json:"response,omitempty"`
}

type answerError struct {
	Code       blueprint.Code    `json:"code"`
	Message    string            `json:"message"`
	Hint       string            `json:"hint,omitempty"`
	Issues     []blueprint.Issue `json:"issues,omitempty"`
	RetryAfter time.Duration     `json:"retryAfter,omitempty"`
	Applied    bool              `json:"applied,omitempty"`
}

// answerOf returns the answer with an error. Only the log has what an unexpected one says.
func (e *Engine) answerOf(err error) answer {
	var known *blueprint.Error
	switch {
	case err == nil:
		return answer{}
	case errors.Is(err, errElsewhere):
		return answer{Moved: true}
	case errors.As(err, &known):
		return answer{Error: &answerError{known.Code, known.Message, known.Hint, known.Issues, known.RetryAfter, known.Applied}}
	}
	e.Logger.Error("command of another process failed", "error", err)
	return answer{Error: &answerError{Code: blueprint.CodeInternal, Message: "the process of the server that has the run failed; its log has the details"}}
}

func (a *answer) err() error {
	if a.Error == nil {
		return nil
	}
	return &blueprint.Error{Code: a.Error.Code, Message: a.Error.Message, Hint: a.Error.Hint, Issues: a.Error.Issues, RetryAfter: a.Error.RetryAfter, Applied: a.Error.Applied}
}

// maxMoves is how often a command follows a run from one process to the next.
const maxMoves = 3

// elsewhere performs a command here, or has the process perform it that has the run. Before it
// asks another process, it sets the question that an answer is for.
func (e *Engine) elsewhere(ctx context.Context, executionID string, c *command, here func() error) error {
	for range maxMoves {
		err := here()
		if !errors.Is(err, errElsewhere) {
			return err
		}
		reply, err := e.ask(ctx, executionID, c)
		if err != nil {
			return err
		}
		if reply != nil && !reply.Moved {
			return reply.err()
		}
	}
	return unavailable("the run is moving between processes of the server")
}

// ask returns the answer of the process that has a run, nil if no other process has it.
func (e *Engine) ask(ctx context.Context, executionID string, c *command) (*answer, error) {
	if c.Answer != nil && c.Asked == nil {
		if err := e.identify(ctx, executionID, c); err != nil {
			return nil, err
		}
	}
	data, err := blueprint.Encode(c)
	if err != nil {
		return nil, err
	}
	sealed, err := e.Peers.Ask(ctx, executionID, e.Sealer.Seal(data, commandPlace(executionID)))
	if err != nil || sealed == nil {
		return nil, err
	}
	return e.openAnswer(executionID, sealed)
}

// identify sets the question of a stored run that an answer is for: that of its node or, without
// a node, the first one and its node. By the time the answer is performed elsewhere, the run may
// ask another question.
func (e *Engine) identify(ctx context.Context, executionID string, c *command) error {
	stored, err := e.Journal.Load(ctx, executionID)
	if err != nil {
		return err
	}
	view, err := e.View(ctx, stored)
	if err != nil {
		return err
	}
	c.Asked = &blueprint.QuestionID{}
	for _, open := range view.AwaitingInputs {
		if c.Answer.NodeID != "" && open.NodeID != c.Answer.NodeID {
			continue
		}
		at := slices.IndexFunc(view.Steps, func(s blueprint.Step) bool { return s.NodeID == open.NodeID })
		c.Answer.NodeID, c.Asked.At, c.Asked.Attempt = open.NodeID, open.RequestedAt, view.Steps[at].Attempt
		break
	}
	return nil
}

func (e *Engine) openAnswer(executionID string, sealed []byte) (*answer, error) {
	var reply answer
	return &reply, e.unseal(sealed, commandPlace(executionID), &reply)
}

func (e *Engine) unseal(sealed []byte, place string, into any) error {
	data, err := e.Sealer.Open(sealed, place)
	if err != nil {
		return err
	}
	return blueprint.DecodeInto(data, into)
}

// commandPlace is the name that commands and answers are bound to.
func commandPlace(executionID string) string { return "signals/" + executionID }

// Perform performs a command of another process and answers it. Without data the command
// announces a new run of a concurrency group of this process, whose response is stored with
// the run.
func (e *Engine) Perform(ctx context.Context, c blueprint.RunCommand) {
	if c.Data == nil {
		e.beginHanded(ctx, c.ExecutionID)
		return
	}
	data, err := blueprint.Encode(e.answerOf(e.perform(ctx, c)))
	if err == nil {
		err = e.Peers.Answer(context.WithoutCancel(ctx), c.Seq, e.Sealer.Seal(data, commandPlace(c.ExecutionID)))
	}
	if err != nil && ctx.Err() == nil {
		e.Logger.Warn("command of another process not answered", "execution", c.ExecutionID, "error", err)
	}
}

func (e *Engine) perform(ctx context.Context, c blueprint.RunCommand) error {
	var asked command
	if err := e.unseal(c.Data, commandPlace(c.ExecutionID), &asked); err != nil {
		return err
	}
	switch {
	case asked.Answer != nil:
		return e.resume(ctx, *asked.Answer, asked.Asked)
	case asked.Cancel != nil:
		return e.cancel(ctx, c.ExecutionID, *asked.Cancel)
	case asked.SignedIn != nil:
		return e.signedIn(ctx, c.ExecutionID, *asked.SignedIn)
	}
	return blueprint.Errorf(blueprint.CodeBadRequest, "the processes of the server have different versions: unknown command")
}

// beginHanded begins a run that another process stored for this one. Its handle makes its
// response durable at once.
func (e *Engine) beginHanded(ctx context.Context, executionID string) {
	stored, err := e.Journal.Load(ctx, executionID)
	for blueprint.CodeOf(err) == blueprint.CodeUnavailable && clock.Sleep(ctx, followInterval) {
		stored, err = e.Journal.Load(ctx, executionID)
	}
	if err != nil {
		if ctx.Err() == nil {
			e.Logger.Error("run load failed", "execution", executionID, "error", err)
		}
		return
	}
	handle := &Handle{ID: executionID, accepted: make(chan struct{}), settled: make(chan struct{}), responded: make(chan struct{})}
	e.recoverRun(ctx, stored.Row, handle)
}

// followInterval is the interval at which a process looks after runs of another one.
const followInterval = 200 * time.Millisecond

// follow settles the handle of a run that was handed to another process.
func (e *Engine) follow(id string, handle *Handle) {
	for {
		if handle.Response() == nil {
			e.passResponse(id, handle)
		}
		outcome, err := e.outcomeElsewhere(id)
		switch {
		case outcome != nil:
			e.passResponse(id, handle)
			handle.settle(outcome)
			return
		case err != nil && blueprint.CodeOf(err) != blueprint.CodeUnavailable:
			handle.end(nil, err)
			return
		case !clock.Sleep(e.ctx, followInterval):
			handle.end(nil, errShuttingDown)
			return
		}
	}
}

func (e *Engine) passResponse(id string, handle *Handle) {
	sealed, err := e.Peers.Answered(e.ctx, id)
	if err != nil || sealed == nil {
		return
	}
	if reply, err := e.openAnswer(id, sealed); err == nil && reply.Response != nil {
		handle.respond(reply.Response)
	}
}

// outcomeElsewhere returns the outcome of a run that has ended or paused, or the state of
// any while the engine stops; nil if it works.
func (e *Engine) outcomeElsewhere(id string) (*parkedRun, error) {
	stored, err := e.Journal.Load(e.ctx, id)
	if err != nil || stored.Row.Status == blueprint.StatusRunning && !e.stopping.Load() {
		return nil, err
	}
	if !stored.Row.Status.Terminal() {
		view, err := e.View(e.ctx, stored)
		if err != nil {
			return nil, err
		}
		return &parkedRun{view: view}, nil
	}
	unmasked, err := e.decodeRecord(stored, true)
	if err != nil {
		return nil, err
	}
	redacted, err := e.decodeRecord(stored, false)
	if err != nil {
		return nil, err
	}
	return &parkedRun{nil, redacted, unmasked, stored.Row}, nil
}

// TakeOver takes over runs of another process, which take returns once they belong to this
// one. Until they have taken their places, no run of a concurrency group begins.
func (e *Engine) TakeOver(ctx context.Context, take func(context.Context) ([]blueprint.ExecutionRow, error)) error {
	e.pauseAdmission()
	rows, err := take(ctx)
	for _, row := range rows {
		if ctx.Err() != nil {
			return nil // the next process of the server continues
		}
		if mutant.Is(mutant.TakeOverUnstarted) {
			continue
		}
		e.recoverRun(ctx, row, nil)
	}
	e.counts.addRecovered(rows)
	e.resumeAdmission(ctx)
	if len(rows) > 0 {
		e.Logger.Info("runs of another process taken over", "count", len(rows))
	}
	return err
}

// LookAfter signals the watchers of runs that this process does not have.
func (e *Engine) LookAfter() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, channels := range e.watchers {
		if e.runs[id] == nil {
			for ch := range channels {
				select {
				case ch <- struct{}{}:
				default:
				}
			}
		}
	}
}
