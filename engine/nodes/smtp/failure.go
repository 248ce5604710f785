package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/textproto"
	"regexp"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// Codes of failures.
const (
	codeConnection  = "connection_unavailable"
	codeConnect     = "connect_failed"
	codeTimeout     = "timeout"
	codeRefused     = "address_refused" // by this server's own rules
	codeCertificate = "tls_failed"
	codeTooLarge    = "too_large"
	CodeRejected    = "rejected"            // the server refuses the message
	CodeRecipients  = "recipients_rejected" // the server refuses some of the recipients
	CodeLogin       = "login_failed"
	CodeUnknown     = "outcome_unknown" // the message may have been sent
)

func (t *session) permanentFailure(code, format string, args ...any) *blueprint.Failure {
	return &blueprint.Failure{Code: code, Message: fmt.Sprintf(format, args...), Permanent: true, NotSent: true}
}

// rejection is the error of a message with refused recipients.
type rejection struct {
	recipients []string // with the server's replies
	permanent  bool     // one of the replies is
}

const maxNamed = 10

func (r *rejection) Error() string {
	named := r.recipients[:min(maxNamed, len(r.recipients))]
	text := strings.Join(named, "; ")
	if more := len(r.recipients) - len(named); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

func (r *rejection) add(recipient string, reply *textproto.Error) {
	r.recipients = append(r.recipients, recipient+" ("+replyText(reply)+")")
	r.permanent = r.permanent || reply.Code >= 500
}

// failure converts an error to why the message was not, or may not have been sent.
func (t *session) failure(ctx context.Context, err error) error {
	var (
		known    *blueprint.Failure
		rejected *rejection
		reply    *textproto.Error
		refused  *outbound.RefusedError
	)
	f, fault := &blueprint.Failure{NotSent: !t.inDoubt}, outbound.FaultOf(err)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &rejected):
		f.Code, f.Permanent = CodeRecipients, rejected.permanent
		f.Message = fmt.Sprintf("%s does not accept all recipients, so the message was not sent: %s", t.Host, rejected)
	case errors.As(err, &reply) && !t.inDoubt:
		f.Code, f.Permanent = CodeRejected, reply.Code >= 500
		f.Message = fmt.Sprintf("%s did not accept the message: %s", t.Host, replyText(reply))
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case t.inDoubt:
		f.Code, f.Message = CodeUnknown, t.Host+" received the whole message and did not reply: the message may have been sent"
	case errors.As(err, &refused):
		f.Code, f.Message = codeRefused, refused.Error()
	case errors.Is(err, errTooMuchOutput):
		f.Code, f.Message = codeTooLarge, t.Host+" sent too much data"
	case fault.Kind == "dns":
		f.Code, f.Message = codeConnect, fmt.Sprintf("no host named %s is known; check the host of the connection", t.Host)
	case fault.Kind == "resolver":
		f.Code, f.Message = codeConnect, fmt.Sprintf("cannot look up %s: the name server is not reachable or fails", t.Host)
	case t.greetingTimedOut.Load() && t.TLS != implicitTLS:
		f.Code, f.Message = codeTimeout, fmt.Sprintf(`%s sent no greeting; if it expects TLS from the start at port %d, set tls of the connection to "tls"`, t.Host, t.Port)
	case t.greetingTimedOut.Load():
		f.Code, f.Message = codeTimeout, t.Host+" sent no greeting"
	case ctx.Err() != nil, fault.Kind == "timeout":
		f.Code, f.Message = codeTimeout, t.Host+" did not answer in time"
	case t.conn == nil && fault.Kind == "errno":
		f.Code, f.Message = codeConnect, fmt.Sprintf("cannot connect to %s at port %d: %s", t.Host, t.Port, fault.Reason)
	case t.conn == nil:
		f.Code, f.Message = codeConnect, fmt.Sprintf("cannot connect to %s at port %d", t.Host, t.Port)
	case t.encrypted && (fault.Kind == "tls" || strings.HasPrefix(fault.Kind, "certificate")):
		f.Code, f.Message = codeCertificate, t.tlsProblem(err)
	default:
		f.Code, f.Message = codeConnect, t.Host+" closed the connection or does not speak SMTP as configured; nothing was sent"
	}
	return f
}

func (t *session) tlsProblem(err error) string {
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return fmt.Sprintf(`%s does not speak TLS at port %d from the start; set tls of the connection to "starttls"`, t.Host, t.Port)
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return t.Host + " does not support a current version of TLS"
	}
	return fmt.Sprintf("the certificate of %s is not trusted: %s", t.Host, outbound.CertificateProblem(err))
}

// enhanced matches the enhanced status code that begins many replies (RFC 3463).
var enhanced = regexp.MustCompile(`^[245]\.[0-9]{1,3}\.[0-9]{1,3}\b`)

// maxReply bounds the displayed text of a reply, in bytes.
const maxReply = 200

func replyText(reply *textproto.Error) string {
	return strings.TrimSpace(fmt.Sprintf("%03d %s", reply.Code, outbound.ShortLine(reply.Msg, maxReply)))
}
