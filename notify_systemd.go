package main

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

// notifier tells the service manager that started the process how it is:
// ready, stopping, alive. Without one it does nothing.
type notifier struct {
	socket   string        // "" = nobody listens
	interval time.Duration // between two signs of life; 0 = none are wanted
	logger   *slog.Logger
}

// newNotifier reads what systemd puts into the environment of a service of
// Type=notify.
func newNotifier(logger *slog.Logger) notifier {
	n := notifier{socket: os.Getenv("NOTIFY_SOCKET"), logger: logger}
	if strings.HasPrefix(n.socket, "@") {
		n.socket = "\x00" + n.socket[1:] // a name that is in no folder
	}
	if pid := os.Getenv("WATCHDOG_PID"); pid == "" || pid == strconv.Itoa(os.Getpid()) {
		if limit, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64); err == nil && limit > 0 {
			n.interval = time.Duration(limit) * time.Microsecond / 2
		}
	}
	return n
}

// tell sends one state. A manager that cannot be reached is no reason to stop.
func (n notifier) tell(state string) {
	if n.socket == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.socket, Net: "unixgram"})
	if err == nil {
		_, err = conn.Write([]byte(state))
		conn.Close()
	}
	if err != nil {
		n.logger.Warn("the service manager cannot be told how the server is", "state", state, "error", err)
	}
}

func (n notifier) ready(host string) {
	n.tell(fmt.Sprintf("READY=1\nMAINPID=%d\nSTATUS=ready on %s", os.Getpid(), host))
}

func (n notifier) stopping() { n.tell("STOPPING=1\nSTATUS=finishing what is under way") }

// watch gives a sign of life, twice as often as is wanted, for as long as alive
// answers in time. It measures real time, as the manager does: when what it
// asks hangs, the signs stay out, and the manager starts the service anew.
func (n notifier) watch(ctx context.Context, alive func(context.Context) error) {
	if n.socket == "" || n.interval == 0 {
		return
	}
	ticker := time.NewTicker(n.interval)
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
				n.logger.Warn("the database does not answer", "error", err)
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
