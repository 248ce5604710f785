package trpc

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
)

// panicError is a panic that was caught, with the stack for the log.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// protect runs f and returns a panic in it as an error. It is the one place
// of this package that recovers.
func protect(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value: value, stack: debug.Stack()}
		}
	}()
	return f()
}

// abort ends the connection when an answer has begun, since half of one must
// not look whole, and when a handler asks for that itself.
func (t *answerTracker) abort(err error) {
	if t.started || aborts(err) {
		panic(http.ErrAbortHandler)
	}
}

// aborts tells whether a handler asked for the end of its connection.
func aborts(err error) bool {
	var crashed *panicError
	return errors.As(err, &crashed) && crashed.value == http.ErrAbortHandler
}

// answerTracker knows whether an answer has begun.
type answerTracker struct {
	http.ResponseWriter
	started bool
}

// WriteHeader begins the answer.
func (t *answerTracker) WriteHeader(status int) {
	t.started = true
	t.ResponseWriter.WriteHeader(status)
}

// Write begins the answer and adds to it.
func (t *answerTracker) Write(data []byte) (int, error) {
	t.started = true
	return t.ResponseWriter.Write(data)
}

// Flush sends what was written so far.
func (t *answerTracker) Flush() { _ = t.FlushError() }

// FlushError does the same and tells whether the client is still there.
func (t *answerTracker) FlushError() error {
	t.started = true
	return http.NewResponseController(t.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach the writer behind.
func (t *answerTracker) Unwrap() http.ResponseWriter { return t.ResponseWriter }
