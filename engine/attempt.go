package engine

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/blueprint/expression"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/secret"
)

// attempt is one attempt of one node, with copies of the data that it needs.
type attempt struct {
	run          *run
	at           *nodeRun
	node         *compiled
	address      string
	number       int // from 1
	scope        *scope
	inputs       []blueprint.NodeOutput
	config       map[string]any
	outputSize   int
	state        any   // of the previous pause
	call         int64 // number of the language model call in progress; 0 = none
	granted      bool  // that call may have been sent
	estimate     int64 // tokens of that call
	budgetRaises int64 // before the last call was reserved

	// Usage, guarded by run.mu.
	opened     []*openedConnection
	tokens     int64
	modelCalls int64
	tape       *outbound.Tape // nil unless the run is recorded

	evidence    *outbound.Evidence      // nil unless it may reach other services
	exchange    *blueprint.StepExchange // of a failure, once collected
	credentials []string                // of opened connections
	masked      bool                    // a result contained a credential
}

// startNode begins an attempt of a node. The caller holds r.mu.
func (r *run) startNode(n *nodeRun) *attempt {
	now := r.engine.Clock.Now()
	number := max(1, n.next)
	address := n.address()
	r.record(&entry{Kind: entryStart, Node: address, At: blueprint.TimeOf(now), Attempt: number})
	a := &attempt{run: r, at: n, node: n.node(), address: address, number: number, scope: r.scopeOf(n, now), state: n.pauseState}
	a.inputs = r.outputsBefore(n)
	return a
}

// perform runs the node. Its timeout is in real time.
func (a *attempt) perform() (result blueprint.Result, err error) {
	if a.node.problem != nil {
		return result, a.node.problem
	}
	limits := &a.run.engine.Limits
	if a.scope.inputSize > limits.Value {
		return result, &blueprint.Failure{Code: "too_large", Message: fmt.Sprintf("the input is larger than %d KiB", limits.Value>>10), Permanent: true}
	}
	if err := a.mayUse(a.run.ctx, a.node.config.Names()); err != nil {
		return result, err
	}
	a.makeLinks(a.node.links)
	if a.config, err = a.node.config.Resolve(a.scope); err != nil {
		return result, err
	}
	ctx := a.run.ctx
	if a.node.Timeout > 0 {
		var cancel context.CancelFunc
		if a.node.kind.Effect != blueprint.EffectPure {
			early, end := context.WithCancelCause(ctx)
			defer end(nil)
			ctx = outbound.WithExpiry(early, func() { end(outbound.ErrNodeTimeout) })
		}
		ctx, cancel = context.WithTimeoutCause(ctx, a.node.Timeout, outbound.ErrNodeTimeout)
		defer cancel()
	}
	if a.node.kind.Effect != blueprint.EffectPure {
		ctx = a.outbound(ctx)
	}
	result, err = a.node.kind.Run(ctx, a.task())
	if err != nil && errors.Is(context.Cause(ctx), outbound.ErrNodeTimeout) {
		return result, &blueprint.Failure{
			Code: "timeout", Message: fmt.Sprintf("took longer than its timeoutMs of %d", a.node.Timeout.Milliseconds()), NotSent: failureOf(err).NotSent,
		}
	}
	result, err = a.withoutCredentials(result, err)
	if err == nil && !result.PassInput {
		output := result.Output
		switch {
		case result.Each != nil:
			output = result.Each.Items
		case result.Run != nil:
			if err := a.mayCall(ctx); err != nil {
				return result, err
			}
			output = []any{result.Run.Variables, result.Run.InputData}
		}
		if a.outputSize, err = jsonSize(output, limits.Value); err != nil {
			return result, &blueprint.Failure{Code: "bad_output", Message: "the output " + err.Error(), Permanent: true}
		}
	}
	return result, err
}

// recoverPanics calls code of a node type; a panic fails the node.
func (r *run) recoverPanics(n *nodeRun, call func() (blueprint.Result, error)) (result blueprint.Result, err error) {
	defer func() {
		if crash := recover(); crash != nil {
			r.engine.Logger.Error("node panicked", "execution", r.id, "node", n.address(), "type", n.node().Type, "panic", r.masker.Load().Text(fmt.Sprint(crash)), "stack", string(debug.Stack()))
			err = &blueprint.Failure{Code: "internal", Message: "the node crashed; the server's log has the details"}
		}
	}()
	return call()
}

// withoutCredentials replaces credentials of the attempt's connections in its result: a
// service that echoes them would otherwise pass them to later nodes. It is the only place
// where redaction changes data.
func (a *attempt) withoutCredentials(result blueprint.Result, err error) (blueprint.Result, error) {
	a.run.mu.Lock()
	credentials := secret.NewCredentials(a.credentials)
	a.run.mu.Unlock()
	if credentials == nil {
		return result, err
	}
	result.Output, a.masked = credentials.Value(result.Output)
	if failure, ok := errors.AsType[*blueprint.Failure](err); ok {
		if message, changed := credentials.Text(failure.Message); changed {
			masked := *failure
			masked.Message = message
			err, a.masked = &masked, true
		}
	}
	return result, err
}

func (a *attempt) task() *blueprint.Task {
	r := a.run
	t := r.newTask(a.at, a.number, a.scope.now)
	t.Config, t.Input, t.Inputs, t.State = a.config, a.scope.input, a.inputs, a.state
	t.Evaluate, t.Log, t.Scope = a.evaluate, a.log, func() blueprint.NodeScope { return a.collect(r.ctx) }
	t.Authority, t.Seed, t.Connect, t.Emit = r.authority(), a.seed(), a.connect, a.emitter()
	t.Budget, t.Spend = a.reserveCall, a.spend
	return t
}

// newTask returns a task with the fields that need no lock.
func (r *run) newTask(n *nodeRun, attempt int, now time.Time) *blueprint.Task {
	address, definition := n.address(), r.program.definition
	return &blueprint.Task{
		ExecutionID: r.id, BlueprintID: definition.BlueprintID, OrganizationID: definition.OrganizationID, Address: address, Attempt: attempt,
		InputData: r.begin.InputData, Sequential: n.frame.body.graph.Sequential(), Now: now, IdempotencyKey: r.idempotencyKey(address),
	}
}

// seed returns the seed of random numbers in code; 0 = not seeded.
func (a *attempt) seed() uint64 {
	if !a.run.engine.IDs.IsSeeded() {
		return 0
	}
	return max(1, binary.BigEndian.Uint64(a.run.engine.IDs.Stream("chance", a.run.id, a.address, strconv.Itoa(a.number)).Bytes(8)))
}

func (r *fold) idempotencyKey(address string) string { return r.id + "/" + address }

func (a *attempt) evaluate(source string) (any, error) {
	compiled, err := a.run.program.expression(source)
	if err != nil {
		return nil, failureOf(err)
	}
	if err := a.mayUse(a.run.ctx, compiled.Names()); err != nil {
		return nil, err
	}
	a.makeLinks(compiled.links)
	value, err := compiled.Eval(a.scope)
	if err != nil {
		return nil, failureOf(err)
	}
	return value, nil
}

// maxLogs bounds the log lines of a run; later ones are dropped, with a note.
const maxLogs = 10_000

// maxLogData bounds the data of a line, in bytes of JSON.
const maxLogData = 1 << 20

func (a *attempt) log(level, message string, data any) {
	if _, err := jsonSize(data, maxLogData); err != nil {
		message, data = message+" (its data "+err.Error()+")", nil
	}
	a.run.mu.Lock()
	defer a.run.mu.Unlock()
	a.logLocked(level, message, data)
}

// logLocked is log with data of bounded size. The caller holds r.mu.
func (a *attempt) logLocked(level, message string, data any) {
	r := a.run
	switch {
	case r.ended || r.evicted || len(r.logs) > maxLogs:
		return
	case len(r.logs) == maxLogs:
		level, message, data = "warn", "the log of this run is full at "+strconv.Itoa(maxLogs)+" lines; the rest is dropped", nil
	}
	now := r.engine.now()
	node := a.address
	r.record(&entry{Kind: entryLog, At: now, details: &details{Log: &blueprint.LogEntry{Timestamp: now, Level: level, NodeID: &node, Message: message, Data: data}}})
}

// settle records the result of the attempt. The caller holds r.mu.
func (a *attempt) settle(result blueprint.Result, err error) {
	r := a.run
	now := r.engine.Clock.Now()
	e := &entry{At: blueprint.TimeOf(now), Node: a.address, Masked: a.masked, size: a.outputSize}
	tokens, servers := a.tokensUsed(result.Tokens), usedServers(result.MCPServers)
	if len(result.Calls)+len(servers)+len(a.opened) > 0 || tokens != 0 || a.modelCalls != 0 {
		d := e.change()
		d.Calls, d.Tokens, d.Models, d.Servers, d.Uses = result.Calls, tokens, a.modelCalls, servers, a.uses()
	}
	a.addExchanges(e)
	if a.masked {
		a.logLocked("warn", "the response repeated a credential of the connection, which was replaced by "+secret.Mask, nil)
	}
	var pause *blueprint.Pause
	if errors.As(err, &pause) && r.canceled == nil {
		result, err = blueprint.Result{Await: &pause.Await}, nil
	}
	if err == nil {
		if failure := r.addsTooMuch(a.outputSize); failure != nil {
			a.collectEvidence()
			err = failure
		}
	}
	switch {
	case err != nil:
		a.fail(e, failureOf(err), now)
	case result.Wait != nil && result.Wait.Until.After(now):
		e.Kind, e.change().Due = entryWait, blueprint.TimeOf(result.Wait.Until.Add(time.Millisecond-1)) // never early
		r.record(e)
	case result.Await != nil:
		e.Kind, e.change().Await = entryAwait, a.newAwait(result.Await, now)
		if pause != nil {
			e.Await.State = pause.State
		}
		r.record(e)
		again := a.at.signedIn && e.Await.Kind == blueprint.AwaitOAuth || a.budgetRaises != r.engine.budgetRaises.Load() && e.Await.Kind == blueprint.AwaitBudget
		if again && a.at.phase == awaiting {
			r.record(&entry{Kind: entryAgain, Node: a.address, At: e.At, Attempt: a.number})
		}
		a.at.signedIn = false
	case result.Run != nil && r.begin.Root == "" && r.runsStarted >= r.engine.Limits.Family:
		a.fail(e, r.tooMany(), now)
	case result.Run != nil:
		d := e.change()
		e.Kind, d.Call, d.Child = entryCall, result.Run, a.run.engine.IDs.At(now, "attempt", a.run.id, a.address, strconv.Itoa(a.number)).ExecutionID(now)
		r.record(e)
		a.logLocked("info", "started the run "+d.Child+" and waits for it", nil)
	case result.Each != nil:
		e.Kind, e.Output, e.change().Most = entryLoop, result.Each.Items, result.Each.Concurrency
		r.record(e)
	default:
		r.complete(e, result)
	}
	r.ensureTimerFor(a.at)
	if a.node.effect != blueprint.EffectPure {
		r.flushWithin(Soon) // a crash should leave few outcomes unknown
	}
}

// addsTooMuch returns the failure of a node whose output has the given size, or nil if the
// outputs of the run may grow by it. The caller holds r.mu.
func (r *run) addsTooMuch(size int) *blueprint.Failure {
	limit := r.engine.Limits.Outputs
	if r.outputSize+size <= limit {
		return nil
	}
	return &blueprint.Failure{Code: "too_large", Message: fmt.Sprintf("with this output, the outputs of the run are larger than %d KiB together", limit>>10), Permanent: true}
}

// complete records the end of a node that succeeded. The caller holds r.mu.
func (r *run) complete(e *entry, result blueprint.Result) {
	e.Kind, e.Handle, e.Variables = entryEnd, result.Handle, result.Variables != nil
	if result.Respond != nil {
		e.change().Respond = result.Respond
	}
	e.Pass = result.PassInput || result.Wait != nil
	if !e.Pass {
		e.Output = result.Output
	}
	if result.Stop != nil {
		e.Stop, e.Item = true, result.Stop.Item
		if result.Stop.Failed {
			e.Error = &blueprint.StepError{Message: cmp.Or(result.Stop.Message, "the run was stopped"), Code: cmp.Or(result.Stop.Code, "stopped")}
		}
	}
	r.record(e)
}

func (a *attempt) newAwait(q *blueprint.Await, now time.Time) *await {
	out := &await{Config: a.config}
	out.NodeID, out.Kind, out.Prompt, out.Schema, out.Options, out.URL = a.address, q.Kind, q.Prompt, q.Schema, q.Options, q.URL
	out.RequestedAt = blueprint.TimeOf(now)
	if q.Expires > 0 {
		out.ExpiresAt = blueprint.TimeOf(now.Add(q.Expires))
	}
	if q.LinkExpires > 0 {
		out.LinkExpires = blueprint.TimeOf(now.Add(q.LinkExpires))
	}
	return out
}

func deniedFailure(name string) *blueprint.Failure {
	return &blueprint.Failure{Code: "secret_denied", Message: fmt.Sprintf("variable %q is secret, and the user who started this run may not use it", name), Permanent: true}
}

// failureOf converts an error of a node to a failure.
func failureOf(err error) *blueprint.Failure {
	var failure *blueprint.Failure
	var bad *expression.Error
	var refused *blueprint.Error
	var missing *blueprint.MissingGrant
	switch {
	case errors.As(err, &missing):
		return missing.Failure()
	case errors.As(err, &failure):
		return failure
	case errors.As(err, &bad):
		permanent := bad.Code == expression.CodeUnknownName || bad.Code == expression.CodeBadTemplate || bad.Code == expression.CodeBadExpression
		return &blueprint.Failure{Code: bad.Code, Message: bad.Error(), Permanent: permanent}
	case errors.As(err, &refused):
		return &blueprint.Failure{Code: strings.ToLower(string(refused.Code)), Message: refused.Message, RetryAfter: refused.RetryAfter, Permanent: refused.Code == blueprint.CodeBadRequest}
	case errors.Is(err, context.Canceled):
		return &blueprint.Failure{Code: "cancelled", Message: "cancelled", Permanent: true}
	default:
		return &blueprint.Failure{Message: err.Error()}
	}
}

func stepError(f *blueprint.Failure) *blueprint.StepError {
	return &blueprint.StepError{Message: f.Message, Code: f.Code, Hint: f.Hint, Grant: f.Grant}
}

func cancelledStep() *blueprint.StepError {
	return &blueprint.StepError{Message: "cancelled", Code: "cancelled"}
}

// fail records a failed attempt: the delay before the next one, or the end of the node.
// The caller holds r.mu.
func (a *attempt) fail(e *entry, f *blueprint.Failure, now time.Time) {
	r := a.run
	e.Error = stepError(f)
	if f.NotSent {
		e.change().Clean = true
	}
	if errors.Is(context.Cause(r.ctx), errCancelled) {
		e.Error = cancelledStep()
	} else {
		e.Error.Exchange = a.failureExchange()
	}
	if !mayRepeat(a.at, a.number, f) {
		e.Kind = entryEnd
		r.record(e)
		return
	}
	delay := r.delay(a.at, a.number, f)
	e.Kind, e.change().Due = entryRetry, blueprint.TimeOf(now.Add(delay))
	r.record(e)
	a.logLocked("warn", fmt.Sprintf("attempt %d failed: %s; the next one in %s", a.number, f.Message, delay.Round(time.Millisecond)), nil)
}

// mayRepeat reports whether a failed node is retried.
func mayRepeat(n *nodeRun, attempt int, f *blueprint.Failure) bool {
	retry := n.node().Retry
	switch {
	case retry == nil, attempt >= retry.MaxAttempts, f.Permanent, n.frame.plan.Halted():
		return false
	case n.node().effect == blueprint.EffectOnce:
		return f.NotSent
	default:
		return true
	}
}

// Longest delays before the next attempt: by backoff, and by Retry-After.
const (
	maxDelay      = 5 * time.Minute
	maxRetryAfter = time.Hour
)

func (r *fold) delay(n *nodeRun, attempt int, f *blueprint.Failure) time.Duration {
	retry := n.node().Retry
	factor := min(math.Pow(retry.Backoff, float64(attempt-1)), math.MaxInt32)
	delay := min(float64(retry.Delay)*factor*r.jitter(n, attempt), float64(maxDelay))
	return max(time.Duration(delay), min(f.RetryAfter, maxRetryAfter))
}

// jitter returns a factor from 0.8 to 1.2 that spreads retries. It is derived from the
// attempt, so that runs with seeded ids are repeatable.
func (r *fold) jitter(n *nodeRun, attempt int) float64 {
	hash := fnv.New32a()
	fmt.Fprintf(hash, "%s %d", r.idempotencyKey(n.address()), attempt)
	return 0.8 + 0.4*float64(hash.Sum32())/math.MaxUint32
}
