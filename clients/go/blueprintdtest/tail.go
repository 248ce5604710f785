package blueprintdtest

import "sync"

// mostLog is how many bytes of a log are kept, and twice that in memory.
const mostLog = 256 << 10

// tail keeps the end of what is written to it. Several goroutines may use it at
// once.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps what it is given.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - 2*mostLog; extra > 0 {
		t.text = append(t.text[:0], t.text[len(t.text)-mostLog:]...)
	}
	return len(p), nil
}

// String gives what is kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text[max(0, len(t.text)-mostLog):])
}
