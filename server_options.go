package main

import (
	"blueprintd/foundation/clock"
	"blueprintd/project"
	"blueprintd/rpc/trpc"
	"blueprintd/store"
	"blueprintd/triggers/mail"
	"crypto/tls"
	"io"
	"log/slog"
	"net/netip"
	"time"
)

// options are what the command line says about a server.
type options struct {
	version        string
	schema         string // of the database
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
	allowNet       []netip.Prefix
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

// sandboxOptions are what the command line says about the sandbox.
type sandboxOptions struct {
	expect any       // what has to be asked before the end, as a plain JSON value; nil = nothing
	told   io.Writer // where what was not asked is told
}

// acmeOptions say how certificates are obtained.
type acmeOptions struct {
	domains   []string
	dir       string
	email     string // "" = none
	directory string
	httpAddr  string // "" = nothing is proved by plain http
}

// thisMachine is where a proxy stands that a public address leads to, unless
// something else is said.
var thisMachine = trpc.Proxies{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// proxies are those that are believed.
func (o *options) proxies() trpc.Proxies {
	if o.publicURL == "" {
		return o.trustedProxies
	}
	return append(thisMachine[:len(thisMachine):len(thisMachine)], o.trustedProxies...)
}
