package command

import (
	"io"
	"log/slog"
	"math"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"blueprintd/foundation/clock"
	"blueprintd/foundation/fileio"
	"blueprintd/server"
)

// serveOptions reads the flags of serve. Whatever can be wrong with them is
// found here, before anything is made or announced.
func serveOptions(c *cli.Context) (o server.Options, err error) {
	o = server.Options{
		Database: server.Database{DB: c.String("db"), MasterKeyFile: c.String("master-key-file"), Ephemeral: c.Bool("ephemeral"), Schema: programOf(c).Schema},
		Network:  server.Network{PublicURL: strings.TrimRight(c.String("public-url"), "/"), Origins: c.StringSlice("cors-origin")},
		Limits:   server.Limits{SyncTimeout: c.Duration("sync-timeout"), RateLimit: c.Float64("rate-limit"), RateBurst: c.Int("rate-burst"), MaxBlueprints: c.Int("max-blueprints"), MaxRunning: c.Int("max-running"), MaxQueued: c.Int("max-queued"), MaxConnections: c.Int("max-connections")},
		APIKey:   c.String("api-key"), ReadyFile: c.String("ready-file"), Version: programOf(c).Version, Out: c.App.Writer,
	}
	if o.Addr, err = parseAddr(c, "addr", "127.0.0.1:8787"); err != nil {
		return o, err
	}
	if c.String("metrics-addr") != "" {
		if o.MetricsAddr, err = parseAddr(c, "metrics-addr", "127.0.0.1:8788"); err != nil {
			return o, err
		}
	}
	if o.MaxBody, err = parseSize(c.String("max-body")); err != nil || o.MaxBody == 0 {
		return o, usage("--max-body 10MiB", "%s %s: is no size above 0", given(c, "max-body"), c.String("max-body"))
	}
	if o.Clock, err = parseClock(given(c, "clock"), c.String("clock")); err != nil {
		return o, err
	}
	if _, virtual := o.Clock.(*clock.Virtual); virtual && !c.IsSet("rate-limit") {
		o.RateLimit = 0 // a clock that stands still would never refill a bucket
	}
	if o.AllowNet, err = prefixes("allow-net", given(c, "allow-net"), c.StringSlice("allow-net")); err != nil {
		return o, err
	}
	o.AllowNetworkFS = c.Bool("allow-network-fs")
	for _, check := range []func(*cli.Context, *server.Options) error{chooseLog, parseMinFree, chooseMemory, checkPlace, checkKey, checkPublicURL, chooseProxies, checkOrigins, checkLimits, chooseHistory, chooseMail, chooseTLS, chooseSandbox, checkReadyFile, chooseEnd, chooseSeedIDs, chooseSeed} {
		if err := check(c, &o); err != nil {
			return o, err
		}
	}
	return o, nil
}

// minFreeFlag is the flag of serve, and of doctor, which asks the same question.
func minFreeFlag() cli.Flag {
	return &cli.StringFlag{Name: "min-free", Usage: "refuse new runs while less than this many `BYTES` are free on the disk (default: 64MiB, on a small disk a twentieth); 0 = never"}
}

// parseMinFree reads how much of the disk stays free.
func parseMinFree(c *cli.Context, o *server.Options) (err error) {
	if !c.IsSet("min-free") || c.String("min-free") == "" {
		return nil
	}
	if o.MinFree, err = parseSize(c.String("min-free")); err != nil {
		return usage("--min-free 64MiB", "%s %s: is no size", given(c, "min-free"), c.String("min-free"))
	}
	if o.MinFree == 0 {
		o.MinFree = -1
	}
	return nil
}

func parseAddr(c *cli.Context, flag, example string) (string, error) {
	hint := "--" + flag + " " + example
	host, port, err := net.SplitHostPort(c.String(flag))
	if err != nil {
		return "", usage(hint, "%s %s: write HOST:PORT", given(c, flag), c.String(flag))
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", usage(hint, "%s %s: %q is no port", given(c, flag), c.String(flag), port)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

func chooseLog(c *cli.Context, o *server.Options) error {
	format := c.String("log-format")
	if format != "text" && format != "json" {
		return usage("--log-format json", "%s %s: choose text or json", given(c, "log-format"), format)
	}
	o.Logger = newLog(format, c.App.ErrWriter, slog.LevelInfo)
	return nil
}

// newLog makes a log of a format, text or json, with what is at least of a level.
func newLog(format string, out io.Writer, least slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: least}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(out, options))
	}
	return slog.New(slog.NewTextHandler(out, options))
}

// checkPlace refuses to forget what was to be kept. A place that the environment
// names is one for every start, such as a container image's, and goes behind the
// word of who wants nothing kept at this one.
func checkPlace(c *cli.Context, o *server.Options) error {
	if !o.Ephemeral {
		return checkDatabase(c)
	}
	for _, name := range []string{"db", "master-key-file"} {
		if onLine(c, name) {
			return usage("leave one of them out", "%s keeps everything in memory, and %s names a file to keep it in", given(c, "ephemeral"), given(c, name))
		}
	}
	return nil
}

func checkKey(c *cli.Context, o *server.Options) error {
	if !c.IsSet("api-key") {
		return nil
	}
	printable := len(o.APIKey) >= 8
	for _, r := range o.APIKey {
		printable = printable && r > ' ' && r < 0x7f
	}
	if !printable {
		return usage("leave it out to have a key made", "%s: must be 8 or more printable characters without blanks", given(c, "api-key"))
	}
	return nil
}

func checkPublicURL(c *cli.Context, o *server.Options) error {
	if !c.IsSet("public-url") {
		return nil
	}
	if u, err := url.Parse(o.PublicURL); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return usage("--public-url https://flows.example.org", "%s %s: write an http or https address", given(c, "public-url"), o.PublicURL)
	}
	return nil
}

// checkOrigins wants origins as browsers send them; any other would never match.
func checkOrigins(c *cli.Context, o *server.Options) error {
	for i, origin := range o.Origins {
		o.Origins[i] = strings.TrimSpace(origin)
		u, err := url.Parse(o.Origins[i])
		if o.Origins[i] != "*" && (err != nil || u.Scheme == "" || u.Host == "" || o.Origins[i] != strings.ToLower(u.Scheme+"://"+u.Host)) {
			return usage("--cors-origin https://app.example.org", "%s %s: write scheme://host or scheme://host:port in small letters, with nothing behind it, or *", given(c, "cors-origin"), origin)
		}
	}
	return nil
}

func checkLimits(c *cli.Context, o *server.Options) error {
	for _, limit := range []struct {
		name  string
		value float64
		least float64
	}{
		{"max-running", float64(o.MaxRunning), 1}, {"max-queued", float64(o.MaxQueued), 1}, {"max-connections", float64(o.MaxConnections), 1}, {"max-blueprints", float64(o.MaxBlueprints), 0},
		{"rate-limit", o.RateLimit, 0}, {"rate-burst", float64(o.RateBurst), 0},
	} {
		if !(limit.value >= limit.least) || math.IsInf(limit.value, 0) {
			return usage("leave it out for the default", "%s %v: must be at least %v", given(c, limit.name), limit.value, limit.least)
		}
	}
	if o.SyncTimeout <= 0 {
		return usage("--sync-timeout 30s", "%s %s: must be more than 0", given(c, "sync-timeout"), o.SyncTimeout)
	}
	return nil
}

// checkReadyFile makes sure that the ready file can be written, by writing
// another one beside it.
func checkReadyFile(c *cli.Context, o *server.Options) error {
	if !c.IsSet("ready-file") || o.ReadyFile == server.ReadyOnOutput {
		return nil
	}
	refuse := func(reason any) error {
		return usage("name a file in a folder that exists and is writable", "%s %s: cannot be written: %v", given(c, "ready-file"), o.ReadyFile, reason)
	}
	if info, err := os.Stat(o.ReadyFile); o.ReadyFile == "" || err == nil && !info.Mode().IsRegular() {
		return refuse("it is not a file")
	}
	trial, err := os.CreateTemp(filepath.Dir(o.ReadyFile), filepath.Base(o.ReadyFile)+".*.tmp")
	if err != nil {
		return refuse(fileio.Cause(err))
	}
	trial.Close()
	if err := os.Remove(trial.Name()); err != nil {
		return refuse(fileio.Cause(err))
	}
	return nil
}

// virtualStart is where a virtual clock stands when nothing is said.
var virtualStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func parseClock(source, text string) (clock.Clock, error) {
	const hint = "--clock virtual=2030-01-01T00:00:00Z"
	switch kind, at, given := strings.Cut(text, "="); {
	case text == "real":
		return clock.Real{}, nil
	case text == "virtual":
		return clock.NewVirtual(virtualStart), nil
	case kind == "virtual" && given:
		start, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return nil, usage(hint, "%s %s: %q is no RFC 3339 time", source, text, at)
		}
		return clock.NewVirtual(start), nil
	}
	return nil, usage(hint, "%s %s: choose real or virtual[=RFC3339]", source, text)
}

func trustedProxyFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "trusted-proxy", Usage: "believe the proxies in this `CIDR` range when they say for whom they speak: each has to add the address of its client to the header X-Forwarded-For; may be repeated. With --public-url this machine itself is believed too"}
}

// chooseProxies reads who is believed about where a request comes from.
func chooseProxies(c *cli.Context, o *server.Options) error {
	named, err := prefixes("trusted-proxy", given(c, "trusted-proxy"), c.StringSlice("trusted-proxy"))
	o.TrustedProxies = named
	return err
}

func memoryLimitFlag() cli.Flag {
	return &cli.StringFlag{Name: "memory-limit", Usage: "use at most about this many `BYTES` of memory; what clients may fill follows from it (default: GOMEMLIMIT, the cgroup's limit, or all memory of the machine)"}
}

// chooseMemory reads how much memory the server may use.
func chooseMemory(c *cli.Context, o *server.Options) (err error) {
	if !c.IsSet("memory-limit") || c.String("memory-limit") == "" {
		return nil
	}
	if o.MemoryLimit, err = parseSize(c.String("memory-limit")); err != nil || o.MemoryLimit == 0 {
		return usage("--memory-limit 512MiB", "%s %s: want a size above 0", given(c, "memory-limit"), c.String("memory-limit"))
	}
	return nil
}
