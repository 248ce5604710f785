package trpc

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// FuzzEnvelope: reading any envelope returns an input or CodeBadRequest, and so does
// decoding that input.
func FuzzEnvelope(f *testing.F) {
	for _, seed := range []string{
		`{"json":{"title":"abc","tags":["a"],"limit":5}}`,
		`{"json":null,"meta":{"values":["undefined"],"v":1}}`,
		`{"json":{"any":[{"a.b":"2020"}]},"meta":{"values":{"any.0.a\\.b":["Date"]},"v":1}}`,
		`{"json":{"a.b":1},"meta":{"values":{"a.b":["undefined"]}}}`,
		`{"json":{"tree":[["k",1]]},"meta":{"values":{"tree":["map",{"0.1":["bigint"]}]}}}`,
		`{"json":{"b":[1]},"meta":{"values":{"b":[["typed-array","Uint8Array"]]},"v":1}}`,
		`{"json":{"title":5,"nodes":[{}],"counts":{"a":1.5e3}}}`,
		`{"json":[1,2],"meta":{"values":{"0":["undefined"],"7":["nonsense"]}}}`,
	} {
		f.Add(seed)
	}
	decode, free := inputDecoder[testEverything]("fuzz"), inputDecoder[any]("fuzz")
	f.Fuzz(func(t *testing.T, text string) {
		decoded, err := blueprint.Decode([]byte(text))
		if err != nil {
			return
		}
		raw, err := readEnvelope(decoded)
		if err != nil {
			refusedWell(t, err)
			return
		}
		if _, err := decode(raw); err != nil {
			refusedWell(t, err)
		}
		value, err := free(raw)
		if err != nil {
			refusedWell(t, err)
			return
		}
		if _, err := blueprint.Encode(value); err != nil {
			t.Errorf("a mark was left in %#v: %v", value, err)
		}
	})
}

func refusedWell(t *testing.T, err error) {
	t.Helper()
	if blueprint.CodeOf(err) != blueprint.CodeBadRequest || err.Error() == "" {
		t.Errorf("refused with %s: %v, want %v and not empty", blueprint.CodeOf(err), err, blueprint.CodeBadRequest)
	}
}

// FuzzRequest: the response to any request line and body is in the protocol (an envelope, a
// list, lines or events) and never an internal error.
func FuzzRequest(f *testing.F) {
	f.Add("GET", "/test.list", `input={"json":{"page":2}}`, "", "", "")
	f.Add("GET", "/test.list,test.echo", `batch=1&input={"0":{"json":{}},"1":{"json":[1]}}`, "", "", "")
	f.Add("GET", "/test.echo,test.nope", `batch=1&input=%7B%220%22:5`, "", "application/jsonl", "")
	f.Add("POST", "/test.create", "", "application/json", "", `{"json":{"title":"x","map":null},"meta":{"values":{"map":["undefined"]},"v":1}}`)
	f.Add("POST", "/test.store/", "batch=1", "Application/JSON; x", "", "\uFEFF{\"0\":{\"json\":\"\\u0000\"}}")
	f.Add("GET", "/test.watch", "connectionParams={\"a\":\"b\"}&lastEventId=3", "", "text/event-stream", "")
	f.Add("POST", "/test.store", "", "multipart/form-data", "", "--")
	f.Add("GET", "/test.cross,test.whoami,test.open", "batch=1&lastEventId=%0a", "text/plain", "", "")
	f.Add("PUT", "//test.store%2C%FF", "batch=1&batch=%zz", "application/json", "", "")
	server := &testServer{}
	// Not those that wait for a test, or fail on purpose.
	procedures := slices.DeleteFunc(server.procedures(), func(p Procedure) bool {
		return slices.Contains([]string{"test.gate", "test.hang", "test.fail", "test.break", "test.panic", "test.abort", "test.unencodable"}, p.Name)
	})
	handler := NewHandler(procedures, Options{Authenticator: testKeys{}, MaxBody: 4096})
	f.Fuzz(func(t *testing.T, method, path, query, contentType, accept, body string) {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://test/api/trpc"+path, strings.NewReader(body))
		if err != nil || !handler.Serves(request) {
			return
		}
		request.URL.RawQuery = query
		request.Header.Set("Authorization", "Bearer good")
		if contentType != "" {
			request.Header.Set("Content-Type", contentType)
		}
		if accept != "" {
			request.Header.Set("Accept", accept)
		}
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		checkProtocol(t, recorder)
	})
}

func checkProtocol(t *testing.T, got *httptest.ResponseRecorder) {
	t.Helper()
	text := got.Body.String()
	switch kind := got.Header().Get("Content-Type"); {
	case got.Code == http.StatusInternalServerError:
		t.Errorf("internal error: %s", text)
	case got.Code == http.StatusNoContent:
	case kind == "text/event-stream":
		if !strings.HasPrefix(text, "event: connected\n") {
			t.Errorf("events: %q, want %q at the start", text, "event: connected\n")
		}
	case kind != "application/json":
		t.Errorf("content type %q", kind)
	default:
		for line := range strings.Lines(text) {
			if _, err := blueprint.Decode([]byte(line)); err != nil {
				t.Errorf("%v in %s", err, line)
			}
		}
	}
}
