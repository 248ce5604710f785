package command

import (
	"cmp"
	"context"
	"errors"
	"io"
	"runtime"

	"github.com/urfave/cli/v2"

	"blueprintd/server"
)

func commandServe() *cli.Command {
	return &cli.Command{
		Name: "serve", Usage: "run the server",
		Description: "Without flags, listens on 127.0.0.1:8787 and stores everything in ./blueprintd.db.\n" +
			"Each flag has an environment variable, BLUEPRINTD_<FLAG>. The command line takes precedence.",
		UsageText: "blueprintd serve\n" +
			"blueprintd serve --db /var/lib/blueprintd/blueprintd.db --public-url https://flows.example.org\n" +
			"blueprintd serve --ephemeral --sandbox --clock virtual",
		Flags: serveFlags(),
		Action: func(c *cli.Context) error {
			options, err := serveOptions(c)
			if err != nil {
				return err
			}
			return serve(c.Context, options)
		},
	}
}

// serve runs a server until it is stopped.
func serve(ctx context.Context, o server.Options) error {
	ctx, stopReading := untilInputEnds(ctx, o.UntilEOF)
	defer stopReading()
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	server.LimitMemory(o.MemoryLimit)
	defer runtime.KeepAlive(server.Ballast())
	s, err := server.New(ctx, o)
	if err != nil {
		return startError(ctx, o, err)
	}
	return serveError(ctx, s, s.Run(ctx))
}

// errInputEnded is the cause of the end of the context of untilInputEnds.
var errInputEnded = errors.New("standard input has ended")

// startError returns the error of a server that could not be made. To be stopped
// meanwhile is none, unless standard input had ended before the start.
func startError(ctx context.Context, o server.Options, err error) error {
	switch {
	case ctx.Err() == nil || !errors.Is(err, context.Canceled):
		return err
	case errors.Is(context.Cause(ctx), errInputEnded):
		return usage("connect standard input to a pipe, and keep its other end open while the server is to run", "--until-eof: standard input has ended already")
	}
	return server.UnmetBefore(o)
}

// serveError returns the error of a server that ran, or that of the unmet expectations
// of its sandbox.
func serveError(ctx context.Context, s *server.Server, err error) error {
	unmet := s.Unmet()
	if err == nil && !s.IsOpen() && errors.Is(context.Cause(ctx), errInputEnded) {
		return startError(ctx, s.Options, context.Canceled)
	}
	return cmp.Or(err, unmet)
}

// untilInputEnds returns a context that is canceled when the reader ends; nil never
// ends. A pipe ends when the last process that holds its other end is gone, however it
// ended. The goroutine ends with the reader or the process.
func untilInputEnds(ctx context.Context, in io.Reader) (context.Context, func()) {
	ctx, stop := context.WithCancelCause(ctx)
	if in != nil {
		go func() {
			_, _ = io.Copy(io.Discard, in) // an unreadable input counts as ended
			stop(errInputEnded)
		}()
	}
	return ctx, func() { stop(context.Canceled) }
}
