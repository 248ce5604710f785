package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"blueprintd/clock"
)

func commandServe() *cli.Command {
	text := func(name, value, usage string) cli.Flag {
		return &cli.StringFlag{Name: name, Value: value, Usage: usage, EnvVars: environment(name)}
	}
	return &cli.Command{
		Name: "serve", Usage: "run the server",
		Description: "With no flags it listens on 127.0.0.1:8787 and keeps everything in ./blueprintd.db.\nEvery flag has an environment variable, BLUEPRINTD_<FLAG>.",
		Flags: append(databaseFlags(),
			text("addr", "127.0.0.1:8787", "listen on `HOST:PORT`; port 0 picks a free one, an empty host is 127.0.0.1"),
			&cli.BoolFlag{Name: "ephemeral", Usage: "keep everything in memory, nothing on disk", EnvVars: environment("ephemeral")},
			text("api-key", "", "give the first user this `KEY`: 8 or more printable characters"),
			text("public-url", "", "the `URL` under which others reach this server; webhook addresses begin with it"),
			text("ready-file", "", "write this `FILE` once the server is ready: JSON with baseUrl, apiHost, dashboardUrl, apiKey and pid"),
			text("clock", "real", "`real`, or virtual[=RFC3339]: a clock that stands still until POST /clock/advance moves it"),
			allowNetFlag(),
			&cli.DurationFlag{Name: "sync-timeout", Value: 30 * time.Second, Usage: "how long blueprint.execute and waiting webhooks wait for a run", EnvVars: environment("sync-timeout")},
			text("max-body", "5MiB", "the largest request body, in `BYTES` or as 10MiB"),
			&cli.Float64Flag{Name: "rate-limit", Value: 50, Usage: "calls a second for each API key; 0 turns the limit off", EnvVars: environment("rate-limit")},
			&cli.IntFlag{Name: "rate-burst", Value: 200, Usage: "calls at once for each API key", EnvVars: environment("rate-burst")},
			&cli.IntFlag{Name: "max-blueprints", Usage: "how many blueprints a user may have; 0 = any number", EnvVars: environment("max-blueprints")},
			&cli.IntFlag{Name: "max-running", Value: 1000, Usage: "how many runs work at the same time; more wait for their turn", EnvVars: environment("max-running")},
			&cli.IntFlag{Name: "max-queued", Value: 10_000, Usage: "how many runs may wait for their turn; one more is refused with 503", EnvVars: environment("max-queued")},
			&cli.StringSliceFlag{Name: "cors-origin", Usage: "let pages of this `ORIGIN` call the interface; may be repeated", EnvVars: environment("cors-origin")},
			text("log-format", "text", "`text` or json"),
		),
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usage("blueprintd help serve lists the flags", "serve takes no arguments, but %q stands there", c.Args().First())
			}
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
	addr          string
	db            string
	masterKeyFile string
	ephemeral     bool
	apiKey        string
	publicURL     string
	readyFile     string
	clock         clock.Clock
	allowNet      []string
	syncTimeout   time.Duration
	maxBody       int64
	rateLimit     float64
	rateBurst     int
	maxBlueprints int
	maxRunning    int
	maxQueued     int
	origins       []string
	logger        *slog.Logger
	out           io.Writer
}

func serveOptions(c *cli.Context) (o options, err error) {
	o = options{
		db: c.String("db"), masterKeyFile: c.String("master-key-file"), ephemeral: c.Bool("ephemeral"), apiKey: c.String("api-key"),
		publicURL: strings.TrimRight(c.String("public-url"), "/"), readyFile: c.String("ready-file"), allowNet: c.StringSlice("allow-net"),
		syncTimeout: c.Duration("sync-timeout"), rateLimit: c.Float64("rate-limit"), rateBurst: c.Int("rate-burst"), maxBlueprints: c.Int("max-blueprints"),
		maxRunning: c.Int("max-running"), maxQueued: c.Int("max-queued"), origins: c.StringSlice("cors-origin"), out: c.App.Writer,
	}
	switch c.String("log-format") {
	case "text":
		o.logger = slog.New(slog.NewTextHandler(c.App.ErrWriter, nil))
	case "json":
		o.logger = slog.New(slog.NewJSONHandler(c.App.ErrWriter, nil))
	default:
		return o, usage("--log-format json", "--log-format %s: choose text or json", c.String("log-format"))
	}
	host, port, err := net.SplitHostPort(c.String("addr"))
	if err != nil {
		return o, usage("--addr 127.0.0.1:8787", "--addr %s: write HOST:PORT", c.String("addr"))
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return o, usage("--addr 127.0.0.1:8787", "--addr %s: %q is no port", c.String("addr"), port)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	o.addr = net.JoinHostPort(host, port)
	if o.apiKey != "" {
		if err := checkKey(o.apiKey); err != nil {
			return o, err
		}
	}
	if o.publicURL != "" {
		if u, err := url.Parse(o.publicURL); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" {
			return o, usage("--public-url https://flows.example.org", "--public-url %s: write an http or https address", o.publicURL)
		}
	}
	for name, n := range map[string]int{"max-running": o.maxRunning, "max-queued": o.maxQueued} {
		if n < 1 {
			return o, usage("leave it out for the default", "--%s %d: must be at least 1", name, n)
		}
	}
	if o.rateLimit < 0 || o.rateBurst < 0 || o.maxBlueprints < 0 || o.syncTimeout <= 0 {
		return o, usage("blueprintd help serve lists the flags", "limits and time-outs cannot be negative, and --sync-timeout not 0")
	}
	if o.maxBody, err = parseSize(c.String("max-body")); err != nil || o.maxBody == 0 {
		return o, usage("--max-body 10MiB", "--max-body %s: is no size above 0", c.String("max-body"))
	}
	o.clock, err = parseClock(c.String("clock"))
	if _, virtual := o.clock.(*clock.Virtual); virtual && !c.IsSet("rate-limit") {
		o.rateLimit = 0 // a clock that stands still would never refill a bucket
	}
	return o, err
}

func checkKey(key string) error {
	printable := len(key) >= 8
	for _, r := range key {
		printable = printable && r > ' ' && r < 0x7f
	}
	if !printable {
		return usage("leave the flag out to have one made", "--api-key: must be 8 or more printable characters without blanks")
	}
	return nil
}

// virtualStart is where a virtual clock stands when nothing is said.
var virtualStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func parseClock(text string) (clock.Clock, error) {
	switch kind, at, given := strings.Cut(text, "="); {
	case text == "real":
		return clock.Real{}, nil
	case text == "virtual":
		return clock.NewVirtual(virtualStart), nil
	case kind == "virtual" && given:
		start, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return nil, usage("--clock virtual=2030-01-01T00:00:00Z", "--clock %s: %q is no RFC 3339 time", text, at)
		}
		return clock.NewVirtual(start), nil
	}
	return nil, usage("--clock virtual=2030-01-01T00:00:00Z", "--clock %s: choose real or virtual[=RFC3339]", text)
}

// serve runs a server until ctx ends.
func serve(ctx context.Context, o options) error {
	s, err := newServer(ctx, o)
	if err != nil {
		return err
	}
	return s.run(ctx)
}
