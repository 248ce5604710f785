package nodes

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// zipped is a body of zeros, compressed so often.
func zipped(t *testing.T, size, times int) []byte {
	t.Helper()
	data := make([]byte, size)
	for range times {
		var out bytes.Buffer
		w, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
		w.Write(data)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data = out.Bytes()
	}
	return data
}

// What was not asked for is not unpacked: it stays the bytes that came.
func TestEncodings(t *testing.T) {
	s := newSite(t, outbound.Options{})
	var deflated bytes.Buffer
	w, _ := flate.NewWriter(&deflated, flate.BestSpeed)
	w.Write(make([]byte, 11<<20))
	w.Close()
	for _, test := range []struct {
		encoding string
		body     []byte
		size     int // of the text or base64 that comes out; -1 for too large
	}{
		{"gzip", zipped(t, 1000, 1), 1000},
		{"GZIP", zipped(t, 1000, 1), 1000},
		{"gzip", zipped(t, 10<<20, 1), 10 << 20},
		{"gzip", zipped(t, 10<<20+1, 1), -1},
		{"gzip", zipped(t, 40<<20, 1), -1},
		{"gzip, gzip", zipped(t, 11<<20, 2), 0},
		{"gzip", zipped(t, 11<<20, 2), 0}, // unpacked once
		{"deflate", deflated.Bytes(), 0},
		{"br", []byte("\xce\xb2\xcf\x81\xff"), 0},
		{"identity", bytes.Repeat([]byte("a"), 10<<20+1), -1},
	} {
		t.Run(fmt.Sprint(test.encoding, " ", test.size), func(t *testing.T) {
			s.answers(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", test.encoding)
				w.Header().Set("Content-Type", "text/plain")
				w.Write(test.body)
			})
			result, err := s.send(t, `{"url":"URL"}`)
			if s.requests()[0].header.Get("Accept-Encoding") != "gzip" {
				t.Error("more than gzip was asked for")
			}
			if test.size < 0 {
				if codeOf(err) != codeTooLarge {
					t.Errorf("%s, %d bytes: got %v; want %v", test.encoding, len(test.body), err, codeTooLarge)
				}
				return
			}
			if err != nil {
				t.Errorf("%s, %d bytes: %v", test.encoding, len(test.body), err)
				return
			}
			output := result.Output.(map[string]any)
			if body := output["body"].(string); test.size > 0 && len(body) != test.size || test.size == 0 && output["bodyEncoding"] != "base64" {
				t.Errorf("%s, %d bytes: got %d, %v; want size %v", test.encoding, len(test.body), len(body), output["bodyEncoding"], test.size)
			}
		})
	}
}

func TestLargeAnswerHeaders(t *testing.T) {
	large := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := range 64 { // a little too much; HTTP/2 breaks off at once when it is far too much
			w.Header().Set("X-Secret-"+strconv.Itoa(i), strings.Repeat("s", 4<<10))
		}
	})
	plain, second := httptest.NewServer(large), httptest.NewUnstartedServer(large)
	second.EnableHTTP2 = true
	second.StartTLS()
	defer plain.Close()
	defer second.Close()
	pool := x509.NewCertPool()
	pool.AddCert(second.Certificate())
	kind := newHTTPType(t, outbound.Options{RootCAs: pool})
	for _, address := range []string{plain.URL, second.URL} {
		_, failure := ask(t, kind, address)
		if failure == nil || failure.Code != codeTooLarge || failure.NotSent || !strings.HasSuffix(failure.Message, "are larger than 256 KiB") {
			t.Errorf("%s: got %+v, want not nil, Code %v, not NotSent and \"are larger than 256 KiB\" at the end", address, failure, codeTooLarge)
		}
	}
}

// A body that never ends is cut off when the time is over.
func TestEndlessAnswers(t *testing.T) {
	s := newSite(t, outbound.Options{})
	for name, write := range map[string]func(http.ResponseWriter){
		"nothing more": func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
		"byte by byte": func(w http.ResponseWriter) {
			for range 3 {
				io.WriteString(w, "x")
				w.(http.Flusher).Flush()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			late := expiring{t.Context(), make(chan struct{})}
			s.answers(func(w http.ResponseWriter, r *http.Request) {
				write(w)
				close(late.over)
				<-r.Context().Done()
			})
			result, err := s.kind.Run(late, newTask(t, s.kind, `{"url":"`+s.URL+`"}`, scope))
			var failure *blueprint.Failure
			if !errors.As(err, &failure) || failure.Code != codeTimeout || failure.NotSent || len(result.Calls) != 1 {
				t.Errorf("got %v, want Code %v, not NotSent and length 1", err, codeTimeout)
			}
		})
	}
}

// An instant to wait for is by the clock of the server that names it.
func TestRetryAfterByTheServersClock(t *testing.T) {
	s := newSite(t, outbound.Options{})
	there := now.Add(-9 * time.Hour)
	for _, test := range []struct {
		date string
		want time.Duration
	}{
		{there.Format(http.TimeFormat), 90 * time.Second},
		{"yesterday", 0},
	} {
		t.Run(test.date, func(t *testing.T) {
			s.answers(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Date", test.date)
				w.Header().Set("Retry-After", there.Add(90*time.Second).Format(http.TimeFormat))
				w.WriteHeader(http.StatusServiceUnavailable)
			})
			_, err := s.send(t, `{"url":"URL"}`)
			var failure *blueprint.Failure
			if !errors.As(err, &failure) || failure.RetryAfter != test.want {
				t.Errorf("got %+v, want RetryAfter %v", failure, test.want)
			}
		})
	}
}

// BenchmarkHTTPRequest is one request over a connection of its own.
func BenchmarkHTTPRequest(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") }))
	defer server.Close()
	kind := newHTTPType(b, outbound.Options{})
	task := newTask(b, kind, `{"url":"`+server.URL+`"}`, `{}`)
	for b.Loop() {
		if _, err := kind.Run(context.Background(), task); err != nil {
			b.Fatal(err)
		}
	}
}
