package e2e

import (
	"bufio"
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blueprintd/tests/process"
)

// A subscription over HTTP/2 streams the progress of a run, and ends cleanly when the
// server stops.
func TestStreamByHTTP2EndsWithTheServer(t *testing.T) {
	t.Parallel()
	cert, key, client := trustedPair(t)
	p := process.Serve(t, "--ephemeral", "--tls-cert", cert, "--tls-key", key)
	call := func(method, path string, input any) *http.Response {
		body, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequest(method, p.Host+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+process.Key)
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { response.Body.Close() })
		if response.StatusCode != http.StatusOK || response.ProtoMajor != 2 || response.TLS == nil {
			t.Fatalf("%s: %s by %s, want StatusCode %v, ProtoMajor 2 and TLS not nil", path, response.Status, response.Proto, http.StatusOK)
		}
		return response
	}
	answer := func(response *http.Response) any {
		var value any
		if err := json.NewDecoder(response.Body).Decode(&value); err != nil {
			t.Fatal(err)
		}
		return at(value, "result.data.json")
	}
	nodes := []any{object{"id": "w", "type": "wait", "title": "w", "config": object{"durationMs": 3_600_000}}}
	made := answer(call(http.MethodPost, "/api/trpc/blueprint.create", object{"json": object{"title": "W", "blueprint_map": object{"nodes": nodes}}}))
	begun := answer(call(http.MethodPost, "/api/trpc/execution.executeBlueprintWithLogging", object{"json": object{"nodes": nodes, "options": object{"blueprintId": at(made, "id")}}}))
	input, _ := json.Marshal(object{"json": object{"executionId": at(begun, "executionId")}})
	stream := call(http.MethodGet, "/api/trpc/execution.subscribe?input="+url.QueryEscape(string(input)), nil)
	lines := bufio.NewScanner(stream.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), `"status":"running"`) {
	}
	if lines.Err() != nil || lines.Text() == "" {
		t.Fatalf("the stream does not mention the run: %v, want nil and Text not empty", lines.Err())
	}
	rest := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, stream.Body)
		rest <- err
	}()
	p.Stop()
	if err := <-rest; err != nil {
		t.Errorf("the stream ends with %v", err)
	}
}

// trustedPair writes a certificate for this machine and its key into files, and
// returns a client that trusts it.
func trustedPair(t *testing.T) (cert, key string, client *http.Client) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	made := server.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: made.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem"), server.Client()
}
