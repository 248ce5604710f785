package outbound

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// local is a client that reaches this machine.
func local() *Client {
	return New(Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
}

// evidenceOf sends a request and returns what is kept of it.
func evidenceOf(t *testing.T, address, kind, body string, read bool) (string, *blueprint.StepExchange) {
	t.Helper()
	ctx, evidence := WithEvidence(context.Background())
	ctx = Authorize(ctx, func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer of-the-connection")
		return nil
	})
	request, err := http.NewRequestWithContext(ctx, "POST", address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", kind)
	request.Header.Set("X-Api-Key", "typed-credential")
	request.Header.Set("Cookie", "session=typed-cookie")
	response, err := local().Do(request)
	if err == nil {
		if read {
			_, _ = io.Copy(io.Discard, response.Body)
		} else {
			Drain(response.Body)
		}
		response.Body.Close()
	}
	x := evidence.Exchange(secret.NewMasker([]any{"of-the-connection", "known-secret"}))
	data, err := blueprint.Encode(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), x
}

func TestEvidenceOfTheLastRequest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header()["Date"] = nil
		w.Header().Set("Set-Cookie", "session=cookie-of-the-answer")
		switch r.URL.Path {
		case "/json":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, `{"why": "no stock", "n": 12345678901234567890, "saw": %q, "token": "tok-of-the-answer"}`, r.Header.Get("Authorization")+" "+r.Header.Get("X-Api-Key"))
		case "/from":
			http.Redirect(w, r, "/to", http.StatusTemporaryRedirect)
		case "/to":
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprintf(w, "after %s", body)
		case "/metadata":
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		case "/hang-up":
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	const request = `"headers":{"content-type":"KIND","cookie":"***","x-api-key":"***"}`
	for _, test := range []struct{ name, path, kind, body, want string }{
		{"JSON", server.URL + "/json?page=2&api_key=typed-in-the-address", "application/json", `{"n":1,"password":"typed-password","of":"known-secret"}`,
			`{"request":{"method":"POST","url":"URL/json?page=2&api_key=***",` + request + `,"body":{"n":1,"of":"***","password":"***"}},` +
				`"response":{"status":500,"headers":{"content-length":"LENGTH","content-type":"application/json","set-cookie":"***"},"body":{"n":12345678901234567890,"saw":"Bearer *** ***","token":"***","why":"no stock"}}}`},
		{"a redirect", server.URL + "/from", "text/plain", "as it was", `{"request":{"method":"POST","url":"URL/to",` + request + `,"body":"as it was"},` +
			`"response":{"status":502,"headers":{"content-length":"LENGTH","content-type":"text/plain","set-cookie":"***"},"body":"after as it was"}}`},
		{"a redirect to where none is sent", server.URL + "/metadata", "text/plain", "", `{"request":{"method":"POST","url":"URL/metadata",` + request + `,"body":""},` +
			`"response":{"status":302,"headers":{"content-length":"LENGTH","location":"http://169.254.169.254/","set-cookie":"***"},"body":""}}`},
		{"no answer", server.URL + "/hang-up", "text/plain", "x", `{"request":{"method":"POST","url":"URL/hang-up",` + request + `,"body":"x"}}`},
		{"no server", closed.URL, "text/plain", "x", `null`},
		{"no address that may be reached", "http://10.0.0.1/", "text/plain", "x", `null`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, x := evidenceOf(t, test.path, test.kind, test.body, true)
			length := ""
			if x != nil && x.Response != nil {
				length = x.Response.Headers["content-length"]
			}
			if diff := cmp.Diff(strings.NewReplacer("URL", server.URL, "KIND", test.kind, "LENGTH", length).Replace(test.want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Only the beginning of a long body is kept, and of what is read of it.
func TestEvidenceIsBounded(t *testing.T) {
	long := strings.Repeat("ä", 5<<20)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("X-Long", long[:100_000])
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, `["x%s"]`, long)
	}))
	defer server.Close()
	for _, read := range []bool{true, false} {
		text, x := evidenceOf(t, server.URL+"/"+strings.Repeat("p", 100_000), "text/plain", "a"+long, read)
		for name, body := range map[string]any{"request": x.Request.Body, "answer": x.Response.Body} {
			t.Run(name, func(t *testing.T) {
				got, ok := body.(string)
				if !ok || len(got) < MaxEvidence-200 || len(got) > MaxEvidence+10 {
					t.Errorf("%T of %d bytes, want about %d", body, len(got), MaxEvidence)
				}
				if strings.Contains(got, "\uFFFD") || !strings.Contains(got, "ä") {
					t.Errorf("the body %.80q is not whole characters with an ä, want no \"�\" and \"ä\" in it", got)
				}
			})
		}
		if len(text) > 4*MaxEvidence {
			t.Errorf("%d bytes are kept, want at most %v", len(text), 4*MaxEvidence)
		}
	}
}

// A body that is no text becomes one, and none of it is lost in another form.
func TestEvidenceIsText(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Encoding", "br")
		_, _ = w.Write([]byte("packed"))
	}))
	defer server.Close()
	_, x := evidenceOf(t, server.URL, "application/octet-stream", "\xff\xfeknown-secret", true)
	if x.Request.Body != "\uFFFD***" || x.Response.Body != "" {
		t.Errorf("bodies %q and %q, want �*** and nothing", x.Request.Body, x.Response.Body)
	}
}
