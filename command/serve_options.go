package command

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/crypto/acme"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/fileio"
	"blueprintd/project"
	"blueprintd/server"
	"blueprintd/server/certificate"
	"blueprintd/server/sandbox"
	"blueprintd/store"
)

// serveOptions reads the flags of serve and checks them before anything is created.
func serveOptions(c *cli.Context) (server.Options, error) {
	o := server.Options{
		Database: server.Database{DB: c.String("db"), MasterKeyFile: c.String("master-key-file"), AllowNetworkFS: c.Bool("allow-network-fs"), Ephemeral: c.Bool("ephemeral"), Schema: programOf(c).Schema},
		Network:  server.Network{PublicURL: strings.TrimRight(c.String("public-url"), "/"), Origins: c.StringSlice("cors-origin"), ShutdownDelay: c.Duration("shutdown-delay")},
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

// defaultAddr is where a server listens without --addr.
const defaultAddr = "127.0.0.1:8787"

func readAddresses(c *cli.Context, o *server.Options) (err error) {
	if o.Addr, err = parseAddr(c, "addr", defaultAddr); err != nil {
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
	if isRemote(c) {
		o.DB, o.URL, o.NodeName = "", c.String("database"), c.String("node-name")
	} else if c.IsSet("node-name") {
		return usage("add --database URL, or leave it out", "%s names one of several processes on a PostgreSQL database", given(c, "node-name"))
	}
	if !o.Ephemeral || isRemote(c) {
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
	if o.ShutdownDelay < 0 {
		return usage("--shutdown-delay 5s", "%s %s: must be at least 0", given(c, "shutdown-delay"), o.ShutdownDelay)
	}
	if o.SyncTimeout <= 0 {
		return usage("--sync-timeout 30s", "%s %s: must be more than 0", given(c, "sync-timeout"), o.SyncTimeout)
	}
	if _, virtual := o.Clock.(*clock.Virtual); virtual && !c.IsSet("rate-limit") {
		o.RateLimit = 0 // a clock that does not move never refills a bucket
	}
	return nil
}

// checkReadyFile verifies that the ready file can be written, by a probe beside it.
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

const (
	leastDisk = 16 << 20 // bytes of the smallest --max-disk, with room for the write-ahead log
	leastRows = 1000     // a smaller number was probably meant as days, and would delete nearly everything
)

func readHistory(c *cli.Context, o *server.Options) (err error) {
	for _, flag := range []struct {
		name, standard string
		keep           *store.Keep
	}{{"keep-executions", "90d", &o.KeepExecutions}, {"keep-firings", "90d", &o.KeepFirings}, {"keep-audit", "400d", &o.KeepAudit}} {
		if *flag.keep, err = keepFlag(c, flag.name, flag.standard, o.Ephemeral); err != nil {
			return err
		}
	}
	if !c.IsSet("max-disk") {
		return nil
	}
	o.MaxDisk, err = sizeFlag(c, "max-disk", "2GiB", 0)
	if err == nil && o.MaxDisk != 0 && o.MaxDisk < leastDisk {
		err = usage("--max-disk 2GiB", "%s %s: must be at least 16MiB, or 0 for no limit", given(c, "max-disk"), c.String("max-disk"))
	}
	return err
}

func keepFlag(c *cli.Context, name, standard string, ephemeral bool) (store.Keep, error) {
	text := c.String(name)
	if !c.IsSet(name) {
		if ephemeral {
			return store.Keep{}, nil
		}
		text = standard
	}
	unit := "rows"
	if name == "keep-executions" {
		unit = "runs"
	}
	keep, err := parseKeep(text, unit)
	if err != nil {
		err = usage(blueprint.SeeDocs("--"+name+" "+standard+", --"+name+" 100000 or --"+name+" all", "deploying"), "%s: %s", strings.TrimSpace(given(c, name)+" "+text), err)
	}
	return keep, err
}

// parseKeep reads an age of at least a minute (90d, 36h, 1h30m), a number of at least
// leastRows rows, or "all" or 0. unit is the word for rows in an error.
func parseKeep(text, unit string) (store.Keep, error) {
	if text == "all" {
		return store.Keep{}, nil
	}
	if rows, err := strconv.ParseInt(text, 10, 64); err == nil && rows >= 0 {
		if rows != 0 && rows < leastRows {
			return store.Keep{}, fmt.Errorf("%d %s, or %[1]dd? a number of rows must be at least %[3]d", rows, unit, leastRows)
		}
		return store.Keep{Rows: rows}, nil
	}
	age, err := time.ParseDuration(text)
	if number, isDays := strings.CutSuffix(text, "d"); isDays {
		var days float64
		if days, err = strconv.ParseFloat(number, 64); !(math.Abs(days) <= 36_500) {
			err = strconv.ErrRange
		}
		age = time.Duration(days * float64(24*time.Hour))
	}
	if err != nil || age < time.Minute {
		return store.Keep{}, errors.New("want an age of at least 1m, a number of rows, or all")
	}
	return store.Keep{Age: age}, nil
}

// maxExpect is the size of the largest file of expectations, in bytes.
const maxExpect = 1 << 20

// readSandbox reads the flags of the sandbox and refuses those that reach a real service.
func readSandbox(c *cli.Context, o *server.Options) error {
	name := c.String("expect")
	switch {
	case !c.Bool("sandbox") && name != "":
		return usage("add --sandbox", "%s requires --sandbox", given(c, "expect"))
	case !c.Bool("sandbox"):
		return nil
	case o.ACME != nil:
		return usage("use --tls-cert and --tls-key, or no TLS", "%s: certificates come from a real authority, and a sandbox reaches none", given(c, "sandbox"))
	}
	o.Sandbox = &server.SandboxOptions{Report: c.App.ErrWriter}
	o.Resolver = sandbox.NoNames{}
	if name == "" {
		return nil
	}
	data, err := fileio.Read(name, maxExpect)
	if err != nil {
		return usage("name a readable file", "%s %s: %s", given(c, "expect"), name, fileio.Cause(err))
	}
	const hint = `write expect: [{match: {nodeType: send-slack}, times: 1}]`
	doc, err := document.Parse(name, data)
	if err != nil {
		return usage(hint, "%s", err)
	}
	var wrong *blueprint.Error
	if err := sandbox.CheckExpectations(doc.Value, server.RuledNames()); errors.As(err, &wrong) {
		return usage(hint, "%s", doc.Point(wrong.Issues[0]))
	}
	o.Sandbox.Expect = doc.Value
	return nil
}

func readSeed(c *cli.Context, o *server.Options) error {
	const hint = "fix the file; nothing was written"
	name := c.String("seed")
	if name == "" {
		return nil
	}
	data, err := fileio.Read(name, document.MaxSize+1)
	if err != nil {
		return usage("name a file that exists", "%s %s: %s", given(c, "seed"), name, fileio.Cause(err))
	}
	seed, doc, issues, err := project.ReadSeed(name, data, project.Environment)
	if err != nil {
		return syntaxError(err, hint)
	}
	for _, issue := range issues {
		if issue.Severity != blueprint.SeverityWarning {
			return usage(hint, "%s", doc.Point(issue))
		}
	}
	o.Seed = seed
	return nil
}

// readSeedIDs reads the number from which ids are derived. Such ids are predictable, so
// that the server must not store anything.
func readSeedIDs(c *cli.Context, o *server.Options) error {
	text := c.String("seed-ids")
	if text == "" {
		return nil
	}
	seed, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return usage("--seed-ids 1", "%s %s: want a whole number", given(c, "seed-ids"), text)
	}
	if isRemote(c) {
		return exclude("%s: does not go with %s: keys and ids derived from a number are predictable", given(c, "seed-ids"), given(c, "database"))
	}
	if !o.Ephemeral {
		return usage("add --ephemeral, or leave it out", "%s requires --ephemeral: keys and ids derived from a number are predictable", given(c, "seed-ids"))
	}
	o.SeedIDs = &seed
	return nil
}

func readClock(c *cli.Context, o *server.Options) (err error) {
	o.Clock, err = parseClock(c)
	return err
}

// virtualStart is where a virtual clock begins by default.
var virtualStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func parseClock(c *cli.Context) (clock.Clock, error) {
	const hint = "--clock virtual=2030-01-01T00:00:00Z"
	text := c.String("clock")
	switch kind, at, hasStart := strings.Cut(text, "="); {
	case text == "real":
		return clock.Real{}, nil
	case text == "virtual":
		return clock.NewVirtual(virtualStart), nil
	case kind == "virtual" && hasStart:
		start, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return nil, usage(hint, "%s %s: %q is not an RFC 3339 time", given(c, "clock"), text, at)
		}
		if start.UnixMilli() <= 0 {
			return nil, usage(hint, "%s %s: want a time after 1970-01-01T00:00:00Z", given(c, "clock"), text)
		}
		return clock.NewVirtual(start), nil
	}
	return nil, usage(hint, "%s %s: choose real or virtual[=RFC3339]", given(c, "clock"), text)
}

func readMail(c *cli.Context, o *server.Options) (err error) {
	if c.String("smtp-addr") != "" {
		if o.SMTPAddr, err = parseAddr(c, "smtp-addr", "127.0.0.1:2525"); err != nil {
			return err
		}
	}
	o.MailDomain = strings.ToLower(strings.TrimSpace(c.String("mail-domain")))
	if !blueprint.IsMailDomain(o.MailDomain) {
		return usage(blueprint.SeeDocs("--mail-domain flows.example.org", "deploying"), "%s %s: is not a domain", given(c, "mail-domain"), c.String("mail-domain"))
	}
	file, key, err := certificateFlags(c, "smtp-tls-cert", "smtp-tls-key")
	if err != nil {
		return err
	}
	if file != "" {
		pair, err := tls.LoadX509KeyPair(file, key)
		if err != nil {
			return usage(blueprint.SeeDocs("name PEM files that belong together", "deploying"), "%s %s: cannot be used: %s", given(c, "smtp-tls-cert"), file, fileio.Cause(err))
		}
		o.SMTPTLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	if o.MaxMail, err = parseSize(c.String("max-mail")); err != nil || o.MaxMail < 1<<10 || o.MaxMail > 1<<30 {
		return usage("--max-mail 25MiB", "%s %s: must be a size from 1KiB to 1GiB", given(c, "max-mail"), c.String("max-mail"))
	}
	return nil
}

// certificateFlags reads two flags of which both or neither must be set.
func certificateFlags(c *cli.Context, certificate, key string) (certificateFile, keyFile string, err error) {
	certificateFile, keyFile = c.String(certificate), c.String(key)
	if (certificateFile == "") != (keyFile == "") {
		err = usage("set both, or neither", "%s and %s go together", given(c, certificate), given(c, key))
	}
	return certificateFile, keyFile, err
}

// maxDomains is the largest number of domains of one server.
const maxDomains = 100

func readTLS(c *cli.Context, o *server.Options) error {
	domains := c.StringSlice("acme-domain")
	file, key, err := certificateFlags(c, "tls-cert", "tls-key")
	switch {
	case err != nil:
		return err
	case file != "" && len(domains) > 0:
		return exclude("%s names a certificate, and %s obtains one", given(c, "tls-cert"), given(c, "acme-domain"))
	case file != "":
		o.TLSFiles = &certificate.Files{CertPath: file, KeyPath: key, Logger: o.Logger}
		if bad, err := o.TLSFiles.Load(); err != nil {
			flag := map[string]string{file: given(c, "tls-cert"), key: given(c, "tls-key")}[bad]
			return usage(blueprint.SeeDocs(certificate.Hint(err), "deploying"), "%s %s: %s", flag, bad, fileio.Cause(err))
		}
	}
	if len(domains) > 0 {
		return readACME(c, o, domains)
	}
	for _, name := range []string{"acme-dir", "acme-email", "acme-directory", "acme-http-addr"} {
		if c.IsSet(name) && c.String(name) != "" {
			return usage("--acme-domain flows.example.org", "%s requires --acme-domain", given(c, name))
		}
	}
	return nil
}

func readACME(c *cli.Context, o *server.Options, domains []string) (err error) {
	a := &certificate.ACMEOptions{Dir: c.String("acme-dir"), Email: c.String("acme-email"), Directory: c.String("acme-directory")}
	for _, domain := range domains {
		name := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(domain), "."))
		if _, err := netip.ParseAddr(name); err == nil || !blueprint.IsMailDomain(name) || !strings.Contains(name, ".") {
			return usage("--acme-domain flows.example.org", "%s %s: must be a full domain name without wildcards; write names beyond ASCII as xn--", given(c, "acme-domain"), domain)
		}
		if !slices.Contains(a.Domains, name) {
			a.Domains = append(a.Domains, name)
		}
	}
	if len(a.Domains) > maxDomains {
		return usage("name fewer, or use --tls-cert", "%s: %d domains, at most %d are allowed", given(c, "acme-domain"), len(a.Domains), maxDomains)
	}
	if a.Dir == "" {
		if o.Ephemeral {
			return usage("name a folder with --acme-dir", "%s stores nothing on disk, and the authority limits how often it issues the same certificate", given(c, "ephemeral"))
		}
		a.Dir = cmp.Or(o.DB, "blueprintd") + ".acme"
	}
	if a.Email != "" && !(strings.Count(a.Email, "@") == 1 && blueprint.IsMailDomain(a.Email[strings.Index(a.Email, "@")+1:])) {
		return usage("--acme-email ops@example.org", "%s %s: is not a mail address", given(c, "acme-email"), a.Email)
	}
	if u, err := url.Parse(a.Directory); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return usage("--acme-directory "+acme.LetsEncryptURL, "%s %s: write an https address", given(c, "acme-directory"), a.Directory)
	}
	if c.String("acme-http-addr") != "" {
		if a.HTTPAddr, err = parseAddr(c, "acme-http-addr", "0.0.0.0:80"); err != nil {
			return err
		}
	}
	o.ACME = a
	return nil
}
