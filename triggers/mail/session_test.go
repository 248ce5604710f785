package mail

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// TestReservation tests that memory is reserved as messages arrive and released,
// and that one network cannot use all reservations for large messages.
func TestReservation(t *testing.T) {
	r := &memory{free: 6 << 20, large: 3, largeFrom: 2, networks: map[netip.Prefix]int{}}
	here, there := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("192.0.2.2/32")
	var leases []*reservation
	take := func(network netip.Prefix, size int) error {
		l := &reservation{memory: r, network: network}
		raw, err := l.read(iotest.HalfReader(bytes.NewReader(make([]byte, size))), 8<<20)
		if leases = append(leases, l); err == nil && len(raw) != size {
			t.Errorf("%d bytes of %d", len(raw), size)
		}
		if err != nil {
			l.release()
		}
		return err
	}
	for i, step := range []struct {
		from netip.Prefix
		size int
		want error
	}{
		{here, 1 << 10, nil}, {here, 3 << 19, nil}, {here, 3 << 19, nil}, {here, 3 << 19, errBusy}, // largeFrom
		{there, 3 << 19, errBusy}, {there, 1 << 19, nil}, // free
	} {
		if err := take(step.from, step.size); !errors.Is(err, step.want) {
			t.Errorf("message %d: got %v, want %v", i, err, step.want)
		}
	}
	for _, l := range leases {
		l.release()
	}
	if r.free != 6<<20 || r.large != 3 || len(r.networks) != 0 {
		t.Errorf("not released: %+v, want free %v, large 3 and none", r, 6<<20)
	}
	broken := io.MultiReader(strings.NewReader("Subject"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := (&reservation{memory: r}).read(broken, 100); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an incomplete message: %v, want %v", err, io.ErrUnexpectedEOF)
	}
	if raw, err := (&reservation{memory: r}).read(strings.NewReader("12345"), 3); err != nil || len(raw) != 4 {
		t.Errorf("%d bytes, %v; want 4", len(raw), err)
	}
}

// TestNextDeadline tests the minimum rate of a message, and the shorter timeout
// when many connections are open.
func TestNextDeadline(t *testing.T) {
	s := New(Options{Listener: listening(t), MaxConnections: 2})
	m := newReception(s)
	began := after(-time.Hour)
	for _, c := range []struct {
		recent int64
		conns  int
		since  time.Duration // before now
		want   time.Duration // from now
	}{
		{0, 0, 0, 30 * time.Second}, {0, 0, 10 * time.Second, 20 * time.Second}, {29 << 10, 1, 10 * time.Second, 20 * time.Second},
		{30 << 10, 1, 25 * time.Second, 30 * time.Second}, {1 << 20, 1, 25 * time.Second, 30 * time.Second}, {1 << 20, 2, 0, crowdedTimeout}, {0, 2, 15 * time.Second, 15 * time.Second},
	} {
		t.Run(fmt.Sprintf("%d bytes of %d since %s", c.recent, c.conns, c.since), func(t *testing.T) {
			m.recent, m.since = c.recent, after(-c.since)
			clear(s.conns)
			for range c.conns {
				s.conns[&guardedConn{}] = struct{}{}
			}
			if got := m.nextDeadline(s).Sub(after(0)); got > c.want || got < c.want-5*time.Second {
				t.Errorf("%+v: %s, want at most %v and at least %v", c, got, c.want, c.want-5*time.Second)
			}
		})
	}
	m.deadline = began
	if got := m.nextDeadline(s); !got.Equal(began) {
		t.Errorf("%v, want %v", got, began)
	}
}
