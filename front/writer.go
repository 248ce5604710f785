package front

import (
	"net/http"
	"time"

	"blueprintd/clock"
)

// A reader that takes less than a piece within patience counts as gone: what
// it was to be told would otherwise be held for as long as it likes.
const (
	piece    = 64 << 10
	patience = 30 * time.Second
)

// Readers gives up answers that nobody fetches. Once draining is closed, each
// answer tells its client that no other follows on its connection.
func Readers(next http.Handler, draining <-chan struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&writer{ResponseWriter: w, control: http.NewResponseController(w), draining: draining}, r)
	})
}

// writer writes an answer in pieces, each of which has its time.
type writer struct {
	http.ResponseWriter
	control  *http.ResponseController
	draining <-chan struct{}
	begun    bool // the headers have been written
}

// WriteHeader writes the headers.
func (w *writer) WriteHeader(status int) {
	w.begin(status)
	w.ResponseWriter.WriteHeader(status)
}

// begin is called before the headers are written.
func (w *writer) begin(status int) {
	if w.begun || status < http.StatusOK {
		return
	}
	w.begun = true
	select {
	case <-w.draining:
		w.Header().Set("Connection", "close")
	default:
	}
}

// Write writes all of data, or fails because the client takes nothing.
func (w *writer) Write(data []byte) (written int, err error) {
	w.begin(http.StatusOK)
	for first := true; first || len(data) > 0; first = false {
		part := data[:min(len(data), piece)]
		data = data[len(part):]
		_ = w.control.SetWriteDeadline(clock.Real{}.Now().Add(patience)) // a writer without one does without
		n, err := w.ResponseWriter.Write(part)
		if written += n; err != nil {
			return written, err
		}
	}
	return written, nil
}

// Flush sends off what has been written.
func (w *writer) Flush() {
	w.begin(http.StatusOK)
	_ = w.control.Flush()
}

// Unwrap lets http.ResponseController reach the writer behind.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
