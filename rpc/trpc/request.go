package trpc

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// jsonLines is the content type by which a client asks for a streamed batch.
const jsonLines = "application/jsonl"

// request is one HTTP request, taken apart into calls. Nothing of its body
// has been read and nobody has been authenticated.
type request struct {
	*http.Request
	id         string
	calls      []*call
	batch      bool              // answered as a list, or as lines
	stream     bool              // a batch answered as lines
	bodiless   bool              // a form or a stream of bytes, which no procedure here reads
	connection map[string]string // connection parameters, where a browser's EventSource puts its key
	from       origin
	refused    *blueprint.Error // set when the rate limit, or a fault, refused the request as a whole
	fault      *Fault           // that did; nil = none
}

// parseRequest takes a request apart. An error refuses the request as a
// whole, before its calls are told apart.
func (h *Handler) parseRequest(r *http.Request, id string) (*request, error) {
	path, err := procedurePath(r, h.options.Root)
	if err != nil {
		return nil, err
	}
	bodiless, err := checkContentType(r)
	if err != nil {
		return nil, err
	}
	batch, _ := parameter(r.URL.RawQuery, "batch")
	parsed := &request{Request: r, id: id, bodiless: bodiless, batch: batch == "1" && !bodiless}
	parsed.stream = asksForLines(r.Header)
	if err := h.splitCalls(parsed, path); err != nil {
		return nil, err
	}
	if !bodiless {
		if parsed.connection, err = connectionParameters(r.URL.RawQuery); err != nil {
			return nil, err
		}
	}
	if parsed.stream && !parsed.batch {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "Streaming requests must be batched (you can do a batch of 1)")
	}
	return parsed, nil
}

// splitCalls finds the procedures of a path, which must be of one kind.
func (h *Handler) splitCalls(parsed *request, path string) error {
	paths := []string{path}
	if parsed.batch {
		if strings.Count(path, ",") >= h.options.MaxBatch {
			return blueprint.Errorf(blueprint.CodeBadRequest, "Batch call exceeds maximum size")
		}
		paths = strings.Split(path, ",")
	}
	var kinds []string
	for i, path := range paths {
		procedure := h.procedures[path]
		parsed.calls = append(parsed.calls, &call{index: i, path: path, procedure: procedure})
		if procedure != nil && !slices.Contains(kinds, string(procedure.Kind)) {
			kinds = append(kinds, string(procedure.Kind))
		}
	}
	if len(kinds) > 1 {
		return blueprint.Errorf(blueprint.CodeBadRequest, "Cannot mix procedure types in call: %s", strings.Join(kinds, ", "))
	}
	return nil
}

// isSubscription reports whether the answer is a stream of events. A form never
// is: it is answered as a mutation would be.
func (r *request) isSubscription() bool {
	procedure := r.calls[0].procedure
	return !r.batch && !r.bodiless && procedure != nil && procedure.Kind == KindSubscription
}

// checkContentType accepts JSON, and on GET whatever is there. Forms and byte
// streams pass as well, as tRPC has it, but hold nothing for a procedure here.
func checkContentType(r *http.Request) (bodiless bool, err error) {
	if err := CheckEncoding(r); err != nil {
		return false, err
	}
	header, present := r.Header["Content-Type"]
	contentType := strings.Join(header, ", ")
	kind, _, _ := strings.Cut(contentType, ";")
	switch kind = strings.ToLower(strings.TrimSpace(kind)); {
	case kind == "application/json":
		return false, nil
	case kind == "multipart/form-data" || kind == "application/octet-stream":
		if r.Method != http.MethodPost {
			return false, blueprint.Errorf(blueprint.CodeMethodNotSupported, "Only POST requests are supported for %s requests", kind)
		}
		return true, nil
	case r.Method == http.MethodGet:
		return false, nil
	case !present:
		return false, blueprint.Errorf(blueprint.CodeUnsupportedMedia, "Missing content-type header")
	}
	return false, blueprint.Errorf(blueprint.CodeUnsupportedMedia, `Unsupported content-type "%s`, strings.ToValidUTF8(contentType, "\uFFFD"))
}

// CheckEncoding returns CodeUnsupportedMedia for a request whose body has a coding
// such as gzip.
func CheckEncoding(r *http.Request) error {
	for _, value := range r.Header.Values("Content-Encoding") {
		if value != "" && !strings.EqualFold(value, "identity") {
			return blueprint.Errorf(blueprint.CodeUnsupportedMedia, "Content-Encoding must be identity: send the body uncompressed")
		}
	}
	return nil
}

// asksForLines looks for the wish for a streamed batch, in tRPC's own header
// or else among the accepted types.
func asksForLines(header http.Header) bool {
	if own := header.Values("Trpc-Accept"); len(own) > 0 {
		return strings.Join(own, ", ") == jsonLines
	}
	for _, accepted := range strings.Split(strings.Join(header.Values("Accept"), ","), ",") {
		if strings.TrimSpace(accepted) == jsonLines {
			return true
		}
	}
	return false
}

// connectionParameters reads the parameters that stand for headers where a
// client cannot set any: an object of strings, or null.
func connectionParameters(rawQuery string) (map[string]string, error) {
	text, present := parameter(rawQuery, "connectionParams")
	if !present {
		return nil, nil
	}
	decoded, err := blueprint.Decode([]byte(text))
	if err != nil {
		return nil, blueprint.Errorf(blueprint.CodeParse, "Not JSON-parsable query params")
	}
	object, isObject := decoded.(map[string]any)
	if !isObject && decoded != nil {
		return nil, blueprint.Errorf(blueprint.CodeParse, "Invalid connection params shape")
	}
	parameters := make(map[string]string, len(object))
	for key, value := range object {
		text, ok := value.(string)
		if !ok {
			return nil, blueprint.Errorf(blueprint.CodeParse, "Invalid connection params shape")
		}
		parameters[key] = text
	}
	return parameters, nil
}

// parameter finds a query parameter by its exact name; the first one wins.
// net/url is too strict here: browsers' own URL parsing, which every tRPC
// client counts on, keeps a raw semicolon and a broken escape as they are.
func parameter(rawQuery, name string) (value string, present bool) {
	for pair := range strings.SplitSeq(rawQuery, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if pair != "" && unescapeQuery(key) == name {
			return unescapeQuery(value), true
		}
	}
	return "", false
}

// unescapeQuery reads a plus as a space and keeps what is no valid escape.
func unescapeQuery(text string) string {
	if !strings.ContainsAny(text, "%+") {
		return text
	}
	var plain strings.Builder
	plain.Grow(len(text))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '+':
			plain.WriteByte(' ')
		case c == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]):
			plain.WriteByte(hexValue(text[i+1])<<4 | hexValue(text[i+2]))
			i += 2
		default:
			plain.WriteByte(c)
		}
	}
	return plain.String()
}

// procedurePath takes the procedure names out of the request's path. Slashes
// are trimmed as tRPC's own server does it: one before, up to two behind.
func procedurePath(r *http.Request, root string) (string, error) {
	escaped := strings.TrimPrefix(r.URL.EscapedPath(), root)
	escaped = strings.TrimPrefix(escaped, "/")
	escaped = strings.TrimSuffix(strings.TrimSuffix(escaped, "/"), "/")
	path, ok := unescapePath(escaped)
	if !ok {
		return "", blueprint.Errorf(blueprint.CodeBadRequest, `Invalid URL-encoding in path "%s"`, strings.ToValidUTF8(escaped, "\uFFFD"))
	}
	return path, nil
}

// unescapePath decodes strictly: a broken escape or text that is not UTF-8
// fails.
func unescapePath(text string) (string, bool) {
	if !strings.Contains(text, "%") {
		return text, utf8.ValidString(text)
	}
	var plain strings.Builder
	plain.Grow(len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			plain.WriteByte(text[i])
			continue
		}
		if i+2 >= len(text) || !isHex(text[i+1]) || !isHex(text[i+2]) {
			return "", false
		}
		plain.WriteByte(hexValue(text[i+1])<<4 | hexValue(text[i+2]))
		i += 2
	}
	return plain.String(), utf8.ValidString(plain.String())
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func hexValue(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}

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

// readEnvelopes returns the envelope of each call by its position, as text.
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

// inputText returns the JSON of the whole request: of a GET the parameter
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
