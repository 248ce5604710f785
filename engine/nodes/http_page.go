package nodes

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// codePages is the failure of an answer whose pages cannot be followed.
const codePages = "pagination_failed"

// maxCursor is how long an address or a cursor from an answer may be.
const maxCursor = 8 << 10

// page says what makes the request of one page another than that of the first.
type page struct {
	number  int      // from 1
	address *url.URL // nil: that of the config
	cursor  any      // for query or field; nil on the first page
}

func pagesFailure(key, format string, args ...any) *blueprint.Failure {
	return &blueprint.Failure{Code: codePages, Message: "pagination." + key + ": " + fmt.Sprintf(format, args...)}
}

// request builds the request of a page. Each has an idempotency key of its own,
// for they are different requests; the first has the node's.
func (x *conversation) request(p *page) (*http.Request, error) {
	c, pages := *x.c, x.c.pages
	cursor := p.cursor
	if pages != nil && pages.counted() {
		cursor = pages.number(p.number)
	}
	if cursor != nil && pages.field != nil {
		object, _ := c.Body.Value.(map[string]any)
		value, err := blueprint.Plain(cursor)
		if err != nil {
			return nil, pagesFailure("next", "leads to what no body can hold")
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

// setParameter gives a parameter of an address one value, and leaves the others
// as they are written.
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

// address reads the address of a next page, which may be relative to the answer
// that named it. It must stay with the host of the first page, or with the hosts
// of the connection: an answer does not choose who else gets the headers and
// the body of the config. An address that falls back to http at the same host,
// as servers behind a proxy write it, is taken as https.
func (x *conversation) address(first *http.Request, answer *http.Response, link string) (*url.URL, error) {
	if len(link) > maxCursor {
		return nil, pagesFailure("next", "leads to more than %d KiB", maxCursor>>10)
	}
	relative, err := url.Parse(strings.TrimSpace(link))
	if err != nil {
		return nil, pagesFailure("next", "leads to what is no address")
	}
	target, problem := parseURL(answer.Request.URL.ResolveReference(relative).String())
	if problem != "" {
		return nil, pagesFailure("next", "the address of the next page %s", problem)
	}
	if first.URL.Scheme == "https" && target.Scheme == "http" && target.Port() == "" && first.URL.Port() == "" && strings.EqualFold(target.Hostname(), first.URL.Hostname()) {
		target.Scheme = "https"
	}
	listed := covers(x.conn, target) && (target.Scheme == "https" || first.URL.Scheme == "http")
	if !outbound.SameHost(first.URL, target) && !listed {
		return nil, &blueprint.Failure{
			Code:      codeHost,
			Message:   fmt.Sprintf("the next page is at %s://%s, and pages are fetched from %s://%s and the hosts of the connection alone", target.Scheme, target.Host, first.URL.Scheme, first.URL.Host),
			Permanent: true,
		}
	}
	return target, nil
}
