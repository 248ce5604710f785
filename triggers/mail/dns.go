package mail

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"
)

// Resolver asks the DNS; *net.Resolver is one. Names that do not exist are a
// *net.DNSError whose IsNotFound is true.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error)
	LookupAddr(ctx context.Context, address string) ([]string, error)
}

const (
	maxLookups    = 40 // for one message
	lookupTimeout = 2 * time.Second
)

var errLookups = errors.New("too many questions to the DNS for one message")

// limited is a resolver for one message: it asks only so many questions, and
// waits only so long for each answer. It is safe for concurrent use.
type limited struct {
	Resolver
	asked atomic.Int32
}

func bounded(r Resolver) *limited { return &limited{Resolver: r} }

func ask[T any](ctx context.Context, l *limited, name string, lookup func(context.Context, string) (T, error)) (answer T, err error) {
	if l.asked.Add(1) > maxLookups {
		return answer, &net.DNSError{Err: errLookups.Error(), Name: name, IsTemporary: true}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	answer, err = lookup(ctx, name)
	var known *net.DNSError
	if err != nil && !errors.As(err, &known) {
		err = &net.DNSError{Err: err.Error(), Name: name, IsTemporary: true}
	}
	return answer, err
}

// LookupTXT gives the texts of a name.
func (l *limited) LookupTXT(ctx context.Context, name string) ([]string, error) {
	return ask(ctx, l, name, l.Resolver.LookupTXT)
}

// LookupMX gives the mail servers of a name.
func (l *limited) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	return ask(ctx, l, name, l.Resolver.LookupMX)
}

// LookupIPAddr gives the addresses of a host.
func (l *limited) LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error) {
	return ask(ctx, l, host, l.Resolver.LookupIPAddr)
}

// LookupAddr gives the names of an address.
func (l *limited) LookupAddr(ctx context.Context, address string) ([]string, error) {
	return ask(ctx, l, address, l.Resolver.LookupAddr)
}

// notFound tells whether a name does not exist, or has nothing of that kind.
func notFound(err error) bool {
	var known *net.DNSError
	return errors.As(err, &known) && known.IsNotFound
}
