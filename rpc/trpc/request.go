package trpc

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// jsonLines is the content type by which a client asks for a streamed batch.
const jsonLines = "application/jsonl"

// request is an HTTP request split into calls, before its body is read.
type request struct {
	*http.Request
	id         string
	calls      []*call
	batch      bool              // answered as a list, or as lines
	stream     bool              // a batch answered as lines
	bodiless   bool              // a form or a stream of bytes, which no procedure here reads
	connection map[string]string // connection parameters, where EventSource sends the key
	from       origin
	refused    *blueprint.Error // set when the rate limit, or a fault, refused the request as a whole
	fault      *Fault           // the fault that refused it; nil = none
}

// parseRequest splits a request into calls. An error refuses the request as a whole.
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

// splitCalls sets the calls of a path, whose procedures must be of one kind.
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

// isSubscription reports whether the response is a stream. A form counts as a mutation.
func (r *request) isSubscription() bool {
	procedure := r.calls[0].procedure
	return !r.batch && !r.bodiless && procedure != nil && procedure.Kind == KindSubscription
}

// checkContentType accepts JSON, and any type on GET. Like tRPC it accepts forms and byte
// streams too, but no procedure reads them.
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

// CheckEncoding returns CodeUnsupportedMedia for a request with a Content-Encoding.
func CheckEncoding(r *http.Request) error {
	for _, value := range r.Header.Values("Content-Encoding") {
		if value != "" && !strings.EqualFold(value, "identity") {
			return blueprint.Errorf(blueprint.CodeUnsupportedMedia, "Content-Encoding must be identity: send the body uncompressed")
		}
	}
	return nil
}

// asksForLines reports whether the client wants a streamed batch, by tRPC's own header if
// it is set, else by Accept.
func asksForLines(header http.Header) bool {
	if own := header.Values("Trpc-Accept"); len(own) > 0 {
		return strings.Join(own, ", ") == jsonLines
	}
	accepted := strings.Split(strings.Join(header.Values("Accept"), ","), ",")
	return slices.ContainsFunc(accepted, func(one string) bool { return strings.TrimSpace(one) == jsonLines })
}

// connectionParameters parses the parameters that replace headers for clients that cannot
// set any: an object of strings, or null.
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

// parameter returns the first query parameter of a name. url.ParseQuery is too strict:
// browsers, and so tRPC, keep a raw semicolon and a broken escape as they are.
func parameter(rawQuery, name string) (value string, present bool) {
	for pair := range strings.SplitSeq(rawQuery, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if pair != "" && unescapeQuery(key) == name {
			return unescapeQuery(value), true
		}
	}
	return "", false
}

var escapes = regexp.MustCompile(`(%[0-9A-Fa-f]{2})+`)

// unescapeQuery decodes a query component; an invalid escape stays as it is.
func unescapeQuery(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return escapes.ReplaceAllStringFunc(strings.ReplaceAll(text, "+", " "), func(valid string) string {
		plain, _ := url.PathUnescape(valid)
		return plain
	})
}

// procedurePath returns the procedure names of the request's path. Like tRPC's own
// server it trims one leading and up to two trailing slashes.
func procedurePath(r *http.Request, root string) (string, error) {
	escaped := strings.TrimPrefix(r.URL.EscapedPath(), root)
	escaped = strings.TrimPrefix(escaped, "/")
	escaped = strings.TrimSuffix(strings.TrimSuffix(escaped, "/"), "/")
	path, err := url.PathUnescape(escaped)
	if err != nil || !utf8.ValidString(path) {
		return "", blueprint.Errorf(blueprint.CodeBadRequest, `Invalid URL-encoding in path "%s"`, strings.ToValidUTF8(escaped, "\uFFFD"))
	}
	return path, nil
}

// readInputs reads the inputs of the calls that are not refused. A bad body fails all of
// them, a bad envelope its call.
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
		// A form counts as an empty object.
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

// inputText returns the JSON of the whole request: the parameter input of a GET, else the
// body; empty for none.
func (h *Handler) inputText(r *request) ([]byte, error) {
	if r.Method == http.MethodGet {
		text, _ := parameter(r.URL.RawQuery, "input")
		return []byte(text), nil
	}
	body, err := readBody(r.Request, h.options.MaxBody)
	return bytes.TrimPrefix(body, []byte("\uFEFF")), err
}

func readBody(r *http.Request, limit int64) ([]byte, error) {
	tooLarge := blueprint.Errorf(blueprint.CodePayloadTooLarge, "%s", blueprint.CodePayloadTooLarge)
	if r.ContentLength > limit {
		return nil, tooLarge
	}
	var body bytes.Buffer
	if r.ContentLength > 0 {
		// The declared length is not trusted: more memory is allocated as the bytes arrive.
		body.Grow(int(min(r.ContentLength, 8<<10)) + bytes.MinRead)
	}
	_, err := body.ReadFrom(io.LimitReader(r.Body, limit+1))
	switch {
	case err != nil:
		return nil, blueprint.BodyError(err)
	case int64(body.Len()) > limit:
		return nil, tooLarge
	}
	return body.Bytes(), nil
}

// discardBody reads up to limit bytes of an unused body: a client that is still sending
// when the connection closes would never see the response. A client that waits for 100
// Continue has not sent any.
func discardBody(r *http.Request, limit int64) {
	if r.Body != nil && r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, limit)
	}
}
