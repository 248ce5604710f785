package triggers

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/triggers/signature"
)

// readBody reads a body of at most MaxBody bytes, as it came. What is beyond is
// read as well, within bounds, and thrown away: a client that is still sending
// when the connection closes never sees the answer.
func (t *Service) readBody(r *http.Request) ([]byte, *blueprint.Error) {
	tooLarge := blueprint.Errorf(blueprint.CodePayloadTooLarge, "the body is larger than %d bytes", t.MaxBody).Named(blueprint.ReasonTooLarge)
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
			return blueprint.Errorf(blueprint.CodeUnsupportedMedia, "Content-Encoding must be identity: send the body uncompressed").Named(blueprint.ReasonBody)
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
	return blueprint.Errorf(blueprint.CodeUnsupportedMedia, "the body must be JSON: send it with Content-Type: application/json").Named(blueprint.ReasonBody)
}

// parseBody reads a JSON value; an empty body is an empty object.
func parseBody(body []byte) (any, *blueprint.Error) {
	if !utf8.Valid(body) {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the body is not valid UTF-8").Named(blueprint.ReasonBody)
	}
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	if len(body) == 0 {
		return map[string]any{}, nil
	}
	value, err := blueprint.Decode(body)
	if err != nil {
		var refused *blueprint.Error
		if errors.As(err, &refused) {
			return nil, blueprint.Errorf(refused.Code, "the body is refused: %s", refused.Message).Named(blueprint.ReasonBody)
		}
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the body is not JSON").Named(blueprint.ReasonBody)
	}
	return value, nil
}

// maxKey bounds the id of a delivery, in bytes.
const maxKey = 255

// deliveryID gives the id of a delivery: what the first of the headers that is
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
