// Package certificate provides the TLS certificates of a server: read from files and read
// again when they change, or obtained from a certificate authority by ACME (RFC 8555) and
// renewed.
package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/fileio"
)

const (
	certificateLook    = 5 * time.Second // minimal interval of checks for changes, in real time
	largestCertificate = 1 << 20         // bytes of a file
)

// Files are a certificate and its key in two files. Changed files are read again; if they
// are invalid the previous pair stays. It is safe for concurrent use.
type Files struct {
	CertPath, KeyPath string
	Logger            *slog.Logger
	Look              time.Duration // in place of certificateLook, in tests
	Pair              atomic.Pointer[tls.Certificate]

	mu     sync.Mutex // who holds it looks at the files
	looked time.Time
	seen   [2]fs.FileInfo // the files as they were when they were read last
}

// errMismatch is for two good files that do not belong together.
var errMismatch = errors.New("is not the key of the certificate")

// Hint says what to do about an error of load.
func Hint(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "name a file that exists"
	case errors.Is(err, fs.ErrPermission):
		return "let the user that the server runs as read it"
	case errors.Is(err, errMismatch):
		return "name the key that the certificate was made with"
	}
	return "name PEM files: the certificate with those between it and the authority, and its key without a password"
}

// Load reads the pair; when it cannot be used, it names the file to blame.
func (f *Files) Load() (bad string, err error) {
	var seen [2]fs.FileInfo
	var data [2][]byte
	paths := []string{f.CertPath, f.KeyPath}
	for i, path := range paths {
		if seen[i], err = os.Stat(path); err != nil {
			return path, err
		}
	}
	f.seen = seen // whatever comes of it: it is not tried again before it changes
	for i, path := range paths {
		if data[i], err = fileio.Read(path, largestCertificate); err != nil {
			return path, err
		}
	}
	pair, err := tls.X509KeyPair(data[0], data[1])
	switch {
	case err == nil:
		f.Pair.Store(&pair)
		return "", nil
	case strings.Contains(err.Error(), "does not match"):
		return f.KeyPath, errMismatch
	case !hasCertificate(data[0]):
		return f.CertPath, errors.New("holds no certificate that can be read")
	}
	return f.KeyPath, errors.New("holds no private key that can be read")
}

// Get returns the pair that is good now.
func (f *Files) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.refresh()
	return f.Pair.Load(), nil
}

// refresh reads changed files. Concurrent connections do not wait for it.
func (f *Files) refresh() {
	if !f.mu.TryLock() {
		return
	}
	defer f.mu.Unlock()
	look, now := certificateLook, clock.Real{}.Now()
	if f.Look != 0 {
		look = f.Look
	}
	if now.Sub(f.looked) < look {
		return
	}
	f.looked = now
	if !f.changed() {
		return
	}
	if bad, err := f.Load(); err != nil {
		f.Logger.Warn("new certificate cannot be used, keeping the previous one", "file", bad, "error", fileio.Cause(err), "hint", Hint(err))
		return
	}
	f.Logger.Info("certificate reloaded", "file", f.CertPath, "until", blueprint.TimeOf(f.Expiry()))
	f.Warn()
}

// changed reports whether the files are other ones than those that were read.
// One that is missing for a moment has not changed.
func (f *Files) changed() bool {
	changed := false
	for i, path := range []string{f.CertPath, f.KeyPath} {
		info, err := os.Stat(path)
		if err != nil {
			return false
		}
		was := f.seen[i]
		changed = changed || !os.SameFile(info, was) || !info.ModTime().Equal(was.ModTime()) || info.Size() != was.Size()
	}
	return changed
}

// Warn logs a certificate that has expired or is not valid yet.
func (f *Files) Warn() {
	leaf, now := f.Pair.Load().Leaf, clock.Real{}.Now()
	switch {
	case now.After(leaf.NotAfter):
		f.Logger.Warn("certificate has expired", "file", f.CertPath, "expired", blueprint.TimeOf(leaf.NotAfter), "hint", "renew it; the new files are read without a restart")
	case now.Before(leaf.NotBefore):
		f.Logger.Warn("certificate is not valid yet", "file", f.CertPath, "from", blueprint.TimeOf(leaf.NotBefore), "hint", "look at the clock of this machine")
	}
}

func (f *Files) Expiry() time.Time { return f.Pair.Load().Leaf.NotAfter }

func (f *Files) Names() []string {
	leaf := f.Pair.Load().Leaf
	names := append([]string(nil), leaf.DNSNames...)
	for _, address := range leaf.IPAddresses {
		names = append(names, address.String())
	}
	return names
}

func (f *Files) About() string {
	return "certificate in " + fileio.Absolute(f.CertPath) + ", good until " + f.Expiry().UTC().Format(time.DateOnly)
}

// hasCertificate reports whether PEM data begins with a certificate.
func hasCertificate(data []byte) bool {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			_, err := x509.ParseCertificate(block.Bytes)
			return err == nil
		}
	}
	return false
}
