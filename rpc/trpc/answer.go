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

// errorShape is an error on the wire. Clients cannot read one whose code is not a number.
type errorShape struct {
	Message string    `json:"message"`
	Code    int       `json:"code"`
	Data    errorData `json:"data"`
}

type errorData struct {
	Code       blueprint.Code    `json:"code"`
	HTTPStatus int               `json:"httpStatus"`
	Path       *string           `json:"path,omitempty"` // absent if the request was refused as a whole
	Issues     []blueprint.Issue `json:"issues,omitempty"`
}

// encodeError returns the shape of a failure. path is nil for a request refused as a whole.
func encodeError(failure *blueprint.Error, path *string) []byte {
	encoded, err := blueprint.Encode(errorShape{failure.Message, failure.Code.Number(), errorData{
		Code: failure.Code, HTTPStatus: failure.Code.HTTPStatus(), Path: path, Issues: failure.Issues,
	}})
	if err != nil { // the path of an issue cannot be encoded
		bare := blueprint.Errorf(failure.Code, "%s", failure.Message)
		return encodeError(bare, path)
	}
	return encoded
}

// errorEnvelope wraps a failure as superjson would.
func errorEnvelope(failure *blueprint.Error, path *string) []byte {
	return wrap(`{"error":{"json":`, encodeError(failure, path), `}}`)
}

// envelope returns the outcome of a call as it is sent, alone or in a batch.
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

// serveBatch responds to the calls in order, with status 207 if theirs differ.
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

// refuse rejects a whole request with one error object.
func (h *Handler) refuse(w http.ResponseWriter, r *request, err error) {
	var failure *blueprint.Error
	if r.fault != nil {
		failure = r.fault.Failure // with the message of the fault
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

// finish adds the headers that a procedure set.
func (c *call) finish(header http.Header) {
	if c.caller == nil {
		return
	}
	for name, values := range c.caller.Header {
		header[name] = append(header[name], values...)
	}
}

// setRetryAfter sets Retry-After to the longest wait of the failed calls, in seconds.
func setRetryAfter(header http.Header, calls []*call) {
	seconds := int64(0)
	for _, c := range calls {
		if c.fault != nil && c.fault.Header.Get("Retry-After") != "" {
			return // already set by the fault
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

// writeJSON sends a whole response. Write errors are ignored: the client has disconnected.
func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// panicError is a recovered panic with its stack.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// protect runs f and returns a panic in it as an error.
func protect(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value: value, stack: debug.Stack()}
		}
	}()
	return f()
}

// abort closes the connection if the response has begun, so that a truncated one does not look
// complete, or if the handler panicked with http.ErrAbortHandler.
func (t *answerTracker) abort(err error) {
	if t.started || aborts(err) {
		panic(http.ErrAbortHandler)
	}
}

// aborts reports whether a handler panicked with http.ErrAbortHandler.
func aborts(err error) bool {
	var crashed *panicError
	return errors.As(err, &crashed) && crashed.value == http.ErrAbortHandler
}

// answerTracker records whether the response has begun.
type answerTracker struct {
	http.ResponseWriter
	started bool
}

func (t *answerTracker) WriteHeader(status int) {
	t.started = true
	t.ResponseWriter.WriteHeader(status)
}

func (t *answerTracker) Write(data []byte) (int, error) {
	t.started = true
	return t.ResponseWriter.Write(data)
}

func (t *answerTracker) Flush() { _ = t.FlushError() }

// FlushError implements the interface of http.ResponseController.
func (t *answerTracker) FlushError() error {
	t.started = true
	return http.NewResponseController(t.ResponseWriter).Flush()
}

// Unwrap returns the underlying writer for http.ResponseController.
func (t *answerTracker) Unwrap() http.ResponseWriter { return t.ResponseWriter }
