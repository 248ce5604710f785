package main

import (
	"blueprintd/server"
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/urfave/cli/v2"
)

// chooseEnd reads whether the server lives only as long as its standard input.
func chooseEnd(c *cli.Context, o *server.Options) error {
	if !c.Bool("until-eof") {
		return nil
	}
	if c.App.Reader == nil {
		return usage("leave it out", "%s: there is no standard input", given(c, "until-eof"))
	}
	o.UntilEOF = c.App.Reader
	return nil
}

// errInputEnded is why the context of untilEnd ends.
var errInputEnded = errors.New("standard input has ended")

// stoppedEarly says what became of a server that was told to stop before it was
// ready. An input that had ended already is no pipe that somebody holds.
func stoppedEarly(ctx context.Context, o server.Options) error {
	if errors.Is(context.Cause(ctx), errInputEnded) {
		return usage("give it a pipe, and hold its other end open as long as the server is to live", "--until-eof: standard input has ended already")
	}
	return server.UnmetBefore(o)
}

// served says what became of a server that ran: what was expected of a sandbox is
// told however it ended.
func served(ctx context.Context, s *server.Server, err error) error {
	unmet := s.Unmet()
	if err == nil && !s.IsOpen() && errors.Is(context.Cause(ctx), errInputEnded) {
		return stoppedEarly(ctx, s.Options)
	}
	return cmp.Or(err, unmet)
}

// untilEnd gives a context that ends when nothing more comes from a reader. A
// pipe ends when the last process that could write to it is gone, however it
// went, on every platform. What comes before the end is of no interest. The
// goroutine that waits in a read ends with the reader, or with the process.
func untilEnd(ctx context.Context, in io.Reader) (context.Context, func()) {
	ctx, stop := context.WithCancelCause(ctx)
	if in != nil {
		go func() {
			_, _ = io.Copy(io.Discard, in) // one that cannot be read has ended as well
			stop(errInputEnded)
		}()
	}
	return ctx, func() { stop(context.Canceled) }
}
