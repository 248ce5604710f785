package server

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
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
			t.Errorf("%s: flushed %v, %v", c.name, behind.Flushed, err)
		}
		if err := http.NewResponseController(kept).Flush(); !errors.Is(err, http.ErrNotSupported) {
			t.Errorf("%s: a recorder without a writer was flushed: %v", c.name, err)
		}
		if through.status != c.want || kept.status != c.want || behind.Body.String() != "body" || kept.body.String() != "body" || through.body.Len() != 0 ||
			behind.Header().Get("X-Test") != c.name || kept.header.Get("X-Test") != c.name {
			t.Errorf("%s: status %d and %d, want %d; bodies %q and %q", c.name, through.status, kept.status, c.want, behind.Body, kept.body.String())
		}
		if behind.Code != plain.Code {
			t.Errorf("%s: status %d arrived, without a recorder %d", c.name, behind.Code, plain.Code)
		}
	}
}
