package command

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"blueprintd/server"
	"blueprintd/server/certificate"
	"blueprintd/tests/process"
	"blueprintd/tests/servertest"
)

// TestHealth checks servers that are ready, that are not ready, and that are not blueprintd.
func TestHealth(t *testing.T) {
	s := servertest.New(t)
	address := strings.TrimPrefix(s.Host, "http://")
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	pair := process.NewKeyPair(t, t.TempDir(), time.Now().Add(time.Hour), "flows.example.org")
	secure := servertest.New(t, func(o *server.Options) {
		o.TLSFiles = &certificate.Files{CertPath: pair.Cert, KeyPath: pair.Key, Logger: o.Logger}
		if bad, err := o.TLSFiles.Load(); err != nil {
			t.Fatal(bad, err)
		}
	})
	secureAddress := secure.Listener.Addr().String()
	starting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = server.WriteJSON(w, http.StatusServiceUnavailable, server.Readiness{Status: "not ready"})
	}))
	t.Cleanup(starting.Close)
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	t.Setenv("HTTP_PROXY", other.URL) // not used
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"address", []string{"--addr", address}, 0, s.Host + " is ready\n"},
		{"any address", []string{"--addr", "0.0.0.0:" + port}, 0, s.Host + " is ready\n"},
		{"port", []string{"--addr", ":" + port}, 0, s.Host + " is ready\n"},
		{"URL", []string{"--url", s.Host + "/anything"}, 0, s.Host + " is ready\n"},
		{"TLS address", []string{"--addr", secureAddress}, 0, "is ready\n"},
		{"TLS URL", []string{"--url", "https://" + secureAddress}, 0, "https://" + secureAddress + " is ready\n"},
		{"server that starts", []string{"--url", starting.URL}, 1, "blueprintd: " + starting.URL + " is not ready\nhint: wait for it to start or stop\n"},
		{"other program", []string{"--url", other.URL}, 1, "does not answer: HTTP 404, which is not a response of blueprintd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := run(t, append([]string{"blueprintd", "health"}, c.args...), nil, &out, &errs)
			if code != c.code || !strings.Contains(out.String()+errs.String(), c.want) {
				t.Errorf("health %q: %d %s%s, want %d %s", c.args, code, out.String(), errs.String(), c.code, c.want)
			}
		})
	}
}
