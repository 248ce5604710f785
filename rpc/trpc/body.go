package trpc

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// readInputs reads the input of every call that is still to be made. What is
// wrong with the text fails all of them, what is wrong with one envelope
// fails its call.
func (h *Handler) readInputs(r *request) {
	envelopes, err := h.readEnvelopes(r)
	for _, c := range r.calls {
		if c.failure != nil {
			continue
		}
		if err != nil {
			c.failure = h.failure(r, c.path, err)
			continue
		}
		envelope, present := envelopes[strconv.Itoa(c.index)]
		if !present {
			continue
		}
		if c.input, err = readEnvelope(envelope); err != nil {
			c.failure, err = h.failure(r, c.path, err), nil
		}
	}
}

// readEnvelopes gives the envelope of each call by its position, as text.
func (h *Handler) readEnvelopes(r *request) (map[string]any, error) {
	if r.bodiless {
		// A form is an object, if one without any key that counts.
		return map[string]any{"0": map[string]any{"json": map[string]any{}}}, nil
	}
	text, err := h.inputText(r)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	if !utf8.Valid(text) {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "input: the text is not valid UTF-8")
	}
	decoded, err := blueprint.Decode(text)
	if err != nil {
		return nil, err
	}
	if !r.batch {
		return map[string]any{"0": decoded}, nil
	}
	object, ok := decoded.(map[string]any)
	if !ok {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, `"input" needs to be an object when doing a batch call`)
	}
	return object, nil
}

// inputText gives the JSON of the whole request: of a GET the parameter
// input, else the body. Empty is no input.
func (h *Handler) inputText(r *request) ([]byte, error) {
	if r.Method == http.MethodGet {
		text, _ := parameter(r.URL.RawQuery, "input")
		return []byte(text), nil
	}
	body, err := readBody(r.Request, h.options.MaxBody)
	return bytes.TrimPrefix(body, []byte("\uFEFF")), err
}

// readBody reads a body of at most limit bytes.
func readBody(r *http.Request, limit int64) ([]byte, error) {
	tooLarge := blueprint.Errorf(blueprint.CodePayloadTooLarge, "%s", blueprint.CodePayloadTooLarge)
	if r.ContentLength > limit {
		return nil, tooLarge
	}
	var body bytes.Buffer
	if r.ContentLength > 0 {
		// The length is only claimed, so memory beyond this comes with the bytes.
		body.Grow(int(min(r.ContentLength, 8<<10)) + bytes.MinRead)
	}
	_, err := body.ReadFrom(io.LimitReader(r.Body, limit+1))
	var timeout net.Error
	var refused *blueprint.Error
	switch {
	case errors.As(err, &refused): // by who stands before this handler
		return nil, refused
	case errors.As(err, &timeout) && timeout.Timeout():
		return nil, &blueprint.Error{Code: blueprint.CodeTimeout, Message: "the body took too long to arrive", Err: err}
	case err != nil:
		return nil, &blueprint.Error{Code: blueprint.CodeClientClosed, Message: "the body ended early", Err: err}
	case int64(body.Len()) > limit:
		return nil, tooLarge
	}
	return body.Bytes(), nil
}

// discardBody reads on past what nobody wants, within bounds. A client that
// is still sending when the connection closes never sees the answer; one that
// waits for leave to send needs none.
func discardBody(r *http.Request, limit int64) {
	if r.Body != nil && r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, limit)
	}
}
