package server

import (
	"bytes"
	"net/http"
)

// recorder remembers the status of an answer that it passes on, or keeps all of
// an answer that goes nowhere.
type recorder struct {
	to     http.ResponseWriter // nil = it goes nowhere
	header http.Header
	status int // 0 = it has not begun
	body   bytes.Buffer
}

// passOn makes a recorder of an answer that goes to w.
func passOn(w http.ResponseWriter) *recorder { return &recorder{to: w, header: w.Header()} }

// keep makes a recorder of an answer that goes nowhere.
func keep() *recorder { return &recorder{header: http.Header{}} }

// Header returns the headers.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader notes the status.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	if r.to != nil {
		r.to.WriteHeader(status)
	}
}

// Write passes data on, or keeps it.
func (r *recorder) Write(data []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	if r.to != nil {
		return r.to.Write(data)
	}
	return r.body.Write(data)
}

// Unwrap lets http.ResponseController reach the writer behind.
func (r *recorder) Unwrap() http.ResponseWriter { return r.to }
