package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"

	"blueprintd/server/limits"
)

// lifecycle is the state of a server. It is safe for concurrent use after begin.
type lifecycle struct {
	Opened   chan struct{} // closes when recovery is done and requests are answered
	Ready    atomic.Bool   // the server accepts work
	leaving  atomic.Bool   // it still does, but is stopped after Options.ShutdownDelay
	Draining chan struct{} // closes when the server begins to stop
	lost     chan struct{} // closes when the database has failed permanently
}

func (l *lifecycle) begin() {
	l.Opened, l.Draining, l.lost = make(chan struct{}), make(chan struct{}), make(chan struct{})
}

// IsOpen reports whether recovery is done.
func (l *lifecycle) IsOpen() bool { return isClosed(l.Opened) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// closers are functions in the order in which their resources were opened.
type closers []func() error

func (c *closers) add(f func() error) { *c = append(*c, f) }

// close calls the functions in reverse order.
func (c closers) close() (err error) {
	for _, f := range slices.Backward(c) {
		err = errors.Join(err, f())
	}
	return err
}

type httpListener struct {
	*limits.Connections
	http *http.Server
}

// run serves until ctx has ended and rest, unless it is nil, is closed.
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
