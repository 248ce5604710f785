package nodes

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// allPages fetches page after page, or just one. The output is that of the last;
// with pagination it also has "items", "pages" and "more".
func (x *conversation) allPages(request *http.Request) (map[string]any, error) {
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
		next, err := x.after(n, first, answer, output, len(found))
		if err != nil {
			return nil, err
		}
		if next == nil || n == p.most() {
			output["items"], output["pages"], output["more"] = items, json.Number(strconv.Itoa(n)), next != nil
			return output, nil
		}
		if mark := next.mark(); mark != "" {
			if seen[mark] {
				return nil, pagesFailure("next", "leads back to a page that was fetched before")
			}
			seen[mark] = true
		}
		if request, err = x.request(next); err != nil {
			return nil, err
		}
	}
}

// mark tells pages apart, so that a server cannot lead in circles; "" for pages
// that are counted.
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

// itemsOf gives what one page holds. Without items, a body that is no array is
// the one thing on its page, unless pages are counted, which then would not end.
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
		return nil, nil // some servers leave out what is empty
	case p.items != nil:
		return nil, pagesFailure("items", "must lead to an array, and leads to %s", kindOf(value))
	case p.counted() && p.more == nil:
		return nil, pagesFailure("items", "the body is %s; name the array in it, so that a page without items ends the pages", kindOf(value))
	default:
		return []any{value}, nil
	}
}

// after says what to ask for after page n, nil when it was the last.
func (x *conversation) after(n int, first *http.Request, answer *http.Response, output map[string]any, found int) (*page, error) {
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
			return nil, pagesFailure("next", "leads to more than %d KiB", maxCursor>>10)
		}
		if p.Query != "" && (!isScalar(value) || value == true) {
			return nil, pagesFailure("next", "must lead to text or a number, and leads to %s", kindOf(value))
		}
		next.cursor = value
		return next, nil
	}
	link, isText := value.(string)
	if !isText {
		return nil, pagesFailure("next", "must lead to an address, and leads to %s", kindOf(value))
	}
	var err error
	next.address, err = x.address(first, answer, link)
	return next, err
}

// isEmpty tells whether a value says no: null, false, 0, "", "false" and what
// holds nothing.
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
		return same(value, json.Number("0"))
	default:
		return false
	}
}
