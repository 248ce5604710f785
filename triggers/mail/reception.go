package mail

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"
)

// maxLine is how many bytes a line of a message may have.
const maxLine = 64 << 10

// reception is the reading of one message. It knows one end alone: CR LF . CR LF.
type reception struct {
	until time.Time // the whole message must be there
	since time.Time // when enough had come for the last time
	fresh int64     // bytes since then
	came  int64     // bytes so far
	most  int64     // bytes after which the sender is not listened to any more
	state lineState
	line  int    // bytes of the present line
	flaw  string // why the message will be refused; nothing more of it is kept
	piece []byte // what is handed over next
	clean bool   // what was kept ends with CR LF
}

// lineState is where in a line the next byte stands.
type lineState int

const (
	atBegin  lineState = iota // of a line
	atDot                     // behind the dot that begins a line
	atDotCR                   // behind that and CR
	atMiddle                  // of a line
	atCR                      // behind CR
)

func newReception(s *Server) *reception {
	return &reception{clean: true, most: 2*s.MaxMessage + maxLine, since: within(0), until: within(s.Patience.Message), piece: make([]byte, 0, 4096)}
}

// deadline is until when the next bytes must come. Those that came do not buy
// time for the next: whoever sends much at once and then hardly anything would
// keep the room of a large message from others.
func (m *reception) deadline(s *Server) time.Time {
	if m.fresh >= slowest*int64(s.Patience.Slow/time.Millisecond)/1000 {
		m.since, m.fresh = within(0), 0
	}
	next := within(s.patience(s.Patience.Block))
	for _, other := range []time.Time{m.until, m.since.Add(s.Patience.Slow)} {
		if next.After(other) {
			next = other
		}
	}
	return next
}

// readMessage gives the library a piece of a message. Where it had a flaw, the
// rest of it is left out.
func (g *guardedConn) readMessage() error {
	m := g.message
	g.pending = m.piece[:0]
	for len(g.pending) == 0 || len(g.pending) < 4000 && g.in.Buffered() > 0 {
		if g.in.Buffered() == 0 {
			if err := g.Conn.SetReadDeadline(m.deadline(g.server)); err != nil {
				return err
			}
		}
		c, err := g.in.ReadByte()
		if err == nil {
			m.fresh++
			if m.came++; m.came > m.most {
				err = errors.New("the message does not end")
			}
		}
		if err != nil {
			var late net.Error
			if errors.As(err, &late) && late.Timeout() {
				g.say("421 4.4.2 that took too long")
			}
			return io.ErrUnexpectedEOF
		}
		over := false
		if g.pending, over = m.take(c, g.pending); over {
			// Where ends of lines are in doubt so are ends of messages: what stands
			// behind this one is not taken for commands.
			g.flaw, g.message, g.dead = m.flaw, nil, m.flaw != ""
			return nil
		}
	}
	return nil
}

// take looks at the next byte, adds to out what may be handed on, and tells
// whether the message is over.
func (m *reception) take(c byte, out []byte) (_ []byte, over bool) {
	if m.line++; m.line > maxLine {
		m.flaw = "has a line that is too long"
	}
	before := m.state
	switch {
	case before == atDotCR && c == '\n':
		if !m.clean { // what was kept broke off within a line
			out = append(out, '\r', '\n')
		}
		return append(out, '.', '\r', '\n'), true
	case (before == atDotCR || before == atCR) && c != '\n':
		m.flaw = "has a CR without an LF"
		m.state = middle(c)
	case before == atCR:
		m.state, m.line = atBegin, 0
		out = m.keep(out, '\r', '\n')
	case c == '\n':
		m.flaw = "has an LF without a CR"
		m.state = atMiddle
	case c == '\r' && before == atDot:
		m.state = atDotCR
	case c == '\r':
		m.state = atCR
	case c == '.' && before == atBegin:
		m.state = atDot
	case before == atDot:
		m.state = atMiddle
		out = m.keep(out, '.', c)
	default:
		m.state = atMiddle
		out = m.keep(out, c)
	}
	return out, false
}

// middle is the state behind a byte that follows a CR alone.
func middle(c byte) lineState {
	if c == '\r' {
		return atCR
	}
	return atMiddle
}

func (m *reception) keep(out []byte, bytes ...byte) []byte {
	if m.flaw != "" {
		return out
	}
	m.clean = bytes[len(bytes)-1] == '\n'
	return append(out, bytes...)
}

// letters lets through what base64 is made of, up to where its padding begins.
type letters struct{ source io.Reader }

// Read returns the next of them.
func (l *letters) Read(b []byte) (int, error) {
	for {
		n, err := l.source.Read(b)
		kept := 0
		for _, c := range b[:n] {
			if c == '=' {
				l.source = ending{}
				return kept, io.EOF
			}
			if isWordLetter(rune(c)) || c == '+' || c == '/' {
				b[kept] = c
				kept++
			}
		}
		if kept > 0 || err != nil || len(b) == 0 {
			return kept, err
		}
	}
}

// ending is at its end.
type ending struct{}

func (ending) Read([]byte) (int, error) { return 0, io.EOF }

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
