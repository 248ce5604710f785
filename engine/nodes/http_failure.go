package nodes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// statusFailure says that an answer has a status that was not expected. The
// answer itself is left out: it may repeat what was sent.
func statusFailure(response *http.Response, c *httpConfig, now time.Time) *blueprint.Failure {
	status := strconv.Itoa(response.StatusCode)
	if words := http.StatusText(response.StatusCode); words != "" {
		status += " " + words
	}
	expected := make([]string, len(c.expected))
	for i, r := range c.expected {
		expected[i] = strconv.Itoa(r.from)
		if r.to != r.from {
			expected[i] += "-" + strconv.Itoa(r.to)
		}
	}
	return &blueprint.Failure{
		Code: codeStatus,
		Message: fmt.Sprintf("%s answered %s; expected %s (to take it as an answer, name it in expectStatus)",
			response.Request.URL.Host, status, strings.Join(expected, ", ")),
		RetryAfter: outbound.RetryAfter(response.Header, now),
	}
}

// requestFailure says why no whole answer came. Nothing of the request but its
// host is named.
func requestFailure(ctx context.Context, err error, hops *outbound.Hops) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	host := "the server"
	if list := hops.List(); len(list) > 0 {
		host = list[len(list)-1].Host
	}
	f := &blueprint.Failure{NotSent: !hops.Sent()}
	var (
		refused     *outbound.RefusedError
		failure     *blueprint.Failure
		pause       *blueprint.Pause
		timeout     net.Error
		certificate *tls.CertificateVerificationError
		authority   x509.UnknownAuthorityError
		record      tls.RecordHeaderError
		alert       tls.AlertError
		name        *net.DNSError
		number      syscall.Errno
	)
	switch {
	case errors.As(err, &failure), errors.As(err, &pause):
		return unauthorized(err, hops)
	case errors.As(err, &refused):
		f.Code, f.Message = codeRefused, refused.Error()
	case errors.Is(err, outbound.ErrRedirects):
		f.Code, f.Message = codeRedirects, fmt.Sprintf("%s redirected more than %d times", host, outbound.MaxRedirects)
	case errors.Is(err, outbound.ErrTooLarge):
		f.Code, f.Message = codeTooLarge, fmt.Sprintf("the answer of %s is larger than %d MiB", host, maxResponse>>20)
	case errors.Is(err, outbound.ErrHeaders):
		f.Code, f.Message = codeTooLarge, fmt.Sprintf("the headers of the answer of %s are larger than %d KiB", host, outbound.MaxHeaderBytes>>10)
	case errors.As(err, &name) && name.IsNotFound:
		f.Code, f.Message = codeConnect, fmt.Sprintf("no host named %s is known; check the url", host)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		f.Code, f.Message = codeTimeout, fmt.Sprintf("%s did not answer in time", host)
	case errors.As(err, &certificate), errors.As(err, &authority):
		f.Code, f.Message = codeCertificate, fmt.Sprintf("the certificate of %s is not trusted: %s", host, outbound.CertificateProblem(err))
	case errors.As(err, &record), errors.As(err, &alert), errors.Is(err, http.ErrSchemeMismatch):
		f.Code, f.Message = codeCertificate, fmt.Sprintf("%s does not speak TLS as asked for; check whether the url must begin with http://", host)
	case f.NotSent && errors.As(err, &number):
		f.Code, f.Message = codeConnect, fmt.Sprintf("cannot connect to %s: %s", host, number.Error())
	case f.NotSent:
		f.Code, f.Message = codeConnect, fmt.Sprintf("cannot connect to %s", host)
	default:
		f.Code, f.Message = codeConnect, fmt.Sprintf("%s broke the connection off before its answer was complete", host)
	}
	return f
}
