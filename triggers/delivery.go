package triggers

import (
	"net/http"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/triggers/signature"
)

// newDelivery keeps of a request what the ledger stores of it, all but the body.
func newDelivery(r *http.Request) *blueprint.Delivery {
	d := &blueprint.Delivery{From: r.RemoteAddr, Header: make(map[string][]string, len(r.Header)+1)}
	for name, values := range r.Header {
		name = strings.ToLower(name)
		switch {
		case signature.Confidential[name]:
		case signature.IsProof(name):
			if d.Proof == nil {
				d.Proof = map[string][]string{}
			}
			d.Proof[name] = valid(values)
		default:
			d.Header[name] = valid(values)
		}
	}
	if r.Host != "" {
		d.Header["host"] = valid([]string{r.Host})
	}
	if r.ContentLength > 0 {
		d.Size = r.ContentLength
	}
	return d
}

// valid makes texts of header values, which may be any bytes.
func valid(values []string) []string {
	out := make([]string, len(values))
	for i, value := range values {
		out[i] = strings.ToValidUTF8(value, "\uFFFD")
	}
	return out
}

// said is a delivery that somebody with a right to it made: its body is the
// input.
func said(input any) *blueprint.Delivery {
	body, err := blueprint.Encode(input)
	if err != nil { // a value that no decoder made
		return &blueprint.Delivery{}
	}
	return &blueprint.Delivery{Body: body, Size: int64(len(body))}
}

// headersOf gives the headers of a delivery as a run sees them: several values
// of one name joined by commas.
func headersOf(d *blueprint.Delivery) map[string]any {
	out := make(map[string]any, len(d.Header))
	for name, values := range d.Header {
		if signature.IsProof(name) {
			continue // of a row from before its name was known
		}
		out[name] = strings.Join(values, ", ")
	}
	return out
}

// judge decides about what came, by the trigger as it is now: it fills in the
// activation's input and headers, or says why nothing starts. Times that the
// sender signed are held against at, when the delivery came. Of is how it came.
func (t *Service) judge(a *activation, of blueprint.Source, at time.Time) *refusal {
	switch of {
	case blueprint.SourceWebhook:
		return t.judgeWebhook(a, at)
	case blueprint.SourceSlack:
		return t.judgeSlack(a, at)
	case blueprint.SourceEmail:
		return t.judgeRawMail(a, at)
	case blueprint.SourceAPI:
		return t.judgeCall(a)
	default:
		return t.judgeSaid(a)
	}
}

// judgeSaid takes the body for the input.
func (t *Service) judgeSaid(a *activation) *refusal {
	var refused *blueprint.Error
	if a.input, refused = parseBody(a.firing.Delivery.Body); refused != nil {
		return &refusal{answer: refused}
	}
	return nil
}
