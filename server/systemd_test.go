package server

import (
	"blueprintd/tests/process"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// manager listens as a service manager does.
type manager struct {
	t    *testing.T
	conn *net.UnixConn
	path string
}

func newManager(t *testing.T) *manager {
	t.Helper()
	folder, err := os.MkdirTemp("", "n") // the name of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	m := &manager{t: t, path: filepath.Join(folder, "s")}
	if m.conn, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.path, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.conn.Close()
		os.RemoveAll(folder)
	})
	return m
}

// next returns the first line of the next message, or "" when none comes in time.
func (m *manager) next(within time.Duration) string {
	m.t.Helper()
	if err := m.conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		m.t.Fatal(err)
	}
	message := make([]byte, 4096)
	n, err := m.conn.Read(message)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ""
	}
	if err != nil {
		m.t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(message[:n]), "\n")
	return line
}

// The real binary says when it is ready, that it lives, and that it stops.
func TestServiceManagerIsTold(t *testing.T) {
	m := newManager(t)
	t.Setenv("NOTIFY_SOCKET", m.path)
	t.Setenv("WATCHDOG_USEC", "100000")
	credentials := t.TempDir()
	t.Setenv("CREDENTIALS_DIRECTORY", credentials)
	key := filepath.Join(credentials, "master.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("0a", 32)), 0o440); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BLUEPRINTD_MASTER_KEY_FILE", key)
	s := process.Serve(t, "--db", filepath.Join(t.TempDir(), "a.db"))
	seen := map[string]int{}
	for seen["READY=1"] == 0 || seen["WATCHDOG=1"] < 5 {
		message := m.next(30 * time.Second)
		if message == "" {
			t.Fatalf("only %v came", seen)
		}
		seen[message]++
	}
	if seen["STOPPING=1"] != 0 || seen["READY=1"] != 1 {
		t.Errorf("messages %v", seen)
	}
	s.Stop()
	if strings.Contains(s.Log.String(), "master key file is accessible") {
		t.Error("it warns of the mode of a credential")
	}
	for message := ""; message != "STOPPING=1"; {
		if message = m.next(30 * time.Second); message == "" {
			t.Fatal("it was not said that the server stops")
		}
	}
}

// While the writer hangs no sign of life is given; when it answers again, there
// are signs again.
func TestWatchdogStaysOutWhenTheWriterHangs(t *testing.T) {
	m := newManager(t)
	t.Setenv("NOTIFY_SOCKET", m.path)
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
		if message := m.next(30 * time.Second); message != "WATCHDOG=1" {
			t.Fatalf("got %q", message)
		}
	}
	<-asked
	if message := m.next(50 * time.Millisecond); message != "" {
		t.Errorf("a writer that hangs gives %q", message)
	}
	answer <- errors.New("the disk is away")
	<-asked
	answer <- nil
	if message := m.next(30 * time.Second); message != "WATCHDOG=1" {
		t.Errorf("got %q", message)
	}
	cancel()
	<-ended
}

// Without a service manager nothing happens, and one that is gone is no error.
func TestNoServiceManager(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	newNotifier(slog.Default()).Ready("http://127.0.0.1:1")
	newNotifier(slog.Default()).Watch(t.Context(), nil)
	var log process.Output
	logger := slog.New(slog.NewTextHandler(&log, nil))
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "gone"))
	newNotifier(logger).Stopping()
	if !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("log: %s", log.String())
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
		t.Setenv("WATCHDOG_USEC", test.limit)
		t.Setenv("WATCHDOG_PID", test.pid)
		if n := newNotifier(logger); n.Interval != test.want {
			t.Errorf("%v: a sign of life every %s", test, n.Interval)
		}
	}
}
