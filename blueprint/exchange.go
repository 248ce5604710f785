package blueprint

import (
	"encoding/base64"
	"mime"
	"strings"
	"unicode/utf8"
)

// Exchange is one message to another service and what came back: an HTTP
// request and its answer, or a mail that was handed to an SMTP server. It is
// what a cassette holds and what the sandbox lists. It never holds the
// credentials of a connection: these are added behind the place where exchanges
// are noted.
type Exchange struct {
	At          Time              `json:"at"`
	ExecutionID string            `json:"executionId,omitempty"`
	NodeID      string            `json:"nodeId,omitempty"`   // the node's address
	NodeType    string            `json:"nodeType,omitempty"` //
	Attempt     int               `json:"attempt,omitempty"`  // of the node, from 1
	Request     ExchangeRequest   `json:"request"`
	Response    *ExchangeResponse `json:"response,omitempty"` // nil when none came
	Error       string            `json:"error,omitempty"`    // why none came, or not all of it
	Fault       *Fault            `json:"fault,omitempty"`    // the same for programs
}

// Fault says why an exchange broke off, so that a replay can fail in the same
// way.
type Fault struct {
	Kind string `json:"kind"`           // such as "dns" or "timeout"
	Sent bool   `json:"sent,omitempty"` // the request may have arrived
	// Host, Address, Reason and Hint are those of a connection that was refused
	// before it was made; Code and Reason also of other kinds.
	Host      string `json:"host,omitempty"`
	Address   string `json:"address,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Hint      string `json:"hint,omitempty"`
	Code      string `json:"code,omitempty"`
	Permanent bool   `json:"permanent,omitempty"` // no other attempt is made
}

// ExchangeRequest is what was sent. A mail has the method MAIL, a URL of the
// form smtp://host:port, the headers from, to (with commas between), and
// subject, and its text as body.
type ExchangeRequest struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"` // lower-case names
	Body    any               `json:"body,omitempty"`    // as BodyValue gives it
	// Cut tells that the body was longer than what is kept of one.
	Cut bool `json:"cut,omitempty"`
}

// ExchangeResponse is what came back. For a mail it is the server's reply, 250.
type ExchangeResponse struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers,omitempty"` // lower-case names
	Body    any               `json:"body,omitempty"`    // as BodyValue gives it
	// Cut tells that the body was longer than what is kept of one, or was not
	// read to its end.
	Cut bool `json:"cut,omitempty"`
	// Size is how many bytes were read of a body that was longer than what is
	// kept, else 0.
	Size int64 `json:"size,omitempty"`
}

// base64Key is the one member of a body that is neither JSON nor text.
const base64Key = "$base64"

// BodyValue returns a body as a JSON value: parsed when its content type says
// JSON and it is, else as text, else as {"$base64": "..."}; nil when there is
// none.
func BodyValue(contentType string, body []byte) any {
	if len(body) == 0 {
		return nil
	}
	if IsJSONType(contentType) {
		if value, err := Decode(body); err == nil {
			return value
		}
	}
	if utf8.Valid(body) {
		return string(body)
	}
	return map[string]any{base64Key: base64.StdEncoding.EncodeToString(body)}
}

// BodyBytes returns the bytes of a body that BodyValue, or a person, wrote: of
// text its own, of any other value its JSON.
func BodyBytes(value any) []byte {
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		return []byte(v)
	case map[string]any:
		if text, ok := v[base64Key].(string); ok && len(v) == 1 {
			if data, err := base64.StdEncoding.DecodeString(text); err == nil {
				return data
			}
		}
	}
	data, err := Encode(value)
	if err != nil {
		return nil
	}
	return data
}

// IsJSONType reports whether a Content-Type names JSON; see IsJSONMedia.
func IsJSONType(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && IsJSONMedia(kind)
}

// IsJSONMedia reports whether a media type without parameters is JSON:
// application/json, any that ends in +json (RFC 6839), or the old text/json.
func IsJSONMedia(kind string) bool {
	return kind == "application/json" || kind == "text/json" || strings.HasSuffix(kind, "+json")
}
