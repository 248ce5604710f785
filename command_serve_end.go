package main

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"
)

// chooseEnd reads whether the server lives only as long as its standard input.
func chooseEnd(c *cli.Context, o *options) error {
	if !c.Bool("until-eof") {
		return nil
	}
	if c.App.Reader == nil {
		return usage("leave it out", "%s: there is no standard input", given(c, "until-eof"))
	}
	o.untilEOF = c.App.Reader
	return nil
}

// untilEnd gives a context that ends when nothing more comes from a reader. A
// pipe ends when the last process that could write to it is gone, however it
// went, on every platform. What comes before the end is of no interest. The
// goroutine that waits in a read ends with the reader, or with the process.
func untilEnd(ctx context.Context, in io.Reader) (context.Context, func()) {
	ctx, stop := context.WithCancel(ctx)
	if in != nil {
		go func() {
			_, _ = io.Copy(io.Discard, in) // one that cannot be read has ended as well
			stop()
		}()
	}
	return ctx, stop
}
