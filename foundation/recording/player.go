package recording

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/mail"
	"strings"
	"sync"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/smtpsink"
)

// Player is an outbound.Network that answers from a cassette. Safe for concurrent use.
type Player struct {
	// Rules decide which requests match. Set it before use.
	Rules Rules

	mu    sync.Mutex
	list  []blueprint.Exchange
	used  []bool
	found []Difference
}

// NewPlayer returns a Player with all exchanges of a cassette unused.
func NewPlayer(c *Cassette) *Player {
	return &Player{list: c.Exchanges, used: make([]bool, len(c.Exchanges))}
}

// Has reports whether an exchange answers the request of a node.
func (p *Player) Has(address, method, url string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.find(address, method, url) >= 0
}

// find returns the index of the exchange that answers, or -1. p.mu is held.
func (p *Player) find(address, method, url string) int {
	own, same := -1, -1
	for i := range p.list {
		x := &p.list[i]
		if p.used[i] {
			continue
		}
		matches := p.matches(i, method, url)
		if address != "" && x.NodeID == address {
			if matches {
				return i
			}
			if own < 0 {
				own = i
			}
		}
		if matches && same < 0 {
			same = i
		}
	}
	if own >= 0 {
		return own
	}
	return same
}

func (p *Player) matches(i int, method, url string) bool {
	recorded := &p.list[i].Request
	return recorded.Method == method && p.Rules.text(recorded.URL, url)
}

// take uses the exchange that answers a request and records how they differ.
func (p *Player) take(ctx context.Context, request blueprint.ExchangeRequest) (*blueprint.Exchange, error) {
	caller := outbound.CallerOf(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.find(caller.Address, request.Method, request.URL)
	if i < 0 {
		p.found = append(p.found, Difference{Node: caller.Address, What: "call " + request.Method + " " + request.URL, Missing: true})
		return nil, &blueprint.Failure{
			Code: "not_recorded", Permanent: true, NotSent: true,
			Message: fmt.Sprintf("the recording has no answer for %s %s", request.Method, request.URL),
		}
	}
	p.used[i] = true
	x := &p.list[i]
	p.found = append(p.found, p.Rules.request(caller.Address, &x.Request, &request)...)
	return x, nil
}

// Differences returns how requests differed from the recording, in the order of the
// requests, followed by the exchanges that were not used.
func (p *Player) Differences() []Difference {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := append([]Difference(nil), p.found...)
	for i := range p.list {
		if x := &p.list[i]; !p.used[i] {
			out = append(out, Difference{Node: x.NodeID, What: "call " + x.Request.Method + " " + x.Request.URL, Unused: true})
		}
	}
	return out
}

// Skip marks the exchange of a request that is answered elsewhere as used, if one
// has the same method and URL.
func (p *Player) Skip(address, method, url string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := p.find(address, method, url); i >= 0 && p.matches(i, method, url) {
		p.used[i] = true
	}
}

// SkipNode marks the exchanges of a stubbed node, and of nodes within it, as used.
func (p *Player) SkipNode(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.list {
		at := p.list[i].NodeID
		if within, is := strings.CutPrefix(at, address); is && (within == "" || within[0] == '[' || within[0] == '/') {
			p.used[i] = true
		}
	}
}

// RoundTrip answers an HTTP request from the cassette.
func (p *Player) RoundTrip(request *http.Request) (*http.Response, error) {
	sent, err := RequestOf(request)
	if err != nil {
		return nil, err
	}
	x, err := p.take(request.Context(), sent)
	if err != nil {
		return nil, err
	}
	if x.Response == nil {
		return nil, outbound.ReplayFault(request.Context(), x)
	}
	answer := NewResponse(request, x.Response.Status, x.Response.Headers, x.Response.Body)
	if missing := x.Response.Size - answer.ContentLength; missing > 0 { // pad to the recorded size
		answer.Body, answer.ContentLength = io.NopCloser(io.MultiReader(answer.Body, io.LimitReader(zeros{}, missing))), x.Response.Size
	}
	if x.Fault != nil {
		answer.Body = io.NopCloser(io.MultiReader(answer.Body, failingBody(func() error { return outbound.ReplayFault(request.Context(), x) })))
	}
	return answer, nil
}

// zeros is an endless stream of zero bytes.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// failingBody is a body whose first Read fails.
type failingBody func() error

func (e failingBody) Read([]byte) (int, error) { return 0, e() }

// RequestOf returns an HTTP request as recorded in an exchange. It reads the body.
func RequestOf(request *http.Request) (blueprint.ExchangeRequest, error) {
	var body []byte
	if request.Body != nil {
		defer request.Body.Close()
		var err error
		if body, err = io.ReadAll(io.LimitReader(request.Body, MaxSize)); err != nil {
			return blueprint.ExchangeRequest{}, err
		}
	}
	return outbound.RequestOf(request, body), nil
}

// isEncodingHeader reports whether a header describes the encoding of the body, which
// an exchange stores decoded.
func isEncodingHeader(name string, headers map[string]string) bool {
	switch strings.ToLower(name) {
	case "content-encoding", "transfer-encoding":
		return true
	case "content-length":
		for other := range headers {
			if strings.EqualFold(other, "content-encoding") {
				return true
			}
		}
	}
	return false
}

// NewResponse returns an HTTP response. Objects and arrays are JSON by default.
func NewResponse(request *http.Request, status int, headers map[string]string, body any) *http.Response {
	header := http.Header{}
	for name, value := range headers {
		if !isEncodingHeader(name, headers) {
			header.Set(name, value)
		}
	}
	if _, text := body.(string); body != nil && !text && header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json")
	}
	data := outbound.BodyBytes(header.Get("Content-Type"), body)
	return &http.Response{
		StatusCode: status, Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(data)), ContentLength: int64(len(data)), Request: request,
	}
}

// DialContext answers mail from the cassette; see PipeMail.
func (p *Player) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	p.mu.Lock()
	i := p.find(outbound.CallerOf(ctx).Address, Mail, "smtp://"+address)
	var failed error
	if i >= 0 && p.list[i].Request.Method == Mail && p.list[i].Response == nil {
		p.used[i], failed = true, outbound.ReplayFault(ctx, &p.list[i])
	}
	p.mu.Unlock()
	if failed != nil {
		return nil, failed
	}
	return PipeMail(address, func(sent blueprint.ExchangeRequest) (int, string) {
		x, err := p.take(ctx, sent)
		if err != nil || x.Response == nil {
			return 554, "no answer was recorded"
		}
		text, _ := x.Response.Body.(string)
		return x.Response.Status, text
	}), nil
}

// Mail is the method of a mail in an exchange.
const Mail = "MAIL"

// PipeMail returns a connection to a mail server in this process, which passes every
// message to decide and sends the reply, 250 to accept. Requests are as in an exchange.
func PipeMail(address string, decide func(sent blueprint.ExchangeRequest) (code int, text string)) net.Conn {
	ours, theirs := net.Pipe()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	go smtpsink.Serve(theirs, host, nil, func(from string, to []string, data []byte) (int, string) {
		return decide(mailRequest(address, from, to, data))
	})
	return ours
}

// mailRequest parses the parts of a message that are recorded.
func mailRequest(address, from string, to []string, data []byte) blueprint.ExchangeRequest {
	headers := map[string]string{"from": from, "to": strings.Join(to, ", ")}
	out := blueprint.ExchangeRequest{Method: Mail, URL: "smtp://" + address, Headers: headers}
	message, err := mail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		out.Body = string(data)
		return out
	}
	if subject, err := new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject")); err == nil {
		headers["subject"] = subject
	}
	if body, err := io.ReadAll(message.Body); err == nil {
		out.Body = blueprint.BodyValue("text/plain", body)
	}
	return out
}
