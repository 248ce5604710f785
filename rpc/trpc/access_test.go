package trpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// scopedKeys accepts keys named by their scopes, and counts its calls.
type scopedKeys struct{ calls atomic.Int64 }

func (k *scopedKeys) Authenticate(_ context.Context, token string) (blueprint.Admission, error) {
	k.calls.Add(1)
	scopes, _, ok := blueprint.ParseScopes(token)
	if !ok {
		return blueprint.Admission{Scopes: blueprint.AllScopes()}, blueprint.Errorf(blueprint.CodeUnauthorized, "unknown key")
	}
	return blueprint.Admission{Principal: blueprint.Principal{UserID: "u", KeyID: token}, Scopes: scopes}, nil
}

// Each call of a batch needs its own scope. A key is looked up only for calls that need
// one.
func TestScopes(t *testing.T) {
	keys := &scopedKeys{}
	var ran []string
	var mu sync.Mutex // over ran: calls of a batch run at once
	run := func(name string) func(context.Context, *Caller, struct{}) (string, error) {
		return func(_ context.Context, caller *Caller, _ struct{}) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			ran = append(ran, name+" as "+caller.KeyID)
			return "", nil
		}
	}
	s := newTestServer(t, nil)
	s.handler = NewHandler([]Procedure{
		Query("x.read", blueprint.ScopeRead, run("x.read")), Query("x.run", blueprint.ScopeRun, run("x.run")), Query("x.write", blueprint.ScopeWrite, run("x.write")),
		Query("x.admin", blueprint.ScopeAdmin, run("x.admin")), Query("x.odd", "owner", run("x.odd")), Public(Query("x.open", blueprint.ScopeAdmin, run("x.open"))),
	}, Options{Authenticator: keys})
	s.Config.Handler = s.handler
	for name, test := range map[string]struct {
		key, call string
		status    int
		ran       []string
		keyed     bool
	}{
		"read":                       {"read", "x.read", 200, []string{"x.read as read"}, true},
		"read may not run":           {"read", "x.run", 403, nil, true},
		"read may not write":         {"read", "x.write", 403, nil, true},
		"run may read":               {"run", "x.read", 200, []string{"x.read as run"}, true},
		"run may not write":          {"run", "x.write", 403, nil, true},
		"write may not run":          {"write", "x.run", 403, nil, true},
		"write may not administrate": {"run,write", "x.admin", 403, nil, true},
		"admin may write":            {"admin", "x.write", 200, []string{"x.write as admin"}, true},
		"unknown scope":              {"admin", "x.odd", 403, nil, true},
		"unknown key":                {"?", "x.read", 401, nil, true},
		"no key":                     {"", "x.read", 401, nil, false},
		"public without a key":       {"", "x.open", 200, []string{"x.open as "}, false},
		"public with a key":          {"admin", "x.open", 200, []string{"x.open as "}, false}, // the key is not looked up: it may be an old one
		"batch of one scope":         {"read", "x.read,x.read?batch=1", 200, []string{"x.read as read", "x.read as read"}, true},
		"batch of several scopes":    {"read", "x.read,x.write?batch=1", 207, []string{"x.read as read"}, true},
		"batch with a public call":   {"?", "x.open,x.read?batch=1", 207, []string{"x.open as "}, true},
		"unknown procedure":          {"admin", "x.none", 404, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			ran = nil
			keys.calls.Store(0)
			head := "GET /api/trpc/" + test.call
			if test.key != "" {
				head += "\nAuthorization: Bearer " + test.key
			}
			answer := s.raw(t, head, "")
			if answer.status != test.status {
				t.Errorf("got %d %s, want %d", answer.status, answer.body, test.status)
			}
			if diff := cmp.Diff(test.ran, ran); diff != "" {
				t.Errorf("what ran (-want +got):\n%s", diff)
			}
			if lookups := keys.calls.Load(); (lookups > 0) != test.keyed {
				t.Errorf("keys were looked up %d times; want some: %v", lookups, test.keyed)
			}
		})
	}
}

// A plain route requires its scope; AuthenticatedUnlimited takes nothing from the rate limit.
func TestScopesOfPlainRoutes(t *testing.T) {
	h := NewHandler(nil, Options{Authenticator: &scopedKeys{}, Limiter: NewLimiter(newYear(), 1, 1)})
	route := func(w http.ResponseWriter, _ *http.Request, _ *Caller) error {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	limited, unlimited := h.Authenticated(blueprint.ScopeRun, route), h.AuthenticatedUnlimited(blueprint.ScopeRun, route)
	for _, test := range []struct {
		name, key string
		handler   http.Handler
		want      int
	}{
		{"unknown key", "?", limited, 401},
		{"other scope", "read", unlimited, 403},
		{"other scope, limited", "write", limited, 403},
		{"its scope", "run", limited, 204},
		{"its scope again", "run", limited, 429},
		{"without a limit", "run", unlimited, 204},
		{"and again", "run", unlimited, 204},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptestRequest(t, test.key)
			w := &statusWriter{header: http.Header{}}
			if test.handler.ServeHTTP(w, r); w.status != test.want {
				t.Errorf("got %d, want %d", w.status, test.want)
			}
		})
	}
}

type statusWriter struct {
	header http.Header
	status int
}

func (w *statusWriter) Header() http.Header            { return w.header }
func (w *statusWriter) WriteHeader(status int)         { w.status = status }
func (w *statusWriter) Write(data []byte) (int, error) { return len(data), nil }

func httptestRequest(t *testing.T, key string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	return r
}

type guardedInput struct {
	ID     string         `json:"id" check:"required"`
	Scopes []string       `json:"scopes" guards:"scope|permission"`
	Until  *string        `json:"until" guards:""`
	Extra  map[string]any `json:"extra"`
}

// An unknown key that resembles a field that restricts rights is an issue; other unknown
// keys are ignored.
func TestGuards(t *testing.T) {
	for key, want := range map[string]string{
		"scope": "scopes", "Scopes": "scopes", "SCOPES": "scopes", "sco_pes": "scopes", "scops": "scopes", "api-scope-list": "scopes", "PermissionSet": "scopes", "my_per-mission": "scopes",
		"untill": "until", "UNTIL": "until", "un_til": "until", "un-til": "until",
		"extras": "", "ids": "", "title": "", "sc": "", "": "", // an empty word has no effect
		strings.Repeat("x", 95) + "scope": "scopes", strings.Repeat("x", 96) + "scope": "",
	} {
		t.Run(key, func(t *testing.T) {
			wanted := ""
			if want != "" {
				wanted = fmt.Sprintf("%s: unknown; the key is %q", pathText([]any{key}), want)
			}
			encoded, err := blueprint.Encode(map[string]any{"json": map[string]any{"id": "a", key: []any{"x"}}})
			if err != nil {
				t.Fatal(err)
			}
			if _, _, got := decodeInto[guardedInput](t, string(encoded)); got != wanted {
				t.Errorf("got %q, want %q", got, wanted)
			}
		})
	}
	for name, given := range map[string]string{
		"null means absent": `{"json":{"id":"a","scope":null}}`,
		"known keys":        `{"json":{"id":"a","scopes":["read"],"until":"x","extra":{"scope":1}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, got := decodeInto[guardedInput](t, given); got != "" {
				t.Errorf("got %q, want no fault", got)
			}
		})
	}
	type plain struct {
		Scopes []string `json:"scopes"`
	}
	if _, _, got := decodeInto[plain](t, `{"json":{"scope":["read"]}}`); got != "" {
		t.Errorf("without guards: got %q, want no fault", got)
	}
}

// The cost of guards is bounded: an object with very many keys is not searched.
func TestGuardsOfManyKeys(t *testing.T) {
	for keys, want := range map[int]bool{maxIssues: true, maxIssues + 1: false} {
		t.Run(fmt.Sprint(keys), func(t *testing.T) {
			object := map[string]any{"id": "a", "scope": "x"}
			for i := range keys - len(object) {
				object[fmt.Sprint("k", i)] = true
			}
			encoded, err := blueprint.Encode(map[string]any{"json": object})
			if err != nil {
				t.Fatal(err)
			}
			if _, _, got := decodeInto[guardedInput](t, string(encoded)); (got != "") != want {
				t.Errorf("%d keys: got %q, want a fault: %v", keys, got, want)
			}
		})
	}
}

// pickyList is a checked type that has a fault at each "bad" in it.
type pickyList []string

func (l pickyList) Faults() (issues []blueprint.Issue) {
	for i, one := range l {
		if one == "bad" {
			issues = append(issues, IssueAt("is bad", i))
		}
	}
	return issues
}

// The rules of a checked type apply once those of its tags are satisfied.
func TestCheckedInput(t *testing.T) {
	type input struct {
		First string    `json:"first" check:"required,min=0,max=2"`
		List  pickyList `json:"list" check:"max=2"`
	}
	for given, want := range map[string]string{
		`{"first":"","list":["a","b"]}`:         "",
		`{"first":"éé"}`:                        "",
		`{"first":"ééé"}`:                       "first: must have at most 2 characters",
		`{"first":"a","list":["a","bad"]}`:      "list[1]: is bad",
		`{"list":["bad"]}`:                      "first: required; list[0]: is bad",
		`{"first":"a","list":["bad","a","b"]}`:  "list: must have at most 2 elements",
		`{"first":"a","list":["bad",5]}`:        "list[1]: must be a string",
		`{"first":"a","list":["bad","bad"]}`:    "list[0]: is bad; list[1]: is bad",
		`{"first":"a","list":null}`:             "",
		`{"first":"a","list":{"0":"bad"}}`:      "list: must be an array",
		`{"first":"a","list":"bad","other":[]}`: "list: must be an array",
	} {
		t.Run(given, func(t *testing.T) {
			if _, _, got := decodeInto[input](t, `{"json":`+given+`}`); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestWords(t *testing.T) {
	type plain string
	for name, test := range map[string]struct {
		of   reflect.Type
		want []string
	}{
		"nothing":          {nil, nil},
		"number":           {reflect.TypeFor[int](), nil},
		"text":             {reflect.TypeFor[plain](), nil},
		"closed list":      {reflect.TypeFor[blueprint.Effect](), []string{"pure", "idempotent", "once"}},
		"its own words":    {reflect.TypeFor[wordy](), []string{"yes", "no"}},
		"words, no string": {reflect.TypeFor[wordyNumber](), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Words(test.of)); diff != "" {
				t.Errorf("words (-want +got):\n%s", diff)
			}
		})
	}
}

type wordy string

func (wordy) Words() []string { return []string{"yes", "no"} }

type wordyNumber int

func (wordyNumber) Words() []string { return []string{"one"} }

// An injected fault replaces the procedure, and only for calls that are admitted.
func TestInjectedFaults(t *testing.T) {
	limit := &blueprint.Error{Code: blueprint.CodeTooManyRequests, Message: "slow down"}
	waited := 0
	wait := func(context.Context) { waited++ }
	header := http.Header{"Retry-After": {"7"}, "X-Fault": {"1"}}
	faults := map[string]*Fault{}
	s := newTestServer(t, func(o *Options) { o.Fault = func(procedure string) *Fault { return faults[procedure] } })
	good := "\nAuthorization: Bearer good"
	for name, test := range map[string]struct {
		fault  *Fault
		call   string
		status int
		body   string
		waits  int
		retry  string
	}{
		"none":                  {nil, "test.whoami" + good, 200, `"user":"user-1"`, 0, ""},
		"delay":                 {&Fault{Wait: wait}, "test.whoami" + good, 200, `"user":"user-1"`, 1, ""},
		"answer":                {&Fault{Status: 200, Value: "faked"}, "test.whoami" + good, 200, wireData(`"faked"`), 0, ""},
		"answer with a delay":   {&Fault{Status: 200, Value: "faked", Wait: wait}, "test.whoami" + good, 200, wireData(`"faked"`), 1, ""},
		"unencodable answer":    {&Fault{Status: 200, Value: func() {}}, "test.whoami" + good, 200, `"user":"user-1"`, 0, ""},
		"failure":               {&Fault{Failure: limit, Status: 429, Header: header}, "test.whoami" + good, 429, "slow down", 0, "7"},
		"failure of one":        {&Fault{Failure: limit, Status: 429}, "test.whoami,test.nothing?batch=1" + good, 207, `{"result":{"data":{"json":{}}}}`, 0, "1"},
		"failure of all":        {&Fault{Failure: limit, Status: 429, Whole: true, Wait: wait}, "test.nothing,test.whoami?batch=1" + good, 429, `{"error":{"json":{"message":"slow down"`, 1, "1"},
		"not of refused calls":  {&Fault{Status: 200, Value: "faked"}, "test.whoami", 401, "API key missing", 0, ""},
		"not of other calls":    {&Fault{Status: 200, Value: "faked"}, "test.nothing" + good, 200, wireData(`{}`), 0, ""},
		"whole, but refused":    {&Fault{Failure: limit, Status: 429, Whole: true}, "test.whoami,test.none?batch=1" + good, 429, "slow down", 0, "1"},
		"whole, only refused":   {&Fault{Failure: limit, Status: 429, Whole: true}, "test.whoami,test.none?batch=1", 207, "No procedure found", 0, ""},
		"whole, without a body": {&Fault{Failure: limit, Whole: true}, "test.whoami" + good, 429, "slow down", 0, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			waited, faults["test.whoami"] = 0, test.fault
			answer := s.raw(t, "GET /api/trpc/"+test.call, "")
			if answer.status != test.status || !strings.Contains(answer.body, test.body) {
				t.Errorf("got %d %s, want %d with %s", answer.status, answer.body, test.status, test.body)
			}
			if waited != test.waits || answer.header.Get("Retry-After") != test.retry {
				t.Errorf("waited %d times, Retry-After %q; want %d and %q", waited, answer.header.Get("Retry-After"), test.waits, test.retry)
			}
			if set := answer.header.Get("X-Fault") != ""; set != (test.fault != nil && test.fault.Header != nil) {
				t.Errorf("the header of the fault is set: %v", set)
			}
		})
	}
}

// While the store cannot be reached, every call fails in the form of its request, and no key
// is looked up.
func TestUnavailable(t *testing.T) {
	away := &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "away", RetryAfter: 2 * time.Second}
	s := newTestServer(t, func(o *Options) { o.Available = func() error { return away } })
	failed := func(path string) string { return wireError("away", blueprint.CodeUnavailable, path) }
	for name, test := range map[string]struct {
		request string
		status  int
		body    string
	}{
		"query":        {"GET /api/trpc/test.whoami", 503, failed("test.whoami")},
		"public":       {"GET /api/trpc/test.open", 503, failed("test.open")},
		"mutation":     {"POST /api/trpc/test.store" + withJSON, 503, failed("test.store")},
		"batch":        {"GET /api/trpc/test.whoami,test.open?batch=1", 503, "[" + failed("test.whoami") + "," + failed("test.open") + "]"},
		"lines":        {"GET /api/trpc/test.whoami?batch=1\nTrpc-Accept: application/jsonl", 200, `"message":"away"`},
		"subscription": {"GET /api/trpc/test.watch\nAccept: text/event-stream", 200, "event: serialized-error"},
		"unknown":      {"GET /api/trpc/test.none", 404, "No procedure found"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := s.raw(t, test.request, "")
			if answer.status != test.status || !strings.Contains(answer.body, test.body) {
				t.Errorf("got %d %s, want %d with %s", answer.status, answer.body, test.status, test.body)
			}
			if wait := answer.header.Get("Retry-After"); test.status == 503 && wait != "2" {
				t.Errorf("Retry-After %q, want 2", wait)
			}
		})
	}
}

// A connection is cut halfway through the response, or before it.
func TestCutFaults(t *testing.T) {
	waited := 0
	var fault *Fault
	h := NewHandler([]Procedure{Query("x.y", blueprint.ScopeRead, func(context.Context, *Caller, struct{}) (string, error) { return "real", nil })},
		Options{Authenticator: testKeys{}, Fault: func(string) *Fault { return fault }})
	for name, test := range map[string]struct {
		fault *Fault
		want  string
	}{
		"before the answer": {&Fault{Cut: true}, ""},
		"halfway":           {&Fault{Cut: true, Status: 200, Value: "faked"}, `{"result":{"data":`},
		"failure, halfway":  {&Fault{Cut: true, Status: 403, Failure: blueprint.Errorf(blueprint.CodeForbidden, "no")}, `{"error":{"json":{"message":"no","code":-32003,`},
	} {
		t.Run(name, func(t *testing.T) {
			waited = 0
			test.fault.Wait = func(context.Context) { waited++ }
			fault = test.fault
			r := httptestRequest(t, "good")
			r.URL.Path = "/api/trpc/x.y"
			w := &bodyWriter{statusWriter: statusWriter{header: http.Header{}}}
			err := protect(func() error { h.ServeHTTP(w, r); return nil })
			if !aborts(err) {
				t.Errorf("the connection was not cut: %v", err)
			}
			if !strings.HasPrefix(w.body, test.want) || (test.want == "") != (w.body == "") || waited != 1 {
				t.Errorf("got %q after %d waits, want %q after one", w.body, waited, test.want)
			}
			if whole := w.header.Get("Content-Length"); test.want != "" && whole != fmt.Sprint(2*len(w.body)) && whole != fmt.Sprint(2*len(w.body)+1) {
				t.Errorf("%d of %s bytes were sent, want half", len(w.body), whole)
			}
			if test.want != "" && w.status != test.fault.Status {
				t.Errorf("got the status %d, want %d", w.status, test.fault.Status)
			}
		})
	}
}

type bodyWriter struct {
	statusWriter
	body string
}

func (w *bodyWriter) Write(data []byte) (int, error) {
	w.body += string(data)
	return len(data), nil
}

func (w *bodyWriter) FlushError() error { return nil }

// An error is shown by its message or issues; the cause of CodeUnavailable is logged.
func TestFailureIsShown(t *testing.T) {
	cause := errors.New("disk full")
	for name, test := range map[string]struct {
		err  *blueprint.Error
		want string
		logs bool
	}{
		"message":                {&blueprint.Error{Code: blueprint.CodeForbidden, Message: "no"}, "no", false},
		"issues":                 {&blueprint.Error{Code: blueprint.CodeBadRequest, Issues: []blueprint.Issue{IssueAt("too small")}}, "input: too small", false},
		"neither":                {&blueprint.Error{Code: blueprint.CodeForbidden}, "FORBIDDEN", false},
		"both":                   {&blueprint.Error{Code: blueprint.CodeBadRequest, Message: "no", Issues: []blueprint.Issue{IssueAt("too small")}}, "no", false},
		"unavailable":            {&blueprint.Error{Code: blueprint.CodeUnavailable, Message: "later"}, "later", false},
		"unavailable by a cause": {&blueprint.Error{Code: blueprint.CodeUnavailable, Message: "later", Err: cause}, "later", true},
		"refused by a cause":     {&blueprint.Error{Code: blueprint.CodeForbidden, Message: "no", Err: cause}, "no", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t, nil)
			got := s.handler.failure(&request{Request: httptestRequest(t, ""), id: "r1"}, "x.y", test.err)
			if got.Message != test.want || got.Code != test.err.Code {
				t.Errorf("got %s %q, want %s %q", got.Code, got.Message, test.err.Code, test.want)
			}
			if logged := strings.Contains(s.logs.String(), "call refused"); logged != test.logs {
				t.Errorf("logged: %v, want %v: %s", logged, test.logs, s.logs)
			}
		})
	}
}

// Public calls of a known device have a limit of their own, so that others at its address
// cannot use it up.
func TestPublicLimitOfADevice(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.PublicLimiter, o.Device = NewLimiter(newYear(), 1, 1), func(r *http.Request) string { return r.Header.Get("Device") }
	})
	for i, step := range []struct {
		device string
		want   int
	}{{"", 200}, {"", 429}, {"one", 200}, {"one", 429}, {"two", 200}, {"", 429}} {
		head := "GET /api/trpc/test.open"
		if step.device != "" {
			head += "\nDevice: " + step.device
		}
		if answer := s.raw(t, head, ""); answer.status != step.want {
			t.Errorf("call %d, of the device %q: got %d, want %d", i, step.device, answer.status, step.want)
		}
	}
}

// A batch within the burst can be retried later; a larger one never succeeds.
func TestMessageOfTheLimit(t *testing.T) {
	limiter := NewLimiter(newYear(), 1, 3)
	if err := limiter.Take("k", 1); err != nil {
		t.Fatal(err)
	}
	for cost, want := range map[int]string{3: "try again in 1 s", 4: "send smaller ones"} {
		t.Run(fmt.Sprint(cost), func(t *testing.T) {
			if err := limiter.Take("k", cost); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%d calls: got %v, want %q", cost, err, want)
			}
		})
	}
	for name, unlimited := range map[string]*Limiter{"no rate": NewLimiter(newYear(), 0, 3), "no burst": NewLimiter(newYear(), 1, 0)} {
		t.Run(name, func(t *testing.T) {
			if err := unlimited.Take("k", 100); err != nil {
				t.Errorf("got %v, want no limit", err)
			}
		})
	}
}
