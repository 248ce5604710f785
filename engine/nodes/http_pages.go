package nodes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// httpPages is the pagination of a config, in one of three ways: next alone is the place of
// the address of the next page; next with query or field is the place of a cursor, which is
// put into the request; query or field alone counts pages.
type httpPages struct {
	Next     string `key:"next" doc:"The place in a response that names the next page: link-header for the header Link, or a place such as body.next, body.data[-1].id or headers.x-next-page. A missing or empty value, null or false there ends the pages."`
	Query    string `key:"query" doc:"The query parameter that is set to the value at next, or to the number of the page if next is not set. Without query and field, the value at next is the address of the next page."`
	Field    string `key:"field" doc:"The key of the JSON body that is set instead of a query parameter, such as start_cursor or variables.after."`
	Start    *int64 `key:"start" default:"1" minimum:"0" maximum:"1000000000" doc:"The number of the first page, if pages are counted."`
	Step     *int64 `key:"step" default:"1" minimum:"1" maximum:"1000000000" doc:"The increment per page, if pages are counted."`
	More     string `key:"more" doc:"A place that is true if there are more pages, such as body.has_more."`
	Items    string `key:"items" doc:"The place of the array of items in a page, such as body.data. Default: the whole body."`
	MaxPages *int64 `key:"maxPages" default:"10" minimum:"1" maximum:"1000" doc:"The maximum number of pages to fetch."`

	byLink                   bool
	next, field, more, items place // nil when absent
}

const linkHeader = "link-header"

var pagesShape = shapeOf(reflect.TypeFor[httpPages]())

// describePages adds the keys of pagination to the schema of the node.
func describePages(kind *blueprint.NodeType) {
	properties := kind.Schema["properties"].(map[string]any)
	described := orTemplate(pagesShape.schema())
	for _, key := range []string{"title", "description", "x-kind"} {
		described[key] = properties["pagination"].(map[string]any)[key]
	}
	properties["pagination"] = described
}

func checkPages(c *httpConfig, r *report) {
	if c.Pagination == nil {
		return
	}
	p := &httpPages{}
	c.pages = p
	r.decode(pagesShape, reflect.ValueOf(p).Elem(), c.Pagination, "pagination")
	given := func(key string) bool { return c.Pagination[key] != nil }

	if p.byLink = p.Next == linkHeader; !p.byLink {
		p.next = checkPlace(r, p.Next, "next", true)
	}
	p.more, p.items = checkPlace(r, p.More, "more", true), checkPlace(r, p.Items, "items", true)
	p.field = checkPlace(r, p.Field, "field", false)
	switch {
	case !given("next") && !given("query") && !given("field"):
		r.issue("must have next, query or field", "pagination")
	case given("query") && p.Query == "":
		r.issue("must not be empty", "pagination", "query")
	case given("query") && given("field"):
		r.issue("cannot be combined with query", "pagination", "field")
	case p.byLink && (given("query") || given("field")):
		r.issue("is an address, which cannot be combined with query or field", "pagination", "next")
	}
	for _, key := range []string{"start", "step"} {
		if given("next") && given(key) {
			r.issue("counts pages, and cannot be combined with next", "pagination", key)
		}
	}
	if _, isObject := c.Body.Value.(map[string]any); given("field") && !r.isTemplate(c.Body.Value) && (c.Multipart != nil || c.Body.Value != nil && !isObject) {
		r.issue("requires a body that is an object", "pagination", "field")
	}
}

// checkPlace parses a place in a response or, with answer false, in a body.
func checkPlace(r *report, source, key string, answer bool) place {
	config, _ := r.config["pagination"].(map[string]any)
	if _, isText := config[key].(string); !isText || r.isTemplate(source) { // absent, or reported already
		return nil
	}
	p, ok := parsePlace(source)
	switch {
	case !answer && (!ok || !p.keysOnly()):
		r.issue("must be a key of the body, such as cursor or variables.after", "pagination", key)
	case !answer:
	case !ok || p[0] != "body" && p[0] != "headers" && p[0] != "status":
		r.issue("must be a place in an answer, such as body.data or headers.x-next-page, or link-header for the header Link", "pagination", key)
	case p[0] == "headers" && len(p) > 1:
		if name, isName := p[1].(string); isName {
			p[1] = strings.ToLower(name)
		}
	}
	return p
}

// counted reports whether the node numbers the pages itself.
func (p *httpPages) counted() bool { return p.next == nil && !p.byLink }

func numberOr(given *int64, otherwise int64) int64 {
	if given != nil {
		return *given
	}
	return otherwise
}

const codePages = "pagination_failed"

// maxCursor bounds an address or a cursor from a response.
const maxCursor = 8 << 10

// page is the part of the request of a page that differs from the first request.
type page struct {
	number  int      // from 1
	address *url.URL // nil = that of the config
	cursor  any      // for query or field; nil on the first page
}

func pagesFailure(key, format string, args ...any) *blueprint.Failure {
	return &blueprint.Failure{Code: codePages, Message: "pagination." + key + ": " + fmt.Sprintf(format, args...)}
}

// request builds the request of a page. Each has its own idempotency key, the first
// that of the node.
func (x *httpExchange) request(p *page) (*http.Request, error) {
	c, pages := *x.c, x.c.pages
	cursor := p.cursor
	if pages != nil && pages.counted() {
		cursor = numberOr(pages.Start, 1) + int64(p.number-1)*numberOr(pages.Step, 1)
	}
	if cursor != nil && pages.field != nil {
		object, _ := c.Body.Value.(map[string]any)
		value, err := blueprint.Plain(cursor)
		if err != nil {
			return nil, pagesFailure("next", "cannot be put into the body")
		}
		c.Body = anyValue{Value: pages.field.put(object, value), Given: true}
	}
	task := *x.task
	if p.number > 1 && task.IdempotencyKey != "" {
		task.IdempotencyKey += "/page-" + strconv.Itoa(p.number)
	}
	request, err := newRequest(x.ctx, x.d, &task, &c)
	if err != nil {
		return nil, err
	}
	if p.address != nil {
		request.URL, request.Host = p.address, p.address.Host
	}
	if cursor != nil && pages.Query != "" {
		setParameter(request.URL, pages.Query, render(cursor))
	}
	return request, nil
}

// setParameter replaces a parameter of an address and leaves the others unchanged.
func setParameter(target *url.URL, name, value string) {
	var kept []string
	for _, pair := range strings.Split(target.RawQuery, "&") {
		key, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(key); pair != "" && (err != nil || plain != name) {
			kept = append(kept, pair)
		}
	}
	target.RawQuery = strings.Join(append(kept, url.QueryEscape(name)+"="+url.QueryEscape(value)), "&")
}

// address resolves the address of a next page. It must be at the host of the first page or
// at a host of the connection: a response must not choose other recipients of the headers
// and the body of the config. A link to http at the same host, as servers behind a proxy
// write it, becomes https.
func (x *httpExchange) address(first *http.Request, answer *http.Response, link string) (*url.URL, error) {
	if len(link) > maxCursor {
		return nil, pagesFailure("next", "is larger than %d KiB", maxCursor>>10)
	}
	relative, err := url.Parse(strings.TrimSpace(link))
	if err != nil {
		return nil, pagesFailure("next", "is not a valid address")
	}
	target, problem := parseURL(answer.Request.URL.ResolveReference(relative).String())
	if problem != "" {
		return nil, pagesFailure("next", "the address of the next page %s", problem)
	}
	if first.URL.Scheme == "https" && target.Scheme == "http" && target.Port() == "" && first.URL.Port() == "" && strings.EqualFold(target.Hostname(), first.URL.Hostname()) {
		target.Scheme = "https"
	}
	listed := hostsCover(x.conn, target) && (target.Scheme == "https" || first.URL.Scheme == "http")
	if !outbound.SameHost(first.URL, target) && !listed {
		return nil, &blueprint.Failure{
			Code:      codeHost,
			Message:   fmt.Sprintf("the next page is at %s://%s, and pages are only fetched from %s://%s and the hosts of the connection", target.Scheme, target.Host, first.URL.Scheme, first.URL.Host),
			Permanent: true,
		}
	}
	return target, nil
}

// nextLink returns the target of the first link to the next page in values of the
// header Link (RFC 8288), "" for none. Links with another context (anchor) do not
// count.
func nextLink(values []string) string {
	rest := strings.Join(values, ", ")
	for {
		start := strings.IndexByte(rest, '<')
		if start < 0 {
			return ""
		}
		target, after, closed := strings.Cut(rest[start+1:], ">")
		if !closed {
			return ""
		}
		var isNext, elsewhere, ruled bool
		for {
			var name, value string
			name, value, after = linkParameter(after)
			if name == "" {
				break
			}
			switch {
			case name == "anchor":
				elsewhere = true
			case name == "rel" && !ruled: // the first one counts
				ruled = true
				for _, relation := range strings.Fields(value) {
					isNext = isNext || strings.EqualFold(relation, "next")
				}
			}
		}
		if isNext && !elsewhere {
			return strings.TrimSpace(target)
		}
		rest = after
	}
}

// linkPattern matches ;name=value or ;name="value".
var (
	linkPattern   = regexp.MustCompile(`(?s)^[ \t;]*([^=;,<]*)(?:=[ \t]*(?:"((?:[^"\\]|\\.)*)"?|([^;,]*)))?`)
	quotedPattern = regexp.MustCompile(`(?s)\\(.)`)
)

// linkParameter parses the parameter at the start of text. The name is in lower case,
// and "" when there is none.
func linkParameter(text string) (name, value, rest string) {
	match := linkPattern.FindStringSubmatch(text)
	value = cmp.Or(quotedPattern.ReplaceAllString(match[2], "$1"), strings.TrimSpace(match[3]))
	return strings.ToLower(strings.TrimSpace(match[1])), value, text[len(match[0]):]
}

// place is a path into a JSON value: keys (strings) and indexes (ints, may be negative).
type place []any

// Bounds of the text of a place and of its steps.
const (
	maxPlace = 1 << 10
	maxSteps = 32
)

// parsePlace parses name(.key | [index] | ["key"])*. Names and keys may hold anything
// but dots, brackets, quotes and white space.
func parsePlace(source string) (place, bool) {
	if len(source) > maxPlace {
		return nil, false
	}
	const ends = ".[]\"\\ \t\r\n"
	var p place
	for rest := "." + strings.TrimSpace(source); rest != ""; {
		if len(p) == maxSteps {
			return nil, false
		}
		if rest[0] == '.' {
			key := rest[1:]
			if end := strings.IndexAny(key, ends); end >= 0 {
				key = key[:end]
			}
			if key == "" {
				return nil, false
			}
			p, rest = append(p, key), rest[1+len(key):]
			continue
		}
		inside, after, ok := bracketed(rest)
		if !ok {
			return nil, false
		}
		p, rest = append(p, inside), after
	}
	return p, true
}

// bracketed parses the [index] or ["key"] at the start of text.
func bracketed(text string) (step any, rest string, ok bool) {
	if !strings.HasPrefix(text, "[") {
		return nil, "", false
	}
	if !strings.HasPrefix(text, `["`) {
		digits, after, closed := strings.Cut(text[1:], "]")
		index, err := strconv.ParseInt(digits, 10, 32)
		return int(index), after, closed && err == nil
	}
	decoder := json.NewDecoder(strings.NewReader(text[1:]))
	var key string
	if decoder.Decode(&key) != nil {
		return nil, "", false
	}
	after, closed := strings.CutPrefix(text[1+decoder.InputOffset():], "]")
	return key, after, closed
}

// in returns the value at the place, nil for none.
func (p place) in(value any) any {
	for _, step := range p {
		switch step := step.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[step]
		case int:
			list, _ := value.([]any)
			if step < 0 {
				step += len(list)
			}
			if step < 0 || step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}

func (p place) keysOnly() bool {
	return !slices.ContainsFunc(p, func(step any) bool { _, isIndex := step.(int); return isIndex })
}

// put returns a copy of an object with a value at a place. It creates missing objects.
func (p place) put(object map[string]any, value any) map[string]any {
	copied := maps.Clone(object)
	if copied == nil {
		copied = map[string]any{}
	}
	key := p[0].(string)
	if len(p) == 1 {
		copied[key] = value
	} else {
		inner, _ := copied[key].(map[string]any)
		copied[key] = p[1:].put(inner, value)
	}
	return copied
}
