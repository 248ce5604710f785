package mail

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// TestRoom: memory is taken as messages come and given back, and large ones of
// one address leave room for those of others.
func TestRoom(t *testing.T) {
	r := &room{memory: 6 << 20, large: 3, largeFrom: 2, from: map[netip.Prefix]int{}}
	here, there := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("192.0.2.2/32")
	var leases []*lease
	take := func(network netip.Prefix, size int) error {
		l := &lease{room: r, network: network}
		raw, err := l.read(iotest.HalfReader(bytes.NewReader(make([]byte, size))), 8<<20)
		if leases = append(leases, l); err == nil && len(raw) != size {
			t.Errorf("%d bytes of %d", len(raw), size)
		}
		if err != nil {
			l.end()
		}
		return err
	}
	for i, c := range []struct {
		from netip.Prefix
		size int
		want error
	}{
		{here, 1 << 10, nil}, {here, 3 << 19, nil}, {here, 3 << 19, nil}, {here, 3 << 19, errBusy}, // two large ones
		{there, 3 << 19, errBusy}, {there, 1 << 19, nil}, // memory
	} {
		if err := take(c.from, c.size); !errors.Is(err, c.want) {
			t.Errorf("%d: %v", i, err)
		}
	}
	for _, l := range leases {
		l.end()
	}
	if r.memory != 6<<20 || r.large != 3 || len(r.from) != 0 {
		t.Errorf("not given back: %+v", r)
	}
	broken := io.MultiReader(strings.NewReader("Subject"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := (&lease{room: r}).read(broken, 100); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a message that broke off: %v", err)
	}
	if raw, err := (&lease{room: r}).read(strings.NewReader("12345"), 3); err != nil || len(raw) != 4 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
}

// TestSlowMessages: whoever sends drop by drop is not listened to for long, and
// not at all for long where others want to come in.
func TestSlowMessages(t *testing.T) {
	s := New(Options{Listener: listening(t), MaxConnections: 2})
	m := newReception(s)
	began := within(-time.Hour)
	for _, c := range []struct {
		fresh int64
		gates int
		since time.Duration // before now
		want  time.Duration // from now
	}{
		{0, 0, 0, 30 * time.Second}, {0, 0, 10 * time.Second, 20 * time.Second}, {29 << 10, 1, 10 * time.Second, 20 * time.Second},
		{30 << 10, 1, 25 * time.Second, 30 * time.Second}, {1 << 20, 1, 25 * time.Second, 30 * time.Second}, {1 << 20, 2, 0, crowded}, {0, 2, 15 * time.Second, 15 * time.Second},
	} {
		m.fresh, m.since = c.fresh, within(-c.since)
		clear(s.conns)
		for range c.gates {
			s.conns[&guardedConn{}] = struct{}{}
		}
		if got := m.deadline(s).Sub(within(0)); got > c.want || got < c.want-5*time.Second {
			t.Errorf("%+v: %s", c, got)
		}
	}
	m.until = began
	if got := m.deadline(s); !got.Equal(began) {
		t.Error(got)
	}
}
