package trpc

import (
	"net/url"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

func TestBatches(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.MaxBody, o.MaxBatch = 2000, 4 })
	escape := url.QueryEscape
	defaults := wireData(`{"page":1,"limit":20}`)
	refused := func(message string) string { return wireError(message, blueprint.CodeBadRequest, "") }
	noKey := func(name string) string {
		return wireError("API key missing: send the header Authorization: Bearer KEY", blueprint.CodeUnauthorized, name)
	}
	missing := func(name string) string {
		return wireError(`No procedure found on path "`+name+`"`, blueprint.CodeNotFound, "-"+name)
	}
	fail := func(code blueprint.Code) string { return `{"json":{"code":"` + string(code) + `"}}` }
	failed := func(code blueprint.Code) string { return wireError(string(code), code, "test.fail") }
	noObject := wireError(`"input" needs to be an object when doing a batch call`, blueprint.CodeBadRequest, "test.list")
	tooLarge := wireError("PAYLOAD_TOO_LARGE", blueprint.CodePayloadTooLarge, "test.store")
	notBatched := wireError("Cannot batch subscription calls", blueprint.CodeBadRequest, "test.watch")

	for _, test := range []struct {
		name, head, body string
		status           int
		want             string
	}{
		{"two", "GET /api/trpc/test.list,test.echo?batch=1&input=" + escape(`{"0":{"json":{"page":2}},"1":{"json":"x"}}`) + withKey, "", 200,
			"[" + wireData(`{"page":2,"limit":20}`) + "," + wireData(`"x"`) + "]"},
		{"one", "GET /api/trpc/test.list?batch=1" + withKey, "", 200, "[" + defaults + "]"},
		{"escaped comma", "GET /api/trpc/test.list%2Ctest.list?batch=1" + withKey, "", 200, "[" + defaults + "," + defaults + "]"},
		{"mutations", "POST /api/trpc/test.store,test.store?batch=1" + withKey + withJSON, `{"0":{"json":1},"1":{"json":2}}`, 200, "[" + wireData(`1`) + "," + wireData(`2`) + "]"},
		{"missing and extra index", "GET /api/trpc/test.echo,test.echo?batch=1&input=" + escape(`{"1":{"json":1},"7":{"json":2}}`) + withKey, "", 200,
			"[" + wireData(`null`) + "," + wireData(`1`) + "]"},
		{"one fails", "GET /api/trpc/test.list,test.fail?batch=1&input=" + escape(`{"1":`+fail("NOT_FOUND")+`}`) + withKey, "", 207, "[" + defaults + "," + failed("NOT_FOUND") + "]"},
		{"all fail alike", "GET /api/trpc/test.fail,test.fail?batch=1&input=" + escape(`{"0":`+fail("NOT_FOUND")+`,"1":`+fail("NOT_FOUND")+`}`) + withKey, "", 404,
			"[" + failed("NOT_FOUND") + "," + failed("NOT_FOUND") + "]"},
		{"all fail, each its way", "GET /api/trpc/test.fail,test.fail?batch=1&input=" + escape(`{"0":`+fail("NOT_FOUND")+`,"1":`+fail("FORBIDDEN")+`}`) + withKey, "", 207,
			"[" + failed("NOT_FOUND") + "," + failed("FORBIDDEN") + "]"},
		{"unknown member", "GET /api/trpc/test.nope,test.list?batch=1" + withKey, "", 207, "[" + missing("test.nope") + "," + defaults + "]"},
		{"unknown and a mutation by GET", "GET /api/trpc/test.nope,test.store?batch=1", "", 207, "[" + missing("test.nope") + "," +
			wireError(`Unsupported GET-request to mutation procedure at path "test.store"`, blueprint.CodeMethodNotSupported, "test.store") + "]"},
		{"trailing comma", "GET /api/trpc/test.list,?batch=1" + withKey, "", 207, "[" + defaults + "," + missing("") + "]"},
		{"nothing at all", "GET /api/trpc?batch=1" + withKey, "", 404, "[" + missing("") + "]"},
		{"no key", "GET /api/trpc/test.list,test.echo?batch=1", "", 401, "[" + noKey("test.list") + "," + noKey("test.echo") + "]"},
		{"no key, one public", "GET /api/trpc/test.open,test.echo?batch=1", "", 207, "[" + wireData(`"hi"`) + "," + noKey("test.echo") + "]"},
		{"cut short", "GET /api/trpc/test.list,test.echo?batch=1&input=" + escape(`{"0":`) + withKey, "", 400,
			"[" + wireError("JSON ends unexpectedly", blueprint.CodeBadRequest, "test.list") + "," + wireError("JSON ends unexpectedly", blueprint.CodeBadRequest, "test.echo") + "]"},
		{"one panics", "GET /api/trpc/test.abort,test.list?batch=1" + withKey, "", 207,
			"[" + wireError("internal error", blueprint.CodeInternal, "test.abort") + "," + defaults + "]"},
		{"an array", "GET /api/trpc/test.list?batch=1&input=[]" + withKey, "", 400, "[" + noObject + "]"},
		{"null", "GET /api/trpc/test.list?batch=1&input=null" + withKey, "", 400, "[" + noObject + "]"},
		{"a null member", "GET /api/trpc/test.list,test.list?batch=1&input=" + escape(`{"0":null}`) + withKey, "", 207,
			"[" + wireError(`input: must be an object with the key "json", not null`, blueprint.CodeBadRequest, "test.list") + "," + defaults + "]"},
		{"empty body", "POST /api/trpc/test.store?batch=1" + withKey + withJSON, "", 200, "[" + wireData(`null`) + "]"},
		{"body too large", "POST /api/trpc/test.store,test.store?batch=1" + withKey + withJSON, strings.Repeat(" ", 2001), 413, "[" + tooLarge + "," + tooLarge + "]"},
		{"queries by POST", "POST /api/trpc/test.list?batch=1" + withKey + withJSON, "{}", 405,
			"[" + wireError(`Unsupported POST-request to query procedure at path "test.list"`, blueprint.CodeMethodNotSupported, "test.list") + "]"},
		{"subscriptions", "GET /api/trpc/test.watch,test.watch?batch=1" + withKey, "", 400, "[" + notBatched + "," + notBatched + "]"},

		{"mixed", "GET /api/trpc/test.store,test.list,test.store?batch=1" + withKey, "", 400, refused("Cannot mix procedure types in call: mutation, query")},
		{"as many as may be", "GET /api/trpc/test.open,test.open,test.open,test.open?batch=1", "", 200, "[" + strings.Repeat(wireData(`"hi"`)+",", 3) + wireData(`"hi"`) + "]"},
		{"one too many", "GET /api/trpc/test.open,test.open,test.open,test.open,nope?batch=1", "", 400, refused("Batch call exceeds maximum size")},
		{"no content type", "POST /api/trpc/test.store?batch=1" + withKey, "{}", 415, wireError("Missing content-type header", blueprint.CodeUnsupportedMedia, "")},

		{"batch=true is none", "GET /api/trpc/test.list?batch=true" + withKey, "", 200, defaults},
		{"the first batch counts", "GET /api/trpc/test.list?batch=0&batch=1" + withKey, "", 200, defaults},
		{"a form is no batch", "POST /api/trpc/test.store,test.store?batch=1" + withKey + "\nContent-Type: multipart/form-data", "x", 404, missing("test.store,test.store")},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := s.raw(t, test.head, test.body)
			if got.status != test.status || got.body != test.want {
				t.Errorf("got  %d %s\nwant %d %s", got.status, got.body, test.status, test.want)
			}
			if kind := got.header.Get("Content-Type"); kind != "application/json" {
				t.Errorf("Content-Type %q, want application/json", kind)
			}
		})
	}
}

// The calls of a batch overlap: each call here ends only after all have begun.
func TestBatchRunsAtOnce(t *testing.T) {
	s := newTestServer(t, nil)
	go func() {
		for range 2 {
			<-s.entered
		}
		close(s.gates["a"])
		close(s.gates["b"])
	}()
	got := s.raw(t, "GET /api/trpc/test.gate,test.gate?batch=1&input="+url.QueryEscape(`{"0":{"json":{"name":"a"}},"1":{"json":{"name":"b"}}}`)+withKey, "")
	if want := "[" + wireData(`"a"`) + "," + wireData(`"b"`) + "]"; got.body != want {
		t.Errorf("got %s, want %s", got.body, want)
	}
}

func TestBatchHeaders(t *testing.T) {
	s := newTestServer(t, nil)
	input := url.QueryEscape(`{"0":{"json":{"code":"SERVICE_UNAVAILABLE","retryMs":3500}},"1":{"json":{"code":"TOO_MANY_REQUESTS","retryMs":500}},"2":{"json":{"code":"CONFLICT"}}}`)
	got := s.raw(t, "GET /api/trpc/test.fail,test.fail,test.fail?batch=1&input="+input+withKey, "")
	if wait := got.header.Get("Retry-After"); got.status != 207 || wait != "4" {
		t.Errorf("status %d, Retry-After %q; want 207 and 4", got.status, wait)
	}
	got = s.raw(t, "POST /api/trpc/test.login,test.login?batch=1"+withJSON, "{}")
	if cookies := got.header.Values("Set-Cookie"); len(cookies) != 2 {
		t.Errorf("cookies %q, want length 2", cookies)
	}
}
