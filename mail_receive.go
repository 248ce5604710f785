package main

import (
	"cmp"
	"context"
	"net"

	"blueprintd/blueprint"
	"blueprintd/store"
	"blueprintd/triggers"
	"blueprintd/triggers/mail"
)

// mailDomain is what stands behind the @ of every trigger's address.
func (s *server) mailDomain() string { return cmp.Or(s.options.mailDomain, store.DefaultMailDomain) }

// mailOptions are what triggers need to take mail.
func (s *server) mailOptions() triggers.MailOptions {
	return triggers.MailOptions{
		Domain: s.mailDomain(), Mailbox: s.store.Mailbox, Parse: mail.Parse,
		FileURL: func(id string) string { return s.apiHost() + "/files/" + id },
	}
}

// receiveMail takes the port for mail, when one was chosen.
func (s *server) receiveMail() error {
	o := &s.options
	if o.smtpAddr == "" {
		return nil
	}
	listener, err := listen(o.smtpAddr)
	if err != nil {
		return blueprint.Hinted("choose another one with --smtp-addr, or stop what listens there", "cannot listen on %s: %s", o.smtpAddr, listenCause(err))
	}
	var resolver mail.Resolver = net.DefaultResolver
	if o.resolver != nil {
		resolver = o.resolver
	}
	s.mail = mail.New(mail.Options{
		Listener: listener, Domain: s.mailDomain(), Receiver: s.triggers, Resolver: resolver, Logger: o.logger, TLS: o.smtpTLS, MaxMessage: o.maxMail, Lost: s.lost,
	})
	return nil
}

// serveMail receives mail from when recovery is done until the server stops.
func (s *server) serveMail(ctx context.Context, recovered <-chan struct{}) error {
	select {
	case <-recovered:
		return s.mail.Run(ctx)
	case <-ctx.Done():
		return s.mail.Listener.Close()
	}
}

// smtpAddress is where mail goes; "" when it goes nowhere.
func (s *server) smtpAddress() string {
	if s.mail == nil {
		return ""
	}
	return s.mail.Listener.Addr().String()
}

// mailIndex tells where mail goes.
func (s *server) mailIndex() string {
	if at := s.smtpAddress(); at != "" {
		return "SMTP on " + at + ", for the addresses of email triggers"
	}
	return "not received; --smtp-addr says where to"
}
