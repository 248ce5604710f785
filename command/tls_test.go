package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blueprintd/tests/process"
)

func TestFlagsOfTLS(t *testing.T) {
	t.Parallel()
	tomorrow := time.Now().Add(24 * time.Hour)
	one, other, folder := process.NewKeyPair(t, t.TempDir(), tomorrow), process.NewKeyPair(t, t.TempDir(), tomorrow), t.TempDir()
	junk, missing := filepath.Join(folder, "junk.pem"), filepath.Join(folder, "missing.pem")
	if err := os.WriteFile(junk, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	short := strings.NewReplacer(one.Cert, "cert.pem", one.Key, "key.pem", other.Key, "other.pem", folder, "folder")
	const domain = "--acme-domain=flows.example.org"
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--tls-cert", one.Cert}, "--tls-cert and --tls-key go together"},
		{[]string{"--tls-key", one.Key}, "go together"},
		{[]string{"--tls-cert", missing, "--tls-key", one.Key}, "--tls-cert " + missing + ": no such file"},
		{[]string{"--tls-cert", one.Cert, "--tls-key", missing}, "--tls-key " + missing + ": no such file"},
		{[]string{"--tls-cert", folder, "--tls-key", one.Key}, "--tls-cert " + folder + ": it is a folder"},
		{[]string{"--tls-cert", junk, "--tls-key", one.Key}, "--tls-cert " + junk + ": contains no valid certificate"},
		{[]string{"--tls-cert", one.Key, "--tls-key", one.Cert}, "--tls-cert " + one.Key + ": contains no valid certificate"},
		{[]string{"--tls-cert", one.Cert, "--tls-key", junk}, "--tls-key " + junk + ": contains no valid private key"},
		{[]string{"--tls-cert", one.Cert, "--tls-key", other.Key}, "--tls-key " + other.Key + ": is not the key of the certificate"},
		{[]string{"--tls-cert", one.Cert, "--tls-key", one.Key, domain}, "--tls-cert names a certificate, and --acme-domain obtains one"},
		{[]string{"--acme-email", "a@b.example"}, "--acme-email requires --acme-domain"},
		{[]string{"--acme-domain", "*.example.org"}, "without wildcards"},
		{[]string{"--acme-domain", "127.0.0.1"}, "full domain name"},
		{[]string{"--acme-domain", "localhost"}, "full domain name"},
		{[]string{domain, "--ephemeral"}, "--ephemeral stores nothing"},
		{[]string{domain, "--acme-email", "ada"}, "is not a mail address"},
		{[]string{domain, "--acme-directory", "http://ca.example.org/dir"}, "write an https address"},
		{[]string{domain, "--acme-http-addr", "80"}, "write HOST:PORT"},
	} {
		t.Run(short.Replace(c.want), func(t *testing.T) {
			stdout, stderr := &process.Output{}, &process.Output{}
			code := run(t, append([]string{"blueprintd", "serve", "--addr", "127.0.0.1:0"}, c.flags...), nil, stdout, stderr)
			if text := stderr.String(); code != ExitUsage || !process.ContainsAll(text, c.want, "\nhint: ") {
				t.Errorf("%v: exit code %d, want %q in\n%s", c.flags, code, c.want, text)
			}
		})
	}
}
