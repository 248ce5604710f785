package nodes

import (
	"reflect"
	"strings"

	"blueprintd/blueprint"
)

// httpPages is how a config asks for all pages of an answer. There are three
// ways: next alone leads to the address of the next page; next with query or
// field leads to a cursor, which goes into the request; query or field alone
// counts pages.
type httpPages struct {
	Next     string `key:"next" doc:"Where an answer says what comes next: link-header for the header Link, or a place such as body.next, body.data[-1].id or headers.x-next-page. Nothing, null, false or \"\" there ends the pages."`
	Query    string `key:"query" doc:"The parameter of the address that takes what next leads to, or the number of the page when next is not given. Without query and field, next leads to an address."`
	Field    string `key:"field" doc:"The key of the JSON body that takes it instead, such as start_cursor or variables.after."`
	Start    *int64 `key:"start" default:"1" minimum:"0" maximum:"1000000000" doc:"The first number, when pages are counted."`
	Step     *int64 `key:"step" default:"1" minimum:"1" maximum:"1000000000" doc:"What is added for each page, when pages are counted."`
	More     string `key:"more" doc:"A place that tells whether there are more pages, such as body.has_more."`
	Items    string `key:"items" doc:"The place of the array that a page holds, such as body.data; the whole body when not given."`
	MaxPages *int64 `key:"maxPages" default:"10" minimum:"1" maximum:"1000" doc:"The most pages to fetch."`

	byLink                   bool
	next, field, more, items place // nil when not given
}

// linkHeader is the next that means the header Link.
const linkHeader = "link-header"

var pagesShape = shapeOf(reflect.TypeFor[httpPages]())

// describePages puts the keys of pagination into the schema of the node.
func describePages(kind *blueprint.NodeType) {
	properties := kind.Schema["properties"].(map[string]any)
	described := orTemplate(pagesShape.schema())
	for _, key := range []string{"title", "description", "x-kind"} {
		described[key] = properties["pagination"].(map[string]any)[key]
	}
	properties["pagination"] = described
}

// checkPages reads the pagination of a config.
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
		r.issue("must not stand beside query", "pagination", "field")
	case p.byLink && (given("query") || given("field")):
		r.issue("leads to an address, which query and field cannot take", "pagination", "next")
	}
	for _, key := range []string{"start", "step"} {
		if given("next") && given(key) {
			r.issue("counts pages; leave it or next out", "pagination", key)
		}
	}
	if _, isObject := c.Body.Value.(map[string]any); given("field") && !r.open(c.Body.Value) && (c.Multipart != nil || c.Body.Value != nil && !isObject) {
		r.issue("needs a body that is an object", "pagination", "field")
	}
}

// checkPlace reads a place in an answer, or with answer false the keys of a
// place in a body.
func checkPlace(r *report, source, key string, answer bool) place {
	config, _ := r.config["pagination"].(map[string]any)
	if _, isText := config[key].(string); !isText || r.open(source) { // not given, or complained of already
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

// counted tells whether the node numbers the pages itself.
func (p *httpPages) counted() bool { return p.next == nil && !p.byLink }

// number is what the nth page, from 1 on, is asked for with.
func (p *httpPages) number(n int) int64 {
	return numberOr(p.Start, 1) + int64(n-1)*numberOr(p.Step, 1)
}

func (p *httpPages) most() int { return int(numberOr(p.MaxPages, 10)) }

func numberOr(given *int64, otherwise int64) int64 {
	if given != nil {
		return *given
	}
	return otherwise
}
