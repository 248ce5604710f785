package limits

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"blueprintd/foundation/memory"
)

// While memory is full, requests are refused, and large bodies of those that have begun.
func TestMemoryFull(t *testing.T) {
	bodies := NewBodies(BodyLimits{Arriving: 1 << 20, Decoded: 1 << 20, Largest: 1 << 20, MaxWait: time.Second})
	begun := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		memory.SetLimit(1)
		_, err := io.ReadAll(r.Body)
		if e := refused(t, err); e.Message != memoryFull {
			t.Errorf("refused with %q, want %q", e.Message, memoryFull)
		}
	})
	defer memory.SetLimit(0)
	handler := Requests(10, bodies.Handler(begun))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader(texts(2*smallBody))))

	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), memoryFull) {
		t.Errorf("status %d, %v, %s; want 503 with Retry-After", w.Code, w.Header(), w.Body)
	}
}
