package triggers

import (
	"strings"

	"blueprintd/blueprint"
)

// What the ledger keeps of a mail besides the mail itself, as if it were
// headers: what its envelope said, and who sent it as far as that was found out
// when it came. A mail that is judged anew is not looked up anew: keys and
// addresses in the DNS change.
const (
	envelopeFrom  = "envelope-from"
	envelopeTo    = "envelope-to"
	envelopeHello = "envelope-helo"
	envelopeTLS   = "envelope-tls"
	senderResults = "authentication-results"
	senderCheck   = "sender-check" // one of the three below
	senderSPF     = "spf"
	senderDKIM    = "dkim"
	senderDMARC   = "dmarc"
	senderDomain  = "sender-domain"   // the author's, when the check passed
	senderTwice   = "repeated-header" // the field of which the mail has too many

	senderPassed    = "pass"
	senderFailed    = "fail"
	senderUndecided = "temperror"
)

func envelopeHeader(envelope *blueprint.Envelope, local string) map[string][]string {
	tls := "no"
	if envelope.TLS {
		tls = "yes"
	}
	return map[string][]string{
		envelopeFrom: valid([]string{envelope.From}), envelopeTo: {local}, envelopeHello: valid([]string{envelope.Hello}), envelopeTLS: {tls},
	}
}

// unreceived is what the ledger stores of a mail that was refused before it was
// there: nothing can be decided anew about it.
func unreceived(envelope *blueprint.Envelope, local string, size int64) *blueprint.Delivery {
	d := &blueprint.Delivery{From: envelope.Remote, Header: envelopeHeader(envelope, local), Size: size}
	d.Note(factReceived, false)
	return d
}

// factReceived is false for what was refused before it was there.
const factReceived = "received"

// mailDelivery is what the ledger stores of a mail.
func mailDelivery(local string, received *blueprint.ReceivedMail) *blueprint.Delivery {
	check := &received.Check
	d := &blueprint.Delivery{From: received.Remote, Header: envelopeHeader(&received.Envelope, local), Size: int64(len(received.Raw)), Body: received.Raw}
	result := senderFailed
	switch {
	case check.Passed:
		result = senderPassed
	case check.Undecided:
		result = senderUndecided
	}
	for name, value := range map[string]string{senderCheck: result, senderResults: check.Results, senderSPF: check.SPF, senderDKIM: check.DKIM, senderDMARC: check.DMARC} {
		d.Header[name] = []string{value}
	}
	for name, value := range map[string]string{senderDomain: check.Domain, senderTwice: check.Repeated} {
		if value != "" {
			d.Header[name] = []string{value}
		}
	}
	return d
}

// kept gives what a delivery has under a name; "" when it has nothing.
func kept(d *blueprint.Delivery, name string) string { return strings.Join(d.Header[name], "") }
