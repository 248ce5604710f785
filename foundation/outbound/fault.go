package outbound

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// ErrNodeTimeout is the cause of a context that ended because of the node's time-out.
var ErrNodeTimeout = errors.New("the node's time-out")

// The kinds of faults. Recordings contain them: their meaning must not change.
const (
	faultRefused     = "refused"      // by the guard
	faultDNS         = "dns"          // no such host
	faultResolver    = "resolver"     // the name server fails
	faultNodeTimeout = "node_timeout" // ErrNodeTimeout
	faultTimeout     = "timeout"      // any other
	faultHost        = "certificate_host"
	faultExpired     = "certificate_expired"
	faultIssuer      = "certificate_issuer"
	faultCertificate = "certificate"
	faultTLS         = "tls"     // the other side speaks no TLS, or another version
	faultNumber      = "errno"   // of the system
	faultFailure     = "failure" // as the node itself saw it
	faultOther       = "other"
)

// errnos are system errors by their portable names.
var errnos = map[string]syscall.Errno{
	"ECONNREFUSED": syscall.ECONNREFUSED, "ECONNRESET": syscall.ECONNRESET, "ECONNABORTED": syscall.ECONNABORTED, "EHOSTUNREACH": syscall.EHOSTUNREACH,
	"EHOSTDOWN": syscall.EHOSTDOWN, "ENETUNREACH": syscall.ENETUNREACH, "ENETDOWN": syscall.ENETDOWN, "EPIPE": syscall.EPIPE, "EADDRNOTAVAIL": syscall.EADDRNOTAVAIL,
	"EMFILE": syscall.EMFILE, "EACCES": syscall.EACCES, "EPERM": syscall.EPERM,
}

// faultOf describes why an exchange failed, so that ReplayFault can return an
// equivalent error. sent reports whether the request had been sent.
func faultOf(ctx context.Context, err error, sent bool) *blueprint.Fault {
	var (
		failure   *blueprint.Failure
		refused   *RefusedError
		name      *net.DNSError
		timeout   net.Error
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		authority x509.UnknownAuthorityError
		untrusted *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		alert     tls.AlertError
		number    syscall.Errno
	)
	f := &blueprint.Fault{Kind: faultOther, Sent: sent}
	switch {
	case errors.As(err, &failure):
		f.Kind, f.Code, f.Reason, f.Permanent, f.Sent = faultFailure, failure.Code, secret.RedactText(failure.Message), failure.Permanent, !failure.NotSent
	case errors.As(err, &refused):
		f.Kind, f.Host, f.Reason, f.Hint = faultRefused, refused.Host, refused.Reason, refused.Hint
		if refused.Addr.IsValid() {
			f.Address = refused.Addr.String()
		}
	case errors.Is(context.Cause(ctx), ErrNodeTimeout):
		f.Kind = faultNodeTimeout
	case errors.As(err, &name) && name.IsNotFound:
		f.Kind = faultDNS
	case errors.As(err, &name):
		f.Kind = faultResolver
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		f.Kind = faultTimeout
	case errors.As(err, &host):
		f.Kind = faultHost
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		f.Kind = faultExpired
	case errors.As(err, &authority):
		f.Kind, f.Reason = faultIssuer, missingRoots(err)
	case errors.As(err, &untrusted):
		f.Kind = faultCertificate
	case errors.As(err, &record), errors.As(err, &alert), errors.Is(err, http.ErrSchemeMismatch):
		f.Kind = faultTLS
	case errors.As(err, &number):
		f.Kind, f.Reason = faultNumber, number.Error()
		for name, known := range errnos {
			if known == number {
				f.Code = name
			}
		}
	}
	return f
}

// FaultOf describes the failure of an exchange of a protocol other than HTTP.
func FaultOf(err error) *blueprint.Fault { return faultOf(context.Background(), err, true) }

type expiryKey struct{}

// WithExpiry returns a context in which ReplayFault repeats a time-out of the node
// without the wait, by calling expire.
func WithExpiry(ctx context.Context, expire func()) context.Context {
	return context.WithValue(ctx, expiryKey{}, expire)
}

// ReplayFault returns an error that a node handles as it handled the fault of a
// recorded exchange, with the same effect on ctx.
func ReplayFault(ctx context.Context, x *blueprint.Exchange) error {
	f := x.Fault
	if f == nil {
		f = &blueprint.Fault{Kind: faultOther}
	}
	if f.Kind == faultFailure {
		return &blueprint.Failure{Code: f.Code, Message: f.Reason, Permanent: f.Permanent, NotSent: !f.Sent}
	}
	if f.Sent {
		if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
			trace.GotConn(httptrace.GotConnInfo{})
		}
	}
	if expire, ok := ctx.Value(expiryKey{}).(func()); ok && f.Kind == faultNodeTimeout {
		expire()
	}
	text := x.Error
	text = cmp.Or(text, "no answer was recorded")
	return &recordedError{f, text}
}

// recordedError implements errors.As for the error types that nodes distinguish.
type recordedError struct {
	fault *blueprint.Fault
	text  string
}

func (b *recordedError) Error() string { return b.text }

// Timeout and Temporary implement net.Error.
func (b *recordedError) Timeout() bool {
	return b.fault.Kind == faultTimeout || b.fault.Kind == faultNodeTimeout
}
func (b *recordedError) Temporary() bool { return false }

func (b *recordedError) Is(target error) bool {
	return target == http.ErrSchemeMismatch && b.fault.Kind == faultTLS
}

func (b *recordedError) As(target any) bool {
	kind := b.fault.Kind
	switch t := target.(type) {
	case **RefusedError:
		if kind == faultRefused {
			address, _ := netip.ParseAddr(b.fault.Address)
			*t = &RefusedError{Host: b.fault.Host, Addr: address, Reason: b.fault.Reason, Hint: b.fault.Hint}
			return true
		}
	case **net.DNSError:
		if kind == faultDNS {
			*t = &net.DNSError{Err: b.text, IsNotFound: true}
			return true
		}
		if kind == faultResolver {
			*t = &net.DNSError{Err: b.text, IsTemporary: true}
			return true
		}
	case *x509.HostnameError:
		return kind == faultHost
	case *x509.CertificateInvalidError:
		t.Reason = x509.Expired
		return kind == faultExpired
	case *x509.UnknownAuthorityError:
		return kind == faultIssuer
	case **tls.CertificateVerificationError:
		if kind == faultHost || kind == faultExpired || kind == faultIssuer || kind == faultCertificate {
			*t = &tls.CertificateVerificationError{Err: errors.New(b.text)}
			return true
		}
	case *tls.RecordHeaderError:
		t.Msg = b.text
		return kind == faultTLS
	case *syscall.Errno:
		if number, known := errnos[b.fault.Code]; kind == faultNumber && known {
			*t = number
			return true
		}
	}
	return false
}

// MaxRetryAfter is the maximum of RetryAfter.
const MaxRetryAfter = time.Hour

// RetryAfter returns the delay of a Retry-After header (RFC 9110, 10.2.3): seconds,
// or a date, which is relative to the server's Date header or else to now. It
// returns 0 without a valid header, and for a date when both are unknown.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(MaxRetryAfter/time.Second))) * time.Second
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	at, err := http.ParseTime(value)
	if err != nil || now.IsZero() {
		return 0
	}
	return min(max(0, at.Sub(now)), MaxRetryAfter)
}
