package smtp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"regexp"
	"strings"
	"syscall"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// The codes of the failures.
const (
	codeConnection  = "connection_unavailable" // the connection of the node cannot be used
	codeConnect     = "connect_failed"
	codeTimeout     = "timeout"
	codeRefused     = "address_refused" // by this server's own rules
	codeCertificate = "tls_failed"
	codeTooLarge    = "too_large"
	// CodeRejected and those after it are failures that only messages have.
	CodeRejected   = "rejected"            // the other side does not take the message
	CodeRecipients = "recipients_rejected" // the server does not take all of the recipients
	CodeLogin      = "login_failed"
	CodeUnknown    = "outcome_unknown" // the message may have been sent
)

// refuse is a failure that lasts until somebody changes something.
func (t *talk) refuse(code, format string, args ...any) *blueprint.Failure {
	return &blueprint.Failure{Code: code, Message: fmt.Sprintf(format, args...), Permanent: true, NotSent: true}
}

// rejection is the error of a message some of whose recipients were refused.
type rejection struct {
	who  []string // with the server's words
	last bool     // one of them for good
}

// maxNamed is how many of them a failure names.
const maxNamed = 10

// Error names the refused recipients.
func (r *rejection) Error() string {
	named := r.who[:min(maxNamed, len(r.who))]
	text := strings.Join(named, "; ")
	if more := len(r.who) - len(named); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

func (r *rejection) add(recipient string, reply *textproto.Error) {
	r.who = append(r.who, recipient+" ("+replyText(reply)+")")
	r.last = r.last || reply.Code >= 500
}

// failure says why a message was not sent, or may not have been.
func (t *talk) failure(ctx context.Context, err error) error {
	var (
		known    *blueprint.Failure
		rejected *rejection
		reply    *textproto.Error
		refused  *outbound.RefusedError
		name     *net.DNSError
		timeout  net.Error
		number   syscall.Errno
	)
	f := &blueprint.Failure{NotSent: !t.inDoubt}
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &rejected):
		f.Code, f.Permanent = CodeRecipients, rejected.last
		f.Message = fmt.Sprintf("%s does not take all of the recipients, so nobody was sent the message: %s", t.Host, rejected)
	case errors.As(err, &reply) && !t.inDoubt:
		f.Code, f.Permanent = CodeRejected, reply.Code >= 500
		f.Message = fmt.Sprintf("%s did not take the message: %s", t.Host, replyText(reply))
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case t.inDoubt:
		f.Code, f.Message = CodeUnknown, t.Host+" got the whole message and gave no answer: it may have been sent or not"
	case errors.As(err, &refused):
		f.Code, f.Message = codeRefused, refused.Error()
	case errors.Is(err, errTalkative):
		f.Code, f.Message = codeTooLarge, t.Host+" says more than a mail server does"
	case errors.As(err, &name) && name.IsNotFound:
		f.Code, f.Message = codeConnect, fmt.Sprintf("no host named %s is known; check the host of the connection", t.Host)
	case t.silent.Load() && t.TLS != tlsFirst:
		f.Code, f.Message = codeTimeout, fmt.Sprintf(`%s says nothing; if it speaks TLS from the start at port %d, set tls of the connection to "tls"`, t.Host, t.Port)
	case t.silent.Load():
		f.Code, f.Message = codeTimeout, t.Host+" says nothing"
	case ctx.Err() != nil, errors.As(err, &timeout) && timeout.Timeout():
		f.Code, f.Message = codeTimeout, t.Host+" did not answer in time"
	case t.conn == nil && errors.As(err, &number):
		f.Code, f.Message = codeConnect, fmt.Sprintf("cannot connect to %s at port %d: %s", t.Host, t.Port, number.Error())
	case t.conn == nil:
		f.Code, f.Message = codeConnect, fmt.Sprintf("cannot connect to %s at port %d", t.Host, t.Port)
	case t.encrypted && isTLS(err):
		f.Code, f.Message = codeCertificate, t.tlsProblem(err)
	default:
		f.Code, f.Message = codeConnect, t.Host+" broke the talk off, or does not speak SMTP as the connection says; nothing was sent"
	}
	return f
}

// isTLS reports whether an error is about encryption.
func isTLS(err error) bool {
	var (
		certificate *tls.CertificateVerificationError
		authority   x509.UnknownAuthorityError
		record      tls.RecordHeaderError
		alert       tls.AlertError
	)
	return errors.As(err, &certificate) || errors.As(err, &authority) || errors.As(err, &record) || errors.As(err, &alert)
}

func (t *talk) tlsProblem(err error) string {
	var record tls.RecordHeaderError
	if errors.As(err, &record) {
		return fmt.Sprintf(`%s does not speak TLS at port %d from the start; set tls of the connection to "starttls"`, t.Host, t.Port)
	}
	var alert tls.AlertError
	if errors.As(err, &alert) {
		return t.Host + " does not speak TLS as it is spoken today"
	}
	return fmt.Sprintf("the certificate of %s is not trusted: %s", t.Host, outbound.CertificateProblem(err))
}

// enhanced is the number that many servers put before their words (RFC 3463).
var enhanced = regexp.MustCompile(`^[245]\.[0-9]{1,3}\.[0-9]{1,3}\b`)

// replyNumber returns the numbers of a reply, as in "535 5.7.8".
func replyNumber(reply *textproto.Error) string {
	return strings.TrimSpace(fmt.Sprintf("%03d %s", reply.Code, enhanced.FindString(reply.Msg)))
}

// maxReply is how much of a server's words is shown, in bytes.
const maxReply = 200

// replyText returns a reply on one line.
func replyText(reply *textproto.Error) string {
	return strings.TrimSpace(fmt.Sprintf("%03d %s", reply.Code, outbound.ShortLine(reply.Msg, maxReply)))
}
