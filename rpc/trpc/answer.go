package trpc

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"blueprintd/blueprint"
)

// errorShape is an error on the wire. Clients cannot read one whose code is
// not a number.
type errorShape struct {
	Message string    `json:"message"`
	Code    int       `json:"code"`
	Data    errorData `json:"data"`
}

type errorData struct {
	Code       blueprint.Code    `json:"code"`
	HTTPStatus int               `json:"httpStatus"`
	Path       *string           `json:"path,omitempty"` // absent only when no call was told apart
	Issues     []blueprint.Issue `json:"issues,omitempty"`
}

// encodeError returns the shape of a failure. path is nil for a request refused
// as a whole.
func encodeError(failure *blueprint.Error, path *string) []byte {
	encoded, err := blueprint.Encode(errorShape{failure.Message, failure.Code.Number(), errorData{
		Code: failure.Code, HTTPStatus: failure.Code.HTTPStatus(), Path: path, Issues: failure.Issues,
	}})
	if err != nil { // an issue whose path holds what JSON cannot say
		bare := blueprint.Errorf(failure.Code, "%s", failure.Message)
		return encodeError(bare, path)
	}
	return encoded
}

// errorEnvelope wraps a failure as superjson would.
func errorEnvelope(failure *blueprint.Error, path *string) []byte {
	return wrap(`{"error":{"json":`, encodeError(failure, path), `}}`)
}

// envelope is the outcome of a call as it goes out, alone or in a batch.
func (c *call) envelope() []byte {
	if c.failure != nil {
		return errorEnvelope(c.failure, &c.path)
	}
	return wrap(`{"result":{"data":{"json":`, c.payload, `}}}`)
}

func (c *call) status() int {
	if c.failure != nil {
		return c.failure.Code.HTTPStatus()
	}
	return http.StatusOK
}

func wrap(before string, middle []byte, after string) []byte {
	whole := make([]byte, 0, len(before)+len(middle)+len(after))
	return append(append(append(whole, before...), middle...), after...)
}

func (h *Handler) serveSingle(w http.ResponseWriter, r *request) {
	c := r.calls[0]
	h.run(r, c)
	c.finish(w.Header())
	setRetryAfter(w.Header(), r.calls)
	writeJSON(w, c.status(), c.envelope())
}

// serveBatch answers the calls in their order. When they do not agree on a
// status, it is 207.
func (h *Handler) serveBatch(w http.ResponseWriter, r *request) {
	h.runAll(r, func(*call) {})
	body := []byte{'['}
	status := r.calls[0].status()
	for i, c := range r.calls {
		if i > 0 {
			body = append(body, ',')
		}
		if c.status() != status {
			status = http.StatusMultiStatus
		}
		body = append(body, c.envelope()...)
		c.finish(w.Header())
	}
	setRetryAfter(w.Header(), r.calls)
	writeJSON(w, status, append(body, ']'))
}

// refuse answers a request as a whole, with one error object.
func (h *Handler) refuse(w http.ResponseWriter, r *request, err error) {
	var failure *blueprint.Error
	if r.fault != nil {
		failure = r.fault.Failure // in the words that were asked for
	} else {
		failure = h.failure(r, "", err)
	}
	if len(r.calls) == 0 {
		h.counts.calls.Add(unknown, string(failure.Code))
	}
	discardBody(r.Request, 2*h.options.MaxBody)
	refused := &call{failure: failure, fault: r.fault}
	setRetryAfter(w.Header(), []*call{refused})
	refused.wait(r.Context())
	writeJSON(w, failure.Code.HTTPStatus(), errorEnvelope(failure, nil))
}

// finish passes on the headers that a procedure set.
func (c *call) finish(header http.Header) {
	if c.caller == nil {
		return
	}
	for name, values := range c.caller.Header {
		header[name] = append(header[name], values...)
	}
}

// setRetryAfter tells in whole seconds when the last of the failed calls may
// be repeated.
func setRetryAfter(header http.Header, calls []*call) {
	seconds := int64(0)
	for _, c := range calls {
		if c.fault != nil && c.fault.Header.Get("Retry-After") != "" {
			return // as it was told
		}
		if c.failure != nil && (c.failure.Code == blueprint.CodeTooManyRequests || c.failure.Code == blueprint.CodeUnavailable) {
			seconds = max(seconds, retrySeconds(c.failure.RetryAfter))
		}
	}
	if seconds > 0 {
		header.Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
}

// retrySeconds rounds up, to a second at least.
func retrySeconds(wait time.Duration) int64 {
	return max(1, int64((wait+time.Second-1)/time.Second))
}

// writeJSON sends a whole answer. A caller that has gone is not an error.
func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// panicError is a panic that was caught, with the stack for the log.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// protect runs f and returns a panic in it as an error. It is the one place
// of this package that recovers.
func protect(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value: value, stack: debug.Stack()}
		}
	}()
	return f()
}

// abort ends the connection when an answer has begun, since half of one must
// not look whole, and when a handler asks for that itself.
func (t *answerTracker) abort(err error) {
	if t.started || aborts(err) {
		panic(http.ErrAbortHandler)
	}
}

// aborts reports whether a handler asked for the end of its connection.
func aborts(err error) bool {
	var crashed *panicError
	return errors.As(err, &crashed) && crashed.value == http.ErrAbortHandler
}

// answerTracker knows whether an answer has begun.
type answerTracker struct {
	http.ResponseWriter
	started bool
}

// WriteHeader begins the answer.
func (t *answerTracker) WriteHeader(status int) {
	t.started = true
	t.ResponseWriter.WriteHeader(status)
}

// Write begins the answer and adds to it.
func (t *answerTracker) Write(data []byte) (int, error) {
	t.started = true
	return t.ResponseWriter.Write(data)
}

// Flush sends what was written so far.
func (t *answerTracker) Flush() { _ = t.FlushError() }

// FlushError does the same and reports whether the client is still there.
func (t *answerTracker) FlushError() error {
	t.started = true
	return http.NewResponseController(t.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach the writer behind.
func (t *answerTracker) Unwrap() http.ResponseWriter { return t.ResponseWriter }
