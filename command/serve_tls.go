package command

import (
	"crypto/tls"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/crypto/acme"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
	"blueprintd/server"
	"blueprintd/server/certificate"
)

func readMail(c *cli.Context, o *server.Options) (err error) {
	if c.String("smtp-addr") != "" {
		if o.SMTPAddr, err = parseAddr(c, "smtp-addr", "127.0.0.1:2525"); err != nil {
			return err
		}
	}
	o.MailDomain = strings.ToLower(strings.TrimSpace(c.String("mail-domain")))
	if !blueprint.IsMailDomain(o.MailDomain) {
		return usage(blueprint.SeeDocs("--mail-domain flows.example.org", "deploying"), "%s %s: is not a domain", given(c, "mail-domain"), c.String("mail-domain"))
	}
	file, key, err := certificateFlags(c, "smtp-tls-cert", "smtp-tls-key")
	if err != nil {
		return err
	}
	if file != "" {
		pair, err := tls.LoadX509KeyPair(file, key)
		if err != nil {
			return usage(blueprint.SeeDocs("name PEM files that belong together", "deploying"), "%s %s: cannot be used: %s", given(c, "smtp-tls-cert"), file, fileio.Cause(err))
		}
		o.SMTPTLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	if o.MaxMail, err = parseSize(c.String("max-mail")); err != nil || o.MaxMail < 1<<10 || o.MaxMail > 1<<30 {
		return usage("--max-mail 25MiB", "%s %s: must be a size from 1KiB to 1GiB", given(c, "max-mail"), c.String("max-mail"))
	}
	return nil
}

// certificateFlags reads two flags of which both or neither must be set.
func certificateFlags(c *cli.Context, certificate, key string) (certificateFile, keyFile string, err error) {
	certificateFile, keyFile = c.String(certificate), c.String(key)
	if (certificateFile == "") != (keyFile == "") {
		err = usage("set both, or neither", "%s and %s go together", given(c, certificate), given(c, key))
	}
	return certificateFile, keyFile, err
}

// maxDomains is the largest number of domains of one server.
const maxDomains = 100

func readTLS(c *cli.Context, o *server.Options) error {
	domains := c.StringSlice("acme-domain")
	file, key, err := certificateFlags(c, "tls-cert", "tls-key")
	switch {
	case err != nil:
		return err
	case file != "" && len(domains) > 0:
		return exclude("%s names a certificate, and %s obtains one", given(c, "tls-cert"), given(c, "acme-domain"))
	case file != "":
		o.TLSFiles = &certificate.Files{CertPath: file, KeyPath: key, Logger: o.Logger}
		if bad, err := o.TLSFiles.Load(); err != nil {
			flag := map[string]string{file: given(c, "tls-cert"), key: given(c, "tls-key")}[bad]
			return usage(blueprint.SeeDocs(certificate.Hint(err), "deploying"), "%s %s: %s", flag, bad, fileio.Cause(err))
		}
	}
	if len(domains) > 0 {
		return readACME(c, o, domains)
	}
	for _, name := range []string{"acme-dir", "acme-email", "acme-directory", "acme-http-addr"} {
		if c.IsSet(name) && c.String(name) != "" {
			return usage("--acme-domain flows.example.org", "%s requires --acme-domain", given(c, name))
		}
	}
	return nil
}

func readACME(c *cli.Context, o *server.Options, domains []string) (err error) {
	a := &certificate.ACMEOptions{Dir: c.String("acme-dir"), Email: c.String("acme-email"), Directory: c.String("acme-directory")}
	for _, domain := range domains {
		name := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(domain), "."))
		if _, err := netip.ParseAddr(name); err == nil || !blueprint.IsMailDomain(name) || !strings.Contains(name, ".") {
			return usage("--acme-domain flows.example.org", "%s %s: must be a full domain name without wildcards; write names beyond ASCII as xn--", given(c, "acme-domain"), domain)
		}
		if !slices.Contains(a.Domains, name) {
			a.Domains = append(a.Domains, name)
		}
	}
	if len(a.Domains) > maxDomains {
		return usage("name fewer, or use --tls-cert", "%s: %d domains, at most %d are allowed", given(c, "acme-domain"), len(a.Domains), maxDomains)
	}
	if a.Dir == "" {
		if o.Ephemeral {
			return usage("name a folder with --acme-dir", "%s stores nothing on disk, and the authority limits how often it issues the same certificate", given(c, "ephemeral"))
		}
		a.Dir = o.DB + ".acme"
	}
	if a.Email != "" && !(strings.Count(a.Email, "@") == 1 && blueprint.IsMailDomain(a.Email[strings.Index(a.Email, "@")+1:])) {
		return usage("--acme-email ops@example.org", "%s %s: is not a mail address", given(c, "acme-email"), a.Email)
	}
	if u, err := url.Parse(a.Directory); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return usage("--acme-directory "+acme.LetsEncryptURL, "%s %s: write an https address", given(c, "acme-directory"), a.Directory)
	}
	if c.String("acme-http-addr") != "" {
		if a.HTTPAddr, err = parseAddr(c, "acme-http-addr", "0.0.0.0:80"); err != nil {
			return err
		}
	}
	o.ACME = a
	return nil
}
