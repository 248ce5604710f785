package outbound

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"blueprintd/blueprint"
)

// MaxTaped is how much of one body, and MaxTape of all bodies together, a Tape
// keeps, in bytes.
const (
	MaxTaped = 1 << 20
	MaxTape  = 8 << 20
)

// Tape collects what goes out under a context and what comes back. It may be
// used by any number of goroutines.
type Tape struct {
	now  func() time.Time
	mu   sync.Mutex
	list []*blueprint.Exchange
	room int
}

type tapeKey struct{}

// WithTape gives a context under which every exchange is noted on a tape; now
// tells the time. What a request gets from Authorize is not on it, nor are
// requests that are made to get credentials.
func WithTape(ctx context.Context, now func() time.Time) (context.Context, *Tape) {
	t := &Tape{now: now, room: MaxTape}
	return context.WithValue(ctx, tapeKey{}, t), t
}

// Note adds an exchange of another protocol than HTTP to the tape of a context,
// if it has one. At and the caller are filled in.
func Note(ctx context.Context, x blueprint.Exchange) {
	tape, _ := ctx.Value(tapeKey{}).(*Tape)
	if tape == nil {
		return
	}
	at := tape.begin(ctx)
	tape.mu.Lock()
	defer tape.mu.Unlock()
	at.Request, at.Response, at.Error = x.Request, x.Response, x.Error
}

// List gives what is on the tape, in the order in which it began. What is still
// under way has neither an answer nor an error.
func (t *Tape) List() []blueprint.Exchange {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []blueprint.Exchange
	for _, x := range t.list {
		out = append(out, *x)
	}
	return out
}

func (t *Tape) begin(ctx context.Context) *blueprint.Exchange {
	caller := CallerOf(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	x := &blueprint.Exchange{At: blueprint.TimeOf(t.now()), ExecutionID: caller.ExecutionID, NodeID: caller.Address, NodeType: caller.NodeType, Attempt: caller.Attempt}
	t.list = append(t.list, x)
	return x
}

// keep takes as much of a body as there is room for. t.mu is held.
func (t *Tape) keep(body []byte) (kept []byte, cut bool) {
	most := min(len(body), MaxTaped, t.room)
	t.room -= most
	return body[:most], most < len(body)
}

// taped sends a request by next and notes it.
func taped(request *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	tape, _ := request.Context().Value(tapeKey{}).(*Tape)
	if tape == nil {
		return next(request)
	}
	x := tape.begin(request.Context())
	var sent bytes.Buffer
	if request.Body != nil && request.Body != http.NoBody {
		copied := *request
		copied.Body = &tee{ReadCloser: request.Body, into: &sent}
		request = &copied
	}
	response, err := next(request)
	tape.mu.Lock()
	body, _ := tape.keep(sent.Bytes())
	x.Request = RequestOf(request, body)
	if err != nil {
		x.Error = err.Error()
	}
	tape.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if response.Body == nil {
		response.Body = http.NoBody // a Network may forget it
	}
	response.Body = &tee{ReadCloser: response.Body, into: &bytes.Buffer{}, done: func(body []byte, whole bool) {
		tape.mu.Lock()
		defer tape.mu.Unlock()
		kept, cut := tape.keep(body)
		answer := ResponseOf(response.StatusCode, response.Header, kept)
		answer.Cut = cut || !whole
		x.Response = &answer
	}}
	return response, nil
}

// tee is a body of which a copy is kept, up to one byte more than MaxTaped.
type tee struct {
	io.ReadCloser
	into *bytes.Buffer
	done func(body []byte, whole bool)
	once sync.Once
}

// Read reads on, and tells done when the end is reached.
func (t *tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.into.Write(p[:min(n, MaxTaped+1-t.into.Len())])
	if err != nil {
		t.end(err == io.EOF)
	}
	return n, err
}

// Close tells done that nobody reads on.
func (t *tee) Close() error {
	err := t.ReadCloser.Close()
	t.end(false)
	return err
}

func (t *tee) end(whole bool) {
	if t.done != nil {
		t.once.Do(func() { t.done(t.into.Bytes(), whole) })
	}
}
