package connections

import (
	"context"
	"errors"
	"fmt"
	"net"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// The codes of the failures that this room reports.
const (
	codeUnavailable = "connection_unavailable"
	codeHost        = "host_not_allowed"
	codeToken       = "token_refused"
	codeConnect     = "connect_failed"
	codeTimeout     = "timeout"
	codeRefused     = "address_refused"
)

// unusable says that a connection cannot be used as it is set up.
func unusable(format string, args ...any) *blueprint.Failure {
	return &blueprint.Failure{Code: codeUnavailable, Message: fmt.Sprintf(format, args...), Permanent: true, NotSent: true}
}

// unreachable says why a server could not be asked, without a word of its own.
func unreachable(err error, host string) *blueprint.Failure {
	var (
		refused *outbound.RefusedError
		timeout net.Error
		name    *net.DNSError
	)
	f := &blueprint.Failure{NotSent: true}
	switch {
	case errors.As(err, &refused):
		f.Code, f.Message = codeRefused, refused.Error()
	case errors.As(err, &name) && name.IsNotFound:
		f.Code, f.Message = codeConnect, fmt.Sprintf("no host named %s is known", host)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		f.Code, f.Message = codeTimeout, fmt.Sprintf("%s did not answer in time", host)
	default:
		f.Code, f.Message = codeConnect, fmt.Sprintf("cannot reach %s", host)
	}
	return f
}
