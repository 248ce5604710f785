package mail

import (
	"errors"
	"io"
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	maxLine      = 64 << 10 // bytes of a message line
	largeMessage = 1 << 20  // bytes; the number of larger ones is limited
	minRate      = 1 << 10  // bytes of a message per second
)

// reception is the state of reading one message, which ends at CR LF . CR LF.
type reception struct {
	deadline time.Time // of the whole message
	since    time.Time // start of the interval in which the rate is measured
	recent   int64     // bytes in that interval
	received int64     // bytes
	limit    int64     // of received
	state    lineState
	line     int    // bytes of the current line
	defect   string // why the message will be refused; the rest of it is discarded
	piece    []byte // buffer of the next piece for the library
	atBreak  bool   // what was passed on ends with CR LF
}

// lineState is the position of the next byte within a line.
type lineState int

const (
	atBegin  lineState = iota
	atDot              // after a dot at the beginning
	atDotCR            // after such a dot and CR
	atMiddle           // after any other byte
	atCR               // after CR
)

func newReception(s *Server) *reception {
	return &reception{atBreak: true, limit: 2*s.MaxMessage + maxLine, since: after(0), deadline: after(s.Timeouts.Message), piece: make([]byte, 0, 4096)}
}

// nextDeadline returns when the next bytes must have arrived. The rate is measured
// per interval, so that a fast start does not allow a client to hold the memory of
// a large message for long.
func (m *reception) nextDeadline(s *Server) time.Time {
	if m.recent >= minRate*int64(s.Timeouts.Slow/time.Millisecond)/1000 {
		m.since, m.recent = after(0), 0
	}
	deadlines := []time.Time{after(s.timeout(s.Timeouts.Block)), m.deadline, m.since.Add(s.Timeouts.Slow)}
	return slices.MinFunc(deadlines, time.Time.Compare)
}

// readMessage makes a piece of the message pending. After a defect the rest is
// read and discarded.
func (g *guardedConn) readMessage() error {
	m := g.message
	g.pending = m.piece[:0]
	for len(g.pending) == 0 || len(g.pending) < 4000 && g.in.Buffered() > 0 {
		if g.in.Buffered() == 0 {
			if err := g.Conn.SetReadDeadline(m.nextDeadline(g.server)); err != nil {
				return err
			}
		}
		c, err := g.in.ReadByte()
		if err == nil {
			m.recent++
			if m.received++; m.received > m.limit {
				err = errors.New("the message does not end")
			}
		}
		if err != nil {
			if isTimeout(err) {
				g.reply(timeoutReply)
			}
			return io.ErrUnexpectedEOF
		}
		done := false
		if g.pending, done = m.consume(c, g.pending); done {
			// If line endings are ambiguous, so is the end of the message: what
			// follows must not be read as commands.
			g.defect, g.message, g.ended = m.defect, nil, m.defect != ""
			return nil
		}
	}
	return nil
}

// consume processes the next byte of a message. It appends to out what is passed
// on to the library and reports whether the message is complete.
func (m *reception) consume(c byte, out []byte) (_ []byte, done bool) {
	if m.line++; m.line > maxLine {
		m.defect = "has a line that is too long"
	}
	before := m.state
	switch {
	case before == atDotCR && c == '\n':
		if !m.atBreak { // a defect cut the output within a line
			out = append(out, '\r', '\n')
		}
		return append(out, '.', '\r', '\n'), true
	case (before == atDotCR || before == atCR) && c != '\n':
		m.defect = "has a CR without an LF"
		if m.state = atMiddle; c == '\r' {
			m.state = atCR
		}
	case before == atCR:
		m.state, m.line = atBegin, 0
		out = m.emit(out, '\r', '\n')
	case c == '\n':
		m.defect = "has an LF without a CR"
		m.state = atMiddle
	case c == '\r' && before == atDot:
		m.state = atDotCR
	case c == '\r':
		m.state = atCR
	case c == '.' && before == atBegin:
		m.state = atDot
	case before == atDot:
		m.state = atMiddle
		out = m.emit(out, '.', c)
	default:
		m.state = atMiddle
		out = m.emit(out, c)
	}
	return out, false
}

func (m *reception) emit(out []byte, bytes ...byte) []byte {
	if m.defect != "" {
		return out
	}
	m.atBreak = bytes[len(bytes)-1] == '\n'
	return append(out, bytes...)
}

// memory limits the memory for messages being received or decided.
type memory struct {
	mu        sync.Mutex
	free      int64 // bytes
	large     int   // further messages beyond largeMessage
	largeFrom int   // maximum of them per network
	networks  map[netip.Prefix]int
}

// reservation is the memory reserved for one message.
type reservation struct {
	memory  *memory
	network netip.Prefix
	bytes   int64
	large   bool
}

// grow extends the reservation to a size and reports whether the limits allow it.
func (r *reservation) grow(bytes int64) bool {
	m := r.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	more, becomesLarge := bytes-r.bytes, bytes > largeMessage && !r.large
	if more > m.free || becomesLarge && (m.large < 1 || m.networks[r.network] >= m.largeFrom) {
		return false
	}
	if becomesLarge {
		r.large = true
		m.large--
		m.networks[r.network]++
	}
	m.free -= more
	r.bytes = bytes
	return true
}

func (r *reservation) release() {
	m := r.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free += r.bytes
	if r.large {
		m.large++
		decrement(m.networks, r.network)
	}
	r.bytes, r.large = 0, false
}

// read reads a message of at most limit bytes, or the first limit+1 bytes of a
// longer one. It reserves memory for what was received, not for what was announced.
func (r *reservation) read(source io.Reader, limit int64) (raw []byte, err error) {
	for size := min(16<<10, limit+1); ; size = min(2*size, limit+1) {
		if !r.grow(size) {
			return nil, errBusy
		}
		raw = append(make([]byte, 0, size), raw...)
		for int64(len(raw)) < size {
			n, err := source.Read(raw[len(raw):size])
			raw = raw[:len(raw)+n]
			switch {
			case err == io.EOF:
				return raw, nil
			case err != nil:
				return raw, err
			}
		}
		if size > limit {
			return raw, nil
		}
	}
}
