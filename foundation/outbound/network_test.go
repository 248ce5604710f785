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

// echoes answers with the host that was asked for.
type echoes struct{}

func (echoes) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(r.URL.Host)), Request: r}, nil
}

func (echoes) DialContext(context.Context, string, string) (net.Conn, error) {
	ours, _ := net.Pipe()
	return ours, nil
}

// TestInsteadRefusesNothing asks a stand-in for what no network may be asked for.
func TestInsteadRefusesNothing(t *testing.T) {
	boxed, real := outbound.New(outbound.Options{Network: echoes{}}), outbound.New(outbound.Options{})
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
		if got, err := ask(boxed); got != host || err != nil {
			t.Errorf("instead of a network: %q, %v", got, err)
		}
		if _, err := ask(real); err == nil {
			t.Errorf("%s is asked on a network", host)
		}
		address := host
		if !strings.Contains(host, ":") {
			address += ":25"
		}
		conn, err := boxed.DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Errorf("instead of a network, dialled: %v", err)
			continue
		}
		conn.Close()
	}
}
