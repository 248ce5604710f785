package blueprint

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"slices"
	"time"
)

// Code is the kind of an Error. The list is closed.
type Code string

// The codes are the tRPC names in error.json.data.code.
const (
	CodeParse              Code = "PARSE_ERROR"            // malformed request
	CodeBadRequest         Code = "BAD_REQUEST"            // invalid input; nothing was changed
	CodeUnauthorized       Code = "UNAUTHORIZED"           // no key, or an unknown or revoked one
	CodeForbidden          Code = "FORBIDDEN"              // a valid key without the permission
	CodeNotFound           Code = "NOT_FOUND"              // does not exist, or is hidden from the caller
	CodeMethodNotSupported Code = "METHOD_NOT_SUPPORTED"   // query by POST, mutation by GET
	CodeTimeout            Code = "TIMEOUT"                // the request body took too long
	CodeConflict           Code = "CONFLICT"               // not possible in the current state
	CodePayloadTooLarge    Code = "PAYLOAD_TOO_LARGE"      // beyond a size limit
	CodeUnsupportedMedia   Code = "UNSUPPORTED_MEDIA_TYPE" // content type or encoding
	CodeTooManyRequests    Code = "TOO_MANY_REQUESTS"      // rate limit; see RetryAfter
	CodeClientClosed       Code = "CLIENT_CLOSED_REQUEST"  // the client closed the connection
	CodeInternal           Code = "INTERNAL_SERVER_ERROR"  // the text is only logged
	CodeUnavailable        Code = "SERVICE_UNAVAILABLE"    // shutting down, queue or disk full; see RetryAfter
)

// codes maps each code to its JSON-RPC number (of tRPC 11) and HTTP status.
var codes = map[Code]struct{ number, status int }{
	CodeParse:              {-32700, 400},
	CodeBadRequest:         {-32600, 400},
	CodeUnauthorized:       {-32001, 401},
	CodeForbidden:          {-32003, 403},
	CodeNotFound:           {-32004, 404},
	CodeMethodNotSupported: {-32005, 405},
	CodeTimeout:            {-32008, 408},
	CodeConflict:           {-32009, 409},
	CodePayloadTooLarge:    {-32013, 413},
	CodeUnsupportedMedia:   {-32015, 415},
	CodeTooManyRequests:    {-32029, 429},
	CodeClientClosed:       {-32099, 499},
	CodeInternal:           {-32603, 500},
	CodeUnavailable:        {-32603, 503},
}

// Codes lists the codes by their HTTP status, then by name.
func Codes() []Code {
	return slices.SortedFunc(maps.Keys(codes), func(a, b Code) int {
		return cmp.Or(cmp.Compare(a.HTTPStatus(), b.HTTPStatus()), cmp.Compare(a, b))
	})
}

// CodeForStatus returns the first code of Codes with an HTTP status, "" without one.
func CodeForStatus(status int) Code {
	for _, code := range Codes() {
		if code.HTTPStatus() == status {
			return code
		}
	}
	return ""
}

// Number returns the JSON-RPC number of a code. Unknown codes count as CodeInternal.
func (c Code) Number() int { return c.row().number }

// HTTPStatus returns the HTTP status of a code. Unknown codes count as CodeInternal.
func (c Code) HTTPStatus() int { return c.row().status }

func (c Code) row() struct{ number, status int } {
	if row, ok := codes[c]; ok {
		return row
	}
	return codes[CodeInternal]
}

// MaxIssues bounds the reported issues: a small input can contain millions of mistakes,
// and an issue takes much more memory than a mistake.
const MaxIssues = 1000

// Issue is a mistake in an input or a blueprint.
type Issue struct {
	// Path is that of the value: object keys (string) and indexes (int).
	Path []any `json:"path"`
	// NodeID is that of the node with the issue, if any.
	NodeID string `json:"nodeId,omitempty"`
	// Message describes the mistake without the path.
	Message string `json:"message"`
	// Severity is "error" or "warning"; "" where there are only errors.
	Severity string `json:"severity,omitempty"`
	// Spot is where in the value the issue is.
	Spot Spot `json:"-"`
}

// Spot is the part of a value that an issue is about; the zero Spot is the value.
type Spot struct {
	// OnKey reports that it is the key of the value in its object.
	OnKey bool
	// Line and Column, from 1 and in characters, are a place in a string value; 0 =
	// none. Length is in characters; 0 = unknown.
	Line, Column, Length int
	// Secret reports that the part must not be shown.
	Secret bool
}

// Error is the only error type that is shown to users. Message must not hold a secret
// or an internal detail; Err, the cause, is only logged. Other errors are CodeInternal.
type Error struct {
	Code       Code
	Message    string
	Issues     []Issue       // for CodeBadRequest
	RetryAfter time.Duration // for CodeTooManyRequests and CodeUnavailable
	Hint       string        // what to do next; command lines print it as "hint: ..."
	Err        error
	// Reason is the reason in the ledger; without a code, Message is.
	Reason Reason
	// Outage reports, for CodeUnavailable, that the database does not answer or takes no
	// writes, so that the same call succeeds once it does.
	Outage bool
	// Applied reports, for CodeUnavailable, that the command was performed and is not stored yet.
	Applied bool
}

// Error returns the message and the cause.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// IsOutage reports whether an error is an outage of the database.
func IsOutage(err error) bool {
	known, ok := errors.AsType[*Error](err)
	return ok && known.Outage
}

// Errorf returns an Error with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Hinted returns an error with a hint for the operator. Network clients see neither.
func Hinted(hint, format string, args ...any) *Error {
	return &Error{Code: CodeInternal, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// SeeDocs returns a hint that ends with the documentation page to read on, such as
// "deploying". A test of package docs checks that the page exists.
func SeeDocs(hint, topic string) string { return hint + "; see blueprintd docs " + topic }

// WithHint adds a hint to an Error that is shown to users and has none.
func WithHint(err error, hint string) error {
	var known *Error
	if !errors.As(err, &known) || known.Hint != "" || known.Code == CodeInternal {
		return err
	}
	completed := *known
	completed.Hint = hint
	return &completed
}

// InputError is a mistake in the files of a user. Nothing was changed. Commands exit
// with the code of a usage error.
type InputError struct{ Message, Hint string }

func (e *InputError) Error() string { return e.Message }

// InputErrorf returns an InputError.
func InputErrorf(hint, format string, args ...any) error {
	return &InputError{Message: fmt.Sprintf(format, args...), Hint: hint}
}

// DescribeError returns the text of an error for its reader: errors for users without
// their wrapping, others completely.
func DescribeError(err error) (message, hint string) {
	var known *Error
	var input *InputError
	var file *fs.PathError
	switch {
	case errors.As(err, &input):
		return input.Message, input.Hint
	case errors.As(err, &known) && (known.Code == CodeInternal || known.Code == CodeUnavailable):
		return known.Error(), known.Hint // for the operator
	case errors.As(err, &known):
		return known.Message, known.Hint
	case errors.As(err, &file):
		hint = "check the path"
		if errors.Is(err, fs.ErrPermission) {
			hint = "check the owner and the mode of the file and of its folder"
		}
		return file.Path + ": " + file.Err.Error(), hint
	}
	return err.Error(), ""
}

// WithReason sets the reason code for the ledger; its sentence is the message.
func (e *Error) WithReason(code ReasonCode) *Error {
	e.Reason = MessageReason(code, e.Message)
	return e
}

// ReasonError returns an Error whose message is the sentence of a reason.
func ReasonError(code Code, why Reason) *Error {
	return &Error{Code: code, Message: why.String(), Reason: why}
}

// FiringReason returns the reason of an Error.
func (e *Error) FiringReason() Reason {
	if e.Reason.Code != "" {
		return e.Reason
	}
	return MessageReason(ReasonMessage, e.Message)
}

// CodeOf returns the code of the first Error in err's chain, CodeInternal when
// there is none, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// BodyError converts an error of reading a request body: refused, too slow, or incomplete.
func BodyError(err error) *Error {
	var refused *Error
	var network net.Error
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &network) && network.Timeout():
		return Errorf(CodeTimeout, "the body took too long to arrive")
	default:
		return Errorf(CodeClientClosed, "the body ended early")
	}
}
