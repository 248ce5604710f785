package nodes

import (
	"errors"
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
					t.Errorf("page %d has the key %q, want %v", i+1, got.header.Get("Idempotency-Key"), key)
				}
			}
			if got := strings.Join(lines, "|"); got != test.lines {
				t.Errorf("got  %s\nwant %s", got, test.lines)
			}
			output := result.Output.(map[string]any)
			if got := asJSON(t, output["items"]); got != `[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"d"},{"id":"e"}]` {
				t.Errorf("items %s, want [{\"id\":\"a\"},{\"id\":\"b\"},{\"id\":\"c\"},{\"id\":\"d\"},{\"id\":\"e\"}]", got)
			}
			if got := asJSON(t, []any{output["pages"], output["more"], output["status"]}); got != fmt.Sprintf(`[%d,false,200]`, len(lines)) {
				t.Errorf("got %s, want %v", got, fmt.Sprintf(`[%d,false,200]`, len(lines)))
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
		t.Run(test.name, func(t *testing.T) {
			s.answers(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, test.answer)
			})
			result, err := s.send(t, `{"url":"URL","pagination":`+test.config+`}`)
			if err != nil {
				t.Error(err)
				return
			}
			output := result.Output.(map[string]any)
			if got := asJSON(t, []any{output["pages"], output["more"], output["items"]}); got != test.want {
				t.Errorf("got %s, want %v", got, test.want)
			}
		})
	}
}

func TestNextLink(t *testing.T) {
	for _, test := range []struct{ values, want string }{
		{``, ``},
		{`<https://api.example/items?page=2>; rel="next", <https://api.example/items?page=9>; rel="last"`, `https://api.example/items?page=2`},
		{`<https://api.example/items?page=1>; rel="prev", </items?a=1,2;3&page=3>; rel="next"`, `/items?a=1,2;3&page=3`},
		{`<a>; rel=prev|<b>; rel=next`, `b`},
		{`<a>;rel=next;title="x, <c>; rel=y"`, `a`},
		{`<a>; title="rel=next, \" <z>; rel=next"; rel="last", <b>; REL = "Next"`, `b`},
		{`<a>; rel="last next"`, `a`},
		{`<a>; rel="nextish", <b>; rel="x-next"`, ``},
		{`<a>; rel="last"; rel="next"`, ``},
		{`<a>; rel="next"; anchor="#x", <b>; rel="next"`, `b`},
		{`<a>; results="true"; rel="next"`, `a`},
		{`< a >; rel="next"`, `a`},
		{`<>; rel="next"`, ``},
		{`<a>, <b>; rel="next"`, `b`},
		{`<a; rel="next"`, ``}, {`a>; rel="next"`, ``}, {`<a> rel="next"`, `a`}, {`<a>; rel="next`, `a`}, {`<a>; rel=`, ``}, {`<a>; rel`, ``}, {`<a>; =next`, ``}, {`;,;,<a>;;,;rel=next`, ``},
	} {
		t.Run(test.values, func(t *testing.T) {
			if got := nextLink(strings.Split(test.values, "|")); got != test.want {
				t.Errorf("got %q, want %v", got, test.want)
			}
		})
	}
}

func FuzzLink(f *testing.F) {
	for _, seed := range []string{`<a>; rel="next"`, `<a>; x="\"<b>"; rel=next, <c>`, `<<>>;;==""`, `<a>; rel="`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if target := nextLink([]string{value}); !strings.Contains(value, target) || strings.Contains(target, ">") {
			t.Fatalf("%q leads to %q, want %q in it and no \">\"", value, target, target)
		}
	})
}

func TestPlaces(t *testing.T) {
	value := object(t, `{"body":{"a":[{"id":1},{"id":2}],"b c":{"d-e":3},"":4,"é":5,"n":null,"0":6}}`)
	for _, test := range []struct{ source, want string }{
		{"body.a[0].id", "1"}, {"body.a[-1].id", "2"}, {"body.a[-2].id", "1"}, {" body.a[1].id ", "2"},
		{`body["b c"].d-e`, "3"}, {`body["b c"]["d-e"]`, "3"}, {`body[""]`, "4"}, {"body.é", "5"}, {`body["\u00e9"]`, "5"}, {"body.0", "6"},
		{"body.a[2].id", "null"}, {"body.a[-3]", "null"}, {"body.n.x", "null"}, {"body.a.id", "null"}, {"body[0]", "null"}, {"x", "null"},
		{"", "bad"}, {".", "bad"}, {"body.", "bad"}, {"body..a", "bad"}, {"body[]", "bad"}, {"body[x]", "bad"}, {"body[1.5]", "bad"}, {"body[0", "bad"}, {`body["a`, "bad"}, {`body["a"`, "bad"},
		{"body[0]x", "bad"}, {"body a", "bad"}, {"[0]", "bad"}, {`["body"]`, "bad"}, {"body[99999999999]", "bad"}, {"body[--1]", "bad"},
		{"a" + strings.Repeat(".a", maxSteps-1), "null"}, {"a" + strings.Repeat(".a", maxSteps), "bad"}, {strings.Repeat("a", maxPlace+1), "bad"},
	} {
		t.Run(fmt.Sprintf("%.80s is %s", test.source, test.want), func(t *testing.T) {
			got := "bad"
			if p, ok := parsePlace(test.source); ok {
				got = asJSON(t, p.in(value))
			}
			if got != test.want {
				t.Errorf("%q: got %s, want %v", test.source, got, test.want)
			}
		})
	}
	p, _ := parsePlace("a.b")
	for before, after := range map[string]string{
		`{}`: `{"a":{"b":7}}`, `{"a":{"b":1,"c":2},"d":3}`: `{"a":{"b":7,"c":2},"d":3}`, `{"a":"text"}`: `{"a":{"b":7}}`,
	} {
		t.Run(before, func(t *testing.T) {
			original := object(t, before)
			if got := asJSON(t, p.put(original, 7)); got != after {
				t.Errorf("got %s, want %v", got, after)
			}
			if asJSON(t, original) != before {
				t.Errorf("%s was changed", before)
			}
		})
	}
}

func FuzzPlace(f *testing.F) {
	for _, seed := range []string{"body.a[0]", `body["x"].y[-1]`, "a..b", `["`} {
		f.Add(seed)
	}
	value := mustDecode(`{"body":{"a":[1,[2],{"x":{"y":[3]}}]}}`)
	f.Fuzz(func(t *testing.T, source string) {
		p, ok := parsePlace(source)
		if !ok {
			return
		}
		if len(p) == 0 || len(p) > maxSteps {
			t.Fatalf("%q has %d steps, want some and at most %v", source, len(p), maxSteps)
		}
		p.in(value)
		if p.keysOnly() {
			if got := p.in(p.put(nil, blueprint.MaxDepth)); got != blueprint.MaxDepth {
				t.Fatalf("%q: put and found %v, want %v", source, got, blueprint.MaxDepth)
			}
		}
	})
}

func TestPagesFail(t *testing.T) {
	s := newSite(t, outbound.Options{})
	big := strings.Repeat("x", 4<<20)
	for _, test := range []struct {
		name, config, answer, code, message string
		requests                            int
	}{
		{"in circles", `{"next":"body.next"}`, `{"next":"/?secret"}`, codePages, "pagination.next: is a page that was already fetched", 2},
		{"the first again", `{"next":"body.next"}`, `{"next":"?"}`, codePages, "already fetched", 2},
		{"the same cursor", `{"next":"body.next","query":"c"}`, `{"next":"secret"}`, codePages, "already fetched", 2},
		{"the same cursor in the body", `{"next":"body.next","field":"c"}`, `{"next":["secret"]}`, codePages, "already fetched", 2},
		{"no address", `{"next":"body.next"}`, `{"next":"http://[secret"}`, codePages, "pagination.next: is not a valid address", 1},
		{"no text", `{"next":"body.next"}`, `{"next":{"secret":1}}`, codePages, "pagination.next: must be an address, and is an object", 1},
		{"not even a cursor", `{"next":"body.next","query":"c"}`, `{"next":["secret"]}`, codePages, "pagination.next: must be a string or a number, and is an array", 1},
		{"true", `{"next":"body.next","query":"c"}`, `{"next":true}`, codePages, "is a boolean", 1},
		{"a long address", `{"next":"body.next"}`, `{"next":"?` + strings.Repeat("x", maxCursor) + `"}`, codePages, "pagination.next: is larger than 8 KiB", 1},
		{"a long cursor", `{"next":"body.next","field":"c"}`, `{"next":"` + strings.Repeat("x", maxCursor+1) + `"}`, codePages, "pagination.next: is larger than 8 KiB", 1},
		{"credentials in the address", `{"next":"body.next"}`, `{"next":"http://eve:secret@HOST/"}`, codePages, "must not hold a name and password", 1},
		{"another scheme", `{"next":"body.next"}`, `{"next":"file:///etc/secret"}`, codePages, "must begin with http:// or https://", 1},
		{"another host", `{"next":"body.next"}`, `{"next":"http://169.254.169.254/secret"}`, codeHost, "the next page is at http://169.254.169.254, and pages are only fetched from URL", 1},
		{"another host, told shortly", `{"next":"body.next"}`, `{"next":"//evil.example/secret"}`, codeHost, "the next page is at http://evil.example", 1},
		{"another port", `{"next":"body.next"}`, `{"next":"http://127.0.0.1:1/secret"}`, codeHost, "the next page is at http://127.0.0.1:1", 1},
		{"another scheme of the web", `{"next":"body.next"}`, `{"next":"https://HOST/secret"}`, codeHost, "the next page is at https://HOST", 1},
		{"items that are none", `{"query":"page","items":"body.items"}`, `{"items":"secret"}`, codePages, "pagination.items: must be an array, and is a string", 1},
		{"pages without end", `{"query":"page"}`, `{"items":[]}`, codePages, "pagination.items: the body is an object; set the place of the array in it", 1},
		{"too large together", `{"query":"page","items":"body.items"}`, `{"items":["` + big + `"]}`, codeTooLarge, "the pages of HOST are larger than 10 MiB in total; reduce maxPages", 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			local := strings.NewReplacer("HOST", s.host(), "URL", s.URL)
			s.answers(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, local.Replace(test.answer))
			})
			result, err := s.send(t, `{"url":"URL/","pagination":`+test.config+`}`)
			var failure *blueprint.Failure
			if message := local.Replace(test.message); !errors.As(err, &failure) || failure.Code != test.code || !strings.Contains(failure.Message, message) {
				t.Fatalf("got %+v, want %s with %q", err, test.code, message)
			}
			if failure.NotSent || failure.Permanent != (test.code == codeHost) {
				t.Fatalf("got %+v, want it sent, permanent: %v", failure, test.code == codeHost)
			}
			if strings.Contains(failure.Message, "secret") {
				t.Errorf("it reveals a secret: %s, want no \"secret\"", failure.Message)
			}
			if len(s.requests()) != test.requests || len(result.Calls) != test.requests {
				t.Errorf("%d requests, calls %+v; want %v and length %v", len(s.requests()), result.Calls, test.requests, test.requests)
			}
		})
	}
}

// A page that fails fails the node, with all calls, and as something that was
// sent.
func TestPageFailsLate(t *testing.T) {
	s := newSite(t, outbound.Options{})
	for _, test := range []struct {
		name, code string
		calls      int
		answer     http.HandlerFunc
	}{
		{"a status", codeStatus, 2, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }},
		{"broken off", codeConnect, 2, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{"a redirect inward", codeRefused, 2, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.answers(func(w http.ResponseWriter, r *http.Request) {
				if r.FormValue("page") == "2" {
					test.answer(w, r)
					return
				}
				answerItems(w, 0, `[ITEMS]`)
			})
			result, err := s.send(t, `{"url":"URL","pagination":{"query":"page"}}`)
			var failure *blueprint.Failure
			if !errors.As(err, &failure) || failure.Code != test.code || failure.NotSent {
				t.Errorf("got %+v, want %s, sent", err, test.code)
			}
			if len(result.Calls) != test.calls || result.Output != nil {
				t.Errorf("calls %+v, output %v; want %d and none", result.Calls, result.Output, test.calls)
			}
		})
	}
}

func TestCheckPagination(t *testing.T) {
	kind := typeOf(t, "http-request")
	for _, test := range []struct{ pagination, rest, want string }{
		{`{"next":"link-header"}`, ``, ``},
		{`{"next":"body.a[0][\"b c\"].d[-1]","query":"c","more":"status","items":"headers.x-a","maxPages":1000}`, ``, ``},
		{`{"next":"{{x}}","query":"{{x}}","items":"{{x}}","maxPages":"{{x}}"}`, ``, ``},
		{`"{{x}}"`, ``, ``},
		{`null`, ``, ``},
		{`{"field":"a.b"}`, `,"body":{"a":1}`, ``},
		{`{"field":"a.b"}`, `,"body":"{{x}}"`, ``},
		{`{"field":"a"}`, ``, ``},
		{`{}`, ``, `pagination: must have next, query or field`},
		{`{"items":"body"}`, ``, `pagination: must have next, query or field`},
		{`[]`, ``, `pagination: must be an object`},
		{`{"next":1}`, ``, `pagination.next: must be a string`},
		{`{"next":""}`, ``, `pagination.next: must be a place in an answer, such as body.data or headers.x-next-page, or link-header for the header Link`},
		{`{"next":"next"}`, ``, `pagination.next: must be a place in an answer, such as body.data or headers.x-next-page, or link-header for the header Link`},
		{`{"next":"body..x","items":"body[x]","more":"body."}`, ``, "pagination.next: *; pagination.more: *; pagination.items: *"},
		{`{"query":""}`, ``, `pagination.query: must not be empty`},
		{`{"query":"a","field":"b"}`, ``, `pagination.field: cannot be combined with query`},
		{`{"next":"link-header","query":"a"}`, ``, `pagination.next: is an address, which cannot be combined with query or field`},
		{`{"next":"body","start":1,"step":1}`, ``, `pagination.start: counts pages, and cannot be combined with next; pagination.step: counts pages, and cannot be combined with next`},
		{`{"query":"a","start":-1,"step":0,"maxPages":1001}`, ``, `pagination.start: must be from 0 to 1000000000; pagination.step: must be from 1 to 1000000000; pagination.maxPages: must be from 1 to 1000`},
		{`{"field":"a[0]"}`, ``, `pagination.field: must be a key of the body, such as cursor or variables.after`},
		{`{"field":"a"}`, `,"body":"text"`, `pagination.field: requires a body that is an object`},
		{`{"field":"a"}`, `,"multipart":[{"name":"a","value":1}]`, `pagination.field: requires a body that is an object`},
		{`{"next":"body","page":1}`, ``, `pagination.page: is not a key of this node type`},
	} {
		t.Run(test.pagination+" "+test.rest, func(t *testing.T) {
			config := `{"url":"http://a","pagination":` + test.pagination + test.rest + `}`
			got := issueText(kind.Check(object(t, config)))
			for strings.Contains(test.want, "*") && strings.Contains(got, "must be a place in an answer, such as body.data or headers.x-next-page, or link-header for the header Link") {
				got = strings.Replace(got, "must be a place in an answer, such as body.data or headers.x-next-page, or link-header for the header Link", "*", 1)
			}
			if got != test.want {
				t.Errorf("%s: got %s, want %v", config, got, test.want)
			}
		})
	}
}
