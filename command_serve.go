package main

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"blueprintd/foundation/clock"
	"blueprintd/project"
	"blueprintd/rpc/trpc"
	"blueprintd/store"
	"blueprintd/triggers/mail"
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

// options are what the command line says about a server.
type options struct {
	addr           string
	db             string
	masterKeyFile  string
	ephemeral      bool
	develops       bool // it is that of blueprintd dev
	apiKey         string
	publicURL      string
	readyFile      string
	smtpAddr       string // "" = no mail is received
	mailDomain     string
	smtpTLS        *tls.Config   // nil = STARTTLS is not offered
	maxMail        int64         // bytes
	resolver       mail.Resolver // of who sent a mail; nil = the machine's
	metricsAddr    string        // "" = metrics are on addr
	clock          clock.Clock
	seed           *project.Seed   // what the server begins with; nil = nothing
	seedIDs        *int64          // what ids, keys and chance follow from; nil = nothing
	sandbox        *sandboxOptions // nil = the server reaches the world
	allowNet       []string
	syncTimeout    time.Duration
	maxBody        int64
	rateLimit      float64
	rateBurst      int
	maxBlueprints  int
	maxRunning     int
	maxQueued      int
	maxConnections int
	memoryLimit    int64         // bytes; 0 = what the system allows
	admissionWait  time.Duration // 0 = the default
	readTimeout    time.Duration // for what a client sends, in real time; 0 = 10 seconds for headers, a minute for all
	origins        []string
	trustedProxies trpc.Proxies
	allowNetworkFS bool
	minFree        int64 // negative = no bound, 0 = the default
	maxDisk        int64 // 0 = no bound
	keepExecutions store.Keep
	keepFirings    store.Keep
	keepAudit      store.Keep
	logger         *slog.Logger
	out            io.Writer
	untilEOF       io.Reader // the server stops when it ends; nil = it does not look

	tlsFiles *certificateFiles // nil = no certificate was named
	acme     *acmeOptions      // nil = none is obtained
}

// serve runs a server until it is told to stop.
func serve(ctx context.Context, o options) error {
	ctx, stopReading := untilEnd(ctx, o.untilEOF)
	defer stopReading()
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	limitMemory(o.memoryLimit)
	defer runtime.KeepAlive(ballast())
	s, err := newServer(ctx, o)
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return stoppedEarly(ctx, o)
	}
	if err != nil {
		return err
	}
	return s.served(ctx, s.run(ctx))
}
