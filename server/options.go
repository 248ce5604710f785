package server

import (
	"blueprintd/foundation/clock"
	"blueprintd/project"
	"blueprintd/rpc/trpc"
	"blueprintd/server/certificate"
	"blueprintd/store"
	"blueprintd/triggers/mail"
	"crypto/tls"
	"io"
	"log/slog"
	"net/netip"
	"time"
)

// Options are what the command line says about a server.
type Options struct {
	Version   string
	Develops  bool   // it is that of blueprintd dev
	APIKey    string // of the server's owner; "" = one is made at the first start
	ReadyFile string // gets a line once requests are answered; "" = none
	Clock     clock.Clock
	Seed      *project.Seed   // what the server begins with; nil = nothing
	SeedIDs   *int64          // what ids, keys and chance follow from; nil = nothing
	Sandbox   *SandboxOptions // nil = the server reaches the world
	Logger    *slog.Logger
	Out       io.Writer
	UntilEOF  io.Reader // the server stops when it ends; nil = it does not look

	Network
	Database
	History
	Limits
	Mail
	TLS
}

// Network is where the server listens, who may reach it and whom it may reach.
type Network struct {
	Addr           string
	MetricsAddr    string // "" = metrics are on Addr
	PublicURL      string // "" = it follows from Addr
	Origins        []string
	TrustedProxies trpc.Proxies
	AllowNet       []netip.Prefix // private networks that nodes may call
}

// Database is where everything is kept.
type Database struct {
	DB             string // path of the file
	Schema         string // SQL
	MasterKeyFile  string
	Ephemeral      bool // in memory; DB is ignored
	AllowNetworkFS bool
	MinFree        int64 // bytes; negative = no bound, 0 = the default
	MaxDisk        int64 // bytes; 0 = no bound
}

// History is how long what is over is kept.
type History struct {
	KeepExecutions store.Keep
	KeepFirings    store.Keep
	KeepAudit      store.Keep
}

// Limits bound what callers and runs take.
type Limits struct {
	SyncTimeout    time.Duration
	MaxBody        int64 // bytes
	RateLimit      float64
	RateBurst      int
	MaxBlueprints  int
	MaxRunning     int
	MaxQueued      int
	MaxConnections int
	MemoryLimit    int64         // bytes; 0 = what the system allows
	AdmissionWait  time.Duration // 0 = the default
	ReadTimeout    time.Duration // for what a client sends, in real time; 0 = 10 seconds for headers, a minute for all
}

// Mail is how mail is received.
type Mail struct {
	SMTPAddr   string // "" = no mail is received
	MailDomain string
	SMTPTLS    *tls.Config   // nil = STARTTLS is not offered
	MaxMail    int64         // bytes
	Resolver   mail.Resolver // of who sent a mail; nil = the machine's
}

// TLS is where certificates come from.
type TLS struct {
	TLSFiles *certificate.Files       // nil = no certificate was named
	ACME     *certificate.ACMEOptions // nil = none is obtained
}

// SandboxOptions are what the command line says about the sandbox.
type SandboxOptions struct {
	Expect any       // what has to be asked before the end, as a plain JSON value; nil = nothing
	Told   io.Writer // where what was not asked is told
}

// thisMachine is where a proxy stands that a public address leads to, unless
// something else is said.
var thisMachine = trpc.Proxies{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// Proxies are those that are believed.
func (o *Options) Proxies() trpc.Proxies {
	if o.PublicURL == "" {
		return o.TrustedProxies
	}
	return append(thisMachine[:len(thisMachine):len(thisMachine)], o.TrustedProxies...)
}
