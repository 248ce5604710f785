package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// A run that is followed by HTTP/2 is told of as it goes, and when the server
// stops the stream ends as it should.
func TestStreamByHTTP2EndsWithTheServer(t *testing.T) {
	pair := makePair(t, t.TempDir(), time.Now().Add(time.Hour), "flows.example.org")
	p := startServer(t, "--ephemeral", "--tls-cert", pair.cert, "--tls-key", pair.key)
	client := pair.client(t, true)
	call := func(method, path string, input any) *http.Response {
		body, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequest(method, p.host+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+testKey)
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { response.Body.Close() })
		if response.StatusCode != http.StatusOK || response.ProtoMajor != 2 || response.TLS == nil {
			t.Fatalf("%s: %s by %s", path, response.Status, response.Proto)
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
		t.Fatalf("the stream does not tell of the run: %v", lines.Err())
	}
	rest := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, stream.Body)
		rest <- err
	}()
	p.stop()
	if err := <-rest; err != nil {
		t.Errorf("the stream ends with %v", err)
	}
}
