package outbound

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter is the longest that another server may make us wait.
const MaxRetryAfter = time.Hour

// RetryAfter reads how long a server asks to be left alone (RFC 9110, 10.2.3):
// whole seconds, or an instant, which is reckoned from what the server says the
// time is, else from now; with neither of these, the zero time, there is no
// telling. It gives 0 when nothing is asked, and at most MaxRetryAfter.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(MaxRetryAfter/time.Second))) * time.Second
	}
	if told, err := http.ParseTime(header.Get("Date")); err == nil {
		now = told
	}
	at, err := http.ParseTime(value)
	if err != nil || now.IsZero() {
		return 0
	}
	return min(max(0, at.Sub(now)), MaxRetryAfter)
}
