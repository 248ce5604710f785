package outbound

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// The limits of a Tape: bytes of one body, bytes of all bodies, and number of exchanges.
const (
	MaxTaped      = 1 << 20
	MaxTape       = 8 << 20
	MaxTapedCalls = 10_000
)

// Tape records the redacted exchanges under a context; see secret.Redact. A value that was
// redacted in a request is masked in the response too. A Tape is safe for concurrent use.
type Tape struct {
	now  func() time.Time
	mu   sync.Mutex
	list []*taped
	room int
	full bool // some exchanges are missing
}

// taped is an exchange that may still be in progress.
type taped struct {
	blueprint.Exchange
	hidden *secret.Redactor // credentials in the request
	answer *copied          // nil before the response and once it is complete
	status int
	header http.Header
}

type tapeKey struct{}

// WithTape returns a context whose exchanges are recorded on a tape; now returns the
// time. The credentials of Authorize are not recorded, nor are requests for
// credentials.
func WithTape(ctx context.Context, now func() time.Time) (context.Context, *Tape) {
	t := &Tape{now: now, room: MaxTape}
	return context.WithValue(ctx, tapeKey{}, t), t
}

// Unrecorded returns a copy of ctx under which nothing is recorded or kept as
// evidence, for requests that fetch credentials.
func Unrecorded(ctx context.Context) context.Context {
	return context.WithValue(WithoutEvidence(ctx), tapeKey{}, (*Tape)(nil))
}

// NoteExchange adds an exchange of a protocol other than HTTP to the tape of a
// context, if there is one. It sets At and the caller.
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
	at.Request.URL, at.Request.Headers = r.Text(x.Request.URL), redactedHeaders(r, x.Request.Headers)
	if text, ok := x.Request.Body.(string); ok {
		kept, cut := tape.keep([]byte(text))
		at.Request.Body, at.Request.Cut = string(kept), x.Request.Cut || cut
	}
	at.Request.Body, at.Error, at.Fault = r.Value(at.Request.Body), r.Text(x.Error), x.Fault
	if x.Response != nil {
		answer := *x.Response
		answer.Headers, answer.Body = redactedHeaders(r, answer.Headers), r.Value(answer.Body)
		at.Response = &answer
	}
	at.Exchange = r.Masker().Exchange(at.Exchange)
}

func redactedHeaders(r *secret.Redactor, headers map[string]string) map[string]string {
	headers = maps.Clone(headers)
	for name, value := range headers {
		headers[name] = r.Header(name, value)
	}
	return headers
}

// List returns the exchanges in the order of their start, and whether some are missing. An
// exchange in progress has the body received so far and is marked as truncated.
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

// begin adds an exchange, nil when the tape is full.
func (t *Tape) begin(ctx context.Context) *taped {
	caller := CallerOf(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.list) >= MaxTapedCalls {
		t.full = true
		return nil
	}
	x := &taped{hidden: secret.NewRedactor(), Exchange: blueprint.Exchange{At: blueprint.TimeOf(t.now()), ExecutionID: caller.ExecutionID, NodeID: caller.Address, NodeType: caller.NodeType, Attempt: caller.Attempt}}
	t.list = append(t.list, x)
	return x
}

// keep returns as much of a body as fits. t.mu is held.
func (t *Tape) keep(body []byte) (kept []byte, cut bool) {
	most := min(len(body), MaxTaped, t.room)
	t.room -= most
	return body[:most], most < len(body)
}

// answered returns the response with the body received so far. t.mu is held.
func (t *Tape) answered(x *taped, body []byte, whole bool) blueprint.ExchangeResponse {
	body, plain := readable(x.header, body)
	kept, cut := t.keep(body)
	answer := ResponseOf(x.status, x.header, kept)
	answer.Body, answer.Cut = secret.Redact(answer.Body), cut || !whole || !plain
	return *x.hidden.Masker().Exchange(blueprint.Exchange{Response: &answer}).Response
}

// record sends a request through next and records it. connected reports a connection.
func record(request *http.Request, connected func() bool, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
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
	early := int64(len(sent.body)) < min(request.ContentLength, MaxTaped) // answered before all was sent
	x.Request.Body, x.Request.Cut = x.hidden.Value(BodyValue(request.Header.Get("Content-Type"), kept)), cut || !plain || early
	if err != nil {
		x.Error, x.Fault = secret.RedactText(err.Error()), faultOf(request.Context(), err, connected())
	}
	x.Exchange = x.hidden.Masker().Exchange(x.Exchange)
	if err != nil {
		return nil, err
	}
	if response.Body == nil {
		response.Body = http.NoBody // a Network may leave it nil
	}
	x.status, x.header = response.StatusCode, response.Header.Clone()
	x.answer = &copied{ReadCloser: response.Body, tape: tape}
	x.answer.done = func(err error) {
		answer := tape.answered(x, x.answer.body, err == nil)
		if x.answer.size > int64(len(x.answer.body)) || len(x.answer.body) > MaxTaped {
			answer.Size = x.answer.size
		}
		if x.Response, x.answer = &answer, nil; err != nil && err != errUnread {
			x.Error, x.Fault = secret.RedactText(err.Error()), faultOf(request.Context(), err, true)
			x.Exchange = x.hidden.Masker().Exchange(x.Exchange)
		}
	}
	response.Body = x.answer
	return response, nil
}

// copied is a body that keeps a copy of at most MaxTaped+1 bytes.
type copied struct {
	io.ReadCloser
	tape *Tape           // its mu guards the fields below
	body []byte          //
	size int64           // how many bytes were read
	done func(err error) // called once at the end with mu held; nil = complete; may be nil
	over bool            // done was called
}

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

func (c *copied) Close() error {
	err := c.ReadCloser.Close()
	c.tape.mu.Lock()
	defer c.tape.mu.Unlock()
	c.end(errUnread)
	return err
}

// errUnread is the reason for a body that was closed before its end.
var errUnread = errors.New("not read to its end")

func (c *copied) end(err error) {
	if c.over || c.done == nil {
		return
	}
	c.over = true
	c.done(err)
}

// readable returns a body decompressed. It reports false for unknown compressions,
// which could hide secrets.
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

// RequestOf returns a request, whose body was read, as recorded in an exchange, with
// sensitive headers and URL parameters redacted, and without the URL's user.
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

// ResponseOf is RequestOf for an answer.
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

// Hop is one request: the first, or that of a redirect.
type Hop struct {
	Host   string // with the port, unless it is the default
	Status int    // 0 when no answer came
	Sent   bool   // there was a connection, so the request may have arrived
}

// Hops collects the requests made under a context. It is safe for concurrent use.
type Hops struct {
	mu   sync.Mutex
	list []Hop
}

type hopsKey struct{}

// RecordHops returns a context whose requests by a Client are recorded in Hops.
func RecordHops(ctx context.Context) (context.Context, *Hops) {
	hops := &Hops{}
	return context.WithValue(ctx, hopsKey{}, hops), hops
}

// List returns the hops so far, in the order of their start.
func (h *Hops) List() []Hop {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.list)
}

// Sent reports whether anything may have been sent.
func (h *Hops) Sent() bool {
	return slices.ContainsFunc(h.List(), func(hop Hop) bool { return hop.Sent })
}

func recordOf(ctx context.Context) *Hops {
	hops, _ := ctx.Value(hopsKey{}).(*Hops)
	return hops
}

// begin adds a request. A nil Hops records nothing.
func (h *Hops) begin(u *url.URL) *hop {
	if h == nil {
		return nil
	}
	host := strings.ToLower(u.Host)
	if portOf(u) == portOf(&url.URL{Scheme: u.Scheme}) {
		host = strings.TrimSuffix(host, ":"+u.Port())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, Hop{Host: host})
	return &hop{h, len(h.list) - 1}
}

// hop is one element of Hops; nil if nothing is recorded.
type hop struct {
	hops  *Hops
	index int
}

func (h *hop) change(f func(*Hop)) {
	if h == nil {
		return
	}
	h.hops.mu.Lock()
	defer h.hops.mu.Unlock()
	f(&h.hops.list[h.index])
}

func (h *hop) sent() { h.change(func(hop *Hop) { hop.Sent = true }) }

func (h *hop) answered(status int) {
	h.change(func(hop *Hop) { hop.Sent, hop.Status = true, status })
}
