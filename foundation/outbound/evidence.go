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

// MaxEvidence is how much of one body Evidence keeps, in bytes.
const MaxEvidence = 16 << 10

// maxEvidenceText is how much it keeps of an address, and how long the value of a
// header may be to be kept. All headers together may be as long as a body.
const maxEvidenceText = 8 << 10

// Evidence keeps the last request under a context that left this machine, and
// its answer, for the record of a node that fails. It holds at most MaxEvidence
// bytes of either body, whatever is sent, and is safe for concurrent use.
type Evidence struct {
	mu   sync.Mutex
	last *evident
	mail *blueprint.StepExchange
}

// evident is an exchange that may still be under way. The evidence's mu guards it.
type evident struct {
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
	whole bool // data is all of it
}

func (b *beginning) add(data []byte) {
	b.data = append(b.data, data[:min(len(data), MaxEvidence+1-len(b.data))]...)
}

type evidenceKey struct{}

// WithEvidence returns a context under which evidence is kept.
func WithEvidence(ctx context.Context) (context.Context, *Evidence) {
	e := &Evidence{}
	return context.WithValue(ctx, evidenceKey{}, e), e
}

// WithoutEvidence returns a context under which none is kept: for requests that
// end a conversation, and would take the place of what failed in it.
func WithoutEvidence(ctx context.Context) context.Context {
	return context.WithValue(ctx, evidenceKey{}, (*Evidence)(nil))
}

// KeepMail keeps a message that was handed to an SMTP server, or was about to
// be, as the last exchange of a context.
func KeepMail(ctx context.Context, x *blueprint.StepExchange) {
	if e, _ := ctx.Value(evidenceKey{}).(*Evidence); e != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.mail = x
	}
}

// Exchange returns what was kept, masked and without what looks like a
// credential; nil when nothing was sent. It may be called while a request is
// under way, and on a nil Evidence.
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

// value returns a body as it is shown: parsed when it is JSON and whole, else as
// text, with replacement characters for what is none; "" when it is empty.
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

// stepExchange returns an exchange as a step shows it.
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

// boundedHeader copies a header. In the place of a value that is too long is how
// long it is: of a part of it no secret could be taken out.
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

// drainTime is how long Drain waits.
const drainTime = 2 * time.Second

// Drain reads on in a body that nothing else reads, so that evidence has its
// beginning. It gives up after 2 s; the body may be closed then.
func Drain(body io.ReadCloser) {
	patience := time.AfterFunc(drainTime, func() { body.Close() })
	defer patience.Stop()
	_, _ = io.CopyN(io.Discard, body, MaxEvidence+1) // what does not come is no part of the evidence
}

// beginningOf reads the beginning of a body that is to be had once more.
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

// witness begins the evidence of a request; nil where none is kept. The body is
// known if the request can give it again, as those of nodes can: it is read only
// when it is asked for.
func witness(request *http.Request) *witnessed {
	e, _ := request.Context().Value(evidenceKey{}).(*Evidence)
	if e == nil {
		return nil
	}
	address := *request.URL
	address.User = nil
	text := address.String()
	return &witnessed{evidence: e, evident: &evident{
		method: request.Method, url: text[:min(len(text), maxEvidenceText)], header: boundedHeader(request.Header), body: request.GetBody,
	}}
}

// witnessed is the evidence of one request; nil where none is kept.
type witnessed struct {
	evidence *Evidence
	evident  *evident
}

// left takes note that the request has a connection to leave by.
func (w *witnessed) left() {
	if w == nil {
		return
	}
	w.evidence.mu.Lock()
	defer w.evidence.mu.Unlock()
	w.evidence.last = w.evident
}

// answered takes note of the answer, and of its body as it is read.
func (w *witnessed) answered(response *http.Response) {
	if w == nil {
		return
	}
	w.left()
	w.evidence.mu.Lock()
	defer w.evidence.mu.Unlock()
	w.evident.status, w.evident.answer = response.StatusCode, boundedHeader(response.Header)
	if response.Body != nil {
		response.Body = &overheard{ReadCloser: response.Body, evidence: w.evidence, into: &w.evident.got}
	}
}

// overheard is a body whose beginning is kept.
type overheard struct {
	io.ReadCloser
	evidence *Evidence
	into     *beginning
}

// Read reads on.
func (o *overheard) Read(p []byte) (int, error) {
	n, err := o.ReadCloser.Read(p)
	o.evidence.mu.Lock()
	defer o.evidence.mu.Unlock()
	o.into.add(p[:n])
	o.into.whole = err == io.EOF && len(o.into.data) <= MaxEvidence
	return n, err
}

// ShortLine returns the beginning of what the other side said on one line, at most so many bytes.
func ShortLine(source string, most int) string {
	line := strings.Join(strings.Fields(strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, source)), " ")
	return strings.ToValidUTF8(blueprint.Shorten(line, most), "")
}
