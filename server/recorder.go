package server

import (
	"bytes"
	"cmp"
	"net/http"
)

// recorder records the status of an answer that it forwards, or a complete answer.
type recorder struct {
	to     http.ResponseWriter // nil = the answer is recorded
	header http.Header
	status int // 0 = it has not begun
	body   bytes.Buffer
}

// newForwarder returns a recorder that forwards to w.
func newForwarder(w http.ResponseWriter) *recorder { return &recorder{to: w, header: w.Header()} }

// newRecorder returns a recorder of a complete answer.
func newRecorder() *recorder { return &recorder{header: http.Header{}} }

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	r.status = cmp.Or(r.status, status)
	if r.to != nil {
		r.to.WriteHeader(status)
	}
}

func (r *recorder) Write(data []byte) (int, error) {
	r.status = cmp.Or(r.status, http.StatusOK)
	if r.to != nil {
		return r.to.Write(data)
	}
	return r.body.Write(data)
}

// Unwrap returns the underlying writer for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.to }
