package trpc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
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

// writePatience is the real time that the client may take to accept one piece of a stream
// before it counts as disconnected.
const writePatience = 30 * time.Second

// pieces writes a response piece by piece and flushes each.
type pieces struct {
	writer  http.ResponseWriter
	control *http.ResponseController
}

func newPieces(w http.ResponseWriter) *pieces {
	return &pieces{writer: w, control: http.NewResponseController(w)}
}

// send writes and flushes one piece, with a deadline in real time if possible.
func (p *pieces) send(piece []byte) error {
	_ = p.control.SetWriteDeadline(clock.Real{}.Now().Add(writePatience))
	if _, err := p.writer.Write(piece); err != nil {
		return err
	}
	return p.control.Flush()
}

// bodyEnd is how long the first line of a request with a body waits behind a proxy. Proxies
// in Go, such as Caddy, cut off an answer that begins before they have seen the end of the
// body, which they do just after they have sent all of it.
const bodyEnd = 10 * time.Millisecond

// serveLines serves a batch as JSON lines. The first names the chunk of each call's
// outcome; each of the others is a chunk with the whole outcome of a call, in the order
// in which the calls end. superjson wraps a line and nothing in it.
func (h *Handler) serveLines(w http.ResponseWriter, r *request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Accel-Buffering", "no") // nginx sends each line at once
	w.WriteHeader(http.StatusOK)
	out := newPieces(w)
	if r.ContentLength != 0 && r.ProtoMajor == 1 && r.Header.Get(forwardedFor) != "" {
		h.settle(r.Context(), bodyEnd)
	}
	gone := out.send(linesHead(len(r.calls))) != nil
	h.runAll(r, func(c *call) {
		if !gone {
			gone = out.send(c.line()) != nil
		}
	})
}

func linesHead(calls int) []byte {
	var head strings.Builder
	head.WriteString(`{"json":{`)
	for i := range calls {
		if i > 0 {
			head.WriteByte(',')
		}
		fmt.Fprintf(&head, `"%d":[[0],[null,0,%d]]`, i, i)
	}
	head.WriteString("}}\n")
	return []byte(head.String())
}

// line is the outcome of a call as one chunk.
func (c *call) line() []byte {
	before := `{"json":[` + strconv.Itoa(c.index) + `,0,[[`
	if c.failure != nil {
		return wrap(before+`{"error":`, encodeError(c.failure, &c.path), "}]]]}\n")
	}
	return wrap(before+`{"result":{"data":`, c.payload, "}}]]]}\n")
}

// missedPings is the number of missed pings after which a client reconnects.
const missedPings = 4

// errDraining ends the subscriptions of a server that is shutting down. Clients reconnect
// on its code by themselves.
var errDraining = &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "the server is shutting down", RetryAfter: time.Second}

// events writes server-sent events. It is safe for concurrent use.
type events struct {
	mutex  sync.Mutex
	out    *pieces
	lastID string             // the Last-Event-ID of the client
	cancel context.CancelFunc // ends the subscription when the client has disconnected
}

func (e *events) write(event, data, id string) error {
	var text strings.Builder
	if event != "" {
		text.WriteString("event: " + event + "\n")
	}
	text.WriteString("data: " + data + "\n" + id + "\n\n")
	e.mutex.Lock()
	defer e.mutex.Unlock()
	err := e.out.send([]byte(text.String()))
	if err != nil {
		e.cancel()
	}
	return err
}

// value sends an emitted value. Values have no ids, so a client that sent one gets it back
// after each value.
func (e *events) value(value any) error {
	payload, err := blueprint.Encode(value)
	if err != nil {
		return err
	}
	data := `{"json":` + string(payload) + `}`
	if e.lastID == "" {
		return e.write("", data, "")
	}
	if err := e.write("", data, "id: \n"); err != nil {
		return err
	}
	return e.write("restore-id", "", "id: "+e.lastID+"\n")
}

// serveEvents serves a subscription. The status is always 200; the last event says how
// the subscription ended.
func (h *Handler) serveEvents(w http.ResponseWriter, r *request) {
	c := r.calls[0]
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache, no-transform")
	header.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)

	out := &events{out: newPieces(w), lastID: lastEventID(r), cancel: func() { cancel(context.Canceled) }}
	if out.write("connected", h.clientOptions(), "") != nil {
		return
	}
	c.wait(r.Context())
	if c.failure == nil && !c.answered() {
		c.failure = h.subscribe(ctx, cancel, r, c, out)
	}
	switch {
	case ctx.Err() != nil && c.failure == nil:
	case c.failure != nil:
		_ = out.write("serialized-error", `{"json":`+string(encodeError(c.failure, &c.path))+`}`, "")
	default:
		_ = out.write("return", "", "")
	}
}

// subscribe runs a subscription to its end, with pings meanwhile.
func (h *Handler) subscribe(ctx context.Context, cancel context.CancelCauseFunc, r *request, c *call, out *events) *blueprint.Error {
	ended := make(chan struct{})
	var pinging sync.WaitGroup
	token := h.token(r)
	admitted := func() error { // fails once the key is revoked
		if c.procedure.Public {
			return nil
		}
		_, err := h.options.Authenticator.Authenticate(ctx, token)
		return err
	}
	pinging.Go(func() { h.ping(out, cancel, admitted, ended) })
	err := protect(func() error {
		return c.procedure.stream(ctx, c.caller, withLastEventID(c.input, out.lastID), func(value any) error {
			if err := admitted(); err != nil {
				return err
			}
			return out.value(value)
		})
	})
	close(ended)
	pinging.Wait()
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errDraining):
		return errDraining
	case blueprint.CodeOf(cause) == blueprint.CodeUnauthorized:
		return h.failure(r, c.path, cause)
	case err == nil || ctx.Err() != nil:
		return nil
	}
	return h.failure(r, c.path, err)
}

// ping sends pings in real time, and ends the subscription when the server drains or the
// key of the subscriber is revoked.
func (h *Handler) ping(out *events, cancel context.CancelCauseFunc, admitted func() error, ended <-chan struct{}) {
	ticker := time.NewTicker(h.options.Ping)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return
		case <-h.options.Draining:
			cancel(errDraining)
			return
		case <-ticker.C:
			if err := admitted(); blueprint.CodeOf(err) == blueprint.CodeUnauthorized {
				cancel(err)
				return
			}
			if out.write("ping", "", "") != nil {
				return
			}
		}
	}
}

// clientOptions returns the event that tells the client when to reconnect.
func (h *Handler) clientOptions() string {
	return `{"reconnectAfterInactivityMs":` + strconv.FormatInt(missedPings*h.options.Ping.Milliseconds(), 10) + `}`
}

// lastEventID returns the last event that the client received before it reconnected.
func lastEventID(r *request) string {
	id := r.Header.Get("Last-Event-Id")
	if id == "" {
		id, _ = parameter(r.URL.RawQuery, "lastEventId")
	}
	if strings.ContainsAny(id, "\x00\r\n") {
		return ""
	}
	return strings.ToValidUTF8(id, "\uFFFD")
}

// withLastEventID adds the id to the input, as the field lastEventId.
func withLastEventID(in rawInput, id string) rawInput {
	object, isObject := in.value.(map[string]any)
	if id == "" || !isObject && in.value != nil {
		return in
	}
	merged := maps.Clone(object)
	if merged == nil {
		merged = map[string]any{}
	}
	merged["lastEventId"] = id
	return rawInput{value: merged, present: true, marked: in.marked}
}
