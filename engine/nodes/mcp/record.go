package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"blueprintd/foundation/outbound"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// record is what really happened in an exchange. The SDK reads numbers as
// floating point and turns causes into text; both are needed as they were. It
// is safe for concurrent use, since an answer may come after nobody waits.
type record struct {
	mu       sync.Mutex
	raw      json.RawMessage // the last result
	refusal  *jsonrpc.Error  // in its place
	err      error           // why a request got no whole answer
	status   int             // of an answer that was no success
	wait     time.Duration   // what came with it
	requests int
}

type recordKey struct{}

func recordOf(ctx context.Context) *record {
	r, _ := ctx.Value(recordKey{}).(*record)
	return r
}

// change lets f change a record, if there is one.
func (r *record) change(f func()) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// begin counts a request; false when there were too many.
func (r *record) begin() (ok bool) {
	ok = true
	r.change(func() {
		r.requests++
		r.raw, r.refusal, r.err, r.status, r.wait = nil, nil, nil, 0, 0
		ok = r.requests <= maxRequests
	})
	return ok
}

func (r *record) failed(err error) { r.change(func() { r.err = err }) }

func (r *record) result() (raw json.RawMessage) {
	r.change(func() { raw = r.raw })
	return raw
}

// recording is a transport whose connection records answers.
type recording struct {
	session *Session
	sdk.Transport
}

// Connect makes the connection.
func (t *recording) Connect(ctx context.Context) (sdk.Connection, error) {
	connection, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &recorder{Connection: connection, session: t.session, asked: map[jsonrpc.ID]*record{}}, nil
}

// recorder hands each answer to the record of the exchange that asked for it.
type recorder struct {
	sdk.Connection
	session *Session
	mu      sync.Mutex
	asked   map[jsonrpc.ID]*record
}

// Write sends a message and remembers who waits for its answer.
func (c *recorder) Write(ctx context.Context, message jsonrpc.Message) error {
	request, ok := message.(*jsonrpc.Request)
	if ok && request.IsCall() {
		c.mu.Lock()
		c.asked[request.ID] = recordOf(ctx)
		c.mu.Unlock()
	}
	if ok && request.Method == "notifications/cancelled" { // of a call that failed
		ctx = outbound.WithoutEvidence(ctx)
	}
	return c.Connection.Write(ctx, message)
}

// Read returns the next message.
func (c *recorder) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	response, ok := message.(*jsonrpc.Response)
	if err != nil || !ok {
		return message, err
	}
	c.mu.Lock()
	waiting, known := c.asked[response.ID]
	c.asked[response.ID] = nil // it may come again, on a stream that is taken up again
	if !known {
		for _, one := range c.asked {
			one.failed(errForeignID)
		}
	}
	c.mu.Unlock()
	if !known { // the SDK would wait for another one
		return nil, errForeignID
	}
	waiting.change(func() {
		waiting.raw, waiting.refusal = response.Result, nil
		if response.Error != nil { // any other error is the SDK's own
			waiting.raw = nil
			_ = errors.As(response.Error, &waiting.refusal)
		}
	})
	c.session.agree(response.Result)
	return message, nil
}

// agree takes note of the protocol version when a message settles it: every
// later request has to name it.
func (s *Session) agree(result json.RawMessage) {
	if s.version.Load() != nil {
		return
	}
	var initialized struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if json.Unmarshal(result, &initialized) == nil && initialized.ProtocolVersion != "" {
		s.version.Store(initialized.ProtocolVersion)
	}
}
