package outbound_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"blueprintd/foundation/outbound"
)

// Credentials go to the hosts that the authorizer takes, on every hop, and to
// no other.
func TestCredentialsStayWithTheirHosts(t *testing.T) {
	var seen []string
	record := func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Host+" "+r.Header.Get("X-Key")+r.URL.RawQuery)
		if to := r.Header.Get("X-To"); r.URL.Path == "/go" {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		}
	}
	ours, others := httptest.NewServer(http.HandlerFunc(record)), httptest.NewServer(http.HandlerFunc(record))
	defer ours.Close()
	defer others.Close()
	host := strings.TrimPrefix(ours.URL, "http://")
	errHost := errors.New("not to this host")
	ctx := outbound.Authorize(context.Background(), func(_ context.Context, r *http.Request) error {
		if r.URL.Host != host {
			return errHost
		}
		r.Header.Set("X-Key", "secret")
		r.URL.RawQuery = "key=1"
		return nil
	})
	client := outbound.New(outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	send := func(url, to, body string) error {
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-To", to)
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
	other := strings.TrimPrefix(others.URL, "http://")
	short := strings.NewReplacer(ours.URL, "ours", others.URL, "others")
	for _, test := range []struct {
		url, to, body string
		want          []string
		err           error
	}{
		{ours.URL + "/go", ours.URL + "/", "", []string{host + " secretkey=1", host + " secretkey=1"}, nil},
		{ours.URL + "/go", others.URL + "/", "", []string{host + " secretkey=1", other + " "}, nil},
		{ours.URL + "/go", ours.URL + "/", "said", []string{host + " secretkey=1", host + " secretkey=1"}, nil},
		{ours.URL + "/go", others.URL + "/", "said", []string{host + " secretkey=1"}, errHost}, // what was said is for us
		{others.URL + "/", "", "", nil, errHost},
	} {
		t.Run(short.Replace(test.url+" to "+test.to+" "+test.body), func(t *testing.T) {
			seen = nil
			if err := send(test.url, test.to, test.body); !errors.Is(err, test.err) {
				t.Errorf("%s: error %v, want %v", test.url, err, test.err)
			}
			if got := strings.Join(seen, ", "); got != strings.Join(test.want, ", ") {
				t.Errorf("%s: %s, want %s", test.url, got, test.want)
			}
		})
	}
}
