package command

import (
	"cmp"
	"io"
	"log/slog"
	"math"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/fileio"
	"blueprintd/server"
	"blueprintd/store"
)

// serveOptions reads the flags of serve and checks them before anything is created.
func serveOptions(c *cli.Context) (server.Options, error) {
	o := server.Options{
		Database: server.Database{DB: c.String("db"), MasterKeyFile: c.String("master-key-file"), AllowNetworkFS: c.Bool("allow-network-fs"), Ephemeral: c.Bool("ephemeral"), Schema: programOf(c).Schema},
		Network:  server.Network{PublicURL: strings.TrimRight(c.String("public-url"), "/"), Origins: c.StringSlice("cors-origin")},
		Limits:   server.Limits{SyncTimeout: c.Duration("sync-timeout"), RateLimit: c.Float64("rate-limit"), RateBurst: c.Int("rate-burst"), MaxBlueprints: c.Int("max-blueprints"), MaxRunning: c.Int("max-running"), MaxQueued: c.Int("max-queued"), MaxConnections: c.Int("max-connections")},
		APIKey:   c.String("api-key"), ReadyFile: c.String("ready-file"), Version: programOf(c).Version, Out: c.App.Writer,
	}
	for _, read := range []func(*cli.Context, *server.Options) error{
		readLog, readAddresses, readClock, readSizes, readKeepOld, checkStorage, checkKey, checkOrigins, checkLimits, readHistory, readMail, readTLS, readSandbox, checkReadyFile, readInput, readSeedIDs, readSeed,
	} {
		if err := read(c, &o); err != nil {
			return o, err
		}
	}
	return o, nil
}

func readLog(c *cli.Context, o *server.Options) error {
	format := c.String("log-format")
	if format != "text" && format != "json" {
		return usage("--log-format json", "%s %s: choose text or json", given(c, "log-format"), format)
	}
	o.Logger = newLog(format, c.App.ErrWriter, slog.LevelInfo)
	return nil
}

// newLog returns a log of a format, text or json, with records of at least a level.
func newLog(format string, out io.Writer, least slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: least}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(out, options))
	}
	return slog.New(slog.NewTextHandler(out, options))
}

func readAddresses(c *cli.Context, o *server.Options) (err error) {
	if o.Addr, err = parseAddr(c, "addr", "127.0.0.1:8787"); err != nil {
		return err
	}
	if c.String("metrics-addr") != "" {
		if o.MetricsAddr, err = parseAddr(c, "metrics-addr", "127.0.0.1:8788"); err != nil {
			return err
		}
	}
	if c.IsSet("public-url") && !isServerURL(o.PublicURL) {
		return usage(blueprint.SeeDocs("--public-url https://flows.example.org", "deploying"), "%s %s: write an http or https address", given(c, "public-url"), o.PublicURL)
	}
	if o.AllowNet, err = prefixes(c, "allow-net"); err != nil {
		return err
	}
	o.TrustedProxies, err = prefixes(c, "trusted-proxy")
	return err
}

func parseAddr(c *cli.Context, flag, example string) (string, error) {
	hint := "--" + flag + " " + example
	host, port, err := net.SplitHostPort(c.String(flag))
	if err != nil {
		return "", usage(hint, "%s %s: write HOST:PORT", given(c, flag), c.String(flag))
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", usage(hint, "%s %s: %q is not a port", given(c, flag), c.String(flag), port)
	}
	host = cmp.Or(host, "127.0.0.1")
	return net.JoinHostPort(host, port), nil
}

// isServerURL reports whether text is an http or https URL without a query or user.
func isServerURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.RawQuery == "" && u.Fragment == "" && u.User == nil
}

func readSizes(c *cli.Context, o *server.Options) (err error) {
	if o.MaxBody, err = sizeFlag(c, "max-body", "10MiB", 1); err != nil {
		return err
	}
	if c.String("memory-limit") != "" {
		if o.MemoryLimit, err = sizeFlag(c, "memory-limit", "512MiB", 1); err != nil {
			return err
		}
	}
	return readMinFree(c, o)
}

func readKeepOld(c *cli.Context, o *server.Options) error {
	switch o.KeepOld = store.KeepOld(c.String("keep-old")); o.KeepOld {
	case store.KeepOldAuto, store.KeepOldAlways, store.KeepOldNever:
		return nil
	}
	return usage("--keep-old always", "%s %s: choose auto, always or never", given(c, "keep-old"), o.KeepOld)
}

func readMinFree(c *cli.Context, o *server.Options) (err error) {
	if c.String("min-free") == "" {
		return nil
	}
	if o.MinFree, err = sizeFlag(c, "min-free", "64MiB", 0); o.MinFree == 0 {
		o.MinFree = -1 // never refuse
	}
	return err
}

// checkStorage refuses --ephemeral with a file to store things in. A file named by the
// environment is ignored: it is the default of every start, such as in a container.
func checkStorage(c *cli.Context, o *server.Options) error {
	if !o.Ephemeral {
		return checkDatabase(c)
	}
	for _, name := range []string{"db", "master-key-file"} {
		if onLine(c, name) {
			return exclude("%s stores everything in memory, and %s names a file", given(c, "ephemeral"), given(c, name))
		}
	}
	return nil
}

func checkKey(c *cli.Context, o *server.Options) error {
	if c.IsSet("api-key") && (len(o.APIKey) < 8 || strings.ContainsFunc(o.APIKey, func(r rune) bool { return r <= ' ' || r >= 0x7f })) {
		return usage("leave it out to have a key generated", "%s: must be 8 or more printable characters without blanks", given(c, "api-key"))
	}
	return nil
}

// checkOrigins requires origins in the form that browsers send; others never match.
func checkOrigins(c *cli.Context, o *server.Options) error {
	for i, origin := range o.Origins {
		o.Origins[i] = strings.TrimSpace(origin)
		u, err := url.Parse(o.Origins[i])
		if o.Origins[i] != "*" && (err != nil || u.Scheme == "" || u.Host == "" || o.Origins[i] != strings.ToLower(u.Scheme+"://"+u.Host)) {
			return usage("--cors-origin https://app.example.org", "%s %s: write scheme://host or scheme://host:port in lower case, without a path, or *", given(c, "cors-origin"), origin)
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
	if _, virtual := o.Clock.(*clock.Virtual); virtual && !c.IsSet("rate-limit") {
		o.RateLimit = 0 // a clock that does not move never refills a bucket
	}
	return nil
}

// checkReadyFile verifies that the ready file can be written, by writing another file
// beside it.
func checkReadyFile(c *cli.Context, o *server.Options) error {
	if !c.IsSet("ready-file") || o.ReadyFile == server.ReadyOnOutput {
		return nil
	}
	refuse := func(reason any) error {
		return usage("name a file in a writable folder that exists", "%s %s: cannot be written: %v", given(c, "ready-file"), o.ReadyFile, reason)
	}
	if info, err := os.Stat(o.ReadyFile); o.ReadyFile == "" || err == nil && !info.Mode().IsRegular() {
		return refuse("it is not a file")
	}
	if err := probe(filepath.Dir(o.ReadyFile), filepath.Base(o.ReadyFile)+".*.tmp"); err != nil {
		return refuse(fileio.Cause(err))
	}
	return nil
}

func readInput(c *cli.Context, o *server.Options) error {
	if !c.Bool("until-eof") {
		return nil
	}
	if c.App.Reader == nil {
		return usage("leave it out", "%s: there is no standard input", given(c, "until-eof"))
	}
	o.UntilEOF = c.App.Reader
	return nil
}
