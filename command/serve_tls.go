package command

import (
	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
	"blueprintd/server"
	"blueprintd/server/certificate"
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
func chooseTLS(c *cli.Context, o *server.Options) (err error) {
	chain, key := c.String("tls-cert"), c.String("tls-key")
	domains := c.StringSlice("acme-domain")
	switch {
	case (chain == "") != (key == ""):
		return usage("give both, or neither", "%s and %s go together", given(c, "tls-cert"), given(c, "tls-key"))
	case chain != "" && len(domains) > 0:
		return usage("leave one of them out", "%s names a certificate, and %s obtains one", given(c, "tls-cert"), given(c, "acme-domain"))
	case chain != "":
		o.TLSFiles = &certificate.Files{CertPath: chain, KeyPath: key, Logger: o.Logger}
		if bad, err := o.TLSFiles.Load(); err != nil {
			name := map[string]string{chain: given(c, "tls-cert"), key: given(c, "tls-key")}[bad]
			return usage(certificate.Hint(err), "%s %s: %s", name, bad, fileio.Cause(err))
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

func chooseACME(c *cli.Context, o *server.Options, domains []string) (err error) {
	a := &certificate.ACMEOptions{Dir: c.String("acme-dir"), Email: c.String("acme-email"), Directory: c.String("acme-directory")}
	for _, domain := range domains {
		name := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(domain), "."))
		if _, err := netip.ParseAddr(name); err == nil || !blueprint.IsMailDomain(name) || !strings.Contains(name, ".") {
			return usage("--acme-domain flows.example.org", "%s %s: must be a full name as in the DNS, without a star; names beyond ASCII are written as xn--", given(c, "acme-domain"), domain)
		}
		if !slices.Contains(a.Domains, name) {
			a.Domains = append(a.Domains, name)
		}
	}
	if len(a.Domains) > mostDomains {
		return usage("name fewer, or use --tls-cert", "%s: %d domains are more than %d", given(c, "acme-domain"), len(a.Domains), mostDomains)
	}
	switch {
	case a.Dir != "":
	case o.Ephemeral:
		return usage("say with --acme-dir where to keep them", "%s keeps nothing on the disk, and the authority refuses who asks for the same certificate at every start", given(c, "ephemeral"))
	default:
		a.Dir = o.DB + ".acme"
	}
	if a.Email != "" && !(strings.Count(a.Email, "@") == 1 && blueprint.IsMailDomain(a.Email[strings.Index(a.Email, "@")+1:])) {
		return usage("--acme-email ops@example.org", "%s %s: is no mail address", given(c, "acme-email"), a.Email)
	}
	u, err := url.Parse(a.Directory)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
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
