package trpc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

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

// serveLines serves a batch as JSON lines. The first names the chunk of each call's
// outcome; each of the others is a chunk with the whole outcome of a call, in the order
// in which the calls end. superjson wraps a line and nothing in it.
func (h *Handler) serveLines(w http.ResponseWriter, r *request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	out := newPieces(w)
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
