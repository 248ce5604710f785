package nodes

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// The ways in which well-known services hand out pages. Each answers items a to
// e, two on a page.
var pagedServices = map[string]http.HandlerFunc{
	"a Link header": func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.FormValue("page"))
		n = max(n, 1)
		if n < 3 {
			w.Header().Set("Link", fmt.Sprintf(`<http://%s/items?per_page=2&page=%d>; rel="next", <http://%s/items?per_page=2&page=3>; rel="last"`, r.Host, n+1, r.Host))
		}
		answerItems(w, 2*(n-1), `[ITEMS]`)
	},
	"has_more and starting_after": func(w http.ResponseWriter, r *http.Request) {
		from := strings.Index("abcde", r.FormValue("starting_after"))
		if r.FormValue("starting_after") != "" {
			from++
		}
		answerItems(w, from, `{"object":"list","data":[ITEMS],"has_more":`+strconv.FormatBool(from+2 < 5)+`}`)
	},
	"next_cursor in the body": func(w http.ResponseWriter, r *http.Request) {
		cursor, _ := bodyOf(r)["start_cursor"].(string)
		from := max(0, strings.Index("abcde", cursor))
		next := "null"
		if from+2 < 5 {
			next = strconv.Quote("abcde"[from+2 : from+3])
		}
		answerItems(w, from, `{"results":[ITEMS],"next_cursor":`+next+`,"has_more":`+strconv.FormatBool(next != "null")+`}`)
	},
	"an address in the body": func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.FormValue("offset"))
		next := `null`
		if from+2 < 5 {
			next = fmt.Sprintf(`"?offset=%d"`, from+2)
		}
		answerItems(w, from, `{"count":5,"next":`+next+`,"results":[ITEMS]}`)
	},
	"a header with the next number": func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.FormValue("page"))
		n = max(n, 1)
		w.Header().Set("X-Next-Page", "")
		if n < 3 {
			w.Header().Set("X-Next-Page", strconv.Itoa(n+1))
		}
		answerItems(w, 2*(n-1), `[ITEMS]`)
	},
	"numbered pages": func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.FormValue("page"))
		answerItems(w, 2*(n-1), `{"items":[ITEMS]}`)
	},
	"offsets": func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.FormValue("offset"))
		answerItems(w, from, `{"items":[ITEMS],"total":5,"left":`+strconv.Itoa(max(0, 3-from))+`}`)
	},
	"GraphQL": func(w http.ResponseWriter, r *http.Request) {
		variables, _ := bodyOf(r)["variables"].(map[string]any)
		cursor, _ := variables["after"].(string)
		from, _ := strconv.Atoi(cursor)
		if variables["first"] == nil {
			http.Error(w, "first is lost", http.StatusBadRequest)
			return
		}
		answerItems(w, from, fmt.Sprintf(`{"data":{"things":{"nodes":[ITEMS],"pageInfo":{"endCursor":"%d","hasNextPage":%t}}}}`, from+2, from+2 < 5))
	},
}

func bodyOf(r *http.Request) map[string]any {
	data, _ := io.ReadAll(r.Body)
	value, _ := blueprint.Decode(data)
	object, _ := value.(map[string]any)
	return object
}

// answerItems answers with two items from a place on.
func answerItems(w http.ResponseWriter, from int, form string) {
	var list []string
	for i := from; i < min(from+2, 5); i++ {
		list = append(list, fmt.Sprintf(`{"id":"%c"}`, 'a'+i))
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, strings.Replace(form, "ITEMS", strings.Join(list, ","), 1))
}

func TestPages(t *testing.T) {
	s := newSite(t, outbound.Options{})
	for _, test := range []struct{ service, config, lines string }{
		{"a Link header", `{"url":"URL/items?per_page=2","pagination":{"next":"link-header"}}`,
			"GET /items?per_page=2|GET /items?per_page=2&page=2|GET /items?per_page=2&page=3"},
		{"has_more and starting_after", `{"url":"URL/v1?limit=2&starting_after=","pagination":{"next":"body.data[-1].id","query":"starting_after","more":"body.has_more","items":"body.data"}}`,
			"GET /v1?limit=2&starting_after=|GET /v1?limit=2&starting_after=b|GET /v1?limit=2&starting_after=d"},
		{"next_cursor in the body", `{"url":"URL","method":"POST","body":{"page_size":2},"pagination":{"next":"body.next_cursor","field":"start_cursor","items":"body.results"}}`,
			`POST / {"page_size":2}|POST / {"page_size":2,"start_cursor":"c"}|POST / {"page_size":2,"start_cursor":"e"}`},
		{"an address in the body", `{"url":"URL/api/things","pagination":{"next":"body.next","items":"body.results","maxPages":100}}`,
			"GET /api/things|GET /api/things?offset=2|GET /api/things?offset=4"},
		{"a header with the next number", `{"url":"URL","query":{"a":[1,2]},"pagination":{"next":"headers.X-Next-Page","query":"page"}}`,
			"GET /?a=1&a=2|GET /?a=1&a=2&page=2|GET /?a=1&a=2&page=3"},
		{"numbered pages", `{"url":"URL?page=7&x","pagination":{"query":"page","items":"body[\"items\"]"}}`,
			"GET /?x&page=1|GET /?x&page=2|GET /?x&page=3|GET /?x&page=4"},
		{"offsets", `{"url":"URL","pagination":{"query":"offset","start":0,"step":2,"items":"body.items","more":"body.left"}}`,
			"GET /?offset=0|GET /?offset=2|GET /?offset=4"},
		{"GraphQL", `{"url":"URL","method":"POST","body":{"query":"q","variables":{"first":2}},"pagination":{"next":"body.data.things.pageInfo.endCursor","field":"variables.after","more":"body.data.things.pageInfo.hasNextPage","items":"body.data.things.nodes"}}`,
			`POST / {"query":"q","variables":{"first":2}}|POST / {"query":"q","variables":{"after":"2","first":2}}|POST / {"query":"q","variables":{"after":"4","first":2}}`},
	} {
		t.Run(test.service, func(t *testing.T) {
			s.answers(pagedServices[test.service])
			result, err := s.send(t, test.config)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for i, got := range s.requests() {
				lines = append(lines, strings.TrimSpace(got.line+" "+got.body))
				key := "exec_1_x/node"
				if i > 0 {
					key += "/page-" + strconv.Itoa(i+1)
				}
				if got.header.Get("Idempotency-Key") != key {
					t.Errorf("page %d has the key %q", i+1, got.header.Get("Idempotency-Key"))
				}
			}
			if got := strings.Join(lines, "|"); got != test.lines {
				t.Errorf("got  %s\nwant %s", got, test.lines)
			}
			output := result.Output.(map[string]any)
			if got := asJSON(t, output["items"]); got != `[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"d"},{"id":"e"}]` {
				t.Errorf("items %s", got)
			}
			if got := asJSON(t, []any{output["pages"], output["more"], output["status"]}); got != fmt.Sprintf(`[%d,false,200]`, len(lines)) {
				t.Errorf("got %s", got)
			}
			if len(result.Calls) != len(lines) || result.Calls[0] != (blueprint.Call{Host: s.host(), Status: 200}) {
				t.Errorf("calls %+v", result.Calls)
			}
		})
	}
}

func TestPagesEnd(t *testing.T) {
	s := newSite(t, outbound.Options{})
	for _, test := range []struct{ name, config, answer, want string }{
		{"at maxPages", `{"query":"page","maxPages":3,"items":"body.items"}`, `{"items":[1]}`, `[3,true,[1,1,1]]`},
		{"after one", `{"next":"body.next","maxPages":1}`, `{"next":"?x"}`, `[1,true,[{"next":"?x"}]]`},
		{"at nothing", `{"next":"body.next"}`, `{}`, `[1,false,[{}]]`},
		{"at nothing in a list", `{"next":"body[0]","query":"c"}`, `[]`, `[1,false,[]]`},
		{"at null", `{"next":"body.next","query":"c","items":"body.items"}`, `{"next":null}`, `[1,false,[]]`},
		{"at false", `{"next":"body.next","query":"c","items":"body.items"}`, `{"next":false,"items":[]}`, `[1,false,[]]`},
		{"at no text", `{"next":"body.next"}`, `{"next":""}`, `[1,false,[{"next":""}]]`},
		{"without a header", `{"next":"link-header"}`, `[1,[2]]`, `[1,false,[1,[2]]]`},
		{"at no more, as null", `{"query":"page","more":"body.more"}`, `{"more":null}`, `[1,false,[{"more":null}]]`},
		{"at no more, as a number", `{"query":"page","more":"body.more"}`, `{"more":0.0}`, `[1,false,[{"more":0.0}]]`},
		{"at no more, as an empty list", `{"query":"page","more":"body.more","items":"body.i"}`, `{"more":[]}`, `[1,false,[]]`},
		{"at no more, as text", `{"query":"page","more":"body.more","items":"body.i"}`, `{"more":"false"}`, `[1,false,[]]`},
		{"at no items", `{"query":"page"}`, `[]`, `[1,false,[]]`},
	} {
		s.answers(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, test.answer)
		})
		result, err := s.send(t, `{"url":"URL","pagination":`+test.config+`}`)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		output := result.Output.(map[string]any)
		if got := asJSON(t, []any{output["pages"], output["more"], output["items"]}); got != test.want {
			t.Errorf("%s: got %s", test.name, got)
		}
	}
}
