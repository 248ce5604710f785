package server

import (
	"crypto/tls"
	"io"
	"log/slog"
	"net/netip"
	"time"

	"blueprintd/foundation/clock"
	"blueprintd/project"
	"blueprintd/rpc/trpc"
	"blueprintd/server/certificate"
	"blueprintd/store"
	"blueprintd/triggers/mail"
)

// Options configure a Server.
type Options struct {
	Version   string
	Dev       bool   // the server of blueprintd dev
	APIKey    string // of the server's owner; "" = a new one at the first start
	ReadyFile string // is written once requests are answered; "" = none
	Clock     clock.Clock
	Seed      *project.Seed   // initial content; nil = none
	SeedIDs   *int64          // seed of ids, keys and random numbers; nil = random
	Sandbox   *SandboxOptions // nil = the real network
	Logger    *slog.Logger
	Out       io.Writer
	UntilEOF  io.Reader  // the server stops at its end; nil = none
	Collector *Collector // Settle is called once requests are answered; nil = none

	PasswordMemory uint32 // KiB that hashing a password takes; 0 = the secure default. Less is for tests

	Network
	Database
	History
	Limits
	Mail
	TLS
}

// Network configures listeners and the networks that may be reached.
type Network struct {
	Addr           string
	MetricsAddr    string // "" = metrics are on Addr
	PublicURL      string // "" = derived from Addr
	Origins        []string
	TrustedProxies trpc.Proxies
	AllowNet       []netip.Prefix // private networks that nodes may call
	ShutdownDelay  time.Duration  // how long the server goes on when stopped, but is not ready; in real time
}

// Database configures the database.
type Database struct {
	DB             string // path of the file
	URL            string // of a PostgreSQL database, instead of the file
	NodeName       string // of this process on URL; "" = host name and port
	Schema         string // SQL
	MasterKeyFile  string
	Ephemeral      bool // in memory; DB is ignored
	AllowNetworkFS bool
	MinFree        int64 // bytes; negative = no bound, 0 = the default
	MaxDisk        int64 // bytes; 0 = no bound
	KeepOld        store.KeepOld
}

// History limits how long history is stored.
type History struct {
	KeepExecutions store.Keep
	KeepFirings    store.Keep
	KeepAudit      store.Keep
}

// Limits bound callers and runs.
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
	ReadTimeout    time.Duration // of a request, in real time; 0 = 10 seconds for headers, a minute for all
}

// Mail configures the SMTP server.
type Mail struct {
	SMTPAddr   string // "" = no mail is received
	MailDomain string
	SMTPTLS    *tls.Config   // nil = no STARTTLS
	MaxMail    int64         // bytes
	Resolver   mail.Resolver // for the domains of senders; nil = the system's
}

// TLS configures certificates.
type TLS struct {
	TLSFiles *certificate.Files       // nil = none
	ACME     *certificate.ACMEOptions // nil = none
}

// SandboxOptions configure the sandbox.
type SandboxOptions struct {
	Expect any       // expectations, as a JSON value; nil = none
	Report io.Writer // receives the unmet expectations
}

// thisMachine is always trusted as a proxy when there is a public URL.
var thisMachine = trpc.Proxies{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// Proxies returns the trusted proxies.
func (o *Options) Proxies() trpc.Proxies {
	if o.PublicURL == "" {
		return o.TrustedProxies
	}
	return append(thisMachine[:len(thisMachine):len(thisMachine)], o.TrustedProxies...)
}
