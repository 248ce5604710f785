package server_test

import (
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"blueprintd/server/certificate"
	"blueprintd/tests/process"
)

func TestChangedCertificatesAreReadAnew(t *testing.T) {
	t.Parallel()
	folder, log := t.TempDir(), &lockedBuffer{}
	first := process.NewKeyPair(t, folder, time.Now().Add(time.Hour), "first.example.org")
	f := &certificate.Files{CertPath: first.Cert, KeyPath: first.Key, Logger: slog.New(slog.NewTextHandler(log, nil)), CheckInterval: 1}
	if _, err := f.Load(); err != nil {
		t.Fatal(err)
	}
	name := func() string {
		pair, err := f.Get(nil)
		if err != nil {
			t.Fatal(err)
		}
		return pair.Leaf.DNSNames[0]
	}
	good, err := os.ReadFile(first.Key)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		what       string
		do         func()
		want, said string
	}{
		{"nothing has changed", func() {}, "first.example.org", ""},
		{"a key is half written", func() { os.WriteFile(first.Key, good[:20], 0o600) }, "first.example.org", "cannot be used"},
		{"and stays so", func() {}, "first.example.org", ""},
		{"it is missing for a moment", func() { os.Remove(first.Key) }, "first.example.org", ""},
		{"a good pair comes", func() { process.NewKeyPair(t, folder, time.Now().Add(time.Hour), "second.example.org") }, "second.example.org", "certificate reloaded"},
		{"an old pair comes", func() { process.NewKeyPair(t, folder, time.Now().Add(-time.Hour), "third.example.org") }, "third.example.org", "has expired"},
	} {
		step.do()
		before := len(log.String())
		if got := name(); got != step.want {
			t.Errorf("%s: shows %s, want %s", step.what, got, step.want)
		}
		if said := log.String()[before:]; !strings.Contains(said, step.said) || step.said == "" && said != "" {
			t.Errorf("%s: says %q, want %q", step.what, said, step.said)
		}
	}
}
