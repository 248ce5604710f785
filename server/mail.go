package server

import (
	"cmp"
	"context"
	"net"

	"blueprintd/store"
	"blueprintd/triggers"
	"blueprintd/triggers/mail"
)

// mailDomain returns the domain of the triggers' addresses.
func (s *Server) mailDomain() string { return cmp.Or(s.Options.MailDomain, store.DefaultMailDomain) }

func (s *Server) mailOptions() triggers.MailOptions {
	return triggers.MailOptions{
		Domain: s.mailDomain(), Mailbox: s.Store.Mailbox, Parse: mail.Parse,
		FileURL: func(id string) string { return s.APIHost() + "/files/" + id },
	}
}

// receiveMail opens the SMTP listener, if there is one.
func (s *Server) receiveMail() error {
	o := &s.Options
	if o.SMTPAddr == "" {
		return nil
	}
	listener, err := listen(o.SMTPAddr)
	if err != nil {
		return cannotListen("--smtp-addr", o.SMTPAddr, err)
	}
	s.opened.add(listener.Close)
	var resolver mail.Resolver = net.DefaultResolver
	if o.Resolver != nil {
		resolver = o.Resolver
	}
	share := sharesOf(MemoryLimit(o.MemoryLimit)).Mail
	s.mail = mail.New(mail.Options{
		Listener: listener, Domain: s.mailDomain(), Receiver: s.Triggers, Resolver: resolver, Logger: o.Logger, TLS: o.SMTPTLS, MaxMessage: min(o.MaxMail, share/2), MaxMemory: share, Lost: s.lost,
	})
	return nil
}

// serveMail receives mail from the end of recovery until ctx ends.
func (s *Server) serveMail(ctx context.Context, recovered <-chan struct{}) error {
	select {
	case <-recovered:
		return s.mail.Run(ctx)
	case <-ctx.Done():
		return s.mail.Listener.Close()
	}
}

// SMTPAddress returns the address of the SMTP listener, "" if there is none.
func (s *Server) SMTPAddress() string {
	if s.mail == nil {
		return ""
	}
	return s.mail.Listener.Addr().String()
}

// mailIndex describes the SMTP listener.
func (s *Server) mailIndex() string {
	if at := s.SMTPAddress(); at != "" {
		return "SMTP on " + at + ", for the addresses of email triggers"
	}
	return "not received; start the server with --smtp-addr"
}
