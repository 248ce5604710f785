package certificate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
	"golang.org/x/sync/errgroup"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/fileio"
)

const (
	// ProofProtocol is the ALPN protocol of the TLS-ALPN-01 challenge (RFC 8737).
	ProofProtocol = acme.ALPNProto
	// minBackoff and maxBackoff bound the backoff after a failure: authorities limit
	// the attempts of an hour.
	minBackoff, maxBackoff = 70 * time.Second, time.Hour

	renewalInterval = 10 * time.Minute // interval of renewal checks
	firstWait       = 5 * time.Second  // wait of a connection for the first certificate
)

// Authority obtains certificates for domains from a certificate authority (ACME, RFC 8555),
// stores them in a folder and renews them. Connections never cause a request to the
// authority. It is safe for concurrent use.
type Authority struct {
	Manager *autocert.Manager
	options ACMEOptions
	logger  *slog.Logger
	Domains map[string]*domain // the map never changes
}

// domain is a domain with its certificate.
type domain struct {
	Name  string
	Tried chan struct{} // closes when the first attempt has ended
	once  sync.Once

	mu     sync.Mutex
	expiry time.Time // of the certificate; zero = there is none
}

// NewAuthority returns an Authority and creates the folder of its certificates.
func NewAuthority(o *ACMEOptions, version string, logger *slog.Logger) (*Authority, error) {
	err := os.MkdirAll(o.Dir, 0o700)
	if err == nil {
		err = checkFolder(o.Dir)
	}
	if err != nil {
		return nil, blueprint.Hinted(blueprint.SeeDocs("name a writable folder with --acme-dir", "deploying"), "certificates cannot be stored in %s: %s", o.Dir, fileio.Cause(err))
	}
	if info, err := os.Stat(o.Dir); err == nil && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		logger.Warn("certificate folder is accessible to other users", "folder", o.Dir, "mode", fmt.Sprintf("%o", info.Mode().Perm()), "hint", "chmod 700 "+o.Dir)
	}
	a := &Authority{options: *o, logger: logger, Domains: map[string]*domain{}}
	for _, name := range o.Domains {
		a.Domains[name] = &domain{Name: name, Tried: make(chan struct{})}
	}
	a.Manager = &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(o.Dir), HostPolicy: autocert.HostWhitelist(o.Domains...), Email: o.Email,
		Client: &acme.Client{DirectoryURL: o.Directory, UserAgent: "blueprintd/" + version, HTTPClient: &http.Client{Timeout: 30 * time.Second}},
	}
	return a, nil
}

// checkFolder returns an error if files cannot be created in a folder.
func checkFolder(path string) error {
	trial, err := os.CreateTemp(path, "*.tmp")
	if err != nil {
		return err
	}
	return errors.Join(trial.Close(), os.Remove(trial.Name()))
}

// Run obtains and renews the certificates until ctx ends.
func (a *Authority) Run(ctx context.Context) error {
	var all errgroup.Group
	for _, d := range a.Domains {
		all.Go(func() error {
			a.maintain(ctx, d)
			return nil
		})
	}
	return all.Wait()
}

// maintain obtains and renews the certificate of a domain until ctx ends.
func (a *Authority) maintain(ctx context.Context, d *domain) {
	patience := minBackoff
	for {
		pause := renewalInterval
		answered := make(chan error, 1)
		go func() { answered <- a.obtain(d) }() // it cannot be cancelled, and ends after five minutes
		select {
		case err := <-answered:
			d.once.Do(func() { close(d.Tried) })
			if err != nil {
				pause, patience = patience, min(2*patience, maxBackoff)
				a.logger.Warn("obtaining a certificate failed", "domain", d.Name, "error", err, "again_in", pause,
					"hint", "the domain must resolve to this server, on port 443, or on port 80 with --acme-http-addr")
			}
		case <-ctx.Done():
			return
		}
		if !clock.Sleep(ctx, pause) {
			return
		}
	}
}

// obtain requests or renews the certificate of a domain if necessary.
func (a *Authority) obtain(d *domain) error {
	certificate, err := a.Manager.GetCertificate(clientHello(d.Name))
	if err != nil {
		return err
	}
	leaf := certificate.Leaf
	d.mu.Lock()
	isNew := !d.expiry.Equal(leaf.NotAfter)
	d.expiry = leaf.NotAfter
	d.mu.Unlock()
	if isNew {
		a.logger.Info("certificate loaded", "domain", d.Name, "issuer", leaf.Issuer.String(), "until", blueprint.TimeOf(leaf.NotAfter))
	}
	// Renewal begins when a third of the lifetime is left, or 30 days.
	if left := leaf.NotAfter.Sub(clock.Real{}.Now()); left < leaf.NotAfter.Sub(leaf.NotBefore)/6 {
		a.logger.Warn("certificate renewal failed, retrying hourly", "domain", d.Name, "until", blueprint.TimeOf(leaf.NotAfter),
			"hint", "the domain must resolve to this server, and the server must reach "+a.options.Directory)
	}
	return nil
}

// clientHello returns the ClientHello of a modern client for a domain.
func clientHello(name string) *tls.ClientHelloInfo {
	return &tls.ClientHelloInfo{ServerName: name, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}
}

// Get returns the challenge certificate for an authority, else the certificate of the
// requested domain. The default is that of the first domain.
func (a *Authority) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	d := a.Domains[strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))]
	if slices.Equal(hello.SupportedProtos, []string{ProofProtocol}) {
		if d == nil {
			return nil, fmt.Errorf("no certificate is obtained for %q", hello.ServerName)
		}
		return a.Manager.GetCertificate(hello)
	}
	if d == nil {
		d = a.Domains[a.options.Domains[0]]
	}
	timer := time.NewTimer(firstWait)
	defer timer.Stop()
	select {
	case <-d.Tried:
	case <-timer.C:
	}
	if d.until().IsZero() {
		return nil, fmt.Errorf("there is no certificate for %s yet", d.Name)
	}
	return a.Manager.GetCertificate(clientHello(d.Name))
}

func (d *domain) until() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.expiry
}

func (a *Authority) Expiry() (first time.Time) {
	for i, name := range a.options.Domains {
		if until := a.Domains[name].until(); i == 0 || until.Before(first) {
			first = until
		}
	}
	return first
}

func (a *Authority) Names() []string { return a.options.Domains }

func (a *Authority) About() string {
	return "certificates by " + a.options.Directory + " for " + strings.Join(a.options.Domains, ", ") + ", stored in " + fileio.Absolute(a.options.Dir)
}

// ACMEOptions configures an Authority.
type ACMEOptions struct {
	Domains   []string
	Dir       string
	Email     string // "" = none
	Directory string
	HTTPAddr  string // "" = no challenge over plain http
}
