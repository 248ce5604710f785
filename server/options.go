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
	Version        string
	Schema         string // of the database
	Addr           string
	DB             string
	MasterKeyFile  string
	Ephemeral      bool
	Develops       bool // it is that of blueprintd dev
	APIKey         string
	PublicURL      string
	ReadyFile      string
	SMTPAddr       string // "" = no mail is received
	MailDomain     string
	SMTPTLS        *tls.Config   // nil = STARTTLS is not offered
	MaxMail        int64         // bytes
	Resolver       mail.Resolver // of who sent a mail; nil = the machine's
	MetricsAddr    string        // "" = metrics are on addr
	Clock          clock.Clock
	Seed           *project.Seed   // what the server begins with; nil = nothing
	SeedIDs        *int64          // what ids, keys and chance follow from; nil = nothing
	Sandbox        *SandboxOptions // nil = the server reaches the world
	AllowNet       []netip.Prefix
	SyncTimeout    time.Duration
	MaxBody        int64
	RateLimit      float64
	RateBurst      int
	MaxBlueprints  int
	MaxRunning     int
	MaxQueued      int
	MaxConnections int
	MemoryLimit    int64         // bytes; 0 = what the system allows
	AdmissionWait  time.Duration // 0 = the default
	ReadTimeout    time.Duration // for what a client sends, in real time; 0 = 10 seconds for headers, a minute for all
	Origins        []string
	TrustedProxies trpc.Proxies
	AllowNetworkFS bool
	MinFree        int64 // negative = no bound, 0 = the default
	MaxDisk        int64 // 0 = no bound
	KeepExecutions store.Keep
	KeepFirings    store.Keep
	KeepAudit      store.Keep
	Logger         *slog.Logger
	Out            io.Writer
	UntilEOF       io.Reader // the server stops when it ends; nil = it does not look

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
