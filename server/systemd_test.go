package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"blueprintd/tests/process"
)

// While the writer hangs, the watchdog is not notified.
func TestWatchdogStopsWhenWriterHangs(t *testing.T) {
	m := process.NewServiceManager(t)
	t.Setenv("NOTIFY_SOCKET", m.Path)
	t.Setenv("WATCHDOG_USEC", "2000")
	n := newNotifier(slog.New(slog.NewTextHandler(io.Discard, nil)))
	ctx, cancel := context.WithCancel(t.Context())
	asked, answer, ended := make(chan struct{}), make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		n.Watch(ctx, func(ctx context.Context) error {
			select {
			case asked <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			return <-answer
		})
	}()
	for range 3 {
		<-asked
		answer <- nil
		if message := m.Next(30 * time.Second); message != "WATCHDOG=1" {
			t.Fatalf("got %q, want WATCHDOG=1", message)
		}
	}
	<-asked
	if message := m.Next(50 * time.Millisecond); message != "" {
		t.Errorf("a hanging writer sends %q, want nothing", message)
	}
	answer <- errors.New("the disk has failed")
	<-asked
	answer <- nil
	if message := m.Next(30 * time.Second); message != "WATCHDOG=1" {
		t.Errorf("got %q, want WATCHDOG=1", message)
	}
	cancel()
	<-ended
}

// Without a service manager, or with one that has gone, notifications have no effect.
func TestNoServiceManager(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	newNotifier(slog.Default()).Ready("http://127.0.0.1:1")
	newNotifier(slog.Default()).Watch(t.Context(), nil)
	var log process.Output
	logger := slog.New(slog.NewTextHandler(&log, nil))
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "gone"))
	newNotifier(logger).Stopping()
	if !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("log: %s, want \"level=WARN\" in it", log.String())
	}
	for _, test := range []struct {
		limit, pid string
		want       time.Duration
	}{
		{"2000000", "", time.Second},
		{"2000000", strconv.Itoa(os.Getpid()), time.Second},
		{"2000000", "1", 0}, // meant for another process
		{"", "", 0},
		{"soon", "", 0},
	} {
		t.Run(test.limit+" "+test.pid, func(t *testing.T) {
			t.Setenv("WATCHDOG_USEC", test.limit)
			t.Setenv("WATCHDOG_PID", test.pid)
			if n := newNotifier(logger); n.Interval != test.want {
				t.Errorf("%v: notifies every %s, want %v", test, n.Interval, test.want)
			}
		})
	}
}
