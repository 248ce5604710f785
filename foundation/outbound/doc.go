// Package outbound is the one way out: every connection that a blueprint causes
// goes through its dialer, and every HTTP request through its client.
//
// # What is refused
//
// A blueprint is somebody's text, so an address in it, a DNS answer and a
// redirect may all try to lead into the operator's own network. The guard looks
// at the address that a socket is about to connect to, after every look-up, on
// each redirect and each of several parallel tries, so a name that changes its
// mind between a check and the connection gains nothing. Whatever is not an
// address of the public internet is refused: loopback, private, link-local and
// the rest of the special-purpose registries, and IPv6 forms that carry an IPv4
// address (NAT64, 6to4, Teredo, translated, compatible). Mapped addresses count
// as the IPv4 address they stand for. Hosts that are numbers in an unusual
// spelling (0177.0.0.1, 0x7f000001, 2130706433) are refused before anybody can
// read them in different ways.
//
// Options.Allow opens ranges. An address inside IPv6 must then be open itself.
// The metadata services of clouds, which hand out credentials, stay closed
// unless an entry names that one address alone (/32 or /128).
//
// A refusal is a *RefusedError, which says why and what the operator may do.
//
// # HTTP
//
// Client sends HTTP/1.1 and HTTP/2. No proxy is taken from the environment. At
// most MaxRedirects redirects are followed, to http and https only; on the way
// to another host all headers are dropped but those that describe the content,
// and Referer never travels, since an address may hold a secret. Ports that
// belong to other services (SSH, mail, databases) are refused, because the text
// of a request can be made to mean something to them; DialContext leaves ports
// alone.
//
// Authorize adds credentials to each request under a context just before it is
// sent; neither a redirect nor an answer ever holds them.
//
// Record tells the caller which requests really went out. ReadAll reads a body
// up to a limit that counts after decompression.
//
// Time-outs run on the machine's clock. Errors name hosts, never the rest of an
// address, never headers and bodies.
package outbound
