package outbound

import "crypto/tls"

// TLSConfig gives what is needed to speak TLS to a host over a connection of
// DialContext, with the same authorities as for HTTP. It is the caller's.
func (c *Client) TLSConfig(host string) *tls.Config {
	return &tls.Config{ServerName: host, RootCAs: c.transport.TLSClientConfig.RootCAs, MinVersion: tls.VersionTLS12}
}
