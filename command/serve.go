package command

import (
	"cmp"
	"context"
	"errors"
	"io"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"blueprintd/server"
)

func commandServe() *cli.Command {
	text := func(name, value, usage string) cli.Flag {
		return &cli.StringFlag{Name: name, Value: value, Usage: usage}
	}
	return &cli.Command{
		Name: "serve", Usage: "run the server",
		Description: "With no flags it listens on 127.0.0.1:8787 and keeps everything in ./blueprintd.db.\nEvery flag has an environment variable, BLUEPRINTD_<FLAG>.",
		Flags: append(append(append(append(databaseFlags(), historyFlags()...), mailFlags()...), append(tlsFlags(), sandboxFlags()...)...),
			text("addr", "127.0.0.1:8787", "listen on `HOST:PORT`; port 0 picks a free one, an empty host is 127.0.0.1"),
			&cli.BoolFlag{Name: "ephemeral", Usage: "keep everything in memory, nothing on disk"},
			text("api-key", "", "give the server's owner this `KEY`: 8 or more printable characters"),
			text("public-url", "", "the `URL` under which others reach this server; webhook addresses begin with it"),
			trustedProxyFlag(),
			text("ready-file", "", "write this `FILE` once the server is ready: JSON with baseUrl, apiHost, dashboardUrl, smtpAddr, apiKey and pid; - is a line on standard output"),
			&cli.BoolFlag{Name: "until-eof", Usage: "stop when standard input ends, so that whoever started the server and holds its other end leaves none behind, even when killed"},
			text("clock", "real", "the `CLOCK`: real, or virtual[=RFC3339], which stands still until POST /clock/advance moves it"),
			seedIDsFlag(),
			seedFlag(),
			allowNetFlag(),
			&cli.DurationFlag{Name: "sync-timeout", Value: 30 * time.Second, Usage: "how long blueprint.execute and waiting webhooks wait for a run"},
			text("max-body", "5MiB", "the largest request body, in `BYTES` or as 10MiB"),
			&cli.Float64Flag{Name: "rate-limit", Value: 50, Usage: "calls a second for each API key; 0 turns the limit off"},
			&cli.IntFlag{Name: "rate-burst", Value: 200, Usage: "calls at once for each API key"},
			&cli.IntFlag{Name: "max-blueprints", Usage: "how many blueprints a user may have; 0 = any number"},
			&cli.IntFlag{Name: "max-running", Value: 1000, Usage: "how many runs work at the same time; more wait for their turn"},
			&cli.IntFlag{Name: "max-queued", Value: 10_000, Usage: "how many runs may wait for their turn; one more is refused with 503"},
			&cli.IntFlag{Name: "max-connections", Value: 12_000, Usage: "how many connections may be open, and requests under way; one more is refused with 503"},
			&cli.StringSliceFlag{Name: "cors-origin", Usage: "let pages of this `ORIGIN` call the interface; may be repeated"},
			memoryLimitFlag(),
			minFreeFlag(),
			text("metrics-addr", "", "serve /metrics, /healthz and /readyz on `HOST:PORT` of their own, to all who reach it; without it they are on --addr, metrics for this machine alone"),
			text("log-format", "text", "the `FORMAT` of the log: text or json"),
		),
		Action: func(c *cli.Context) error {
			options, err := serveOptions(c)
			if err != nil {
				return err
			}
			return serve(c.Context, options)
		},
	}
}

// serve runs a server until it is told to stop.
func serve(ctx context.Context, o server.Options) error {
	ctx, stopReading := untilEnd(ctx, o.UntilEOF)
	defer stopReading()
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	server.LimitMemory(o.MemoryLimit)
	defer runtime.KeepAlive(server.Ballast())
	s, err := server.New(ctx, o)
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return stoppedEarly(ctx, o)
	}
	if err != nil {
		return err
	}
	return served(ctx, s, s.Run(ctx))
}

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

// untilEnd returns a context that ends when nothing more comes from a reader. A
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
