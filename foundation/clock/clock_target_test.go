package clock

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// FuzzTarget reads what moves the clock: it never goes backwards, never
// past the year 9999, agrees with the time package, and every refusal is short
// and on one line.
func FuzzTarget(f *testing.F) {
	for _, seed := range []string{
		`{"by":"36h"}`, `{"by":"7d"}`, `{"by":"-1s"}`, `{"by":"36501d"}`, `{"by":"2562047h47m16.854775807s"}`, `{"by":""}`, `{"by":5}`, `{"by":null}`, `{"by":"1h","to":"2031-01-01T00:00:00Z"}`,
		`{"to":"2031-01-01T00:00:00Z"}`, `{"to":"2030-05-01T14:00:00.000000001+02:00"}`, `{"to":"9999-12-31T23:59:59.999Z"}`, `{"to":"2030-04-30T00:00:00Z"}`, `{}`, `[]`, `null`, `{"to":"\u0000"}`, `{"by":"1d1d"}`,
	} {
		f.Add(seed, int64(0))
	}
	f.Add(`{"by":"36500d"}`, int64(7900*365*24*3600))
	noon := time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, body string, after int64) {
		now := noon.Add(time.Duration(after%(250*365*24*3600)) * time.Second)
		if after%2 == 1 {
			now = time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC)
		}
		var value any
		if json.Unmarshal([]byte(body), &value) != nil {
			return
		}
		to, err := Target(value, now)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x00") || len(err.Error()) > 400 {
				t.Fatalf("%s: %q", body, err)
			}
			return
		}
		if to.Before(now) || to.After(last) {
			t.Fatalf("%s moves %s to %s", body, now, to)
		}
		object := value.(map[string]any)
		if text, ok := object["by"].(string); ok && !strings.HasSuffix(text, "d") {
			if step, err := time.ParseDuration(text); err != nil || !now.Add(step).Equal(to) {
				t.Fatalf("%s moves %s to %s: %v", body, now, to, err)
			}
		}
	})
}
