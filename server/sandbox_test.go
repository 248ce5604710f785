package server

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A forwarding recorder does not change the response, and the writer can be flushed.
func TestRecorder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		send func(http.ResponseWriter)
		want int
	}{
		{"a status", func(w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) }, http.StatusAccepted},
		{"two", func(w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted); w.WriteHeader(http.StatusTeapot) }, http.StatusAccepted},
		{"none", func(http.ResponseWriter) {}, http.StatusOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			plain, behind, kept := httptest.NewRecorder(), httptest.NewRecorder(), newRecorder()
			through := newForwarder(behind)
			for _, w := range []http.ResponseWriter{plain, through, kept} {
				w.Header().Set("X-Test", c.name)
				c.send(w)
				if _, err := io.WriteString(w, "body"); err != nil {
					t.Error(err)
				}
			}
			if err := http.NewResponseController(through).Flush(); err != nil || !behind.Flushed {
				t.Errorf("flushed %v, %v", behind.Flushed, err)
			}
			if err := http.NewResponseController(kept).Flush(); !errors.Is(err, http.ErrNotSupported) {
				t.Errorf("a recorder without a writer was flushed: %v, want %v", err, http.ErrNotSupported)
			}
			got := []any{through.status, through.body.String(), behind.Body.String(), behind.Header().Get("X-Test"), kept.status, kept.body.String(), kept.header.Get("X-Test")}
			if diff := cmp.Diff([]any{c.want, "", "body", c.name, c.want, "body", c.name}, got); diff != "" {
				t.Errorf("status and body of through, body and header behind it, and all of kept (-want +got):\n%s", diff)
			}
			if behind.Code != plain.Code {
				t.Errorf("status %d arrived, without a recorder %d", behind.Code, plain.Code)
			}
		})
	}
}
