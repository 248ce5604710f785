package blueprint

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Delivery is the request or mail of a firing as it was received. It is stored in the
// transaction of the decision and before the response, so that it can be repeated.
type Delivery struct {
	// From is the network address of the sender, "" when there is none.
	From string `json:"from,omitempty"`
	// Header has the headers under lower-case names, without authorization and cookies.
	Header map[string][]string `json:"header,omitempty"`
	// Proof has the headers that authenticate the sender, such as signatures. They are
	// needed to repeat the decision and are never shown.
	Proof map[string][]string `json:"proof,omitempty"`
	// Hidden are secrets in the body; they are never shown.
	Hidden []string `json:"hidden,omitempty"`
	// Size is the number of bytes that were read of the body.
	Size int64 `json:"size"`
	// Facts are findings that led to the decision: plain JSON values without secrets.
	Facts map[string]any `json:"facts,omitempty"`
	// Body is the raw body; nil although Size is not 0 if it was not stored.
	Body []byte `json:"-"`
	// Sealed is the encrypted delivery; the store sets it.
	Sealed []byte `json:"-"`
}

// IsComplete reports whether the whole body is stored.
func (d *Delivery) IsComplete() bool { return int64(len(d.Body)) == d.Size }

// AppendHead appends the delivery without its body, in the JSON that Encode writes.
func (d *Delivery) AppendHead(to []byte) ([]byte, error) {
	to = append(to, '{')
	if d.From != "" {
		to = append(AppendJSONString(append(to, `"from":`...), d.From), ',')
	}
	for _, member := range []struct {
		name    string
		value   any
		present bool
	}{{"header", d.Header, len(d.Header) > 0}, {"proof", d.Proof, len(d.Proof) > 0}, {"hidden", d.Hidden, len(d.Hidden) > 0}} {
		if !member.present {
			continue
		}
		var err error
		if to, err = AppendJSON(append(AppendJSONString(to, member.name), ':'), member.value); err != nil {
			return nil, err
		}
		to = append(to, ',')
	}
	to = strconv.AppendInt(append(to, `"size":`...), d.Size, 10)
	if len(d.Facts) > 0 {
		var err error
		if to, err = AppendJSON(append(to, `,"facts":`...), d.Facts); err != nil {
			return nil, err
		}
	}
	return append(to, '}'), nil
}

func (d *Delivery) AddFact(name string, value any) {
	if d.Facts == nil {
		d.Facts = map[string]any{}
	}
	d.Facts[name] = value
}

// File is an attachment of a delivery that the run may refer to.
type File struct {
	ID          string // opaque and unguessable
	Part        int    // its index among the parts of the body
	Name        string
	ContentType string
	Size        int64 // bytes, decoded
}

// OnLimit is what happens to a firing when its concurrency group is full.
type OnLimit string

// The values of OnLimit.
const (
	LimitQueue  OnLimit = "queue"          // the run waits until another has ended
	LimitSkip   OnLimit = "skip"           // no run is started
	LimitCancel OnLimit = "cancel-running" // the oldest runs are cancelled
)

// ConcurrencyGroup limits how many runs of one trigger are unfinished at once,
// waiting and paused ones included.
type ConcurrencyGroup struct {
	Key     string  `json:"key"` // the trigger
	Limit   int     `json:"limit"`
	OnLimit OnLimit `json:"onLimit"`
}

// MaxBlocked is the maximum number of runs that wait in one concurrency group.
const MaxBlocked = 1000

// GroupQueueFull returns the error for a run beyond MaxBlocked, CodeTooManyRequests.
func GroupQueueFull(limit int) *Error {
	full := &Error{Code: CodeTooManyRequests, Message: fmt.Sprintf("the queue of this trigger is full (%d wait, config.concurrency.limit %d)", MaxBlocked, limit), RetryAfter: 2 * time.Second}
	return full.WithReason(ReasonQueueFull)
}

// ConcurrencyLimitError is returned when no run was started because the concurrency
// group is full and its rule is LimitSkip.
type ConcurrencyLimitError struct {
	Limit   int
	Running int    // unfinished runs
	Oldest  string // the oldest of them; "" = unknown
}

// Error describes the limit without the oldest run.
func (e *ConcurrencyLimitError) Error() string {
	short := *e
	short.Oldest = ""
	return short.sentence()
}

func (e *ConcurrencyLimitError) sentence() string {
	runs := "runs have"
	if e.Running == 1 {
		runs = "run has"
	}
	text := fmt.Sprintf("config.concurrency.limit is %d, and %d %s not ended", e.Limit, e.Running, runs)
	if e.Oldest != "" {
		text += ": " + e.Oldest
	}
	return text
}

// Reason includes the oldest run, for readers who may see it.
func (e *ConcurrencyLimitError) Reason() Reason {
	return NewReason(ReasonLimit, "limit", e.Limit, "running", e.Running, "executionId", e.Oldest)
}

// Displaced is why a run was cancelled in favour of a newer one of its group.
const Displaced = "a newer run of its trigger took its place"

// RedeliverRequest selects firings of one trigger to run again, the oldest first. It
// excludes redeliveries, and firings with a redelivery that did not fail.
type RedeliverRequest struct {
	TriggerID string
	Filter    FiringFilter
	// After is the Next of the previous result; "" = from the first row.
	After  string
	Limit  int  // the maximum of runs
	Again  bool // include firings that were redelivered
	DryRun bool // only list them
}

// FirstCursor is the Next and After before the first row of a ledger.
const FirstCursor = "00000000000000000000000000"

// RedeliveryCandidate is a firing that a RedeliverRequest selects.
type RedeliveryCandidate struct {
	Firing
	Failed int // redeliveries whose run failed
}

// RedeliverResult is the result of a RedeliverRequest.
type RedeliverResult struct {
	Matched     int                 // selected rows after After, including those beyond the limit
	Redelivered int                 // runs that were started
	Refused     []RefusedRedelivery // at most MaxRefusedRedeliveries
	Firings     []RedeliveredFiring
	// Next is After of the next request if rows remain, because of the limit or
	// because the server accepts no more work; "" = none. In the latter case later
	// rows may have been run already; without Again they do not run twice.
	Next string
	// Stopped is why it ended early; "" = it did not.
	Stopped string
}

// MaxRefusedRedeliveries bounds RedeliverResult.Refused.
const MaxRefusedRedeliveries = 100

// RefusedRedelivery is a firing that was not run again, and why.
type RefusedRedelivery struct {
	FiringID string `json:"firingId"`
	Reason   string `json:"reason"`
}

// RedeliveredFiring is a firing that was run again. The ids are nil in a dry run.
type RedeliveredFiring struct {
	FiringID    *string `json:"firingId"`
	Of          string  `json:"of"`
	ExecutionID *string `json:"executionId"`
}

// MailAddress is an address of a mail with its display name.
type MailAddress struct {
	Address string `json:"address"`
	Name    string `json:"name"`
}

// Mail is a parsed mail. Texts are valid UTF-8.
type Mail struct {
	MessageID string // with angle brackets; "" = none
	From, To  []MailAddress
	// Author is the only From address, "" if there is none, several, or an ambiguous
	// one. Only an author can be authenticated.
	Author  string
	Subject string
	Date    time.Time // zero = none or invalid
	// Text and HTML are the bodies; lines end with \n.
	Text, HTML string
	// Headers has all fields under lower-case names, values in their order.
	Headers map[string][]string
	// Attachments are all other parts. They have no ids yet.
	Attachments []File
}

// IsMailDomain reports whether a text is a lower-case domain of letters, digits, hyphens.
func IsMailDomain(text string) bool {
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return len(text) <= 253
}

// Envelope is the SMTP envelope of a mail.
type Envelope struct {
	Remote string // network address of the sender
	Hello  string // HELO name
	From   string // bounce address; "" = none
	TLS    bool
}

// ReceivedMail is a mail for a mailbox.
type ReceivedMail struct {
	Envelope
	Raw   []byte
	Mail  *Mail
	Check SenderCheck
}

// SenderCheck holds the results of SPF, DKIM and DMARC as of RFC 8601: pass, fail, none, neutral, softfail, policy, temperror, permerror.
type SenderCheck struct {
	SPF, DKIM, DMARC string
	// Passed reports that the author is authenticated: by DMARC or, if the domain has no
	// DMARC record, by aligned SPF or DKIM.
	Passed bool
	// Undecided reports that the result depends on DNS queries that failed.
	Undecided bool
	// Domain is the author's when Passed, otherwise "".
	Domain string
	// Repeated is a lower-case header that may occur only once but occurs several times,
	// so that the mail has not passed; "" = none.
	Repeated string
	// Results is the value of an Authentication-Results field.
	Results string
}
