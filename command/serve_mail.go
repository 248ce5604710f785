package command

import (
	"crypto/tls"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
	"blueprintd/server"
	"blueprintd/store"

	"github.com/urfave/cli/v2"
)

// mailFlags are the flags of serve about mail.
func mailFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "smtp-addr", Usage: "receive mail for email triggers by SMTP on `HOST:PORT`; an empty host is 127.0.0.1; without it no mail is received"},
		&cli.StringFlag{Name: "mail-domain", Value: store.DefaultMailDomain, Usage: "the `DOMAIN` behind the @ of every trigger's mail address"},
		&cli.StringFlag{Name: "smtp-tls-cert", Usage: "offer STARTTLS to who sends mail, with the certificate in this PEM `FILE`"},
		&cli.StringFlag{Name: "smtp-tls-key", Usage: "the `FILE` with its private key"},
		&cli.StringFlag{Name: "max-mail", Value: "25MiB", Usage: "the largest mail that is received, in `BYTES` or as 25MiB"},
	}
}

// chooseMail reads them.
func chooseMail(c *cli.Context, o *server.Options) (err error) {
	if c.String("smtp-addr") != "" {
		if o.SMTPAddr, err = parseAddr(c, "smtp-addr", "127.0.0.1:2525"); err != nil {
			return err
		}
	}
	o.MailDomain = strings.ToLower(strings.TrimSpace(c.String("mail-domain")))
	if !blueprint.IsMailDomain(o.MailDomain) {
		return usage("--mail-domain flows.example.org", "%s %s: is no domain", given(c, "mail-domain"), c.String("mail-domain"))
	}
	switch certificate, key := c.String("smtp-tls-cert"), c.String("smtp-tls-key"); {
	case (certificate == "") != (key == ""):
		return usage("give both, or neither", "%s and %s go together", given(c, "smtp-tls-cert"), given(c, "smtp-tls-key"))
	case certificate != "":
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return usage("name PEM files that belong together", "%s %s: cannot be used: %s", given(c, "smtp-tls-cert"), certificate, fileio.Cause(err))
		}
		o.SMTPTLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	// A mail needs room for itself, for its parts and for what is read of it.
	const most = 1 << 30
	if o.MaxMail, err = parseSize(c.String("max-mail")); err != nil || o.MaxMail < 1024 || o.MaxMail > most {
		return usage("--max-mail 25MiB", "%s %s: must be a size from 1KiB to 1GiB", given(c, "max-mail"), c.String("max-mail"))
	}
	return nil
}
