package nodes

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"blueprintd/blueprint"
	expressions "blueprintd/blueprint/expression"
	"blueprintd/foundation/outbound"
)

type httpConfig struct {
	Method       string         `key:"method" form:"suggest:GET|POST|PUT|PATCH|DELETE|HEAD" default:"\"GET\"" doc:"The HTTP method."`
	URL          string         `key:"url" title:"URL" required:"true" doc:"The address, with http:// or https://."`
	Headers      map[string]any `key:"headers" form:"header" doc:"Headers by name; null removes a default header."`
	Query        map[string]any `key:"query" doc:"Query parameters to add to the address, by name. A list repeats the parameter; null omits it."`
	Body         anyValue       `key:"body" doc:"The body: a string is sent unchanged, any other value as JSON, or as a form if the content type is application/x-www-form-urlencoded."`
	Multipart    []httpPart     `key:"multipart" doc:"The parts of a multipart/form-data body, in place of body."`
	ExpectStatus anyValue       `key:"expectStatus" doc:"The statuses that count as success: a number, a pattern such as 2xx, or a list of them. Default: 200 to 399."`
	ConnectionID string         `key:"connectionId" form:"connection:http|oauth2" doc:"A connection of type http or oauth2 whose credentials are sent with the request. If the connection has hosts, the request may only be sent to them."`
	Pagination   map[string]any `key:"pagination" doc:"How to fetch all pages of a response. The output is that of the last page, with the \"items\" of all pages, the number of \"pages\", and \"more\", which is true if there may be pages beyond maxPages."`

	expected []statusRange
	pages    *httpPages // nil for a single page
}

type httpPart struct {
	Name     string   `key:"name" required:"true" doc:"The name of the field."`
	Value    anyValue `key:"value" doc:"The content: a string is sent unchanged, any other value as JSON."`
	FileID   string   `key:"fileId" form:"file-id" doc:"The id of a file to send as the content, such as {{inputData.attachments[0].id}}. The file must have arrived with the delivery that started the run."`
	Filename string   `key:"filename" title:"File name" doc:"The file name, if the part is a file. Default for a stored file: its own name."`
}

const (
	// maxResponse bounds a response after decompression, and all its pages together.
	maxResponse = 10 << 20
	// httpTimeout applies when the node has no timeoutMs.
	httpTimeout = 5 * time.Minute
)

// httpRequest sends an HTTP request, once: retries belong to the node, so that every
// attempt is visible. Header values are joined by ", " except set-cookie, which is a list.
// A JSON body is parsed; one that is not text is base64, with "bodyEncoding": "base64".
func httpRequest(d Dependencies) *blueprint.NodeType {
	kind := define(definition[httpConfig]{
		name:        "http-request",
		category:    "services",
		order:       1,
		starter:     `{"method": "GET", "url": ""}`,
		output:      `{"type": "object", "properties": {"status": {"type": "integer"}, "headers": {"type": "object"}, "body": {}}}`,
		title:       "HTTP request",
		description: "Sends an HTTP request. The output is {\"status\", \"headers\", \"body\"}, with the body parsed if it is JSON. An unexpected status fails the node.",
		effect:      blueprint.EffectIdempotent,
		connections: []blueprint.ConnectionType{blueprint.ConnectionHTTP, blueprint.ConnectionOAuth2},
		example:     `{"method": "POST", "url": "https://api.example.com/orders", "headers": {"Authorization": "Bearer {{api_key ?? \"\"}}"}, "query": {"notify": true}, "body": {"id": "{{inputData.id ?? null}}"}, "expectStatus": ["2xx", 409]}`,
		check:       checkHTTP,
		run: func(ctx context.Context, task *blueprint.Task, c *httpConfig) (blueprint.Result, error) {
			return exchange(ctx, d, task, c)
		},
	})
	describePages(kind)
	kind.StubStatus = stubStatus
	return kind
}

var commonMethods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}

func checkHTTP(c *httpConfig, r *report) {
	if method := strings.ToUpper(c.Method); r.given("method") && !r.isTemplate(c.Method) {
		if !httpguts.ValidHeaderFieldName(method) || method == http.MethodConnect || method == http.MethodTrace {
			r.issue("must be a method such as GET or POST", "method")
		} else if !slices.Contains(commonMethods, method) {
			if hint := blueprint.DidYouMean(method, commonMethods); hint != "" {
				r.warn("is not a common HTTP method"+hint, "method")
			}
		}
	}
	if r.given("url") && !r.isTemplate(c.URL) {
		if _, problem := parseURL(c.URL); problem != "" {
			r.issue(problem, "url")
		}
	}
	checkHeaders(c.Headers, r, true, isReservedRequestHeader)
	if c.Body.Given && c.Body.Value != nil && r.given("multipart") {
		r.issue("cannot be combined with body", "multipart")
	}
	for i, part := range c.Multipart {
		switch {
		case part.FileID != "" && part.Value.Given:
			r.issue("cannot be combined with value", "multipart", i, "fileId")
		case part.FileID != "":
		case !part.Value.Given && !r.static:
			r.issue("required", "multipart", i, "value")
		}
		for key, value := range map[string]string{"name": part.Name, "filename": part.Filename} {
			if !r.isTemplate(value) && !httpguts.ValidHeaderFieldValue(value) {
				r.issue("must be one line without control characters", "multipart", i, key)
			}
		}
	}
	if c.ExpectStatus.Given && c.ExpectStatus.Value != nil && !r.isTemplate(c.ExpectStatus.Value) {
		var ok bool
		if c.expected, ok = parseStatuses(c.ExpectStatus.Value, r); !ok {
			r.issue(`must be a status from 100 to 599, a form such as "2xx", or a list of them`, "expectStatus")
		}
	} else {
		c.expected = []statusRange{{200, 399}}
	}
	checkConnectionID(c.ConnectionID, r)
	checkPages(c, r)
}

// reservedRequestHeaders are set when the request is written; a value from a config
// could make the server see another request than was sent.
var reservedRequestHeaders = strings.Fields(`
	accept-encoding connection content-length expect host http2-settings keep-alive te trailer transfer-encoding upgrade`)

func isReservedRequestHeader(lower string) bool {
	return slices.Contains(reservedRequestHeaders, lower) || strings.HasPrefix(lower, "proxy-")
}

// newRequest builds the request of a valid config.
func newRequest(ctx context.Context, d Dependencies, task *blueprint.Task, c *httpConfig) (*http.Request, error) {
	target, problem := parseURL(c.URL)
	if problem != "" {
		return nil, badConfigf("url", "%s", problem)
	}
	addQuery(target, c.Query)
	header := http.Header{"User-Agent": {d.UserAgent}}
	if task.IdempotencyKey != "" {
		header.Set("Idempotency-Key", task.IdempotencyKey)
	}
	setHeaders(header, c.Headers)
	files, err := openFiles(ctx, d, task, c.Multipart)
	if err != nil {
		return nil, err
	}
	body, kind, err := requestBody(c, files, header.Get("Content-Type"), task.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	if kind != "" && (c.Multipart != nil || !hasHeader(c.Headers, "content-type")) {
		header.Set("Content-Type", kind)
	}
	request, err := http.NewRequestWithContext(ctx, strings.ToUpper(c.Method), target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, badConfigf("url", "must be an address such as https://example.com/path")
	}
	request.Header = header
	return request, nil
}

func hasHeader(headers map[string]any, lower string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(headers)), func(name string) bool { return strings.ToLower(name) == lower })
}

// toList returns a list unchanged and any other value as a list of one element.
func toList(value any) []any {
	if list, ok := value.([]any); ok {
		return list
	}
	return []any{value}
}

// setHeaders applies the headers of a config to the default ones.
func setHeaders(header http.Header, config map[string]any) {
	for name, value := range config {
		header.Del(name)
		for _, item := range toList(value) {
			if item != nil {
				header.Add(name, strings.Trim(render(item), " \t"))
			}
		}
	}
	if len(header["User-Agent"]) == 0 {
		header["User-Agent"] = []string{""} // else net/http sets its own
	}
}

// parseURL parses the address of a request. problem describes what is wrong with it without
// showing it, because addresses may contain secrets.
func parseURL(source string) (target *url.URL, problem string) {
	source = strings.TrimSpace(source)
	if !httpguts.ValidHeaderFieldValue(source) || strings.Contains(source, "\t") {
		return nil, "must not hold control characters"
	}
	target, err := url.Parse(source)
	switch {
	case err != nil:
		return nil, "must be an address such as https://example.com/path"
	case target.Scheme != "http" && target.Scheme != "https":
		return nil, "must begin with http:// or https://"
	case target.Hostname() == "":
		return nil, "must name a host, as in https://example.com/path"
	case target.User != nil:
		return nil, "must not hold a name and password; send them in the header Authorization"
	}
	target.Fragment, target.RawFragment = "", ""
	target.RawQuery = escapeQuery(target.RawQuery)
	return target, ""
}

// escapeQuery escapes characters that a query must not contain, as a template may add.
func escapeQuery(query string) string {
	var out strings.Builder
	for i := range len(query) {
		if c := query[i]; c > ' ' && c < 0x7f && !strings.ContainsRune("\"<>`{}|^\\", rune(c)) {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

func addQuery(target *url.URL, query map[string]any) {
	if encoded := formValues(query).Encode(); encoded != "" {
		if target.RawQuery != "" {
			encoded = strings.TrimSuffix(target.RawQuery, "&") + "&" + encoded
		}
		target.RawQuery = encoded
	}
}

// formValues converts an object to form fields: a list repeats its field, null omits
// it, an object is written as JSON.
func formValues(object map[string]any) url.Values {
	values := url.Values{}
	for name, value := range object {
		for _, item := range toList(value) {
			if item != nil {
				values.Add(name, render(item))
			}
		}
	}
	return values
}

// requestBody returns the body and its content type.
func requestBody(c *httpConfig, files []partFile, chosen, seed string) (body []byte, kind string, err error) {
	if c.Multipart != nil {
		return multipartBody(c.Multipart, files, seed)
	}
	switch value := c.Body.Value.(type) {
	case nil:
		return nil, "", nil
	case string:
		return []byte(value), "text/plain; charset=utf-8", nil
	case map[string]any:
		if name, _, _ := mime.ParseMediaType(chosen); name == "application/x-www-form-urlencoded" {
			return []byte(formValues(value).Encode()), name, nil
		}
	}
	data, err := blueprint.Encode(c.Body.Value)
	if err != nil {
		return nil, "", badConfigf("body", "cannot be written as JSON")
	}
	return data, "application/json", nil
}

// multipartBody writes the parts. The boundary is a digest of all of them, so no
// content can contain it, and the same request has the same bytes.
func multipartBody(parts []httpPart, files []partFile, seed string) ([]byte, string, error) {
	digest := sha256.New()
	digest.Write([]byte(seed))
	for i, part := range parts {
		content := sha256.Sum256([]byte(part.Name + "\x00" + part.Filename + "\x00" + render(part.Value.Value)))
		digest.Write(content[:])
		content = sha256.Sum256(files[i].content)
		digest.Write(content[:])
	}
	var buffer bytes.Buffer
	writer := multipart.NewWriter(&buffer)
	if err := writer.SetBoundary("part-" + hex.EncodeToString(digest.Sum(nil)[:24])); err != nil {
		return nil, "", badConfigf("multipart", "cannot be written")
	}
	for i, part := range parts {
		data, kind := files[i].content, files[i].kind
		if part.FileID == "" {
			data, kind = []byte(render(part.Value.Value)), ""
		} else if part.Filename == "" {
			part.Filename = files[i].name
		}
		header := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + escapeParameter(part.Name) + `"`}}
		if part.Filename != "" {
			header["Content-Disposition"][0] += `; filename="` + escapeParameter(part.Filename) + `"`
		}
		if _, isText := part.Value.Value.(string); kind != "" {
			header.Set("Content-Type", kind)
		} else if !isText {
			header.Set("Content-Type", "application/json")
		} else if part.Filename != "" {
			header.Set("Content-Type", "application/octet-stream")
		}
		content, err := writer.CreatePart(header)
		if err == nil {
			_, err = content.Write(data)
		}
		if err != nil {
			return nil, "", badConfigf("multipart", "cannot be written")
		}
	}
	if err := writer.Close(); err != nil {
		return nil, "", badConfigf("multipart", "cannot be written")
	}
	return buffer.Bytes(), writer.FormDataContentType(), nil
}

// escapeParameter escapes a quoted parameter as browsers do.
func escapeParameter(name string) string {
	return strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A").Replace(name)
}

// codeHost is the failure of a request at a host that the connection does not cover.
const codeHost = "host_not_allowed"

// httpConnection opens the connection of a config, unless id is "". Requests under the
// returned context carry its credentials; one to a host that it does not cover is not
// sent.
func httpConnection(ctx context.Context, task *blueprint.Task, id string) (context.Context, *blueprint.OpenConnection, error) {
	if id == "" {
		return ctx, nil, nil
	}
	if task.Connect == nil {
		return ctx, nil, badConnection("connections are not available here")
	}
	conn, err := task.Connect(ctx, id)
	if err != nil {
		return ctx, nil, unauthorized(err, nil)
	}
	if conn.Type != blueprint.ConnectionHTTP && conn.Type != blueprint.ConnectionOAuth2 {
		return ctx, nil, badConnection(fmt.Sprintf("the %s is of the type %s; HTTP requests take one of the type http or oauth2", conn.Text(), conn.Type))
	}
	return outbound.Authorize(ctx, func(ctx context.Context, request *http.Request) error {
		if !conn.AnyHost && !hostsCover(conn, request.URL) { // also without credentials
			return &blueprint.Failure{
				Code:      codeHost,
				Message:   fmt.Sprintf("the %s is not for %s; hint: add the host to the hosts of the connection, or leave connectionId out", conn.Text(), request.URL.Host),
				Permanent: true,
			}
		}
		if conn.Authorize == nil {
			return nil
		}
		return conn.Authorize(ctx, request)
	}), conn, nil
}

// unauthorized converts an error of a connection to that of a node. hops are the
// requests sent; nil = none.
func unauthorized(err error, hops *outbound.Hops) error {
	sent := hops != nil && hops.Sent()
	if failure, ok := errors.AsType[*blueprint.Failure](err); ok {
		told := *failure
		told.NotSent = !sent
		return &told
	}
	if pause, ok := errors.AsType[*blueprint.Pause](err); ok && sent {
		// A pause would repeat all requests, also of a node that must not.
		return &blueprint.Failure{Code: codeConnection, Message: "before the last request could be sent, this was asked: " + pause.Error() + "; run it again to be asked"}
	}
	return err
}

// hostsCover reports whether an address is at one of the hosts of a connection, false for
// nil.
func hostsCover(conn *blueprint.OpenConnection, u *url.URL) bool {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return conn != nil && blueprint.HostsCover(conn.Hosts, net.JoinHostPort(u.Hostname(), port))
}

// allPages fetches all pages, or just one. The output is that of the last; with
// pagination it also has "items", "pages" and "more".
func (x *httpExchange) allPages(request *http.Request) (map[string]any, error) {
	p, first := x.c.pages, request
	items := []any{}
	seen := map[string]bool{request.URL.String(): true}
	for n := 1; ; n++ {
		answer, output, err := x.fetch(request)
		if err != nil || p == nil {
			return output, err
		}
		found, err := p.itemsOf(output)
		if err != nil {
			return nil, err
		}
		items = append(items, found...)
		next, err := x.nextPage(n, first, answer, output, len(found))
		if err != nil {
			return nil, err
		}
		if next == nil || n == int(numberOr(p.MaxPages, 10)) {
			output["items"], output["pages"], output["more"] = items, json.Number(strconv.Itoa(n)), next != nil
			return output, nil
		}
		if mark := next.mark(); mark != "" {
			if seen[mark] {
				return nil, pagesFailure("next", "is a page that was already fetched")
			}
			seen[mark] = true
		}
		if request, err = x.request(next); err != nil {
			return nil, err
		}
	}
}

// mark identifies a page against endless loops; "" for counted pages.
func (p *page) mark() string {
	switch {
	case p.address != nil:
		return p.address.String()
	case p.cursor != nil:
		return "cursor " + render(p.cursor)
	default:
		return ""
	}
}

// itemsOf returns the items of a page. If the place of the items is not set, a body that is
// not an array is a single item, unless pages are counted, which would then never end.
func (p *httpPages) itemsOf(output map[string]any) ([]any, error) {
	value := output["body"]
	if p.items != nil {
		value = p.items.in(output)
	}
	list, isList := value.([]any)
	switch {
	case isList:
		return list, nil
	case p.items != nil && value == nil:
		return nil, nil // some servers omit empty lists
	case p.items != nil:
		return nil, pagesFailure("items", "must be an array, and is %s", expressions.KindOf(value))
	case p.counted() && p.more == nil:
		return nil, pagesFailure("items", "the body is %s; set the place of the array in it, so that a page without items ends the pages", expressions.KindOf(value))
	default:
		return []any{value}, nil
	}
}

// nextPage returns the page after page n, nil when it was the last.
func (x *httpExchange) nextPage(n int, first *http.Request, answer *http.Response, output map[string]any, found int) (*page, error) {
	p := x.c.pages
	if p.more != nil && isEmpty(p.more.in(output)) {
		return nil, nil
	}
	next := &page{number: n + 1}
	if p.counted() {
		if found == 0 && p.more == nil {
			return nil, nil
		}
		return next, nil
	}
	var value any
	if p.byLink {
		value = nextLink(answer.Header.Values("Link"))
	} else {
		value = p.next.in(output)
	}
	if value == nil || value == "" || value == false {
		return nil, nil
	}
	if p.Query != "" || p.field != nil {
		if len(render(value)) > maxCursor {
			return nil, pagesFailure("next", "is larger than %d KiB", maxCursor>>10)
		}
		if p.Query != "" && (!isScalar(value) || value == true) {
			return nil, pagesFailure("next", "must be a string or a number, and is %s", expressions.KindOf(value))
		}
		next.cursor = value
		return next, nil
	}
	link, isText := value.(string)
	if !isText {
		return nil, pagesFailure("next", "must be an address, and is %s", expressions.KindOf(value))
	}
	var err error
	next.address, err = x.address(first, answer, link)
	return next, err
}

// isEmpty reports whether a value means "no more pages": null, false, 0, "", "false" and
// empty lists and objects.
func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case bool:
		return !value
	case string:
		return value == "" || value == "false" || value == "0"
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	case json.Number:
		return blueprint.EqualValues(value, json.Number("0"))
	default:
		return false
	}
}

// checkHeaders checks the headers of a config. reserved reports names that must not be
// set. With several, a value may be a list.
func checkHeaders(headers map[string]any, r *report, several bool, reserved func(lower string) bool) {
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		lower := strings.ToLower(name)
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			r.issue("is not a valid header name", "headers", name)
		case reserved(lower):
			r.issue("is a header that must not be set", "headers", name)
		case seen[lower]:
			r.issue("is given twice", "headers", name)
		}
		seen[lower] = true
		list, isList := headers[name].([]any)
		if !isList || !several {
			list = []any{headers[name]}
		}
		for _, value := range list {
			if !isScalar(value) {
				r.issue("must be a string, a number or true or false", "headers", name)
			} else if !r.isTemplate(value) && !httpguts.ValidHeaderFieldValue(render(value)) {
				r.issue("must be one line without control characters", "headers", name)
			}
		}
	}
}

// isScalar reports whether a header or query parameter can hold a value; null is absent.
func isScalar(value any) bool {
	switch value.(type) {
	case []any, map[string]any:
		return false
	default:
		return true
	}
}
