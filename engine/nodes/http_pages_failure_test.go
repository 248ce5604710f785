package nodes

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

func TestPagesFail(t *testing.T) {
	s := newSite(t, outbound.Options{})
	big := strings.Repeat("x", 4<<20)
	for _, test := range []struct {
		name, config, answer, code, message string
		requests                            int
	}{
		{"in circles", `{"next":"body.next"}`, `{"next":"/?secret"}`, codePages, "pagination.next: leads back to a page that was fetched before", 2},
		{"the first again", `{"next":"body.next"}`, `{"next":"?"}`, codePages, "leads back", 2},
		{"the same cursor", `{"next":"body.next","query":"c"}`, `{"next":"secret"}`, codePages, "leads back", 2},
		{"the same cursor in the body", `{"next":"body.next","field":"c"}`, `{"next":["secret"]}`, codePages, "leads back", 2},
		{"no address", `{"next":"body.next"}`, `{"next":"http://[secret"}`, codePages, "pagination.next: leads to what is no address", 1},
		{"no text", `{"next":"body.next"}`, `{"next":{"secret":1}}`, codePages, "pagination.next: must lead to an address, and leads to an object", 1},
		{"not even a cursor", `{"next":"body.next","query":"c"}`, `{"next":["secret"]}`, codePages, "pagination.next: must lead to text or a number, and leads to an array", 1},
		{"true", `{"next":"body.next","query":"c"}`, `{"next":true}`, codePages, "leads to a boolean", 1},
		{"a long address", `{"next":"body.next"}`, `{"next":"?` + strings.Repeat("x", maxCursor) + `"}`, codePages, "pagination.next: leads to more than 8 KiB", 1},
		{"a long cursor", `{"next":"body.next","field":"c"}`, `{"next":"` + strings.Repeat("x", maxCursor+1) + `"}`, codePages, "pagination.next: leads to more than 8 KiB", 1},
		{"credentials in the address", `{"next":"body.next"}`, `{"next":"http://eve:secret@HOST/"}`, codePages, "must not hold a name and password", 1},
		{"another scheme", `{"next":"body.next"}`, `{"next":"file:///etc/secret"}`, codePages, "must begin with http:// or https://", 1},
		{"another host", `{"next":"body.next"}`, `{"next":"http://169.254.169.254/secret"}`, codeHost, "the next page is at http://169.254.169.254, and pages are fetched from URL", 1},
		{"another host, told shortly", `{"next":"body.next"}`, `{"next":"//evil.example/secret"}`, codeHost, "the next page is at http://evil.example", 1},
		{"another port", `{"next":"body.next"}`, `{"next":"http://127.0.0.1:1/secret"}`, codeHost, "the next page is at http://127.0.0.1:1", 1},
		{"another scheme of the web", `{"next":"body.next"}`, `{"next":"https://HOST/secret"}`, codeHost, "the next page is at https://HOST", 1},
		{"items that are none", `{"query":"page","items":"body.items"}`, `{"items":"secret"}`, codePages, "pagination.items: must lead to an array, and leads to a string", 1},
		{"pages without end", `{"query":"page"}`, `{"items":[]}`, codePages, "pagination.items: the body is an object; name the array in it", 1},
		{"too large together", `{"query":"page","items":"body.items"}`, `{"items":["` + big + `"]}`, codeTooLarge, "the pages of HOST are larger than 10 MiB together; ask for fewer by maxPages", 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			local := strings.NewReplacer("HOST", s.host(), "URL", s.URL)
			s.answers(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, local.Replace(test.answer))
			})
			result, err := s.send(t, `{"url":"URL/","pagination":`+test.config+`}`)
			var failure *blueprint.Failure
			if !errors.As(err, &failure) || failure.Code != test.code || !strings.Contains(failure.Message, local.Replace(test.message)) || failure.NotSent || failure.Permanent != (test.code == codeHost) {
				t.Fatalf("got %+v", err)
			}
			if strings.Contains(failure.Message, "secret") {
				t.Errorf("it tells a secret: %s", failure.Message)
			}
			if len(s.requests()) != test.requests || len(result.Calls) != test.requests {
				t.Errorf("%d requests, calls %+v", len(s.requests()), result.Calls)
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
		s.answers(func(w http.ResponseWriter, r *http.Request) {
			if r.FormValue("page") == "2" {
				test.answer(w, r)
				return
			}
			answerItems(w, 0, `[ITEMS]`)
		})
		result, err := s.send(t, `{"url":"URL","pagination":{"query":"page"}}`)
		var failure *blueprint.Failure
		if !errors.As(err, &failure) || failure.Code != test.code || failure.NotSent || len(result.Calls) != test.calls || result.Output != nil {
			t.Errorf("%s: got %+v, calls %+v", test.name, err, result.Calls)
		}
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
		{`{"query":"a","field":"b"}`, ``, `pagination.field: must not stand beside query`},
		{`{"next":"link-header","query":"a"}`, ``, `pagination.next: leads to an address, which query and field cannot take`},
		{`{"next":"body","start":1,"step":1}`, ``, `pagination.start: counts pages; leave it or next out; pagination.step: counts pages; leave it or next out`},
		{`{"query":"a","start":-1,"step":0,"maxPages":1001}`, ``, `pagination.start: must be from 0 to 1000000000; pagination.step: must be from 1 to 1000000000; pagination.maxPages: must be from 1 to 1000`},
		{`{"field":"a[0]"}`, ``, `pagination.field: must be a key of the body, such as cursor or variables.after`},
		{`{"field":"a"}`, `,"body":"text"`, `pagination.field: needs a body that is an object`},
		{`{"field":"a"}`, `,"multipart":[{"name":"a","value":1}]`, `pagination.field: needs a body that is an object`},
		{`{"next":"body","page":1}`, ``, `pagination.page: is not known to this type of node`},
	} {
		config := `{"url":"http://a","pagination":` + test.pagination + test.rest + `}`
		got := issueText(kind.Check(object(t, config)))
		for strings.Contains(test.want, "*") && strings.Contains(got, "must be a place in an answer, such as body.data or headers.x-next-page, or link-header for the header Link") {
			got = strings.Replace(got, "must be a place in an answer, such as body.data or headers.x-next-page, or link-header for the header Link", "*", 1)
		}
		if got != test.want {
			t.Errorf("%s: got %s", config, got)
		}
	}
}
