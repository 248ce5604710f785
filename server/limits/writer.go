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

// A reader that takes less than a piece within patience counts as gone: what
// it was to be told would otherwise be held for as long as it likes.
const (
	piece    = 64 << 10
	patience = 30 * time.Second
)

// Answers bounds the memory that all answers together take which their clients
// have not fetched yet: beyond it, whoever has taken nothing for the longest is
// given up. It is safe for concurrent use.
type Answers struct {
	limit    int64
	draining <-chan struct{}

	mu      sync.Mutex
	held    int64
	waiting list.List // of the *writer that write more than a piece, that which moved last at the back
}

// NewAnswers makes room for limit bytes. Once draining is closed, each answer
// tells its client that no other follows on its connection.
func NewAnswers(limit int64, draining <-chan struct{}) *Answers {
	return &Answers{limit: limit, draining: draining}
}

// Held is how many bytes of large answers there are now.
func (a *Answers) Held() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.held
}

// Handler gives up those of next's answers that nobody fetches.
func (a *Answers) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one := &writer{ResponseWriter: w, control: http.NewResponseController(w), all: a, strict: r.ProtoMajor > 1}
		next.ServeHTTP(one, r)
		if one.strict {
			one.hurry() // what is left of the answer is sent now
		}
	})
}

// writer writes an answer in pieces, each of which has its time.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
	all     *Answers
	begun   bool // the headers have been written
	strict  bool // a deadline ends the answer when it passes, whether anything is being written or not (HTTP/2)

	place *list.Element // while it writes more than a piece; guarded by all.mu
	size  int64         // of that; 0 = it was given up
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
	case <-w.all.draining:
		w.Header().Set("Connection", "close")
	default:
	}
}

// Write writes all of data, or fails because the client takes nothing.
func (w *writer) Write(data []byte) (int, error) { return w.writeFor(data, len(data)) }

// writeFor is Write of what stands for an answer of size bytes that its handler may
// still hold in memory.
func (w *writer) writeFor(data []byte, size int) (int, error) {
	return send(w, data, size, w.ResponseWriter.Write)
}

// WriteString writes a text, of which no copy waits for the client.
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
	w.rest()
	return written, nil
}

// hurry gives what is written next its time.
func (w *writer) hurry() {
	_ = w.control.SetWriteDeadline(clock.Real{}.Now().Add(patience)) // a writer without one does without
}

// rest lets time pass until something else is written.
func (w *writer) rest() {
	if w.strict {
		_ = w.control.SetWriteDeadline(time.Time{})
	}
}

// SetWriteDeadline limits how long writing may take. Where a deadline would end
// an answer that just has nothing to say, each piece has its own and no other.
func (w *writer) SetWriteDeadline(at time.Time) error {
	if w.strict {
		return nil
	}
	return w.control.SetWriteDeadline(at)
}

// enter makes room for a large answer.
func (a *Answers) enter(w *writer, size int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held += size
	w.size, w.place = size, a.waiting.PushBack(w)
	for a.held > a.limit && a.waiting.Front() != w.place {
		a.remove(a.waiting.Front().Value.(*writer))
	}
}

// remove gives up an answer. a.mu is held.
func (a *Answers) remove(w *writer) {
	a.waiting.Remove(w.place)
	a.held -= w.size
	w.size = 0
	_ = w.control.SetWriteDeadline(clock.Real{}.Now())
}

// next gives a piece its time, unless its answer was given up.
func (a *Answers) next(w *writer) bool {
	if w.place != nil { // set by this goroutine alone
		a.mu.Lock()
		defer a.mu.Unlock()
		if w.size == 0 {
			return false
		}
		a.waiting.MoveToBack(w.place)
	}
	w.hurry()
	return true
}

// leave gives back the room of an answer.
func (a *Answers) leave(w *writer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if w.size > 0 {
		a.waiting.Remove(w.place)
		a.held -= w.size
	}
	w.place = nil
}

// Flush sends off what has been written.
func (w *writer) Flush() {
	w.begin(http.StatusOK)
	if w.strict {
		w.hurry()
		defer w.rest()
	}
	_ = w.control.Flush()
}

// Unwrap lets http.ResponseController reach the writer behind.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
