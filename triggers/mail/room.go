package mail

import (
	"io"
	"net/netip"
	"sync"
)

// room is what there is for messages that are in memory.
type room struct {
	mu        sync.Mutex
	memory    int64 // bytes that are left
	large     int   // messages beyond largeMessage that are let in besides
	largeFrom int   // of one address at once
	from      map[netip.Prefix]int
}

// lease is what one message has of it.
type lease struct {
	room    *room
	network netip.Prefix
	bytes   int64
	large   bool
}

// grow takes room for a message to have so many bytes; false when there is none.
func (l *lease) grow(bytes int64) bool {
	r := l.room
	r.mu.Lock()
	defer r.mu.Unlock()
	more, becomes := bytes-l.bytes, bytes > largeMessage && !l.large
	if more > r.memory || becomes && (r.large < 1 || r.from[l.network] >= r.largeFrom) {
		return false
	}
	if becomes {
		l.large = true
		r.large--
		r.from[l.network]++
	}
	r.memory -= more
	l.bytes = bytes
	return true
}

// end gives all of it back.
func (l *lease) end() {
	r := l.room
	r.mu.Lock()
	defer r.mu.Unlock()
	r.memory += l.bytes
	if l.large {
		r.large++
		if r.from[l.network]--; r.from[l.network] <= 0 {
			delete(r.from, l.network)
		}
	}
	l.bytes, l.large = 0, false
}

// read reads a message of at most most bytes, or one more when it is larger.
// Room is taken for what has come, not for what may come.
func (l *lease) read(r io.Reader, most int64) (raw []byte, err error) {
	for size := min(16<<10, most+1); ; size = min(2*size, most+1) {
		if !l.grow(size) {
			return nil, errBusy
		}
		raw = append(make([]byte, 0, size), raw...)
		for int64(len(raw)) < size {
			n, err := r.Read(raw[len(raw):size])
			raw = raw[:len(raw)+n]
			switch {
			case err == io.EOF:
				return raw, nil
			case err != nil:
				return raw, err
			}
		}
		if size > most {
			return raw, nil
		}
	}
}
