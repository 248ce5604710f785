package outbound

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
)

// MaxRedirects is the maximum number of redirects of one request.
const MaxRedirects = 5

// ErrRedirects is returned after more than MaxRedirects redirects.
var ErrRedirects = errors.New("too many redirects")

// roundTripper sends one request: the first, or that of a redirect.
type roundTripper struct {
	base http.RoundTripper
	real bool // base uses the real network
}

// RoundTrip checks the URL, sends the request and records it without credentials.
func (r *roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	hop := recordOf(request.Context()).begin(request.URL)
	if refused := checkURL(request.URL, r.real); refused != nil {
		closeBody(request)
		return record(request, func() bool { return false }, func(*http.Request) (*http.Response, error) { return nil, refused })
	}
	sent, err := authorized(request)
	if err != nil {
		closeBody(request)
		return nil, err
	}
	seen := witness(request)
	var connected atomic.Bool
	ctx := httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) {
			connected.Store(true)
			hop.sent()
			seen.connected()
		},
	})
	response, err := record(request.WithContext(ctx), connected.Load, func(copied *http.Request) (*http.Response, error) {
		sent := sent.WithContext(context.WithValue(ctx, bareKey{}, request))
		sent.Body = copied.Body
		return r.base.RoundTrip(sent)
	})
	if err != nil {
		return nil, err
	}
	hop.answered(response.StatusCode)
	seen.answered(response)
	response.Request = request // not the copy, which holds credentials
	return response, nil
}

type bareKey struct{}

// WithoutCredentials returns the request of a Network as it was before credentials
// were added. Its body must not be read.
func WithoutCredentials(sent *http.Request) *http.Request {
	if request, ok := sent.Context().Value(bareKey{}).(*http.Request); ok {
		return request
	}
	return sent
}

func closeBody(request *http.Request) {
	if request.Body != nil {
		request.Body.Close()
	}
}

// checkURL refuses URLs without a look-up. Ports matter only on the real network.
func checkURL(u *url.URL, real bool) *RefusedError {
	host := u.Hostname()
	if u.Scheme != "http" && u.Scheme != "https" {
		return &RefusedError{Host: host, Reason: fmt.Sprintf("behind %q, and only http and https are followed", u.Scheme)}
	}
	if host == "" {
		return &RefusedError{Host: "an address without a host", Reason: "not one that can be reached"}
	}
	if port := u.Port(); port != "" {
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil || number == 0 {
			return &RefusedError{Host: host, Reason: "asked for at a port that does not exist"}
		}
		if real && closedPorts[uint16(number)] {
			return &RefusedError{Host: host, Reason: fmt.Sprintf("asked for at port %d, which belongs to another service than HTTP", number)}
		}
	}
	return nil
}

// closedPorts are those of services that may interpret the text of an HTTP request
// as commands: remote shells, mail, chat, file sharing, caches and databases.
var closedPorts = portSet(
	1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115,
	117, 119, 123, 135, 137, 138, 139, 143, 161, 162, 179, 389, 427, 445, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554,
	556, 563, 587, 601, 636, 873, 989, 990, 993, 995, 1433, 1521, 1719, 1720, 1723, 2049, 3306, 3389, 3659, 4045, 5060, 5061, 5432,
	6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211, 27017,
)

func portSet(ports ...uint16) map[uint16]bool {
	set := make(map[uint16]bool, len(ports))
	for _, port := range ports {
		set[port] = true
	}
	return set
}

// checkRedirect implements http.Client.CheckRedirect. Addresses are checked elsewhere.
func checkRedirect(request *http.Request, via []*http.Request) error {
	if len(via) > MaxRedirects {
		return ErrRedirects
	}
	request.URL.User = nil
	request.Header.Del("Referer")
	for _, earlier := range append(via[1:len(via):len(via)], request) {
		if !SameHost(via[0].URL, earlier.URL) {
			dropPrivate(request.Header)
			break
		}
	}
	return nil
}

// SameHost reports whether headers for one URL may be sent to the other: the same
// scheme, host and port, or https instead of http.
func SameHost(a, b *url.URL) bool {
	if !strings.EqualFold(a.Hostname(), b.Hostname()) {
		return false
	}
	if a.Scheme == "http" && b.Scheme == "https" && portOf(a) == "80" && portOf(b) == "443" {
		return true
	}
	return a.Scheme == b.Scheme && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

// public are the headers that another host may see. Any other may be a credential.
var public = map[string]bool{
	"Accept": true, "Accept-Language": true, "User-Agent": true,
	"Content-Type": true, "Content-Language": true, "Content-Encoding": true,
}

func dropPrivate(header http.Header) {
	for name := range header {
		if !public[textproto.CanonicalMIMEHeaderKey(name)] {
			delete(header, name)
		}
	}
}

// ErrTooLarge is returned for a body that exceeds the limit.
var ErrTooLarge = errors.New("the answer is too large")

// ReadAll reads a body of at most limit bytes and returns ErrTooLarge for a larger one. The
// limit applies after decompression, and bounds it.
func ReadAll(body io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, ErrTooLarge
	}
	return data, nil
}
