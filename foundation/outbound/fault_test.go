package outbound_test

import (
	"net/http"
	"testing"
	"time"

	"blueprintd/foundation/outbound"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	at := func(after time.Duration) string { return now.Add(after).Format(http.TimeFormat) }
	for value, want := range map[string]time.Duration{
		"": 0, "0": 0, "120": 2 * time.Minute, " 5 ": 5 * time.Second, "999999999999": time.Hour, "-5": 0, "1.5": 0, "soon": 0, "99999999999999999999999": 0,
		at(90 * time.Second): 90 * time.Second, at(-time.Hour): 0, at(48 * time.Hour): time.Hour,
	} {
		t.Run(value, func(t *testing.T) {
			if got := outbound.RetryAfter(http.Header{"Retry-After": {value}}, now); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
	header := http.Header{"Retry-After": {at(90 * time.Second)}}
	if got := outbound.RetryAfter(header, time.Time{}); got != 0 {
		t.Errorf("by no clock: %v, want 0", got)
	}
	header.Set("Date", at(60*time.Second))
	if got := outbound.RetryAfter(header, now); got != 30*time.Second {
		t.Errorf("by the server's clock: %v, want %v", got, 30*time.Second)
	}
}
