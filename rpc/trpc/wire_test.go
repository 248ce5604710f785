package trpc

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

const (
	withKey  = "\nAuthorization: Bearer good"
	withJSON = "\nContent-Type: application/json"
)

func TestSingleCalls(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.MaxBody = 2000 })
	escape := url.QueryEscape
	defaults := wireData(`{"page":1,"limit":20}`)
	missing := func(name string) string {
		return wireError(`No procedure found on path "`+name+`"`, blueprint.CodeNotFound, "-"+name)
	}
	wrongMethod := func(method, kind, name string) string {
		return wireError("Unsupported "+method+"-request to "+kind+` procedure at path "`+name+`"`, blueprint.CodeMethodNotSupported, name)
	}
	noKey := func(name string) string {
		return wireError("API key missing: send the header Authorization: Bearer KEY", blueprint.CodeUnauthorized, name)
	}
	noType := wireError("Missing content-type header", blueprint.CodeUnsupportedMedia, "")
	badType := func(kind string) string {
		return wireError(`Unsupported content-type "`+kind, blueprint.CodeUnsupportedMedia, "")
	}
	invalid := func(name, message, issues string) string {
		whole := wireError(message, blueprint.CodeBadRequest, name)
		return strings.TrimSuffix(whole, "}}}}") + `,"issues":[` + issues + `]}}}}`
	}
	titleMissing := invalid("test.create", "title: required", `{"path":["title"],"message":"required"}`)
	notNull := wireError(`input: must be an object with the key "json", not null`, blueprint.CodeBadRequest, "test.list")
	ended := func(name string) string { return wireError("JSON ends unexpectedly", blueprint.CodeBadRequest, name) }
	notText := func(name string) string {
		return wireError("input: the text is not valid UTF-8", blueprint.CodeBadRequest, name)
	}

	for _, test := range []struct {
		name, head, body string
		status           int
		want             string
	}{
		// The input of a GET.
		{"no input", "GET /api/trpc/test.list" + withKey, "", 200, defaults},
		{"empty input", "GET /api/trpc/test.list?input=" + withKey, "", 200, defaults},
		{"an input", "GET /api/trpc/test.list?input=" + escape(`{"json":{"page":3,"limit":100}}`) + withKey, "", 200, wireData(`{"page":3,"limit":100}`)},
		{"unescaped", `GET /api/trpc/test.list?input={"json":{"page":3}}` + withKey, "", 200, wireData(`{"page":3,"limit":20}`)},
		{"no json key", "GET /api/trpc/test.list?input=" + escape(`{"page":3}`) + withKey, "", 200, defaults},
		{"JSON is another key", "GET /api/trpc/test.list?input=" + escape(`{"JSON":{"page":3}}`) + withKey, "", 200, defaults},
		{"an array", "GET /api/trpc/test.list?input=[]" + withKey, "", 200, defaults},
		{"a number", "GET /api/trpc/test.list?input=5" + withKey, "", 200, defaults},
		{"a string", "GET /api/trpc/test.list?input=%22json%22" + withKey, "", 200, defaults},
		{"null", "GET /api/trpc/test.list?input=null" + withKey, "", 400, notNull},
		{"json null", "GET /api/trpc/test.list?input=" + escape(`{"json":null}`) + withKey, "", 400,
			invalid("test.list", "input: must be an object", `{"path":[],"message":"must be an object"}`)},
		{"json array", "GET /api/trpc/test.list?input=" + escape(`{"json":[]}`) + withKey, "", 400,
			invalid("test.list", "input: must be an object", `{"path":[],"message":"must be an object"}`)},
		{"extra keys", "GET /api/trpc/test.echo?x=1&input=" + escape(`{"json":7,"foo":8}`) + "&y" + withKey, "", 200, wireData(`7`)},
		{"first input wins", "GET /api/trpc/test.echo?input=" + escape(`{"json":1}`) + "&input=" + escape(`{"json":2}`) + withKey, "", 200, wireData(`1`)},
		{"Input is another name", "GET /api/trpc/test.echo?Input=" + escape(`{"json":1}`) + withKey, "", 200, wireData(`null`)},
		{"escaped name", "GET /api/trpc/test.echo?inpu%74=" + escape(`{"json":1}`) + withKey, "", 200, wireData(`1`)},
		{"plus is a space", `GET /api/trpc/test.echo?input={"json":"a+b"}` + withKey, "", 200, wireData(`"a b"`)},
		{"raw semicolon", `GET /api/trpc/test.echo?input={"json":"a;b"}` + withKey, "", 200, wireData(`"a;b"`)},
		{"broken escape kept", `GET /api/trpc/test.echo?input={"json":"%zz%4"}` + withKey, "", 200, wireData(`"%zz%4"`)},
		{"broken escape alone", "GET /api/trpc/test.echo?input=%zz" + withKey, "", 400,
			wireError("JSON is malformed: invalid character '%' looking for beginning of value", blueprint.CodeBadRequest, "test.echo")},
		{"cut short", "GET /api/trpc/test.list?input=" + escape(`{"json":`) + withKey, "", 400, ended("test.list")},
		{"cut short, no key", "GET /api/trpc/test.list?input=" + escape(`{"json":`), "", 401, noKey("test.list")},
		{"trailing text", "GET /api/trpc/test.list?input=" + escape(`{"json":{}} x`) + withKey, "", 400,
			wireError("JSON is followed by more text", blueprint.CodeBadRequest, "test.list")},
		{"white space around", "GET /api/trpc/test.echo?input=" + escape(" {\"json\":1}\n") + withKey, "", 200, wireData(`1`)},
		{"not UTF-8", `GET /api/trpc/test.echo?input={"json":"%FF"}` + withKey, "", 400, notText("test.echo")},
		{"body ignored", "GET /api/trpc/test.list" + withKey, `{"json":{"page":9}}`, 200, defaults},
		{"digits kept", "GET /api/trpc/test.echo?input=" + escape(`{"json":[12345678901234567890,1.50,1e2]}`) + withKey, "", 200, wireData(`[12345678901234567890,1.50,1e2]`)},
		{"nothing escaped", "GET /api/trpc/test.echo?input=" + escape("{\"json\":\"<&>\u007f\u00e9\\u0000\\b\\f\"}") + withKey, "", 200, wireData("\"<&>\u007f\u00e9\\u0000\\b\\f\"")},
		{"depth 128", "GET /api/trpc/test.nothing?input=" + escape(`{"json":{"a":`+strings.Repeat("[", 126)+strings.Repeat("]", 126)+`}}`) + withKey, "", 200, wireData(`{}`)},
		{"depth 129", "GET /api/trpc/test.nothing?input=" + escape(`{"json":{"a":`+strings.Repeat("[", 127)+strings.Repeat("]", 127)+`}}`) + withKey, "", 400,
			wireError("JSON is nested deeper than 128 levels", blueprint.CodeBadRequest, "test.nothing")},

		// The input of a POST.
		{"a body", "POST /api/trpc/test.create" + withKey + withJSON, `{"json":{"title":"x","tags":[]}}`, 200, wireData(`{"title":"x","description":null,"tags":[]}`)},
		{"unknown keys ignored", "POST /api/trpc/test.create" + withKey + withJSON, `{"json":{"title":"x","Title":"y","zz":1}}`, 200, wireData(`{"title":"x","description":null,"tags":null}`)},
		{"last key wins", "POST /api/trpc/test.store" + withKey + withJSON, `{"json":{"a":1},"json":{"a":2,"a":3}}`, 200, wireData(`{"a":3}`)},
		{"empty body", "POST /api/trpc/test.create" + withKey + withJSON, "", 400, titleMissing},
		{"query ignored", "POST /api/trpc/test.create?input=" + escape(`{"json":{"title":"x"}}`) + withKey + withJSON, "", 400, titleMissing},
		{"no envelope", "POST /api/trpc/test.create" + withKey + withJSON, `{"title":"x"}`, 400,
			invalid("test.create", `title: required; put the input in an object with the key "json"`, `{"path":["title"],"message":"required"}`)},
		{"null body", "POST /api/trpc/test.store" + withKey + withJSON, `null`, 400,
			wireError(`input: must be an object with the key "json", not null`, blueprint.CodeBadRequest, "test.store")},
		{"byte order mark", "POST /api/trpc/test.store" + withKey + withJSON, "\uFEFF{\"json\":1}", 200, wireData(`1`)},
		{"only a byte order mark", "POST /api/trpc/test.store" + withKey + withJSON, "\uFEFF", 200, wireData(`null`)},
		{"only white space", "POST /api/trpc/test.store" + withKey + withJSON, "  ", 400, ended("test.store")},
		{"body not UTF-8", "POST /api/trpc/test.store" + withKey + withJSON, "{\"json\":\"\xff\"}", 400, notText("test.store")},
		{"body not UTF-8, no key", "POST /api/trpc/test.store" + withJSON, "{\"json\":\"\xff\"}", 401, noKey("test.store")},
		{"body at the limit", "POST /api/trpc/test.store" + withKey + withJSON, `{"json":1` + strings.Repeat(" ", 1990) + "}", 200, wireData(`1`)},
		{"body past the limit", "POST /api/trpc/test.store" + withKey + withJSON, `{"json":1` + strings.Repeat(" ", 1991) + "}", 413,
			wireError("PAYLOAD_TOO_LARGE", blueprint.CodePayloadTooLarge, "test.store")},
		{"body past the limit, no key", "POST /api/trpc/test.store" + withJSON, strings.Repeat(" ", 3000), 401, noKey("test.store")},
		{"undefined field", "POST /api/trpc/test.create" + withKey + withJSON,
			`{"json":{"title":"x","description":null},"meta":{"values":{"description":["undefined"]},"v":1}}`, 200, wireData(`{"title":"x","description":null,"tags":null}`)},
		{"null field", "POST /api/trpc/test.create" + withKey + withJSON, `{"json":{"title":"x","description":null}}`, 200, wireData(`{"title":"x","description":null,"tags":null}`)},
		{"null for a required field", "POST /api/trpc/test.create" + withKey + withJSON, `{"json":{"title":null}}`, 400,
			invalid("test.create", "title: must be a string", `{"path":["title"],"message":"must be a string"}`)},
		{"date for a string", "POST /api/trpc/test.create" + withKey + withJSON,
			`{"json":{"title":"2020-01-01T00:00:00.000Z"},"meta":{"values":{"title":["Date"]},"v":1}}`, 400,
			invalid("test.create", "title: must be a string", `{"path":["title"],"message":"must be a string"}`)},
		{"every fault", "POST /api/trpc/test.create" + withKey + withJSON, `{"json":{"tags":["a",1],"owner":"me","map":[]}}`, 400,
			invalid("test.create", "title: required; tags[1]: must be a string; owner: must be a UUID; map: must be an object",
				`{"path":["title"],"message":"required"},{"path":["tags",1],"message":"must be a string"},{"path":["owner"],"message":"must be a UUID"},{"path":["map"],"message":"must be an object"}`)},

		// Content types.
		{"charset", "POST /api/trpc/test.store" + withKey + "\nContent-Type: application/json; charset=utf-8", `{"json":1}`, 200, wireData(`1`)},
		{"letter case", "POST /api/trpc/test.store" + withKey + "\nContent-Type: Application/JSON ;x", `{"json":1}`, 200, wireData(`1`)},
		{"none", "POST /api/trpc/test.store" + withKey, `{"json":1}`, 415, noType},
		{"none, no such procedure", "POST /api/trpc/nope", `{"json":1}`, 415, noType},
		{"empty", "POST /api/trpc/test.store" + withKey + "\nContent-Type:", `{"json":1}`, 415, badType("")},
		{"text", "POST /api/trpc/test.store" + withKey + "\nContent-Type: text/plain", `{"json":1}`, 415, badType("text/plain")},
		{"json with a suffix", "POST /api/trpc/test.store" + withKey + "\nContent-Type: application/jsonx", `{"json":1}`, 415, badType("application/jsonx")},
		{"vendor", "POST /api/trpc/test.store" + withKey + "\nContent-Type: application/vnd.api+json", `{"json":1}`, 415, badType("application/vnd.api+json")},
		{"a form", "POST /api/trpc/test.create" + withKey + "\nContent-Type: multipart/form-data; boundary=q", "--q--", 400, titleMissing},
		{"bytes", "POST /api/trpc/test.create" + withKey + "\nContent-Type: application/octet-stream", "abc", 400, titleMissing},
		{"bytes to a subscription", "POST /api/trpc/test.watch" + withKey + "\nContent-Type: application/octet-stream", "abc", 405, wrongMethod("POST", "subscription", "test.watch")},
		{"GET with text", "GET /api/trpc/test.list" + withKey + "\nContent-Type: text/plain", "", 200, defaults},
		{"GET with a form", "GET /api/trpc/test.list" + withKey + "\nContent-Type: multipart/form-data", "", 405,
			wireError("Only POST requests are supported for multipart/form-data requests", blueprint.CodeMethodNotSupported, "")},

		// Paths.
		{"unknown", "GET /api/trpc/test.nope" + withKey, "", 404, missing("test.nope")},
		{"unknown, no key", "GET /api/trpc/test.nope", "", 404, missing("test.nope")},
		{"a part", "GET /api/trpc/test", "", 404, missing("test")},
		{"too much", "GET /api/trpc/test.list.x", "", 404, missing("test.list.x")},
		{"other case", "GET /api/trpc/Test.List", "", 404, missing("Test.List")},
		{"the root", "GET /api/trpc", "", 404, missing("")},
		{"the root, slash", "GET /api/trpc/", "", 404, missing("")},
		{"trailing slash", "GET /api/trpc/test.list/" + withKey, "", 200, defaults},
		{"slash in front", "GET /api/trpc//test.list" + withKey, "", 404, missing("/test.list")},
		{"slash between", "GET /api/trpc/test/list" + withKey, "", 404, missing("test/list")},
		{"dots", "GET /api/trpc/../test.list" + withKey, "", 404, missing("../test.list")},
		{"escaped dot", "GET /api/trpc/test%2Elist" + withKey, "", 200, defaults},
		{"escaped slash", "GET /api/trpc/test.list%2F" + withKey, "", 404, missing("test.list/")},
		{"comma without batch", "GET /api/trpc/test.list,test.list" + withKey, "", 404, missing("test.list,test.list")},
		{"markup", "GET /api/trpc/%3Cscript%3E", "", 404, missing("<script>")},
		{"not UTF-8 in the path", "GET /api/trpc/test.list%FF" + withKey, "", 400, wireError(`Invalid URL-encoding in path "test.list%FF"`, blueprint.CodeBadRequest, "")},
		{"path before content type", "POST /api/trpc/test.list%FF" + withKey, "", 400, wireError(`Invalid URL-encoding in path "test.list%FF"`, blueprint.CodeBadRequest, "")},

		// Methods.
		{"query by POST", "POST /api/trpc/test.list" + withJSON, `{}`, 405, wrongMethod("POST", "query", "test.list")},
		{"mutation by GET", "GET /api/trpc/test.create", "", 405, wrongMethod("GET", "mutation", "test.create")},
		{"PUT", "PUT /api/trpc/test.create" + withKey + withJSON, `{}`, 405, wrongMethod("PUT", "mutation", "test.create")},
		{"DELETE", "DELETE /api/trpc/test.create" + withKey, "", 415, noType},
		{"OPTIONS", "OPTIONS /api/trpc/test.create", "", 415, noType},
		{"HEAD", "HEAD /api/trpc/nope", "", 204, ""},

		// Keys.
		{"no key", "GET /api/trpc/test.list", "", 401, noKey("test.list")},
		{"another scheme", "GET /api/trpc/test.list\nAuthorization: Basic good", "", 401, noKey("test.list")},
		{"unknown key", "GET /api/trpc/test.list\nAuthorization: Bearer bad", "", 401, wireError("API key unknown or revoked", blueprint.CodeUnauthorized, "test.list")},
		{"scheme in another case", "GET /api/trpc/test.list\nAuthorization: bearer  good ", "", 200, defaults},
		{"key store down", "GET /api/trpc/test.list\nAuthorization: Bearer broken", "", 500, wireError("internal error", blueprint.CodeInternal, "test.list")},
		{"key in the address", "GET /api/trpc/test.list?connectionParams=" + escape(`{"authorization":"Bearer good"}`), "", 401, noKey("test.list")},
		{"public", "GET /api/trpc/test.open", "", 200, wireData(`"hi"`)},
		{"public with a key", "GET /api/trpc/test.open" + withKey, "", 200, wireData(`"hi"`)},
		{"caller", "GET /api/trpc/test.whoami" + withKey, "", 200, wireData(`{"key":"key-1","user":"user-1","via":"api"}`)},

		// What procedures say.
		{"own issues", "GET /api/trpc/test.cross" + withKey, "", 400, invalid("test.cross", "range[1].end: ends before it starts; input: too small",
			`{"path":["range",1,"end"],"message":"ends before it starts"},{"path":[],"message":"too small"}`)},
		{"broken", "GET /api/trpc/test.break" + withKey, "", 500, wireError("internal error", blueprint.CodeInternal, "test.break")},
		{"panic", "GET /api/trpc/test.panic" + withKey, "", 500, wireError("internal error", blueprint.CodeInternal, "test.panic")},
		{"not JSON", "GET /api/trpc/test.unencodable" + withKey, "", 500, wireError("internal error", blueprint.CodeInternal, "test.unencodable")},

		// Connection parameters.
		{"not JSON", "GET /api/trpc/test.list?connectionParams=zz" + withKey, "", 400, wireError("Not JSON-parsable query params", blueprint.CodeParse, "")},
		{"not an object", "GET /api/trpc/nope?connectionParams=5" + withKey, "", 400, wireError("Invalid connection params shape", blueprint.CodeParse, "")},
		{"not strings", "GET /api/trpc/nope?connectionParams=" + escape(`{"a":1}`) + withKey, "", 400, wireError("Invalid connection params shape", blueprint.CodeParse, "")},
		{"null parameters", "GET /api/trpc/test.list?connectionParams=null" + withKey, "", 200, defaults},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := s.raw(t, test.head, test.body)
			if got.status != test.status || got.body != test.want {
				t.Errorf("got  %d %s\nwant %d %s", got.status, got.body, test.status, test.want)
			}
			if test.status == http.StatusNoContent {
				return
			}
			if kind := got.header.Get("Content-Type"); kind != "application/json" {
				t.Errorf("Content-Type %q, want application/json", kind)
			}
			if length := got.header.Get("Content-Length"); length != strconv.Itoa(len(test.want)) {
				t.Errorf("Content-Length %s for %d bytes", length, len(test.want))
			}
			if vary := got.header.Get("Vary"); vary != "trpc-accept, accept" {
				t.Errorf("Vary %q, want trpc-accept, accept", vary)
			}
		})
	}
}

func TestErrorCodes(t *testing.T) {
	s := newTestServer(t, nil)
	for _, code := range []blueprint.Code{
		blueprint.CodeParse, blueprint.CodeBadRequest, blueprint.CodeUnauthorized, blueprint.CodeForbidden, blueprint.CodeNotFound,
		blueprint.CodeMethodNotSupported, blueprint.CodeTimeout, blueprint.CodeConflict, blueprint.CodePayloadTooLarge,
		blueprint.CodeUnsupportedMedia, blueprint.CodeTooManyRequests, blueprint.CodeClientClosed, blueprint.CodeUnavailable,
	} {
		head := "GET /api/trpc/test.fail?input=" + url.QueryEscape(`{"json":{"code":"`+string(code)+`","message":"told"}}`) + withKey
		if got := s.raw(t, head, ""); got.status != code.HTTPStatus() || got.body != wireError("told", code, "test.fail") {
			t.Errorf("%s: got %d %s", code, got.status, got.body)
		}
		head = strings.Replace(head, "told", "", 1)
		if got := s.raw(t, head, ""); got.body != wireError(string(code), code, "test.fail") {
			t.Errorf("%s without a message: got %s", code, got.body)
		}
	}
	for _, code := range []string{"INTERNAL_SERVER_ERROR", "MADE_UP"} {
		head := "GET /api/trpc/test.fail?input=" + url.QueryEscape(`{"json":{"code":"`+code+`","message":"told"}}`) + withKey
		if got := s.raw(t, head, ""); got.status != 500 || got.body != wireError("internal error", blueprint.CodeInternal, "test.fail") {
			t.Errorf("%s: got %d %s", code, got.status, got.body)
		}
	}
}

func TestAnswerHeaders(t *testing.T) {
	s := newTestServer(t, nil)
	fail := func(code, ms string) string {
		return "GET /api/trpc/test.fail?input=" + url.QueryEscape(`{"json":{"code":"`+code+`","message":"m","retryMs":`+ms+`}}`) + withKey
	}
	for _, test := range []struct{ name, head, header, want string }{
		{"allow for a query", "POST /api/trpc/test.list" + withJSON, "Allow", "GET"},
		{"allow for a mutation", "GET /api/trpc/test.create", "Allow", "POST"},
		{"allow for a subscription", "POST /api/trpc/test.watch" + withJSON, "Allow", "GET"},
		{"no allow elsewhere", "GET /api/trpc/test.list" + withKey, "Allow", ""},
		{"retry rounded up", fail("SERVICE_UNAVAILABLE", "1200"), "Retry-After", "2"},
		{"retry at least a second", fail("TOO_MANY_REQUESTS", "0"), "Retry-After", "1"},
		{"no retry elsewhere", fail("CONFLICT", "1200"), "Retry-After", ""},
		{"a procedure's own", "POST /api/trpc/test.login" + withJSON, "Set-Cookie", "session=1"},
		{"no challenge", "GET /api/trpc/test.list", "Www-Authenticate", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := s.raw(t, test.head, "").header.Get(test.header); got != test.want {
				t.Errorf("%s is %q, want %q", test.header, got, test.want)
			}
		})
	}
}

func TestInternalErrorsAreLoggedOnce(t *testing.T) {
	s := newTestServer(t, nil)
	for _, test := range []struct{ procedure, secret string }{
		{"test.break", "table blueprints is locked"},
		{"test.panic", "nil map of secrets"},
		{"test.unencodable", "unsupported type"},
	} {
		t.Run(test.procedure, func(t *testing.T) {
			s.raw(t, "GET /api/trpc/"+test.procedure+withKey, "")
			var lines []string
			for line := range strings.Lines(s.logs.String()) {
				if strings.Contains(line, "procedure="+test.procedure) {
					lines = append(lines, line)
				}
			}
			if len(lines) != 1 || !strings.Contains(lines[0], test.secret) || !strings.Contains(lines[0], "requestId=r") || !strings.Contains(lines[0], "level=ERROR") {
				t.Errorf("logged %q, want length 1, %q in it, \"requestId=r\" in it and \"level=ERROR\" in it", lines, test.secret)
			}
		})
	}
	before := s.logs.String()
	s.raw(t, "GET /api/trpc/test.list", "")
	s.raw(t, "GET /api/trpc/test.fail?input="+url.QueryEscape(`{"json":{"code":"NOT_FOUND"}}`)+withKey, "")
	if s.logs.String() != before {
		t.Errorf("a refusal was logged: %s, want %v", s.logs.String()[len(before):], before)
	}
}
