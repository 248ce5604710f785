package process

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ServiceManager receives the notifications that systemd would receive.
type ServiceManager struct {
	Path string // of the socket, for NOTIFY_SOCKET

	t    testing.TB
	conn *net.UnixConn
}

// NewServiceManager listens until the test ends.
func NewServiceManager(t testing.TB) *ServiceManager {
	t.Helper()
	folder, err := os.MkdirTemp("", "n") // the name of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	m := &ServiceManager{t: t, Path: filepath.Join(folder, "s")}
	if m.conn, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.Path, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.conn.Close()
		os.RemoveAll(folder)
	})
	return m
}

// Next returns the first line of the next notification, or "" if none arrives in time.
func (m *ServiceManager) Next(within time.Duration) string {
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
