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
	"slices"
	"strings"
	"sync"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/smtpsink"
)

// Player is the network of a run that is repeated: it answers from a cassette.
// It is safe for concurrent use.
type Player struct {
	// Rules say what counts as the same; set it before use.
	Rules Rules

	mu    sync.Mutex
	list  []blueprint.Exchange
	used  []bool
	found []Difference
}

// NewPlayer plays a cassette from its beginning.
func NewPlayer(c *Cassette) *Player {
	return &Player{list: c.Exchanges, used: make([]bool, len(c.Exchanges))}
}

// Has reports whether a node, or a request, would be answered.
func (p *Player) Has(address, method, url string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.find(address, method, url) >= 0
}

// find returns the exchange that answers, or -1. p.mu is held.
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
	asked := &p.list[i].Request
	return asked.Method == method && p.Rules.text(asked.URL, url)
}

// take uses up the exchange that answers a request, and notes where the two
// differ.
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

// Differences tells what was asked otherwise than in the recording, in the order
// in which it was, and then what was not asked at all.
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

// Calls leaves of differences those that tell of a call which is another one, or
// is missing, and not of what it carries.
func CallDifferences(found []Difference) []Difference {
	return slices.DeleteFunc(slices.Clone(found), func(d Difference) bool { return d.InPayload })
}

// Pass uses up the exchange that would have answered a request which something
// else answers, if there is one of the same method and URL.
func (p *Player) Skip(address, method, url string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := p.find(address, method, url); i >= 0 && p.matches(i, method, url) {
		p.used[i] = true
	}
}

// SkipNode uses up the exchanges of a node whose work something else does, and of
// the nodes within it.
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

// RoundTrip answers an HTTP request.
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
	if missing := x.Response.Size - answer.ContentLength; missing > 0 { // as long as it was
		answer.Body, answer.ContentLength = io.NopCloser(io.MultiReader(answer.Body, io.LimitReader(zeros{}, missing))), x.Response.Size
	}
	if x.Fault != nil {
		answer.Body = io.NopCloser(io.MultiReader(answer.Body, end(func() error { return outbound.ReplayFault(request.Context(), x) })))
	}
	return answer, nil
}

// zeros are as many zero bytes as are read.
type zeros struct{}

// Read returns zeros.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// end is a body that breaks off at once.
type end func() error

// Read returns why.
func (e end) Read([]byte) (int, error) { return 0, e() }

// Asked returns an HTTP request as an exchange keeps it. It reads the body.
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

// unkept are headers of an answer that told how its body was packed; an exchange
// has it unpacked. The length of one that was not is what nodes have seen.
func unkept(name string, headers map[string]string) bool {
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

// Answer makes an HTTP answer. Without a content type, one of an object or an
// array is JSON.
func NewResponse(request *http.Request, status int, headers map[string]string, body any) *http.Response {
	header := http.Header{}
	for name, value := range headers {
		if !unkept(name, headers) {
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

// DialContext answers mail: see Post.
func (p *Player) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	p.mu.Lock()
	i := p.find(outbound.CallerOf(ctx).Address, Mail, "smtp://"+address)
	var gone error
	if i >= 0 && p.list[i].Request.Method == Mail && p.list[i].Response == nil {
		p.used[i], gone = true, outbound.ReplayFault(ctx, &p.list[i])
	}
	p.mu.Unlock()
	if gone != nil {
		return nil, gone
	}
	return PipeMail(address, func(letter blueprint.ExchangeRequest) (int, string) {
		x, err := p.take(ctx, letter)
		if err != nil || x.Response == nil {
			return 554, "no answer was recorded"
		}
		text, _ := x.Response.Body.(string)
		return x.Response.Status, text
	}), nil
}

// Mail is the method of an exchange that is a mail.
const Mail = "MAIL"

// Post returns the end of a connection at whose other end a mail server answers,
// which takes every message and asks decide what to say: 250 for yes. The
// request is as an exchange keeps it, its body the message as it came.
func PipeMail(address string, decide func(letter blueprint.ExchangeRequest) (code int, text string)) net.Conn {
	ours, theirs := net.Pipe()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	go smtpsink.Serve(theirs, host, nil, func(from string, to []string, data []byte) (int, string) {
		return decide(letterOf(address, from, to, data))
	})
	return ours
}

// letterOf reads a message as far as it is compared.
func letterOf(address, from string, to []string, data []byte) blueprint.ExchangeRequest {
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
