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
	checkInterval = 5 * time.Second // minimal interval of checks for changes, in real time
	maxFileSize   = 1 << 20         // bytes of a file
)

// Files are a certificate and its key in two files. Changed files are read again; if they
// are invalid the previous pair stays. It is safe for concurrent use.
type Files struct {
	CertPath, KeyPath string
	Logger            *slog.Logger
	CheckInterval     time.Duration // replaces checkInterval in tests
	Pair              atomic.Pointer[tls.Certificate]

	mu        sync.Mutex // held while the files are checked
	lastCheck time.Time
	seen      [2]fs.FileInfo // the files when they were last read
}

// errMismatch means that the key is not that of the certificate.
var errMismatch = errors.New("is not the key of the certificate")

// Hint returns a hint for an error of Load.
func Hint(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "name a file that exists"
	case errors.Is(err, fs.ErrPermission):
		return "make it readable for the user of the server"
	case errors.Is(err, errMismatch):
		return "name the private key of the certificate"
	}
	return "name PEM files: the certificate with its intermediates, and its key without a password"
}

// Load reads the pair. On an error, bad is the path of the unusable file.
func (f *Files) Load() (bad string, err error) {
	var seen [2]fs.FileInfo
	var data [2][]byte
	paths := []string{f.CertPath, f.KeyPath}
	for i, path := range paths {
		if seen[i], err = os.Stat(path); err != nil {
			return path, err
		}
	}
	f.seen = seen // also after an error: not read again before they change
	for i, path := range paths {
		if data[i], err = fileio.Read(path, maxFileSize); err != nil {
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
		return f.CertPath, errors.New("contains no valid certificate")
	}
	return f.KeyPath, errors.New("contains no valid private key")
}

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
	look, now := checkInterval, clock.Real{}.Now()
	if f.CheckInterval != 0 {
		look = f.CheckInterval
	}
	if now.Sub(f.lastCheck) < look {
		return
	}
	f.lastCheck = now
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

// changed reports whether the files differ from those that were read. A missing file does
// not count as a change.
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
		f.Logger.Warn("certificate is not valid yet", "file", f.CertPath, "from", blueprint.TimeOf(leaf.NotBefore), "hint", "check the clock of this machine")
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
	return "certificate in " + fileio.Absolute(f.CertPath) + ", valid until " + f.Expiry().UTC().Format(time.DateOnly)
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
