package outbound_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"blueprintd/foundation/outbound"
)

// echoes is a network that responds with the requested host.
type echoes struct{}

func (echoes) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(r.URL.Host)), Request: r}, nil
}

func (echoes) DialContext(context.Context, string, string) (net.Conn, error) {
	ours, _ := net.Pipe()
	return ours, nil
}

// A substitute network may be asked for hosts that the real network refuses.
func TestSubstituteNetworkRefusesNothing(t *testing.T) {
	fake, real := outbound.New(outbound.Options{Network: echoes{}}), outbound.New(outbound.Options{})
	for _, host := range []string{"mail.example.com:25", "0177.0.0.1", "0x7f.1", "127.0.0.1:6379", "169.254.169.254", "2130706433:22"} {
		ask := func(c *outbound.Client) (string, error) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+"/", nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := c.Do(request)
			if err != nil {
				return "", err
			}
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			return string(text), err
		}
		if got, err := ask(fake); got != host || err != nil {
			t.Errorf("substitute network: %q, %v, want the host", got, err)
		}
		if _, err := ask(real); err == nil {
			t.Errorf("%s: the real network accepted the request, want an error", host)
		}
		address := host
		if !strings.Contains(host, ":") {
			address += ":25"
		}
		conn, err := fake.DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Errorf("substitute network: dial: %v", err)
			continue
		}
		conn.Close()
	}
}
