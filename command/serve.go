package command

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/crypto/acme"

	"blueprintd/server"
	"blueprintd/store"
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
			for name, meant := range misspelt(os.Environ(), c.Command.Flags, c.App.Commands) {
				options.Logger.Warn("unknown environment variable", "name", name, "hint", "did you mean "+meant+"?")
			}
			return serve(c.Context, options)
		},
	}
}

func serve(ctx context.Context, o server.Options) error {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a server outlives the reader of its log
	ctx, stopReading := untilInputEnds(ctx, o.UntilEOF)
	defer stopReading()
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	server.LimitMemory(o.MemoryLimit)
	o.Collector = server.NewCollector()
	s, err := server.New(ctx, o)
	if err != nil {
		return startError(ctx, o, err)
	}
	return serveError(ctx, s, s.Run(ctx))
}

// errInputEnded is the cause of the end of the context of untilInputEnds.
var errInputEnded = errors.New("standard input has ended")

// startError returns the error of a failed start. A stop during the start is not an error,
// unless standard input had ended before it.
func startError(ctx context.Context, o server.Options, err error) error {
	switch {
	case ctx.Err() == nil || !errors.Is(err, context.Canceled):
		return err
	case errors.Is(context.Cause(ctx), errInputEnded):
		return usage("connect standard input to a pipe, and keep its other end open while the server is to run", "--until-eof: standard input has ended already")
	}
	return server.UnmetBefore(o)
}

// serveError returns the error of a server, or that of unmet expectations of its sandbox.
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
	if file, ok := in.(*os.File); ok && hasEnded(file) { // before the server can become ready
		stop(errInputEnded)
	} else if in != nil {
		go func() {
			_, _ = io.Copy(io.Discard, in) // an unreadable input counts as ended
			stop(errInputEnded)
		}()
	}
	return ctx, func() { stop(context.Canceled) }
}

// The categories of flags that several commands have.
const (
	storageCategory  = "storage"
	outboundCategory = "outbound requests"
	testingCategory  = "testing"
)

// databaseFlags are the flags of every command that opens the database.
func databaseFlags() []cli.Flag {
	return under(storageCategory,
		&cli.StringFlag{Name: "db", Usage: "database `FILE`", Value: "blueprintd.db"},
		&cli.StringFlag{Name: "database", Usage: "use the PostgreSQL database at this `URL` in place of a file, such as postgres://user@host/name; needs --master-key-file"},
		&cli.StringFlag{Name: "master-key-file", Usage: "`FILE` with the key that encrypts secrets (default: the database file with .key appended)"},
		&cli.BoolFlag{Name: "allow-network-fs", Usage: "open a database on a network file system, which may corrupt it"},
	)
}

// minFreeFlag is shared by serve and doctor.
func minFreeFlag() cli.Flag {
	return &cli.StringFlag{Name: "min-free", Usage: "refuse new runs while fewer than this many `BYTES` are free on the disk; 0 turns the check off (default: 64MiB, or 5 % of a small disk)", Category: storageCategory}
}

func allowNetFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "allow-net", Usage: "let outbound nodes reach the private addresses in this `CIDR` range; may be repeated", Category: outboundCategory}
}

func serveFlags() []cli.Flag {
	text := func(name, value, usage string) cli.Flag {
		return &cli.StringFlag{Name: name, Value: value, Usage: usage}
	}
	return slices.Concat(
		under("listening",
			text("addr", defaultAddr, "listen on `HOST:PORT`; port 0 picks a free port, an empty host is 127.0.0.1"),
			text("public-url", "", "`URL` under which clients reach this server; webhook addresses begin with it"),
			&cli.StringSliceFlag{Name: "trusted-proxy", Usage: "trust the X-Forwarded-For header of proxies in this `CIDR` range; may be repeated. With --public-url, this machine is trusted too"},
			&cli.StringSliceFlag{Name: "cors-origin", Usage: "let pages of this `ORIGIN` call the API; may be repeated"},
			text("ready-file", "", "when ready, write baseUrl, apiHost, dashboardUrl, smtpAddr, apiKey and pid to this `FILE` as JSON; - writes a line to standard output"),
			&cli.DurationFlag{Name: "shutdown-delay", Usage: "when stopped, go on serving for this `TIME` while /readyz answers 503, so that load balancers send requests elsewhere before it refuses them"},
			&cli.BoolFlag{Name: "until-eof", Usage: "stop when standard input ends, so that the server ends with the process that started it"},
		),
		databaseFlags(),
		under(storageCategory,
			&cli.BoolFlag{Name: "ephemeral", Usage: "store everything in memory"},
			text("keep-executions", "", "keep finished runs for this `AGE` (90d, 36h), or keep this many (at least 1000); all or 0 keeps them all. Failed runs are kept three times as long, or go last (default: 90d; all with --ephemeral)"),
			text("keep-firings", "", "keep the history of triggers for this `AGE`, or this many rows (at least 1000); all or 0 keeps it all. Deliveries with an id that started a run are kept for at least 72h (default: 90d; all with --ephemeral)"),
			text("keep-audit", "", "keep the audit log for this `AGE`, or this many lines (at least 1000); all or 0 keeps it all (default: 400d; all with --ephemeral)"),
			text("max-disk", "", "delete the oldest finished runs when the database takes more than this many `BYTES`, such as 2GiB; 0 means no limit (default: no limit)"),
			minFreeFlag(),
			text("node-name", "", "the `NAME` of this process among those with the same --database (default: host name and port)"),
			text("keep-old", "auto", "when a newer version upgrades the database at its start, keep a copy of the old one as FILE.v8 (8: its schema version); `WHEN` is auto (if there is room), always or never"),
		),
		under("initial data",
			text("api-key", "", "create this `KEY` for the server's owner: 8 or more printable characters"),
			text("seed", "", "create the users, organizations, connections and blueprints in this YAML or JSON `FILE`. Existing ones stay as they are; deleted ones are created again at the next start"),
		),
		under(outboundCategory, allowNetFlag()),
		under("limits",
			&cli.IntFlag{Name: "max-running", Value: 1000, Usage: "`NUMBER` of simultaneous runs; more are queued"},
			&cli.IntFlag{Name: "max-queued", Value: 10_000, Usage: "`NUMBER` of queued runs; more are refused with 503"},
			&cli.IntFlag{Name: "max-connections", Value: server.DefaultMaxConnections, Usage: "`NUMBER` of open connections, and of requests in progress; more are refused with 503"},
			&cli.IntFlag{Name: "max-blueprints", Usage: "`NUMBER` of blueprints per user; 0 means no limit"},
			text("max-body", "5MiB", "size of the largest request body, in `BYTES` or as 10MiB"),
			&cli.Float64Flag{Name: "rate-limit", Value: 50, Usage: "calls per second for each API key, a `NUMBER`; 0 means no limit"},
			&cli.IntFlag{Name: "rate-burst", Value: 200, Usage: "`NUMBER` of calls at once for each API key"},
			&cli.DurationFlag{Name: "sync-timeout", Value: 30 * time.Second, Usage: "`TIME` for which blueprint.execute and waiting webhooks wait for a run"},
			text("memory-limit", "", "use about this many `BYTES` of memory; the limits of request buffers follow from it (default: GOMEMLIMIT, the limit of the cgroup, or the memory of the machine)"),
		),
		under("mail",
			text("smtp-addr", "", "receive mail for email triggers by SMTP on `HOST:PORT`; an empty host is 127.0.0.1 (default: receive no mail)"),
			text("mail-domain", store.DefaultMailDomain, "`DOMAIN` of the mail addresses of triggers"),
			text("smtp-tls-cert", "", "offer STARTTLS with the certificate in this PEM `FILE`"),
			text("smtp-tls-key", "", "`FILE` with the private key of --smtp-tls-cert"),
			text("max-mail", "25MiB", "size of the largest mail, in `BYTES` or as 25MiB"),
		),
		under("TLS",
			text("tls-cert", "", "serve HTTPS with the certificate in this PEM `FILE`; the file is read again when it changes"),
			text("tls-key", "", "`FILE` with the private key of --tls-cert"),
			&cli.StringSliceFlag{Name: "acme-domain", Usage: "obtain and renew a certificate for this `DOMAIN`, whose port 443 must lead here; may be repeated. You thereby accept the terms of the authority"},
			text("acme-dir", "", "`FOLDER` of the certificates and the account (default: the database file with .acme appended)"),
			text("acme-email", "", "contact `ADDRESS` for the authority"),
			text("acme-directory", acme.LetsEncryptURL, "directory `URL` of the authority"),
			text("acme-http-addr", "", "answer HTTP-01 challenges on `HOST:PORT` and redirect other requests to HTTPS; the authority connects to port 80"),
		),
		under(testingCategory,
			&cli.BoolFlag{Name: "sandbox", Usage: "reach no real service: built-in fakes answer nodes and connections. /sandbox/calls lists the calls; /sandbox/rules sets answers and faults"},
			text("expect", "", "with --sandbox: `FILE` (YAML or JSON) with the calls that have to happen; the exit code is 1 when one is missing at the end"),
			text("clock", "real", "`CLOCK`: real, or virtual[=RFC3339], which moves only with POST /clock/advance"),
			text("seed-ids", "", "derive all ids, keys and random parts from this `NUMBER`; requires --ephemeral. With --clock virtual, the same calls in the same order return the same results"),
		),
		under("logging and monitoring",
			text("log-format", "text", "`FORMAT` of the log: text or json"),
			text("metrics-addr", "", "serve /metrics, /healthz and /readyz on `HOST:PORT` without authentication (default: on --addr, with /metrics for this machine only)"),
		),
	)
}
