package engine

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/blueprint/expression"
)

func deniedFailure(name string) *blueprint.Failure {
	return &blueprint.Failure{Code: "secret_denied", Message: fmt.Sprintf("variable %q is secret, and whoever started this run may not use it", name), Permanent: true}
}

// failureOf makes a failure of whatever a node gave back.
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

// stepError is what a step shows of a failure.
func stepError(f *blueprint.Failure) *blueprint.StepError {
	return &blueprint.StepError{Message: f.Message, Code: f.Code, Hint: f.Hint, Grant: f.Grant}
}

// cancelledStep is the error of a node that a cancelled run cut off.
func cancelledStep() *blueprint.StepError {
	return &blueprint.StepError{Message: "cancelled", Code: "cancelled"}
}

// fail records a failed attempt: the delay before the next one, or the end of
// the node. r.mu is held.
func (a *attempt) fail(e *entry, f *blueprint.Failure, now time.Time) {
	r := a.run
	e.Error, e.Clean = stepError(f), f.NotSent
	if errors.Is(context.Cause(r.ctx), errCancelled) {
		e.Error = cancelledStep()
	} else {
		e.Error.Exchange = a.proof()
	}
	if !mayRepeat(a.at, a.number, f) {
		e.Kind = entryEnd
		r.record(e)
		return
	}
	delay := r.delay(a.at, a.number, f)
	e.Kind, e.Due = entryRetry, blueprint.TimeOf(now.Add(delay))
	r.record(e)
	a.note("warn", fmt.Sprintf("attempt %d failed: %s; the next in %s", a.number, f.Message, delay.Round(time.Millisecond)), nil)
}

// mayRepeat tells whether a failed node is tried once more.
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

// The longest delays before another attempt: our own, and one that the other
// side asked for.
const (
	maxDelay      = 5 * time.Minute
	maxRetryAfter = time.Hour
)

// delay gives how long to wait before the next attempt.
func (r *fold) delay(n *nodeRun, attempt int, f *blueprint.Failure) time.Duration {
	retry := n.node().Retry
	factor := min(math.Pow(retry.Backoff, float64(attempt-1)), math.MaxInt32)
	delay := min(float64(retry.Delay)*factor*r.jitter(n, attempt), float64(maxDelay))
	return max(time.Duration(delay), min(f.RetryAfter, maxRetryAfter))
}

// jitter gives a factor from 0.8 to 1.2, so that what failed together does not
// come back together. It follows from the attempt, which keeps runs with seeded
// ids the same from one time to the next.
func (r *fold) jitter(n *nodeRun, attempt int) float64 {
	hash := fnv.New32a()
	fmt.Fprintf(hash, "%s %d", r.idempotencyKey(n.address()), attempt)
	return 0.8 + 0.4*float64(hash.Sum32())/math.MaxUint32
}
