package triggers

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/triggers/signature"
)

// newDelivery returns the parts of a request that the ledger stores, without the body.
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

// valid converts header values, which may be any bytes, to UTF-8.
func valid(values []string) []string {
	out := make([]string, len(values))
	for i, value := range values {
		out[i] = strings.ToValidUTF8(value, "\uFFFD")
	}
	return out
}

// inputDelivery returns a delivery whose body is the input of an authorized caller.
func inputDelivery(input any) *blueprint.Delivery {
	body, err := blueprint.Encode(input)
	if err != nil { // not a value from Decode
		return &blueprint.Delivery{}
	}
	return &blueprint.Delivery{Body: body, Size: int64(len(body))}
}

// headersOf returns the headers of a delivery as a run sees them: names in lower
// case, repeated values joined by commas, without signatures.
func headersOf(d *blueprint.Delivery) map[string]any {
	out := make(map[string]any, len(d.Header))
	for name, values := range d.Header {
		if signature.IsProof(name) {
			continue // stored by an older version
		}
		out[name] = strings.Join(values, ", ")
	}
	return out
}

// judge sets the input and the headers of an activation, or refuses it, by the
// current config of the trigger. Signed times are compared with at, when the
// delivery was received from the source. The body of a manual firing is the input.
func (t *Service) judge(a *activation, source blueprint.Source, at time.Time) *refusal {
	kind := KindOf(a.binding.Trigger.Type)
	if kind.judge != nil && kind.Source == source && source != blueprint.SourceManual {
		return kind.judge(t, a, at)
	}
	var refused *blueprint.Error
	if a.input, refused = parseBody(a.firing.Delivery.Body); refused != nil {
		return &refusal{answer: refused}
	}
	return nil
}

// readBody reads a body of at most MaxBody bytes. It discards the rest of a larger one,
// within limits, because a client that is still sending when the connection closes never
// receives the response.
func (t *Service) readBody(r *http.Request) ([]byte, *blueprint.Error) {
	tooLarge := blueprint.Errorf(blueprint.CodePayloadTooLarge, "the body is larger than %d bytes", t.MaxBody).WithReason(blueprint.ReasonTooLarge)
	if r.ContentLength > t.MaxBody {
		t.discard(r)
		return nil, tooLarge
	}
	var body bytes.Buffer
	if r.ContentLength > 0 {
		// A larger buffer is allocated only as bytes arrive.
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

// discard reads the rest of a body, unless the client has not started to send it.
func (t *Service) discard(r *http.Request) {
	if r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, 2*t.MaxBody)
	}
}

// checkContent refuses bodies other than unencoded JSON. A missing type is accepted.
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

// parseBody decodes a JSON value; an empty body is an empty object.
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
		if refused, ok := errors.AsType[*blueprint.Error](err); ok {
			return nil, blueprint.Errorf(refused.Code, "the body is refused: %s", refused.Message).WithReason(blueprint.ReasonBody)
		}
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the body is not JSON").WithReason(blueprint.ReasonBody)
	}
	return value, nil
}

// maxKey is the maximum length of a delivery id, in bytes.
const maxKey = 255

// deliveryID returns the value of the first header that is present, "" if none is.
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

// reserved are the response headers that a respond node cannot set, in lower case:
// they control the connection, or the whole origin, which includes the dashboard
// and the triggers of other users.
var reserved = strings.Fields(`
	connection content-encoding content-length date host keep-alive server te trailer transfer-encoding upgrade
	accept-ch alt-svc clear-site-data critical-ch expect-ct nel origin-agent-cluster permissions-policy public-key-pins refresh
	report-to reporting-endpoints service-worker-allowed set-cookie set-cookie2 strict-transport-security www-authenticate
	x-content-type-options x-frame-options x-xss-protection`)

var reservedPrefixes = []string{"access-control-", "content-security-policy", "cross-origin-", "proxy-", "sec-"}

func isReserved(lower string) bool {
	return slices.Contains(reserved, lower) ||
		slices.ContainsFunc(reservedPrefixes, func(prefix string) bool { return strings.HasPrefix(lower, prefix) })
}

// setHeaders sets the headers of a respond node that are not reserved.
func setHeaders(to http.Header, chosen map[string]string) {
	for name, value := range chosen {
		name = strings.ToLower(strings.TrimSpace(name))
		if httpguts.ValidHeaderFieldName(name) && !isReserved(name) {
			to.Set(name, value)
		}
	}
}

const (
	keepPrevious    = 24 * time.Hour // how long a replaced secret stays valid by default
	maxKeepPrevious = 30 * 24 * time.Hour
)

// Rotate returns the config of a trigger with a new secret, and the secret, which is
// random if it is "". The current secret stays valid for keepFor, a Go duration or a
// number of days ("7d"), by default a day; until is the end of that time, zero if
// there is none. An older previous secret becomes invalid. Rotate stores nothing and
// does not modify its argument. Errors are CodeBadRequest, with issues under
// "secret" and "keepPreviousFor".
func (t *Service) Rotate(trigger *blueprint.Trigger, secret, keepFor string) (config map[string]any, newSecret string, until blueprint.Time, err error) {
	kind := blueprint.KindOf(trigger.Type)
	if !kind.IsSigned() {
		return nil, "", 0, blueprint.Errorf(blueprint.CodeBadRequest, "trigger %s is of type %s; only webhook and slack triggers have a secret", trigger.ID, trigger.Type)
	}
	keys := kind.Secrets
	keep, ok := parseKeep(keepFor)
	if !ok {
		return nil, "", 0, wrongInput("keepPreviousFor", `must be a duration from 0s to 30d, such as "24h" or "7d"`)
	}
	if secret == "" {
		secret = t.randomSecret(trigger)
	}
	current := trigger.Config[keys.Secret]
	if current == secret {
		return nil, "", 0, wrongInput("secret", "must differ from the current one")
	}
	change := map[string]any{keys.Secret: secret, keys.Previous: "", keys.Until: nil}
	if current != nil && keep > 0 {
		until = blueprint.TimeOf(t.Clock.Now().Add(keep))
		change[keys.Previous], change[keys.Until] = current, until.String()
	}
	config = blueprint.MergeConfig(trigger.Config, change)
	if issues := Check(trigger.Type, config); len(issues) > 0 {
		for i := range issues {
			if issues[i].Path[0] == keys.Secret {
				issues[i].Path = []any{"secret"}
			}
		}
		return nil, "", 0, blueprint.InvalidInput(issues)
	}
	return config, secret, until, nil
}

func wrongInput(field, message string) error {
	return blueprint.InvalidInput([]blueprint.Issue{{Path: []any{field}, Message: message}})
}

// randomSecret returns a secret in the form that the trigger's preset requires.
func (t *Service) randomSecret(trigger *blueprint.Trigger) string {
	if trigger.Config["preset"] == "standard" {
		return "whsec_" + base64.StdEncoding.EncodeToString(t.IDs.Bytes(24))
	}
	return base64.RawURLEncoding.EncodeToString(t.IDs.Bytes(32))
}

// parseKeep parses how long the current secret stays valid.
func parseKeep(text string) (time.Duration, bool) {
	if text == "" {
		return keepPrevious, true
	}
	keep, err := clock.ParseDuration(text)
	return keep, err == nil && keep >= 0 && keep <= maxKeepPrevious
}
