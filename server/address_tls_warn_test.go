package server_test

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"blueprintd/server"
	"blueprintd/server/certificate"
	"blueprintd/tests/process"
	"blueprintd/tests/servertest"
)

// TestTLSWarnings checks the warnings about a folder of keys that other users can read
// and a public address that does not answer over HTTPS.
func TestTLSWarnings(t *testing.T) {
	t.Parallel()
	for mode, want := range map[os.FileMode]bool{0o700: false, 0o750: true, 0o702: true, 0o777: true} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			out, folder := &lockedBuffer{}, t.TempDir()
			if err := os.Chmod(folder, mode); err != nil {
				t.Fatal(err)
			}
			if _, err := certificate.NewAuthority(&certificate.ACMEOptions{Domains: []string{"a.example.org"}, Dir: folder}, version, slog.New(slog.NewTextHandler(out, nil))); err != nil {
				t.Fatal(err)
			}
			if told := strings.Contains(out.String(), "chmod 700"); told != want && runtime.GOOS != "windows" {
				t.Errorf("mode %o: %s, want %v", mode, out, want)
			}
		})
	}
	pair := process.NewKeyPair(t, t.TempDir(), time.Now().Add(time.Hour), "flows.example.org")
	for address, want := range map[string]bool{"": false, "https://flows.example.org": false, "http://flows.example.org": true} {
		t.Run(address, func(t *testing.T) {
			s := servertest.New(t, func(o *server.Options) {
				o.PublicURL = address
				o.TLSFiles = &certificate.Files{CertPath: pair.Cert, KeyPath: pair.Key, Logger: o.Logger}
				if bad, err := o.TLSFiles.Load(); err != nil {
					t.Fatal(bad, err)
				}
			})
			if told := strings.Contains(s.Logs.String(), "--public-url https://"); told != want {
				t.Errorf("%v, want %v", s.Logs, want)
			}
		})
	}
}
