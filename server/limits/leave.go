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

// How long a connection on which no request is under way is left open when the
// server stops, counted from its last answer or its beginning: a client at work
// sends again within this time, and is told that the connection ends instead of
// finding it closed under its request.
const restPatience = 200 * time.Millisecond

// lastLook is for what has arrived already, and for nothing else.
const lastLook = time.Millisecond

// lastSteps is how long the doors stay open for who has knocked and is on the
// way in, counted from the last who came.
const lastSteps = 100 * time.Millisecond

// Leave ends what the doors are for: it lets in who has knocked already, closes
// them, and closes each connection once no request has come on it for a while.
// A request that comes before is answered. Leave returns when no connection is
// at rest, or when ctx ends; those with a request under way are left open.
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

// endRests sees to it that every connection at rest ends, and tells how many
// have not yet. As long as the listener is open there may be more.
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

// lastAccepts returns the next of those who had knocked before the doors closed;
// when there are no more it closes the listener.
func (c *Connections) lastAccepts() (net.Conn, error) {
	if listener, ok := c.Listener.(interface{ SetDeadline(time.Time) error }); ok {
		_ = listener.SetDeadline(clock.Real{}.Now().Add(c.atMost(lastSteps)))
		if conn, err := c.Listener.Accept(); err == nil {
			return conn, nil
		}
	}
	return nil, errors.Join(net.ErrClosed, c.Close())
}

// atMost returns how long to wait for who may be on the way.
func (c *Connections) atMost(patience time.Duration) time.Duration {
	if c.Alone {
		return min(patience, lastLook)
	}
	return patience
}

// Close closes the listener. When it is closed already, that is no error: two
// who stop it at the same time have both done so.
func (c *Connections) Close() (err error) {
	c.shutOnce.Do(func() {
		err = c.Listener.Close()
		close(c.shut)
	})
	return err
}

// rest notes that no request is under way.
func (c *connection) rest() {
	c.mu.Lock()
	c.resting = clock.Real{}.Now()
	c.mu.Unlock()
}

// endRest limits how long a connection may still be at rest, and tells whether
// it is.
func (c *connection) endRest() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resting.IsZero() {
		return false
	}
	_ = c.wait()
	return true
}

// wait sets how long reading waits: as long as was asked for, or less when the
// server stops and no request is under way. c.mu is held.
func (c *connection) wait() error {
	until := c.deadline
	if end := c.resting.Add(c.all.atMost(restPatience)); !c.resting.IsZero() && c.all.leaving.Load() && (until.IsZero() || end.Before(until)) {
		until = end
	}
	return c.Conn.SetReadDeadline(until)
}

// SetReadDeadline sets how long reading waits.
func (c *connection) SetReadDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = at
	return c.wait()
}

// Read reads. When the server stops, a connection on which nothing comes any
// more ends as if the client had closed it.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && c.mustEnd() {
		// A deadline that has passed says nothing about what has arrived.
		_ = c.Conn.SetReadDeadline(clock.Real{}.Now().Add(lastLook))
		if n, err = c.Conn.Read(p); n == 0 {
			return 0, io.EOF
		}
	}
	if n > 0 {
		if end := c.hear(p[:n]); end != nil {
			return 0, end
		}
	}
	return n, err
}

// mustEnd reports whether the time of a connection at rest is over.
func (c *connection) mustEnd() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.resting.IsZero() && c.all.leaving.Load()
}

// work notes that a request is under way.
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
