package main

import (
	"blueprintd/foundation/fileio"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/crypto/acme"
)

// tlsFlags are the flags of serve about encrypted connections.
func tlsFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "tls-cert", Usage: "serve https with the certificate in this PEM `FILE`, which is read anew when it changes"},
		&cli.StringFlag{Name: "tls-key", Usage: "the `FILE` with its private key"},
		&cli.StringSliceFlag{Name: "acme-domain", Usage: "serve https with a certificate for this `DOMAIN`, obtained and renewed by itself; port 443 of the domain must lead here; may be repeated. Using it means that you agree to the terms of the authority"},
		&cli.StringFlag{Name: "acme-dir", Usage: "keep the certificates and the account in this `FOLDER` (default: beside the database, with .acme behind its name)"},
		&cli.StringFlag{Name: "acme-email", Usage: "tell the authority this `ADDRESS`, to which it may write"},
		&cli.StringFlag{Name: "acme-directory", Value: acme.LetsEncryptURL, Usage: "the `URL` of the authority's directory"},
		&cli.StringFlag{Name: "acme-http-addr", Usage: "prove on `HOST:PORT` too, by plain http, that the domains lead here, and send everybody else there on to https; the authority calls port 80"},
	}
}

// mostDomains is for how many domains one server obtains certificates.
const mostDomains = 100

// chooseTLS reads them.
func chooseTLS(c *cli.Context, o *options) (err error) {
	certificate, key := c.String("tls-cert"), c.String("tls-key")
	domains := c.StringSlice("acme-domain")
	switch {
	case (certificate == "") != (key == ""):
		return usage("give both, or neither", "%s and %s go together", given(c, "tls-cert"), given(c, "tls-key"))
	case certificate != "" && len(domains) > 0:
		return usage("leave one of them out", "%s names a certificate, and %s obtains one", given(c, "tls-cert"), given(c, "acme-domain"))
	case certificate != "":
		o.tlsFiles = &certificateFiles{certPath: certificate, keyPath: key, logger: o.logger}
		if bad, err := o.tlsFiles.load(); err != nil {
			name := map[string]string{certificate: given(c, "tls-cert"), key: given(c, "tls-key")}[bad]
			return usage(certificateHint(err), "%s %s: %s", name, bad, fileio.Cause(err))
		}
	}
	if len(domains) > 0 {
		return chooseACME(c, o, domains)
	}
	for _, name := range []string{"acme-dir", "acme-email", "acme-directory", "acme-http-addr"} {
		if c.IsSet(name) && c.String(name) != "" {
			return usage("--acme-domain flows.example.org", "%s is of no use without --acme-domain", given(c, name))
		}
	}
	return nil
}

func chooseACME(c *cli.Context, o *options, domains []string) (err error) {
	a := &acmeOptions{dir: c.String("acme-dir"), email: c.String("acme-email"), directory: c.String("acme-directory")}
	for _, domain := range domains {
		name := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(domain), "."))
		if _, err := netip.ParseAddr(name); err == nil || !isMailDomain(name) || !strings.Contains(name, ".") {
			return usage("--acme-domain flows.example.org", "%s %s: must be a full name as in the DNS, without a star; names beyond ASCII are written as xn--", given(c, "acme-domain"), domain)
		}
		if !slices.Contains(a.domains, name) {
			a.domains = append(a.domains, name)
		}
	}
	if len(a.domains) > mostDomains {
		return usage("name fewer, or use --tls-cert", "%s: %d domains are more than %d", given(c, "acme-domain"), len(a.domains), mostDomains)
	}
	switch {
	case a.dir != "":
	case o.ephemeral:
		return usage("say with --acme-dir where to keep them", "%s keeps nothing on the disk, and the authority refuses who asks for the same certificate at every start", given(c, "ephemeral"))
	default:
		a.dir = o.db + ".acme"
	}
	if a.email != "" && !(strings.Count(a.email, "@") == 1 && isMailDomain(a.email[strings.Index(a.email, "@")+1:])) {
		return usage("--acme-email ops@example.org", "%s %s: is no mail address", given(c, "acme-email"), a.email)
	}
	u, err := url.Parse(a.directory)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return usage("--acme-directory "+acme.LetsEncryptURL, "%s %s: write an https address", given(c, "acme-directory"), a.directory)
	}
	if c.String("acme-http-addr") != "" {
		if a.httpAddr, err = parseAddr(c, "acme-http-addr", "0.0.0.0:80"); err != nil {
			return err
		}
	}
	o.acme = a
	return nil
}
