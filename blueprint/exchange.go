package blueprint

import (
	"encoding/base64"
	"mime"
	"strings"
	"unicode/utf8"
)

// Exchange is a request to another service and its response: HTTP, or a mail for an SMTP
// server. Cassettes and the sandbox record exchanges. They never hold the credentials
// of a connection, which are added after recording.
type Exchange struct {
	At          Time              `json:"at"`
	ExecutionID string            `json:"executionId,omitempty"`
	NodeID      string            `json:"nodeId,omitempty"` // the node's address
	NodeType    string            `json:"nodeType,omitempty"`
	Attempt     int               `json:"attempt,omitempty"` // of the node, from 1
	Request     ExchangeRequest   `json:"request"`
	Response    *ExchangeResponse `json:"response,omitempty"` // nil without a response
	Error       string            `json:"error,omitempty"`    // why there is no complete response
	Fault       *Fault            `json:"fault,omitempty"`    // the same in machine-readable form
}

// Fault is why an exchange failed, so that a replay can fail in the same way.
type Fault struct {
	Kind      string `json:"kind"`                // such as "dns" or "timeout"
	Sent      bool   `json:"sent,omitempty"`      // the request may have arrived
	Host      string `json:"host,omitempty"`      // of a refused connection
	Address   string `json:"address,omitempty"`   // of a refused connection
	Reason    string `json:"reason,omitempty"`    // why it failed
	Hint      string `json:"hint,omitempty"`      // what to do about a refused connection
	Code      string `json:"code,omitempty"`      // that of the step's error
	Permanent bool   `json:"permanent,omitempty"` // not retried
}

// ExchangeRequest is a request. A mail has the method MAIL, the URL smtp://host:port,
// the headers from, to (separated by commas) and subject, and its text as body.
type ExchangeRequest struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitzero"` // lower-case names
	Body    any               `json:"body,omitempty"`   // JSON, or the body as text
	// Cut reports that the body is incomplete.
	Cut bool `json:"cut,omitempty"`
}

// ExchangeResponse is a response; for a mail it is the server's reply, 250.
type ExchangeResponse struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers,omitzero"` // lower-case names
	Body    any               `json:"body,omitempty"`   // JSON, or the body as text
	// Cut reports that the body is incomplete.
	Cut bool `json:"cut,omitempty"`
	// Size is the number of bytes read if more than are stored, else 0.
	Size int64 `json:"size,omitempty"`
}

// base64Key is the only member of a body that is neither JSON nor text.
const base64Key = "$base64"

// BodyValue returns a body as a JSON value: parsed if it is JSON by its content type,
// else as a string if it is UTF-8, else as {"$base64": "..."}; nil if it is empty.
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

// BodyBytes is the inverse of BodyValue.
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
