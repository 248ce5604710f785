package e2e

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"blueprintd/tests/process"
)

func TestServedByTLS(t *testing.T) {
	t.Parallel()
	pair := process.NewKeyPair(t, t.TempDir(), time.Now().Add(time.Hour), "flows.example.org")
	p := process.Serve(t, "--ephemeral", "--tls-cert", pair.Cert, "--tls-key", pair.Key)
	if !strings.HasPrefix(p.Host, "https://127.0.0.1:") {
		t.Fatalf("it is at %s, want \"https://127.0.0.1:\" at the start", p.Host)
	}
	for _, major := range []int{1, 2} {
		client := pair.Client(t, major == 2)
		request, err := http.NewRequest(http.MethodGet, p.Host+"/api/trpc/apiKey.list", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+process.Key)
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK || response.ProtoMajor != major || response.Header.Get("Strict-Transport-Security") != "" {
			t.Errorf("HTTP/%d: status %d by %s, header %v; want %v, ProtoMajor %v and Strict-Transport-Security nothing", major, response.StatusCode, response.Proto, response.Header, http.StatusOK, major)
		}
		request, _ = http.NewRequest(http.MethodGet, p.Host+"/healthz", nil)
		request.Host = "flows.example.org"
		if response, err = client.Do(request); err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got := response.Header.Get("Strict-Transport-Security"); got != "max-age=31536000" {
			t.Errorf("under its own name it says %q, want max-age=31536000", got)
		}
	}
	response, err := http.Post("http"+strings.TrimPrefix(p.Host, "https")+"/api/trpc/x", "application/json", strings.NewReader(strings.Repeat("x", 1<<16)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "https://") {
		t.Errorf("plain HTTP is answered %d %s, want %v and \"https://\" in it", response.StatusCode, text, http.StatusBadRequest)
	}
	old := &tls.Config{RootCAs: pair.Pool, MaxVersion: tls.VersionTLS11}
	if conn, err := tls.Dial("tcp", strings.TrimPrefix(p.Host, "https://"), old); err == nil {
		conn.Close()
		t.Error("TLS 1.1 is spoken, want an error")
	}
	p.Stop()
}
