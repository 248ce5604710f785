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

// Code names one kind of refusal. The list is closed: codes holds the only
// mapping to wire numbers, and a test fails when a constant lacks its row.
type Code string

// The codes, by the tRPC names that travel to clients as error.json.data.code.
const (
	CodeParse              Code = "PARSE_ERROR"            // the bytes are not what the protocol asks for
	CodeBadRequest         Code = "BAD_REQUEST"            // the caller's input is wrong; nothing was changed
	CodeUnauthorized       Code = "UNAUTHORIZED"           // no key, or one that is unknown or revoked
	CodeForbidden          Code = "FORBIDDEN"              // a good key without the permission
	CodeNotFound           Code = "NOT_FOUND"              // no such thing, or not the caller's to know of
	CodeMethodNotSupported Code = "METHOD_NOT_SUPPORTED"   // query by POST, mutation by GET
	CodeTimeout            Code = "TIMEOUT"                // the caller's body took too long
	CodeConflict           Code = "CONFLICT"               // the state of the thing forbids it now
	CodePayloadTooLarge    Code = "PAYLOAD_TOO_LARGE"      // a size limit was passed
	CodeUnsupportedMedia   Code = "UNSUPPORTED_MEDIA_TYPE" // content type or encoding
	CodeTooManyRequests    Code = "TOO_MANY_REQUESTS"      // rate limit; RetryAfter tells when
	CodeClientClosed       Code = "CLIENT_CLOSED_REQUEST"  // the caller went away
	CodeInternal           Code = "INTERNAL_SERVER_ERROR"  // our fault; the text stays in the log
	CodeUnavailable        Code = "SERVICE_UNAVAILABLE"    // shutting down, queue or disk full; RetryAfter tells when
)

// codes is the one table from a code to its JSON-RPC number and HTTP status
// (the numbers are those of tRPC 11).
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

// CodeForStatus returns the code that has an HTTP status, "" when none has. Of several it is
// the first that Codes lists.
func CodeForStatus(status int) Code {
	for _, code := range Codes() {
		if code.HTTPStatus() == status {
			return code
		}
	}
	return ""
}

// Number returns the JSON-RPC number of a code, HTTPStatus its HTTP status. A
// code outside the list counts as CodeInternal.
func (c Code) Number() int { return c.row().number }

// HTTPStatus returns the HTTP status of a code; see Number.
func (c Code) HTTPStatus() int { return c.row().status }

func (c Code) row() struct{ number, status int } {
	if row, ok := codes[c]; ok {
		return row
	}
	return codes[CodeInternal]
}

// MaxIssues is how many things that are wrong are told at once. A text can hold
// millions of mistakes, and each takes far more room to tell than to make.
const MaxIssues = 1000

// Issue is one thing that is wrong with an input or a blueprint.
type Issue struct {
	// Path leads to the offending value: object keys (string) and positions (int).
	Path []any `json:"path"`
	// NodeID names the node that the issue belongs to, if any.
	NodeID string `json:"nodeId,omitempty"`
	// Message says in plain words what is wrong, without repeating the path.
	Message string `json:"message"`
	// Severity is "error" or "warning"; empty where only errors can stand.
	Severity string `json:"severity,omitempty"`
	// Spot says where in the value the issue is, for those who can point at it.
	Spot Spot `json:"-"`
}

// Spot is what of a value an issue is about; the zero Spot is all of it.
type Spot struct {
	// Name tells that it is the key of the value in its object.
	OnKey bool
	// Line and Column, from 1 and in characters, are a place in the value, a
	// string; 0 = none. Length is how many characters are meant, 0 = unknown.
	Line, Column, Length int
	// Secret tells that what is meant must not be shown.
	Secret bool
}

// Error is the one error type that may reach a user. Message is shown to the
// caller as it is, so it never holds a secret or an internal detail; Err, the
// cause, is only logged. Any other error is CodeInternal on the wire.
type Error struct {
	Code       Code
	Message    string
	Issues     []Issue       // what is wrong, field by field; for CodeBadRequest
	RetryAfter time.Duration // for CodeTooManyRequests and CodeUnavailable
	Hint       string        // what to do next; command lines print it as "hint: ..."
	Err        error
	// Reason is what the ledger says of a firing that is refused so; without a code
	// it says Message.
	Reason Reason
}

// Error returns the message, with the cause behind it when there is one.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error. A %w verb keeps the wrapped error as text of the
// message, so wrap only what a caller may read.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Hinted returns an error for whoever runs the program: what could not be done, and
// the next step. A caller over the network learns neither (CodeInternal).
func Hinted(hint, format string, args ...any) *Error {
	return &Error{Code: CodeInternal, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// WithHint adds the next step to an error that reaches the user without one.
func WithHint(err error, hint string) error {
	var known *Error
	if !errors.As(err, &known) || known.Hint != "" || known.Code == CodeInternal {
		return err
	}
	completed := *known
	completed.Hint = hint
	return &completed
}

// InputError says that the files of a user cannot be used as they are: what is
// wrong, and what to do. Nothing was changed. A command ends with the exit code of a
// wrong call.
type InputError struct{ Message, Hint string }

// Error returns the message.
func (e *InputError) Error() string { return e.Message }

// InputErrorf returns an InputError.
func InputErrorf(hint, format string, args ...any) error {
	return &InputError{Message: fmt.Sprintf(format, args...), Hint: hint}
}

// DescribeError says an error as its reader needs it: what is meant for users without the
// operations that it went through, anything else with all of them.
func DescribeError(err error) (message, hint string) {
	var known *Error
	var input *InputError
	var file *fs.PathError
	switch {
	case errors.As(err, &input):
		return input.Message, input.Hint
	case errors.As(err, &known) && (known.Code == CodeInternal || known.Code == CodeUnavailable):
		return known.Error(), known.Hint // the machine's fault: its reader is who can mend it
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

// WithReason says which reason the ledger names for a firing that is refused so; the
// sentence stays the message.
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
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// BodyError says why the body of a request could not be read to its end: what
// stands before the handler refused it, it took too long, or it ended early.
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
