package outbound

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// MaxEvidence is the number of bytes of a body that Evidence keeps.
const MaxEvidence = 16 << 10

// maxEvidenceText is the number of bytes of a URL that Evidence keeps, and the maximum size
// of a header value. All headers together may be as large as a body.
const maxEvidenceText = 8 << 10

// Evidence keeps the last request sent under a context and its response, for the record of
// a failed node, at most MaxEvidence bytes of each body. It is safe for concurrent use.
type Evidence struct {
	mu   sync.Mutex
	last *exchange
	mail *blueprint.StepExchange
}

// exchange may still be in progress. Evidence.mu guards it.
type exchange struct {
	method string
	url    string
	header http.Header                   // without credentials of a connection
	body   func() (io.ReadCloser, error) // nil = none
	status int                           // 0 until there is an answer
	answer http.Header
	got    beginning
}

// beginning is the first bytes of a body.
type beginning struct {
	data  []byte
	whole bool // data is the whole body
}

func (b *beginning) add(data []byte) {
	b.data = append(b.data, data[:min(len(data), MaxEvidence+1-len(b.data))]...)
}

type evidenceKey struct{}

// WithEvidence returns a context whose requests are kept as evidence.
func WithEvidence(ctx context.Context) (context.Context, *Evidence) {
	e := &Evidence{}
	return context.WithValue(ctx, evidenceKey{}, e), e
}

// WithoutEvidence returns a context whose requests are not kept. It is for requests that
// end a session and would replace the one that failed.
func WithoutEvidence(ctx context.Context) context.Context {
	return context.WithValue(ctx, evidenceKey{}, (*Evidence)(nil))
}

// KeepMail keeps a message for an SMTP server as the last exchange of a context.
func KeepMail(ctx context.Context, x *blueprint.StepExchange) {
	if e, _ := ctx.Value(evidenceKey{}).(*Evidence); e != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.mail = x
	}
}

// Sent reports whether a request had a connection, and so may have been sent. It is false on
// a nil Evidence.
func (e *Evidence) Sent() bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last != nil
}

// Exchange returns the last exchange, masked and redacted; nil if nothing was sent. It may
// be called during a request, and on a nil Evidence.
func (e *Evidence) Exchange(m *secret.Masker) *blueprint.StepExchange {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.mail != nil:
		return m.StepExchange(redactedMail(e.mail))
	case e.last == nil:
		return nil
	}
	x := e.last
	r := secret.NewRedactor()
	out := blueprint.Exchange{Request: blueprint.ExchangeRequest{Method: x.method, URL: r.Text(x.url), Headers: headersOf(r, x.header)}}
	out.Request.Body, out.Request.Cut = beginningOf(x.body).value(x.header)
	out.Request.Body = r.Value(out.Request.Body)
	if x.status != 0 {
		answer := ResponseOf(x.status, x.answer, nil)
		answer.Body, answer.Cut = x.got.value(x.answer)
		answer.Body = secret.Redact(answer.Body)
		out.Response = &answer
	}
	hidden := r.Masker()
	out = m.Exchange(hidden.Exchange(out))
	if len(x.url) == maxEvidenceText {
		out.Request.URL = m.Cut(hidden.Cut(out.Request.URL))
	}
	return stepExchange(out)
}

// value returns a body for display: parsed if it is complete JSON, else as text with
// replacement characters; "" when it is empty.
func (b *beginning) value(header http.Header) (value any, cut bool) {
	data, plain := readable(header, b.data)
	cut = !b.whole || len(data) > MaxEvidence
	if !plain {
		return "", true
	}
	kind := header.Get("Content-Type")
	data, _ = Text(kind, data[:min(len(data), MaxEvidence)])
	text := strings.ToValidUTF8(string(data), "\uFFFD")
	if cut {
		return strings.TrimRight(text, "\uFFFD"), cut // a character may be cut in two
	}
	if value = blueprint.BodyValue(kind, []byte(text)); value == nil {
		value = ""
	}
	return value, cut
}

func stepExchange(x blueprint.Exchange) *blueprint.StepExchange {
	out := &blueprint.StepExchange{Request: blueprint.StepRequest{Method: x.Request.Method, URL: x.Request.URL, Headers: present(x.Request.Headers), Body: x.Request.Body}}
	if x.Response != nil {
		out.Response = &blueprint.StepResponse{Status: x.Response.Status, Headers: present(x.Response.Headers), Body: x.Response.Body}
	}
	return out
}

func present(headers map[string]string) map[string]string {
	if headers == nil {
		return map[string]string{}
	}
	return headers
}

// boundedHeader copies a header. Values that are too long are replaced by their size,
// because secrets cannot be found in a part of them.
func boundedHeader(header http.Header) http.Header {
	out, left := make(http.Header, len(header)), MaxEvidence
	for _, name := range slices.Sorted(maps.Keys(header)) {
		value := strings.Join(header[name], ", ")
		if len(value) > maxEvidenceText || len(value) > left {
			value = fmt.Sprintf("[%d bytes]", len(value))
		}
		if left -= len(name) + len(value); left < 0 {
			break
		}
		out[name] = []string{value}
	}
	return out
}

func redactedMail(x *blueprint.StepExchange) *blueprint.StepExchange {
	out := *x
	out.Request.Subject = secret.RedactText(x.Request.Subject)
	if x.Response != nil {
		answer := *x.Response
		answer.Message = secret.RedactText(answer.Message)
		out.Response = &answer
	}
	return &out
}

// Drain reads the beginning of a body for the evidence. After 2 s it closes the body.
func Drain(body io.ReadCloser) {
	timer := time.AfterFunc(2*time.Second, func() { body.Close() })
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, body, MaxEvidence+1) // an incomplete body is evidence too
}

// beginningOf reads the beginning of a body from http.Request.GetBody.
func beginningOf(open func() (io.ReadCloser, error)) *beginning {
	b := &beginning{}
	if open == nil {
		b.whole = true
		return b
	}
	body, err := open()
	if err != nil {
		return b
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, MaxEvidence+1))
	b.data, b.whole = data, err == nil && len(data) <= MaxEvidence
	return b
}

// witness starts the evidence of a request; nil if none is kept. Only Exchange reads the
// body, through GetBody, which the requests of nodes have.
func witness(request *http.Request) *witnessed {
	e, _ := request.Context().Value(evidenceKey{}).(*Evidence)
	if e == nil {
		return nil
	}
	address := *request.URL
	address.User = nil
	text := address.String()
	return &witnessed{evidence: e, exchange: &exchange{
		method: request.Method, url: text[:min(len(text), maxEvidenceText)], header: boundedHeader(request.Header), body: request.GetBody,
	}}
}

// witnessed is the evidence of one request; nil if none is kept.
type witnessed struct {
	evidence *Evidence
	exchange *exchange
}

// connected records that the request has a connection and so may be sent.
func (w *witnessed) connected() {
	if w == nil {
		return
	}
	w.evidence.mu.Lock()
	defer w.evidence.mu.Unlock()
	w.evidence.last = w.exchange
}

// answered records the response, and its body while it is read.
func (w *witnessed) answered(response *http.Response) {
	if w == nil {
		return
	}
	w.connected()
	w.evidence.mu.Lock()
	defer w.evidence.mu.Unlock()
	w.exchange.status, w.exchange.answer = response.StatusCode, boundedHeader(response.Header)
	if response.Body != nil {
		response.Body = &witnessedBody{ReadCloser: response.Body, evidence: w.evidence, into: &w.exchange.got}
	}
}

// witnessedBody keeps the beginning of a body.
type witnessedBody struct {
	io.ReadCloser
	evidence *Evidence
	into     *beginning
}

func (b *witnessedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.evidence.mu.Lock()
	defer b.evidence.mu.Unlock()
	b.into.add(p[:n])
	b.into.whole = err == io.EOF && len(b.into.data) <= MaxEvidence
	return n, err
}

// ShortLine returns text on one line of at most most bytes.
func ShortLine(source string, most int) string {
	line := strings.Join(strings.Fields(strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, source)), " ")
	return strings.ToValidUTF8(blueprint.Shorten(line, most), "")
}
