package server

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"blueprintd/tests/process"
)

// Messages of net/http are logged with slog, up to a limit.
func TestHTTPLog(t *testing.T) {
	t.Parallel()
	var logs process.Output
	s := site{Options: Options{Logger: slog.New(slog.NewJSONHandler(&logs, nil))}}
	errors := s.newHTTP(http.NotFoundHandler()).ErrorLog
	errors.Printf("http: panic serving 127.0.0.1:1: boom\n%s", "goroutine 7 [running]:\nmain.main()")
	for range 100 {
		errors.Printf("http: Accept error: too many open files; retrying in %s", time.Second)
	}
	lines := strings.Split(strings.TrimSpace(logs.String()), "\n")
	if len(lines) != httpLines {
		t.Errorf("%d lines, want %d", len(lines), httpLines)
	}
	for i, line := range lines {
		var one struct{ Level, Msg, Error, Stack string }
		if err := json.Unmarshal([]byte(line), &one); err != nil || one.Msg == "" {
			t.Fatalf("%q: %v", line, err)
		}
		panicked := one.Level == "ERROR" && one.Error == "panic serving 127.0.0.1:1: boom" && strings.HasPrefix(one.Stack, "goroutine 7")
		if panicked != (i == 0) || i > 0 && (one.Level != "WARN" || one.Error != "Accept error: too many open files; retrying in 1s") {
			t.Errorf("line %d: %s", i, line)
		}
	}
}
