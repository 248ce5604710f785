package outbound_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"blueprintd/foundation/outbound"
)

// An authorizer may request a token with the same client: that request is neither
// authorized nor counted as the original one. The response does not contain the
// credentials.
func TestAuthorizersMaySend(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.URL.Path+" "+r.Header.Get("Authorization"))
	}))
	defer server.Close()
	client := outbound.New(outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	fetch := func(ctx context.Context, path string) (*http.Response, string) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		data, err := outbound.ReadAll(response.Body, 100)
		if err != nil {
			t.Fatal(err)
		}
		return response, string(data)
	}
	tokens := 0
	ctx, hops := outbound.RecordHops(context.Background())
	ctx = outbound.Authorize(ctx, func(ctx context.Context, r *http.Request) error {
		for _, under := range []context.Context{ctx, r.Context()} {
			tokens++
			if _, body := fetch(under, "/token"); body != "/token " {
				t.Errorf("the token came with %q, want /token ", body)
			}
		}
		r.Header.Set("Authorization", "secret")
		r.URL.RawQuery = "key=secret"
		return nil
	})
	response, body := fetch(ctx, "/data")
	if body != "/data secret" || tokens != 2 {
		t.Errorf("%q after %d requests for tokens, want /data secret and 2", body, tokens)
	}
	if list := hops.List(); len(list) != 1 || list[0].Status != 200 {
		t.Errorf("recorded %+v, want length 1 and Status 200", list)
	}
	if got := response.Request; got.Header.Get("Authorization") != "" || strings.Contains(got.URL.String(), "secret") {
		t.Errorf("the answer shows %s %v, want Authorization nothing and no \"secret\"", got.URL, got.Header)
	}
}
