package server

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"blueprintd/server/limits"
)

// lifecycle is how far a server is between its start and its end. It is safe for
// concurrent use.
type lifecycle struct {
	Opened   chan struct{} // closes when recovery is done: requests are let in
	Ready    atomic.Bool   // it takes work
	Draining chan struct{} // closes when the server begins to stop
	lost     chan struct{} // closes when the database has failed for good
}

// begin is called before anything else.
func (l *lifecycle) begin() {
	l.Opened, l.Draining, l.lost = make(chan struct{}), make(chan struct{}), make(chan struct{})
}

// IsOpen reports whether recovery is done.
func (l *lifecycle) IsOpen() bool { return isClosed(l.Opened) }

// hasLost reports whether the database has failed for good.
func (l *lifecycle) hasLost() bool { return isClosed(l.lost) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// closers are what was opened, in that order.
type closers []func() error

func (c *closers) add(f func() error) { *c = append(*c, f) }

// close closes all of it, the last one first.
func (c closers) close() (err error) {
	for i := len(c) - 1; i >= 0; i-- {
		err = errors.Join(err, c[i]())
	}
	return err
}

// httpListener is one address of the server and what answers there.
type httpListener struct {
	*limits.Connections
	http *http.Server
}

// run answers until ctx has ended and rest, unless it is nil, is closed.
func (l *httpListener) run(ctx context.Context, rest <-chan struct{}) error {
	failed := make(chan error, 1)
	go func() { failed <- l.http.Serve(l.Connections) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	if rest != nil {
		<-rest
	}
	return l.http.Close()
}
