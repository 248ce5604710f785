package sandbox

import (
	"context"
	"net"
)

// NoNames is a DNS in which nothing exists, for who would look up who sends a
// mail.
type NoNames struct{}

func (NoNames) missing(name string) error {
	return &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// LookupTXT finds nothing.
func (n NoNames) LookupTXT(_ context.Context, name string) ([]string, error) {
	return nil, n.missing(name)
}

// LookupMX finds nothing.
func (n NoNames) LookupMX(_ context.Context, name string) ([]*net.MX, error) {
	return nil, n.missing(name)
}

// LookupIPAddr finds nothing.
func (n NoNames) LookupIPAddr(_ context.Context, name string) ([]net.IPAddr, error) {
	return nil, n.missing(name)
}

// LookupAddr finds nothing.
func (n NoNames) LookupAddr(_ context.Context, name string) ([]string, error) {
	return nil, n.missing(name)
}
