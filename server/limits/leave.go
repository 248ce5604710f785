package limits

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"blueprintd/foundation/clock"
)

const (
	// restPatience is how long an idle connection stays open when the server stops, from its
	// last answer or its beginning, so that an active client receives an answer with
	// Connection: close instead of a reset.
	restPatience = 200 * time.Millisecond
	// lastLook is a read deadline for data that has arrived already.
	lastLook = time.Millisecond
	// lastSteps is how long the listener accepts queued connections, from the last one.
	lastSteps = 100 * time.Millisecond
)

// Leave accepts the queued connections, closes the listener, and closes each connection
// once it has been idle for a while. Requests that arrive before are answered. Leave returns
// when no connection is idle, or when ctx ends; it leaves connections with an active request
// open.
func (c *Connections) Leave(ctx context.Context) {
	c.leaving.Store(true)
	if listener, ok := c.Listener.(interface{ SetDeadline(time.Time) error }); ok {
		admitNoMore(c.Listener)
		_ = listener.SetDeadline(clock.Real{}.Now()) // wakes Accept, which does the rest
	} else {
		_ = c.Listener.Close()
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for c.endRests() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// endRests sets the deadlines of idle connections and returns how many there are, plus one
// while the listener is open.
func (c *Connections) endRests() int {
	resting := 0
	select {
	case <-c.shut:
	default:
		resting++
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for one := range c.opened {
		if one.endRest() {
			resting++
		}
	}
	return resting
}

// lastAccepts returns the next queued connection. If there is none it closes the
// listener.
func (c *Connections) lastAccepts() (net.Conn, error) {
	if listener, ok := c.Listener.(interface{ SetDeadline(time.Time) error }); ok {
		_ = listener.SetDeadline(clock.Real{}.Now().Add(c.atMost(lastSteps)))
		if conn, err := c.Listener.Accept(); err == nil {
			return conn, nil
		}
	}
	return nil, errors.Join(net.ErrClosed, c.Close())
}

// atMost returns patience, or less if c.Alone.
func (c *Connections) atMost(patience time.Duration) time.Duration {
	if c.Alone {
		return min(patience, lastLook)
	}
	return patience
}

// Close closes the listener. It may be called several times, also concurrently.
func (c *Connections) Close() (err error) {
	c.shutOnce.Do(func() {
		err = c.Listener.Close()
		close(c.shut)
	})
	return err
}

// rest marks the connection as idle.
func (c *connection) rest() {
	c.mu.Lock()
	c.resting = clock.Real{}.Now()
	c.mu.Unlock()
}

// endRest limits how long the connection may stay idle, and reports whether it is.
func (c *connection) endRest() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resting.IsZero() {
		return false
	}
	_ = c.wait()
	return true
}

// wait sets the read deadline: the requested one, or an earlier one if the server stops and
// the connection is idle. The caller holds c.mu.
func (c *connection) wait() error {
	until := c.deadline
	if end := c.resting.Add(c.all.atMost(restPatience)); !c.resting.IsZero() && c.all.leaving.Load() && (until.IsZero() || end.Before(until)) {
		until = end
	}
	return c.Conn.SetReadDeadline(until)
}

// SetReadDeadline implements net.Conn.
func (c *connection) SetReadDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = at
	return c.wait()
}

// Read implements net.Conn. When the server stops, an idle connection ends with io.EOF.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && c.mustEnd() {
		// Data may have arrived before the deadline.
		_ = c.Conn.SetReadDeadline(clock.Real{}.Now().Add(lastLook))
		if n, err = c.Conn.Read(p); n == 0 {
			return 0, io.EOF
		}
	}
	if n > 0 {
		if end := c.received(p[:n]); end != nil {
			return 0, end
		}
	}
	return n, err
}

// mustEnd reports whether the connection is idle and the server stops.
func (c *connection) mustEnd() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.resting.IsZero() && c.all.leaving.Load()
}

// work marks the connection as active.
func (c *connection) work() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.resting.IsZero() {
		c.resting = time.Time{}
		if c.all.leaving.Load() {
			_ = c.wait()
		}
	}
}
