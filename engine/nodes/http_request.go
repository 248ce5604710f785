package nodes

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"blueprintd/blueprint"
)

type httpConfig struct {
	Method       string         `key:"method" form:"suggest:GET|POST|PUT|PATCH|DELETE|HEAD" default:"\"GET\"" doc:"The HTTP method."`
	URL          string         `key:"url" title:"URL" required:"true" doc:"The address, with http:// or https://."`
	Headers      map[string]any `key:"headers" form:"header" doc:"Headers by name; null leaves out one that would be sent otherwise."`
	Query        map[string]any `key:"query" doc:"Parameters to add to the address, by name; a list repeats the parameter, null leaves it out."`
	Body         anyValue       `key:"body" doc:"What to send: a string as it is, anything else as JSON, or as a form when the content type says application/x-www-form-urlencoded."`
	Multipart    []httpPart     `key:"multipart" doc:"The parts of a multipart/form-data body, in place of body."`
	ExpectStatus anyValue       `key:"expectStatus" doc:"The statuses that count as success: a number, a form such as 2xx, or a list of them; 200 to 399 when not given."`
	ConnectionID string         `key:"connectionId" form:"connection:http|oauth2" doc:"The connection, of the type http or oauth2, whose credentials to use. They go to the hosts that it names, and the request to no other."`
	Pagination   map[string]any `key:"pagination" doc:"How to fetch all pages of an answer. The output is that of the last page, with \"items\" of all pages, \"pages\", how many there were, and \"more\", whether maxPages may have left some out."`

	expected []statusRange
	pages    *httpPages // nil for a single page
}

type httpPart struct {
	Name     string   `key:"name" required:"true" doc:"The name of the field."`
	Value    anyValue `key:"value" doc:"The content: a string as it is, anything else as JSON."`
	FileID   string   `key:"fileId" form:"file-id" doc:"The id of a file to send as the content, such as {{inputData.attachments[0].id}}: one that came with what started the run."`
	Filename string   `key:"filename" title:"File name" doc:"The name of a file, when the part is one; a stored file has its own unless one is given."`
}

const (
	// maxResponse is how much of an answer is taken, after decompression, and
	// of all its pages together.
	maxResponse = 10 << 20
	// httpTimeout bounds an exchange when the node has no timeoutMs.
	httpTimeout = 5 * time.Minute
)

// httpRequest sends one HTTP request. A header of several values is one string
// joined by ", ", but for set-cookie, which always is a list. A body of a JSON
// content type is parsed; one that is no UTF-8 text comes as base64, and
// "bodyEncoding": "base64" says so.
//
// It sends each request once. Whoever wants more gives the node a retry, so that
// every attempt can be seen.
func httpRequest(d Dependencies) *blueprint.NodeType {
	kind := define(definition[httpConfig]{
		name:        "http-request",
		category:    "services",
		order:       1,
		starter:     `{"method": "GET", "url": ""}`,
		output:      `{"type": "object", "properties": {"status": {"type": "integer"}, "headers": {"type": "object"}, "body": {}}}`,
		title:       "HTTP request",
		description: "Sends an HTTP request. The output is {\"status\", \"headers\", \"body\"}, with the body parsed when it is JSON. A status that is not expected fails the node.",
		effect:      blueprint.EffectIdempotent,
		connections: []blueprint.ConnectionType{blueprint.ConnectionHTTP, blueprint.ConnectionOAuth2},
		example:     `{"method": "POST", "url": "https://api.example.com/orders", "headers": {"Authorization": "Bearer {{api_key ?? \"\"}}"}, "query": {"notify": true}, "body": {"id": "{{inputData.id ?? null}}"}, "expectStatus": ["2xx", 409]}`,
		check:       checkHTTP,
		run: func(ctx context.Context, task *blueprint.Task, c *httpConfig) (blueprint.Result, error) {
			return exchange(ctx, d, task, c)
		},
	})
	describePages(kind)
	return kind
}

// commonMethods are those of HTTP itself, and PATCH; others are let through.
var commonMethods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}

func checkHTTP(c *httpConfig, r *report) {
	if method := strings.ToUpper(c.Method); r.given("method") && !r.open(c.Method) {
		if !validHeaderName(method) || method == http.MethodConnect || method == http.MethodTrace {
			r.issue("must be a method such as GET or POST", "method")
		} else if hint := blueprint.DidYouMean(method, commonMethods); hint != "" && !slices.Contains(commonMethods, method) {
			r.warn("is no method that servers commonly know"+hint, "method")
		}
	}
	if r.given("url") && !r.open(c.URL) {
		if _, problem := parseURL(c.URL); problem != "" {
			r.issue(problem, "url")
		}
	}
	checkHeaders(c.Headers, r, true, closedInRequests)
	if c.Body.Given && c.Body.Value != nil && r.given("multipart") {
		r.issue("must not stand beside body", "multipart")
	}
	for i, part := range c.Multipart {
		switch {
		case part.FileID != "" && part.Value.Given:
			r.issue("must not stand beside value", "multipart", i, "fileId")
		case part.FileID != "":
		case !part.Value.Given && !r.static:
			r.issue("required", "multipart", i, "value")
		}
		for key, value := range map[string]string{"name": part.Name, "filename": part.Filename} {
			if !r.open(value) && !validHeaderValue(value) {
				r.issue("must be one line without control characters", "multipart", i, key)
			}
		}
	}
	if c.ExpectStatus.Given && c.ExpectStatus.Value != nil && !r.open(c.ExpectStatus.Value) {
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
