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

// exchangeRecord holds the original response and error of an exchange: the SDK decodes
// numbers as floating point and converts causes to text. It is safe for concurrent use,
// since a response may arrive after its exchange.
type exchangeRecord struct {
	mu         sync.Mutex
	raw        json.RawMessage // the last result
	refusal    *jsonrpc.Error  // in its place
	err        error           // why a request got no complete response
	status     int             // of an HTTP error
	retryAfter time.Duration   // of an HTTP error
	requests   int
}

type recordKey struct{}

func recordOf(ctx context.Context) *exchangeRecord {
	r, _ := ctx.Value(recordKey{}).(*exchangeRecord)
	return r
}

// update calls f with the record locked, unless it is nil.
func (r *exchangeRecord) update(f func()) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// beginRequest counts a request, and reports whether it is allowed.
func (r *exchangeRecord) beginRequest() (ok bool) {
	ok = true
	r.update(func() {
		r.requests++
		r.raw, r.refusal, r.err, r.status, r.retryAfter = nil, nil, nil, 0, 0
		ok = r.requests <= maxRequests
	})
	return ok
}

func (r *exchangeRecord) setError(err error) { r.update(func() { r.err = err }) }

func (r *exchangeRecord) result() (raw json.RawMessage) {
	r.update(func() { raw = r.raw })
	return raw
}

// recordingTransport is a transport whose connections record responses.
type recordingTransport struct {
	session *Session
	sdk.Transport
}

func (t *recordingTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	connection, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &recordingConnection{Connection: connection, session: t.session, pending: map[jsonrpc.ID]*exchangeRecord{}}, nil
}

// recordingConnection passes each response to the record of its exchange.
type recordingConnection struct {
	sdk.Connection
	session *Session
	mu      sync.Mutex
	pending map[jsonrpc.ID]*exchangeRecord
}

func (c *recordingConnection) Write(ctx context.Context, message jsonrpc.Message) error {
	request, ok := message.(*jsonrpc.Request)
	if ok && request.IsCall() {
		c.mu.Lock()
		c.pending[request.ID] = recordOf(ctx)
		c.mu.Unlock()
	}
	if ok && request.Method == "notifications/cancelled" { // of a failed call
		ctx = outbound.WithoutEvidence(ctx)
	}
	return c.Connection.Write(ctx, message)
}

func (c *recordingConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	response, ok := message.(*jsonrpc.Response)
	if err != nil || !ok {
		return message, err
	}
	c.mu.Lock()
	waiting, known := c.pending[response.ID]
	c.pending[response.ID] = nil // a resumed stream may repeat it
	if !known {
		for _, one := range c.pending {
			one.setError(errForeignID)
		}
	}
	c.mu.Unlock()
	if !known { // the SDK would wait for another response
		return nil, errForeignID
	}
	waiting.update(func() {
		waiting.raw, waiting.refusal = response.Result, nil
		if response.Error != nil { // other errors are the SDK's own
			waiting.raw = nil
			_ = errors.As(response.Error, &waiting.refusal)
		}
	})
	c.session.setVersion(response.Result)
	return message, nil
}

// setVersion notes the negotiated protocol version, which later requests have to name.
func (s *Session) setVersion(result json.RawMessage) {
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
