package outbound

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// MaxTaped is how much of one body, and MaxTape of all bodies together, a Tape
// keeps, in bytes. MaxTapedCalls is how many exchanges it keeps.
const (
	MaxTaped      = 1 << 20
	MaxTape       = 8 << 20
	MaxTapedCalls = 10_000
)

// Tape collects what goes out under a context and what comes back, without what
// looks like a credential; see secret.Redact. What was taken out of a request for
// that is not in the answer either, whatever it is called there. It may be used by
// any number of goroutines.
type Tape struct {
	now  func() time.Time
	mu   sync.Mutex
	list []*taping
	room int
	full bool // exchanges were left out
}

// taping is an exchange that may still be under way.
type taping struct {
	blueprint.Exchange
	hidden *secret.Redactor // what the request had of credentials
	answer *copied          // nil once it is whole, and while none has begun
	status int
	header http.Header
}

type tapeKey struct{}

// WithTape returns a context under which every exchange is noted on a tape; now
// tells the time. What a request gets from Authorize is not on it, nor are
// requests that are made to get credentials.
func WithTape(ctx context.Context, now func() time.Time) (context.Context, *Tape) {
	t := &Tape{now: now, room: MaxTape}
	return context.WithValue(ctx, tapeKey{}, t), t
}

// Unrecorded returns a copy of ctx under which nothing is recorded or kept as
// evidence, for requests that fetch credentials.
func Unrecorded(ctx context.Context) context.Context {
	return context.WithValue(WithoutEvidence(ctx), tapeKey{}, (*Tape)(nil))
}

// Note adds an exchange of another protocol than HTTP to the tape of a context,
// if it has one. At and the caller are filled in.
func NoteExchange(ctx context.Context, x blueprint.Exchange) {
	tape, _ := ctx.Value(tapeKey{}).(*Tape)
	if tape == nil {
		return
	}
	at := tape.begin(ctx)
	if at == nil {
		return
	}
	tape.mu.Lock()
	defer tape.mu.Unlock()
	r := at.hidden
	at.Request = x.Request
	at.Request.URL, at.Request.Headers = r.Text(x.Request.URL), noted(r, x.Request.Headers)
	if text, ok := x.Request.Body.(string); ok {
		kept, cut := tape.keep([]byte(text))
		at.Request.Body, at.Request.Cut = string(kept), x.Request.Cut || cut
	}
	at.Request.Body, at.Error, at.Fault = r.Value(at.Request.Body), r.Text(x.Error), x.Fault
	if x.Response != nil {
		answer := *x.Response
		answer.Headers, answer.Body = noted(r, answer.Headers), r.Value(answer.Body)
		at.Response = &answer
	}
	at.Exchange = r.Masker().Exchange(at.Exchange)
}

// noted returns headers as they may be seen.
func noted(r *secret.Redactor, headers map[string]string) map[string]string {
	headers = maps.Clone(headers)
	for name, value := range headers {
		headers[name] = r.Header(name, value)
	}
	return headers
}

// List returns what is on the tape, in the order in which it began, and tells
// whether exchanges had no room. What is still under way has what has come so
// far, and says that it was cut.
func (t *Tape) List() (list []blueprint.Exchange, full bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.list {
		out := x.Exchange
		if x.answer != nil {
			answer := t.answered(x, x.answer.body, false)
			out.Response = &answer
		}
		list = append(list, out)
	}
	return list, t.full
}

// begin returns the place of an exchange, nil when there is no room for it.
func (t *Tape) begin(ctx context.Context) *taping {
	caller := CallerOf(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.list) >= MaxTapedCalls {
		t.full = true
		return nil
	}
	x := &taping{hidden: secret.NewRedactor(), Exchange: blueprint.Exchange{At: blueprint.TimeOf(t.now()), ExecutionID: caller.ExecutionID, NodeID: caller.Address, NodeType: caller.NodeType, Attempt: caller.Attempt}}
	t.list = append(t.list, x)
	return x
}

// keep takes as much of a body as there is room for. t.mu is held.
func (t *Tape) keep(body []byte) (kept []byte, cut bool) {
	most := min(len(body), MaxTaped, t.room)
	t.room -= most
	return body[:most], most < len(body)
}

// answered returns an answer whose body was read so far. t.mu is held.
func (t *Tape) answered(x *taping, body []byte, whole bool) blueprint.ExchangeResponse {
	body, plain := readable(x.header, body)
	kept, cut := t.keep(body)
	answer := ResponseOf(x.status, x.header, kept)
	answer.Body, answer.Cut = secret.Redact(answer.Body), cut || !whole || !plain
	return *x.hidden.Masker().Exchange(blueprint.Exchange{Response: &answer}).Response
}

// taped sends a request by next and notes it.
// left reports whether it has a connection to leave by.
func taped(request *http.Request, left func() bool, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	tape, _ := request.Context().Value(tapeKey{}).(*Tape)
	if tape == nil {
		return next(request)
	}
	x := tape.begin(request.Context())
	if x == nil {
		return next(request)
	}
	tape.mu.Lock()
	x.Request = requestOf(x.hidden, request, nil)
	tape.mu.Unlock()
	sent := &copied{tape: tape}
	if request.Body != nil && request.Body != http.NoBody {
		copied := *request
		sent.ReadCloser = request.Body
		copied.Body = sent
		request = &copied
	}
	response, err := next(request)
	tape.mu.Lock()
	defer tape.mu.Unlock()
	body, plain := readable(request.Header, sent.body)
	kept, cut := tape.keep(body)
	early := int64(len(sent.body)) < min(request.ContentLength, MaxTaped) // the answer came before all was sent
	x.Request.Body, x.Request.Cut = x.hidden.Value(BodyValue(request.Header.Get("Content-Type"), kept)), cut || !plain || early
	if err != nil {
		x.Error, x.Fault = secret.RedactText(err.Error()), faultOf(request.Context(), err, left())
	}
	x.Exchange = x.hidden.Masker().Exchange(x.Exchange)
	if err != nil {
		return nil, err
	}
	if response.Body == nil {
		response.Body = http.NoBody // a Network may forget it
	}
	x.status, x.header = response.StatusCode, response.Header.Clone()
	x.answer = &copied{ReadCloser: response.Body, tape: tape}
	x.answer.done = func(err error) {
		answer := tape.answered(x, x.answer.body, err == nil)
		if x.answer.size > int64(len(x.answer.body)) || len(x.answer.body) > MaxTaped {
			answer.Size = x.answer.size
		}
		if x.Response, x.answer = &answer, nil; err != nil && err != errLeft {
			x.Error, x.Fault = secret.RedactText(err.Error()), faultOf(request.Context(), err, true)
			x.Exchange = x.hidden.Masker().Exchange(x.Exchange)
		}
	}
	response.Body = x.answer
	return response, nil
}

// copied is a body of which a copy is kept, up to one byte more than MaxTaped.
type copied struct {
	io.ReadCloser
	tape *Tape           // whose mu guards what follows
	body []byte          //
	size int64           // how many bytes were read
	done func(err error) // called once at the end, with mu held; nil error = all was read; may be nil
	over bool            // it was
}

// Read reads on, and tells done when the end is reached.
func (c *copied) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.tape.mu.Lock()
	defer c.tape.mu.Unlock()
	if c.size += int64(n); !c.over {
		c.body = append(c.body, p[:min(n, MaxTaped+1-len(c.body))]...)
	}
	if err == io.EOF {
		c.end(nil)
	} else if err != nil {
		c.end(err)
	}
	return n, err
}

// Close tells done that nobody reads on.
func (c *copied) Close() error {
	err := c.ReadCloser.Close()
	c.tape.mu.Lock()
	defer c.tape.mu.Unlock()
	c.end(errLeft)
	return err
}

// errLeft means that a body was not read to its end.
var errLeft = errors.New("not read to its end")

// end takes note of the end. The tape's mu is held.
func (c *copied) end(err error) {
	if c.over || c.done == nil {
		return
	}
	c.over = true
	c.done(err)
}

// readable returns a body as it reads, and false when it cannot be: what is
// compressed could hide anything.
func readable(header http.Header, body []byte) (plain []byte, ok bool) {
	coding := strings.ToLower(strings.TrimSpace(header.Get("Content-Encoding")))
	switch {
	case len(body) == 0, coding == "", coding == "identity":
		return body, true
	case coding != "gzip" && coding != "x-gzip":
		return nil, false
	}
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, false
	}
	plain, err = io.ReadAll(io.LimitReader(reader, MaxTaped+1))
	if err != nil && len(plain) == 0 {
		return nil, false
	}
	return plain, true
}

// RequestOf returns a request, whose body was read, as an exchange keeps it: the
// values of headers that may be credentials are "***", and so are parameters of
// the address with telling names, and a name and password in it.
func RequestOf(request *http.Request, body []byte) blueprint.ExchangeRequest {
	return requestOf(new(secret.Redactor), request, body)
}

func requestOf(r *secret.Redactor, request *http.Request, body []byte) blueprint.ExchangeRequest {
	address := *request.URL
	address.User = nil
	return blueprint.ExchangeRequest{
		Method: request.Method, URL: r.Text(address.String()), Headers: headersOf(r, request.Header), Body: BodyValue(request.Header.Get("Content-Type"), body),
	}
}

// ResponseOf returns an answer as an exchange keeps it, redacted in the same way.
func ResponseOf(status int, header http.Header, body []byte) blueprint.ExchangeResponse {
	return blueprint.ExchangeResponse{Status: status, Headers: headersOf(new(secret.Redactor), header), Body: BodyValue(header.Get("Content-Type"), body)}
}

func headersOf(r *secret.Redactor, header http.Header) map[string]string {
	if len(header) == 0 {
		return nil
	}
	out := make(map[string]string, len(header))
	for name, values := range header {
		name = strings.ToLower(name)
		out[name] = r.Header(name, strings.Join(values, ", "))
	}
	return out
}
