package blueprint

import (
	"strings"
	"time"
)

// MailAddress is one address of a mail, such as ada@example.org, and the name
// that stands beside it.
type MailAddress struct {
	Address string `json:"address"`
	Name    string `json:"name"`
}

// Mail is what a mail says, as far as it can be read. Texts are valid UTF-8.
type Mail struct {
	MessageID string // as it stands in the header, with its angle brackets; "" = none
	From, To  []MailAddress
	// Author is the one address that the mail is from, "" when its header names
	// none, several, or cannot be read beyond doubt. Who sent it can be checked
	// for an author only.
	Author  string
	Subject string
	Date    time.Time // zero = none that can be read
	// Text and HTML are the bodies that are meant to be read; lines end with \n.
	Text, HTML string
	// Headers has all fields: names in lower case, values from the top down.
	Headers map[string][]string
	// Attachments are all other parts. They have no ids yet.
	Attachments []File
}

// IsMailDomain reports whether a text can stand behind an @: labels of letters,
// digits and hyphens.
func IsMailDomain(text string) bool {
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return len(text) <= 253
}

// Envelope is what the SMTP dialogue tells of a mail.
type Envelope struct {
	Remote string // network address of the sender
	Hello  string // the name by which it introduced itself
	From   string // where it wants failures to be told; "" = nowhere
	TLS    bool
}

// ReceivedMail is a mail that came for a mailbox.
type ReceivedMail struct {
	Envelope
	Raw   []byte // as it came
	Mail  *Mail  // what was read in it
	Check SenderCheck
}

// SenderCheck is what SPF, DKIM and DMARC say about a mail, in the words of
// RFC 8601: pass, fail, none, neutral, softfail, policy, temperror, permerror.
type SenderCheck struct {
	SPF, DKIM, DMARC string
	// Passed says that the author's domain answers for the mail: DMARC passes
	// or, where the domain has no DMARC record, an aligned SPF or DKIM does.
	Passed bool
	// Undecided says that Passed might be true had the DNS answered.
	Undecided bool
	// Domain is the author's when Passed, otherwise "".
	Domain string
	// Repeated names a header field, in lower case, that the mail may have once
	// and has several times: nobody can tell which of them its author wrote, so
	// it has not passed. "" = none.
	Repeated string
	// Results is all of it as the value of an Authentication-Results field.
	Results string
}
