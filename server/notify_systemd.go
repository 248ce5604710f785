package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Notifier tells the service manager that started the process how it is:
// ready, stopping, alive. Without one it does nothing.
type Notifier struct {
	Socket   string        // "" = nobody listens
	Interval time.Duration // between two signs of life; 0 = none are wanted
	Logger   *slog.Logger
}

// NewNotifier reads what systemd puts into the environment of a service of
// Type=notify.
func NewNotifier(logger *slog.Logger) Notifier {
	n := Notifier{Socket: os.Getenv("NOTIFY_SOCKET"), Logger: logger}
	if strings.HasPrefix(n.Socket, "@") {
		n.Socket = "\x00" + n.Socket[1:] // a name that is in no folder
	}
	if pid := os.Getenv("WATCHDOG_PID"); pid == "" || pid == strconv.Itoa(os.Getpid()) {
		if limit, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64); err == nil && limit > 0 {
			n.Interval = time.Duration(limit) * time.Microsecond / 2
		}
	}
	return n
}

// tell sends one state. A manager that cannot be reached is no reason to stop.
func (n Notifier) tell(state string) {
	if n.Socket == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.Socket, Net: "unixgram"})
	if err == nil {
		_, err = conn.Write([]byte(state))
		conn.Close()
	}
	if err != nil {
		n.Logger.Warn("the service manager cannot be told how the server is", "state", state, "error", err)
	}
}

func (n Notifier) Ready(host string) {
	n.tell(fmt.Sprintf("READY=1\nMAINPID=%d\nSTATUS=ready on %s", os.Getpid(), host))
}

func (n Notifier) Stopping() { n.tell("STOPPING=1\nSTATUS=finishing what is under way") }

// Watch gives a sign of life, twice as often as is wanted, for as long as alive
// answers in time. It measures real time, as the manager does: when what it
// asks hangs, the signs stay out, and the manager starts the service anew.
func (n Notifier) Watch(ctx context.Context, alive func(context.Context) error) {
	if n.Socket == "" || n.Interval == 0 {
		return
	}
	ticker := time.NewTicker(n.Interval)
	defer ticker.Stop()
	answered := make(chan error, 1)
	asking := false
	for {
		if !asking {
			asking = true
			go func() { answered <- alive(ctx) }()
		}
		select {
		case err := <-answered:
			asking = false
			if err == nil {
				n.tell("WATCHDOG=1")
			} else if ctx.Err() == nil {
				n.Logger.Warn("the database does not answer", "error", err)
			}
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			if asking {
				<-answered
			}
			return
		}
	}
}
