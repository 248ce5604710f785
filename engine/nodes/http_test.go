package nodes

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

func TestRequests(t *testing.T) {
	s := newSite(t, outbound.Options{})
	tests := []struct{ config, line, kind, body string }{
		{`{"url":"URL"}`, "GET /", "", ""},
		{`{"url":"  URL/a b?q={{name}} x&é=1#f ","method":"get"}`, "GET /a%20b?q=Ann%20x&%C3%A9=1", "", ""},
		{`{"url":"URL/x?a=1","query":{"b":"{{n}}","c":[1,"é&=",null],"d":null,"e":{"f":true},"g":false}}`, "GET /x?a=1&b=3&c=1&c=%C3%A9%26%3D&e=%7B%22f%22%3Atrue%7D&g=false", "", ""},
		{`{"url":"URL?","query":{}}`, "GET /?", "", ""},
		{`{"url":"URL","method":"POST"}`, "POST /", "", ""},
		{`{"url":"URL","method":"POST","body":null}`, "POST /", "", ""},
		{`{"url":"URL","method":"POST","body":"plain {{name}}"}`, "POST /", "text/plain; charset=utf-8", "plain Ann"},
		{`{"url":"URL","method":"put","body":{"a":"{{thing}}","b":"<&>"}}`, "PUT /", "application/json", `{"a":{"a":1.50},"b":"<&>"}`},
		{`{"url":"URL","method":"POST","body":"{{list}}"}`, "POST /", "application/json", `[1,2]`},
		{`{"url":"URL","method":"POST","body":"{{n}}"}`, "POST /", "application/json", `3`},
		{`{"url":"URL","method":"POST","body":false}`, "POST /", "application/json", `false`},
		{`{"url":"URL","method":"POST","headers":{"content-type":"application/vnd.x+json"},"body":{"a":1}}`, "POST /", "application/vnd.x+json", `{"a":1}`},
		{`{"url":"URL","method":"POST","headers":{"Content-Type":"text/csv"},"body":"a,b"}`, "POST /", "text/csv", `a,b`},
		{`{"url":"URL","method":"POST","headers":{"Content-Type":null},"body":"a,b"}`, "POST /", "", `a,b`},
		{`{"url":"URL","method":"POST","headers":{"Content-Type":"application/x-www-form-urlencoded; charset=utf-8"},"body":{"a":"x y","b":[1,2],"c":null,"d":{"e":1}}}`,
			"POST /", "application/x-www-form-urlencoded; charset=utf-8", "a=x+y&b=1&b=2&d=%7B%22e%22%3A1%7D"},
		{`{"url":"URL","method":"POST","headers":{"Content-Type":"application/x-www-form-urlencoded"},"body":"a=b"}`, "POST /", "application/x-www-form-urlencoded", "a=b"},
		{`{"url":"URL","method":"DELETE","body":{"a":1}}`, "DELETE /", "application/json", `{"a":1}`},
		{`{"url":"URL","method":"PROPFIND"}`, "PROPFIND /", "", ""},
	}
	for _, test := range tests {
		t.Run(test.config, func(t *testing.T) {
			result, err := s.send(t, test.config)
			if err != nil {
				t.Fatal(err)
			}
			got := s.requests()[0]
			if got.line != test.line || got.header.Get("Content-Type") != test.kind || got.body != test.body {
				t.Errorf("got %q %q %q, want %v, %v and %v", got.line, got.header.Get("Content-Type"), got.body, test.line, test.kind, test.body)
			}
			host := strings.TrimPrefix(s.URL, "http://")
			if len(result.Calls) != 1 || result.Calls[0] != (blueprint.Call{Host: host, Status: 200}) {
				t.Errorf("calls: %+v", result.Calls)
			}
		})
	}
}

func TestRequestHeaders(t *testing.T) {
	s := newSite(t, outbound.Options{})
	if _, err := s.send(t, `{"url":"URL","headers":{"X-N":"{{n}}","x-list":["a","b",null],"X-None":null,"Cookie":"a=b","X-Trim":"  x\t","X-Flag":true}}`); err != nil {
		t.Fatal(err)
	}
	header := s.requests()[0].header
	for name, want := range map[string]string{
		"X-N": "3", "X-List": "a|b", "X-None": "", "Cookie": "a=b", "X-Trim": "x", "X-Flag": "true",
		"Idempotency-Key": "exec_1_x/node", "User-Agent": "blueprintd/test", "Accept-Encoding": "gzip", "Referer": "",
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(header[name], "|"); got != want {
				t.Errorf("got %q, want %v", got, want)
			}
		})
	}
	if _, err := s.send(t, `{"url":"URL","headers":{"idempotency-key":"mine","user-agent":"me"}}`); err != nil {
		t.Fatal(err)
	}
	header = s.requests()[0].header
	if len(header["Idempotency-Key"]) != 1 || header.Get("Idempotency-Key") != "mine" || header.Get("User-Agent") != "me" {
		t.Errorf("got %v, want length 1, Idempotency-Key mine and User-Agent me", header)
	}
	if _, err := s.send(t, `{"url":"URL","headers":{"Idempotency-Key":null,"User-Agent":null}}`); err != nil {
		t.Fatal(err)
	}
	if header = s.requests()[0].header; header["Idempotency-Key"] != nil || header["User-Agent"] != nil {
		t.Errorf("got %v, want Idempotency-Key nil and User-Agent nil", header)
	}
}

func TestMultipart(t *testing.T) {
	s := newSite(t, outbound.Options{})
	config := `{"url":"URL","method":"POST","headers":{"Content-Type":"text/plain"},"multipart":[{"name":"a","value":"{{name}}"},{"name":"b\"","value":"{{thing}}"},{"name":"f","value":"x,y","filename":"é\".csv"}]}`
	if _, err := s.send(t, config); err != nil {
		t.Fatal(err)
	}
	first := s.requests()[0]
	_, parameters, err := mime.ParseMediaType(first.header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	reader := multipart.NewReader(strings.NewReader(first.body), parameters["boundary"])
	var parts []string
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, _ := io.ReadAll(part)
		parts = append(parts, part.FormName()+"|"+part.FileName()+"|"+part.Header.Get("Content-Type")+"|"+string(content))
	}
	want := `a|||Ann` + "\n" + `b%22||application/json|{"a":1.50}` + "\n" + `f|é%22.csv|application/octet-stream|x,y`
	if got := strings.Join(parts, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := s.send(t, config); err != nil || s.requests()[0].body != first.body {
		t.Error("the same request has other bytes")
	}
	// A value that holds the boundary of its own request cannot be made.
	if _, err := s.send(t, `{"url":"URL","method":"POST","multipart":[{"name":"a","value":"--`+parameters["boundary"]+`--"}]}`); err != nil {
		t.Fatal(err)
	} else if strings.Contains(s.requests()[0].header.Get("Content-Type"), parameters["boundary"]) {
		t.Error("the boundary did not change")
	}
}

func TestBadRequests(t *testing.T) {
	s := newSite(t, outbound.Options{})
	for _, config := range []string{
		`{"url":"{{nothing}}"}`, `{"url":"{{n}}"}`, `{"url":""}`, `{"url":"/path"}`, `{"url":"URL\r\nX: y"}`, `{"url":"URL/\u0000"}`, `{"url":"URL/a\tb"}`,
		`{"url":"http://a b/"}`, `{"url":"http://[::1"}`, `{"url":"http://a:port/"}`, `{"url":"http://"}`, `{"url":"http:host"}`, `{"url":"javascript:alert(1)"}`, `{"url":"file:///etc/passwd"}`,
		`{"url":"http://user:secret@127.0.0.1/"}`, `{"url":"http://user@127.0.0.1/"}`,
		`{"url":"URL","method":"CONNECT"}`, `{"url":"URL","method":"trace"}`, `{"url":"URL","method":"A B"}`, `{"url":"URL","method":"G\r\nX"}`, `{"url":"URL","method":""}`,
		`{"url":"URL","headers":{"Host":"x"}}`, `{"url":"URL","headers":{"content-length":"1"}}`, `{"url":"URL","headers":{"Transfer-Encoding":"chunked"}}`, `{"url":"URL","headers":{"Connection":"close"}}`,
		`{"url":"URL","headers":{"Upgrade":"h2c"}}`, `{"url":"URL","headers":{"TE":"x"}}`, `{"url":"URL","headers":{"Trailer":"x"}}`, `{"url":"URL","headers":{"Expect":"100-continue"}}`,
		`{"url":"URL","headers":{"Proxy-Authorization":"x"}}`, `{"url":"URL","headers":{"Accept-Encoding":"br"}}`, `{"url":"URL","headers":{"Keep-Alive":"x"}}`,
		`{"url":"URL","headers":{"X":"a\r\nHost: b"}}`, `{"url":"URL","headers":{"X":["ok","a\nb"]}}`, `{"url":"URL","headers":{"X\r\nY":"a"}}`, `{"url":"URL","headers":{"":"a"}}`, `{"url":"URL","headers":{"X":{"a":1}}}`, `{"url":"URL","headers":{"X":[[1]]}}`,
		`{"url":"URL","headers":{"X":"1","x":"2"}}`, `{"url":"URL","headers":"x"}`, `{"url":"URL","query":[1]}`,
		`{"url":"URL","body":1,"multipart":[{"name":"a","value":1}]}`, `{"url":"URL","multipart":[{"value":1}]}`, `{"url":"URL","multipart":[{"name":"a"}]}`, `{"url":"URL","multipart":[{"name":"a\r\nb","value":1}]}`,
		`{"url":"URL","multipart":[{"name":"a","value":"x","filename":"a\nb"}]}`, `{"url":"URL","multipart":[{"name":"a","fileId":"x"}]}`, `{"url":"URL","multipart":{}}`,
		`{"url":"URL","expectStatus":"maybe"}`, `{"url":"URL","expectStatus":99}`, `{"url":"URL","expectStatus":600}`, `{"url":"URL","expectStatus":"6xx"}`, `{"url":"URL","expectStatus":[]}`, `{"url":"URL","expectStatus":[200,true]}`, `{"url":"URL","expectStatus":200.5}`,
	} {
		result, err := s.send(t, config)
		var failure *blueprint.Failure
		if !errors.As(err, &failure) || failure.Code != codeBadConfig || !failure.Permanent {
			t.Errorf("%s: got %v, want %s, permanent", config, err, codeBadConfig)
		} else if strings.Contains(failure.Message, "secret") {
			t.Errorf("%s: %s, want no secret in it", config, failure.Message)
		}
		if got := s.requests(); len(got) != 0 || result.Calls != nil {
			t.Errorf("%s: requests %v, calls %v; want none", config, got, result.Calls)
		}
	}
}

func TestAnswers(t *testing.T) {
	s := newSite(t, outbound.Options{})
	tests := []struct{ name, kind, body, want string }{
		{"JSON", "application/json", `{"n":12345678901234567890,"f":1.50}`, `{"f":1.50,"n":12345678901234567890}`},
		{"JSON of a kind", "Application/Problem+JSON; charset=utf-8", `[1]`, `[1]`},
		{"JSON with a byte order mark", "application/json", "\xef\xbb\xbf[1]", `[1]`},
		{"JSON that is none", "application/json", `{"a":`, `"{\"a\":"`},
		{"two JSON values", "application/json", `1 2`, `"1 2"`},
		{"JSON nested too deeply", "application/json", strings.Repeat("[", 200) + strings.Repeat("]", 200), `"` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `"`},
		{"nothing", "application/json", ``, `""`},
		{"text", "text/plain", `{"a":1}`, `"{\"a\":1}"`},
		{"no type", "", "hi", `"hi"`},
		{"a broken type", "text/;;", "hi", `"hi"`},
		{"latin text", "text/plain; charset=ISO-8859-1", "caf\xe9", `"café"`},
		{"Western European", "text/plain; charset=windows-1252", "\x80 caf\xe9", `"€ café"`},
		{"Japanese", "text/html; charset=Shift_JIS", "\x93\xfa\x96\x7b", `"日本"`},
		{"Russian", "text/plain; charset=\"KOI8-R\"", "\xeb", `"К"`},
		{"Chinese", "application/xml; charset=gb2312", "<a>\xd6\xd0</a>", `"<a>中</a>"`},
		{"UTF-16", "text/plain; charset=utf-16", "\xff\xfea\x00\xe4\x00", `"aä"`},
		{"UTF-16 by its mark alone", "application/json", "\xfe\xff\x00[\x001\x00]", `[1]`},
		{"JSON in another charset", "application/json; charset=windows-1252", "{\"a\":\"\x80\"}", `{"a":"€"}`},
		{"HTML that says it", "text/html", "<meta charset=shift_jis>\x93\xfa", `"<meta charset=shift_jis>日"`},
		{"HTML that says it the old way", "text/html", "<meta http-equiv=Content-Type content='text/html; charset=euc-jp'>\xc6\xfc", `"<meta http-equiv=Content-Type content='text/html; charset=euc-jp'>日"`},
		{"HTML that says what it is not", "text/html", "<meta charset=iso-8859-1>ä", `"<meta charset=iso-8859-1>ä"`},
		{"HTML that says nothing", "text/html", "caf\xe9", `"café"`},
		{"XML that says it", "application/atom+xml", "<?xml version=\"1.0\" encoding=\"ISO-8859-15\"?><a>\xa4</a>", `"<?xml version=\"1.0\" encoding=\"ISO-8859-15\"?><a>€</a>"`},
		{"UTF-8 with a fault", "text/plain; charset=utf-8", "a\xff", `"a` + "\uFFFD" + `"`},
		{"text in an unknown charset", "text/plain; charset=klingon", "a\xff", `"a` + "\uFFFD" + `"`},
		{"text in a charset that is not decoded", "text/plain; charset=iso-2022-kr", "a\xff", `"a` + "\uFFFD" + `"`},
		{"bytes that say they are", "image/png; charset=binary", "\xff", `"/w=="`},
		{"bytes", "image/png", "\x89PNG\xff", `"iVBOR/8="`},
		{"bytes that claim to be JSON", "application/json", "\"\xff\"", `"Iv8i"`},
		{"controls", "text/plain", "a\x00b", `"a\u0000b"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s.answers(func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = []string{test.kind}
				w.Header()["Date"] = nil
				io.WriteString(w, test.body)
			})
			result, err := s.send(t, `{"url":"URL"}`)
			if err != nil {
				t.Fatal(err)
			}
			output := result.Output.(map[string]any)
			if got := asJSON(t, output["body"]); got != test.want {
				t.Errorf("got %s, want %v", got, test.want)
			}
			if _, encoded := output["bodyEncoding"]; encoded != (strings.HasPrefix(test.name, "bytes")) {
				t.Errorf("got %v", output)
			}
		})
	}
}

func TestAnswerHeaders(t *testing.T) {
	s := newSite(t, outbound.Options{})
	s.answers(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range map[string][]string{"X-One": {"1"}, "X-Two": {"a", "b"}, "Set-Cookie": {"a=b; Path=/"}, "X-Bytes": {"caf\xe9"}, "Date": nil, "Content-Type": {"text/plain"}} {
			w.Header()[name] = values
		}
		w.WriteHeader(201)
	})
	result, err := s.send(t, `{"url":"URL"}`)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"body":"","headers":{"content-length":"0","content-type":"text/plain","set-cookie":["a=b; Path=/"],"x-bytes":"caf` + "\uFFFD" + `","x-one":"1","x-two":"a, b"},"status":201}`
	if got := asJSON(t, result.Output); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestStatuses(t *testing.T) {
	s := newSite(t, outbound.Options{})
	tests := []struct {
		expect string
		status int
		ok     bool
	}{
		{``, 200, true}, {``, 204, true}, {``, 304, true}, {``, 400, false}, {``, 500, false}, {`null`, 200, true}, {`null`, 404, false},
		{`200`, 200, true}, {`200`, 201, false}, {`"201"`, 201, true}, {`"2xx"`, 299, true}, {`"2XX"`, 300, false}, {`"4xx"`, 404, true}, {`"4xx"`, 200, false},
		{`[200,"4xx"]`, 404, true}, {`[200,"4xx"]`, 200, true}, {`[200,"4xx"]`, 201, false}, {`"{{= n + 500}}"`, 503, true}, {`["{{= n + 500}}"]`, 500, false}, {`2.0e2`, 200, true},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.expect, " ", test.status), func(t *testing.T) {
			s.answers(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(test.status)
			})
			config := `{"url":"URL/secret?token=secret"}`
			if test.expect != "" {
				config = `{"url":"URL/secret?token=secret","expectStatus":` + test.expect + `}`
			}
			result, err := s.send(t, config)
			var failure *blueprint.Failure
			switch {
			case test.ok && err != nil:
				t.Errorf("%s, %d: %v", test.expect, test.status, err)
			case test.ok:
			case !errors.As(err, &failure) || failure.Code != codeStatus || failure.Permanent || failure.NotSent || failure.RetryAfter != 7*time.Second || strings.Contains(failure.Message, "secret"):
				t.Errorf("%s, %d: %+v", test.expect, test.status, err)
			}
			if len(result.Calls) != 1 || result.Calls[0].Status != test.status {
				t.Errorf("%s, %d: calls %+v", test.expect, test.status, result.Calls)
			}
		})
	}
	s.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) })
	_, err := s.send(t, `{"url":"URL","expectStatus":[200,"3xx"]}`)
	if want := strings.TrimPrefix(s.URL, "http://") + " answered 503 Service Unavailable; expected 200, 300-399 (to accept it, add it to expectStatus)"; err.Error() != want {
		t.Errorf("got %v, want %v", err, want)
	}
}
