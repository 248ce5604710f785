// Package outbound makes every connection and HTTP request that a blueprint causes,
// and keeps them from reaching internal networks.
//
// # What is refused
//
// A blueprint is user input: a URL in it, a DNS answer or a redirect may point into
// the operator's own network. The guard checks the address of every socket before
// it connects, after each look-up, on each redirect and for parallel attempts, so
// that DNS rebinding has no effect. Every address outside the public internet is
// refused: loopback, private, link-local and the rest of the special-purpose
// registries, and IPv6 forms that contain an IPv4 address (NAT64, 6to4, Teredo,
// translated, compatible). Mapped addresses count as their IPv4 address. Hosts
// that are numbers in an unusual spelling (0177.0.0.1, 0x7f000001, 2130706433) are
// refused because resolvers disagree about them.
//
// Options.Allow opens ranges. An IPv4 address inside an IPv6 one must be open too.
// The metadata services of clouds, which return credentials, stay closed unless an
// entry names that one address (/32 or /128).
//
// The error is *RefusedError, with the reason and a hint for the operator.
//
// # HTTP
//
// Client sends HTTP/1.1 and HTTP/2 and ignores proxies in the environment. It
// follows at most MaxRedirects redirects, to http and https only; a redirect to
// another host keeps only headers that describe the content, and none keeps
// Referer, since a URL may contain a secret. Ports of other services (SSH, mail,
// databases) are refused, because a request can be crafted to be a command there;
// DialContext does not check ports.
//
// Authorize adds credentials to each request under a context just before it is sent;
// neither redirects nor responses contain them.
//
// RecordHops records which requests were sent. ReadAll limits a body after
// decompression.
//
// Time-outs use the machine's clock. Errors name hosts, never the rest of a URL,
// headers or bodies.
package outbound
