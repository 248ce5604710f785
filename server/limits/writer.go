package limits

import (
	"container/list"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"blueprintd/foundation/clock"
)

// A client that reads less than a piece within writeTimeout counts as disconnected.
const (
	piece        = 64 << 10
	writeTimeout = 30 * time.Second
)

// Answers bounds the memory of answers that clients have not read. Beyond it, the answer
// without progress for the longest time is aborted. It is safe for concurrent use.
type Answers struct {
	limit    int64
	draining <-chan struct{}

	mu      sync.Mutex
	held    int64
	waiting list.List // of *writer with large answers, in the order of their last progress
}

// NewAnswers returns a limit in bytes. Once draining, answers close their connection.
func NewAnswers(limit int64, draining <-chan struct{}) *Answers {
	return &Answers{limit: limit, draining: draining}
}

// Held returns the size of the large answers, in bytes.
func (a *Answers) Held() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.held
}

// Handler aborts answers of next that clients do not read.
func (a *Answers) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one := &writer{ResponseWriter: w, control: http.NewResponseController(w), all: a, strict: r.ProtoMajor > 1}
		next.ServeHTTP(one, r)
		if one.strict {
			one.armDeadline() // what is left of the answer is sent now
		}
	})
}

// writer writes an answer in pieces, each with a deadline.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
	all     *Answers
	begun   bool // the headers are written
	strict  bool // a deadline ends the answer even if nothing is being written (HTTP/2)

	element *list.Element // of a large answer, else nil; guarded by all.mu
	size    int64         // of that; 0 = aborted
}

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
	case <-w.all.draining:
		w.Header().Set("Connection", "close")
	default:
	}
}

func (w *writer) Write(data []byte) (int, error) { return w.writeFor(data, len(data)) }

// writeFor is Write of data that represents an answer of size bytes in memory.
func (w *writer) writeFor(data []byte, size int) (int, error) {
	return send(w, data, size, w.ResponseWriter.Write)
}

// WriteString implements io.StringWriter without copying data.
func (w *writer) WriteString(data string) (int, error) {
	return send(w, data, len(data), func(part string) (int, error) { return io.WriteString(w.ResponseWriter, part) })
}

func send[T []byte | string](w *writer, data T, size int, write func(T) (int, error)) (written int, err error) {
	w.begin(http.StatusOK)
	if size > piece {
		w.all.enter(w, int64(size))
		defer w.all.leave(w)
	}
	for first := true; first || len(data) > 0; first = false {
		part := data[:min(len(data), piece)]
		data = data[len(part):]
		if !w.all.next(w) {
			return written, os.ErrDeadlineExceeded
		}
		n, err := write(part)
		if written += n; err != nil {
			return written, err
		}
	}
	w.clearDeadline()
	return written, nil
}

// armDeadline sets the deadline of the next piece.
func (w *writer) armDeadline() {
	_ = w.control.SetWriteDeadline(clock.Real{}.Now().Add(writeTimeout)) // if the writer supports one
}

// clearDeadline removes the deadline until something else is written.
func (w *writer) clearDeadline() {
	if w.strict {
		_ = w.control.SetWriteDeadline(time.Time{})
	}
}

// SetWriteDeadline sets the write deadline. It has no effect for HTTP/2, where a deadline
// would end an answer that pauses.
func (w *writer) SetWriteDeadline(at time.Time) error {
	if w.strict {
		return nil
	}
	return w.control.SetWriteDeadline(at)
}

// enter adds a large answer, and aborts others if there is not enough memory.
func (a *Answers) enter(w *writer, size int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held += size
	w.size, w.element = size, a.waiting.PushBack(w)
	for a.held > a.limit && a.waiting.Front() != w.element {
		a.remove(a.waiting.Front().Value.(*writer))
	}
}

// remove aborts an answer. The caller holds a.mu.
func (a *Answers) remove(w *writer) {
	a.waiting.Remove(w.element)
	a.held -= w.size
	w.size = 0
	_ = w.control.SetWriteDeadline(clock.Real{}.Now())
}

// next sets the deadline of a piece; false if its answer was aborted.
func (a *Answers) next(w *writer) bool {
	if w.element != nil { // set by this goroutine alone
		a.mu.Lock()
		defer a.mu.Unlock()
		if w.size == 0 {
			return false
		}
		a.waiting.MoveToBack(w.element)
	}
	w.armDeadline()
	return true
}

func (a *Answers) leave(w *writer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if w.size > 0 {
		a.waiting.Remove(w.element)
		a.held -= w.size
	}
	w.element = nil
}

func (w *writer) Flush() {
	w.begin(http.StatusOK)
	if w.strict {
		w.armDeadline()
		defer w.clearDeadline()
	}
	_ = w.control.Flush()
}

// Unwrap returns the underlying writer for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
