package trpc

import (
	"net/http"
	"slices"
	"strings"

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

// isSubscription tells whether the answer is a stream of events. A form never
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
