package limits

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// TestGzip sends answers through real servers and compares what a client reads.
func TestGzip(t *testing.T) {
	long := strings.Repeat("0123456789", 20_000)
	whole := func(kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			w.Header().Set("ETag", `"tag"`)
			w.WriteHeader(http.StatusAccepted)
			io.WriteString(w, body)
		}
	}
	with := func(name, value string, next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(name, value)
			next(w, r)
		}
	}
	parts := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Write([]byte(long))
		w.Write([]byte("end"))
	}
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		method  string
		accept  string
		packed  bool
		status  int
		body    string
	}{
		{"whole", whole("application/json", long), "GET", "gzip", true, 202, long},
		{"just over", whole("application/problem+json", long[:1025]), "POST", "br, GZIP;q=0.5", true, 202, long[:1025]},
		{"not over", whole("application/json", long[:1024]), "GET", "gzip", false, 202, long[:1024]},
		{"everything accepted", whole("text/html", long), "GET", "*", true, 202, long},
		{"gzip refused", whole("application/json", long), "GET", "gzip;q=0, *", false, 202, long},
		{"none accepted", whole("application/json", long), "GET", "", false, 202, long},
		{"an image", whole("image/png", long), "GET", "gzip", false, 202, long},
		{"HEAD", whole("application/json", long), "HEAD", "gzip", false, 202, ""},
		{"in parts", parts, "GET", "gzip", true, 200, long + "end"},
		{"encoded already", with("Content-Encoding", "br", whole("application/json", long)), "GET", "gzip", false, 202, long},
		{"part of a file", with("Content-Range", "bytes 0-1/2", whole("text/plain", long)), "GET", "gzip", false, 202, long},
		{"no content", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, "GET", "gzip", false, 204, ""},
		{"empty handler", func(http.ResponseWriter, *http.Request) {}, "GET", "gzip", false, 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := NewAnswers(1<<20, nil)
			server := httptest.NewServer(all.Handler(Gzip(c.handler)))
			defer server.Close()
			request, _ := http.NewRequest(c.method, server.URL, nil)
			request.Header.Set("Accept-Encoding", c.accept)
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			packed := response.Header.Get("Content-Encoding") == "gzip"
			if packed {
				if length := response.Header.Get("Content-Length"); length != "" && length != strconv.Itoa(len(body)) || response.Header.Get("Vary") != "Accept-Encoding" {
					t.Errorf("headers %v", response.Header)
				}
				if len(body) > len(c.body)/2 && len(c.body) > 10_000 {
					t.Errorf("%d bytes were sent for %d", len(body), len(c.body))
				}
				reader, err := gzip.NewReader(bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				if body, err = io.ReadAll(reader); err != nil {
					t.Fatal(err)
				}
				if tag := response.Header.Get("ETag"); tag != "" && tag != `W/"tag"` {
					t.Errorf("tag %s", tag)
				}
			}
			if response.StatusCode != c.status || packed != c.packed || string(body) != c.body {
				t.Errorf("%d, gzip %v, %d bytes; want %d, %v, %d", response.StatusCode, packed, len(body), c.status, c.packed, len(c.body))
			}
			if all.Held() != 0 {
				t.Errorf("holding %d bytes afterwards, want 0", all.Held())
			}
		})
	}
}

// A part of a stream reaches its reader when it is flushed, compressed or not.
func TestGzipStreams(t *testing.T) {
	for kind, packed := range map[string]bool{"text/event-stream": false, "application/json": true} {
		t.Run(kind, func(t *testing.T) {
			next := make(chan bool)
			first := strings.Repeat("first ", 1000)
			server := httptest.NewServer(NewAnswers(1<<20, nil).Handler(Gzip(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", kind)
				io.WriteString(w, first)
				http.NewResponseController(w).Flush()
				<-next
				io.WriteString(w, "last")
			}))))
			response, err := server.Client().Get(server.URL) // accepts gzip by default
			if err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(first))
			if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != first || response.Uncompressed != packed {
				t.Errorf("%v, gzip %v; want %v and %v", err, response.Uncompressed, first, packed)
			}
			close(next)
			if rest, err := io.ReadAll(response.Body); err != nil || string(rest) != "last" {
				t.Errorf("%q, %v; want last", rest, err)
			}
			response.Body.Close()
			server.Close()
		})
	}
}
