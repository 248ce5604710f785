package blueprint

import (
	"strings"
	"time"
)

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
