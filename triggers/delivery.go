package triggers

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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

// headersOf returns the headers of a delivery as a run sees them: several values
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
	if kind := kindFrom(of); kind != nil {
		return kind.judge(t, a, at)
	}
	return t.judgeSaid(a)
}

// judgeSaid takes the body for the input.
func (t *Service) judgeSaid(a *activation) *refusal {
	var refused *blueprint.Error
	if a.input, refused = parseBody(a.firing.Delivery.Body); refused != nil {
		return &refusal{answer: refused}
	}
	return nil
}

// readBody reads a body of at most MaxBody bytes, as it came. What is beyond is
// read as well, within bounds, and thrown away: a client that is still sending
// when the connection closes never sees the answer.
func (t *Service) readBody(r *http.Request) ([]byte, *blueprint.Error) {
	tooLarge := blueprint.Errorf(blueprint.CodePayloadTooLarge, "the body is larger than %d bytes", t.MaxBody).WithReason(blueprint.ReasonTooLarge)
	if r.ContentLength > t.MaxBody {
		t.discard(r)
		return nil, tooLarge
	}
	var body bytes.Buffer
	if r.ContentLength > 0 {
		// The length is only claimed, so memory beyond this comes with the bytes.
		body.Grow(int(min(r.ContentLength, 8<<10)) + bytes.MinRead)
	}
	_, err := body.ReadFrom(io.LimitReader(r.Body, t.MaxBody+1))
	switch {
	case err != nil:
		return nil, blueprint.BodyError(err)
	case int64(body.Len()) > t.MaxBody:
		t.discard(r)
		return nil, tooLarge
	}
	return body.Bytes(), nil
}

// discard reads on past what nobody wants. A client that waits for leave to
// send needs none.
func (t *Service) discard(r *http.Request) {
	if r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, 2*t.MaxBody)
	}
}

// checkContent refuses whatever does not say that it is JSON as it stands. No
// content type at all will do.
func checkContent(d *blueprint.Delivery) *blueprint.Error {
	for _, value := range d.Header["content-encoding"] {
		if value != "" && !strings.EqualFold(value, "identity") {
			return blueprint.Errorf(blueprint.CodeUnsupportedMedia, "Content-Encoding must be identity: send the body uncompressed").WithReason(blueprint.ReasonBody)
		}
	}
	switch values := d.Header["content-type"]; {
	case len(values) == 0 || len(values) == 1 && values[0] == "":
		return nil
	case len(values) == 1:
		kind, _, err := mime.ParseMediaType(values[0])
		if err == nil || errors.Is(err, mime.ErrInvalidMediaParameter) {
			if blueprint.IsJSONMedia(kind) {
				return nil
			}
		}
	}
	return blueprint.Errorf(blueprint.CodeUnsupportedMedia, "the body must be JSON: send it with Content-Type: application/json").WithReason(blueprint.ReasonBody)
}

// parseBody reads a JSON value; an empty body is an empty object.
func parseBody(body []byte) (any, *blueprint.Error) {
	if !utf8.Valid(body) {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the body is not valid UTF-8").WithReason(blueprint.ReasonBody)
	}
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	if len(body) == 0 {
		return map[string]any{}, nil
	}
	value, err := blueprint.Decode(body)
	if err != nil {
		var refused *blueprint.Error
		if errors.As(err, &refused) {
			return nil, blueprint.Errorf(refused.Code, "the body is refused: %s", refused.Message).WithReason(blueprint.ReasonBody)
		}
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the body is not JSON").WithReason(blueprint.ReasonBody)
	}
	return value, nil
}

// maxKey bounds the id of a delivery, in bytes.
const maxKey = 255

// deliveryID returns the id of a delivery: what the first of the headers that is
// there says, "" when none is.
func deliveryID(d *blueprint.Delivery, names ...string) (string, *blueprint.Error) {
	for _, name := range names {
		switch values := signature.Header(d, name); {
		case len(values) == 0 || len(values) == 1 && values[0] == "":
			continue
		case len(values) > 1:
			return "", blueprint.Errorf(blueprint.CodeBadRequest, "%s was sent more than once", name)
		case len(values[0]) > maxKey:
			return "", blueprint.Errorf(blueprint.CodeBadRequest, "%s is longer than %d bytes", name, maxKey)
		case strings.ContainsRune(values[0], '\uFFFD'):
			return "", blueprint.Errorf(blueprint.CodeBadRequest, "%s is not valid UTF-8", name)
		default:
			return values[0], nil
		}
	}
	return "", nil
}

// triggerHeaders returns the headers of a request as a run sees them: lower-case
// names, several values of one joined by commas, and nothing that proves who
// the sender is.
func triggerHeaders(r *http.Request) map[string]any { return headersOf(newDelivery(r)) }

// reserved are the headers of an answer that no respond node may set, in lower
// case: they belong to the connection, or they speak for the whole host, on
// which other people's triggers and the dashboard live as well.
var reserved = strings.Fields(`
	connection content-encoding content-length date host keep-alive server te trailer transfer-encoding upgrade
	accept-ch alt-svc clear-site-data critical-ch expect-ct nel origin-agent-cluster permissions-policy public-key-pins refresh
	report-to reporting-endpoints service-worker-allowed set-cookie set-cookie2 strict-transport-security www-authenticate
	x-content-type-options x-frame-options x-xss-protection`)

// reservedPrefixes are the beginnings of more of them.
var reservedPrefixes = []string{"access-control-", "content-security-policy", "cross-origin-", "proxy-", "sec-"}

func isReserved(lower string) bool {
	return slices.Contains(reserved, lower) ||
		slices.ContainsFunc(reservedPrefixes, func(prefix string) bool { return strings.HasPrefix(lower, prefix) })
}

// setHeaders copies the headers that a respond node chose and may choose.
func setHeaders(to http.Header, chosen map[string]string) {
	for name, value := range chosen {
		name = strings.ToLower(strings.TrimSpace(name))
		if name != "" && !strings.ContainsFunc(name, notInName) && !isReserved(name) {
			to.Set(name, value)
		}
	}
}

// notInName reports whether a character may not stand in the name of a header.
func notInName(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}
