package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"blueprintd/server/limits"
)

// lifecycle is the state of a server. It is safe for concurrent use after begin.
type lifecycle struct {
	Opened   chan struct{} // closes when recovery is done and requests are answered
	Ready    atomic.Bool   // the server accepts work
	Draining chan struct{} // closes when the server begins to stop
	lost     chan struct{} // closes when the database has failed permanently
}

func (l *lifecycle) begin() {
	l.Opened, l.Draining, l.lost = make(chan struct{}), make(chan struct{}), make(chan struct{})
}

// IsOpen reports whether recovery is done.
func (l *lifecycle) IsOpen() bool { return isClosed(l.Opened) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// closers are functions in the order in which their resources were opened.
type closers []func() error

func (c *closers) add(f func() error) { *c = append(*c, f) }

// close calls the functions in reverse order.
func (c closers) close() (err error) {
	for _, f := range slices.Backward(c) {
		err = errors.Join(err, f())
	}
	return err
}

type httpListener struct {
	*limits.Connections
	http *http.Server
}

// run serves until ctx has ended and rest, unless it is nil, is closed.
func (l *httpListener) run(ctx context.Context, rest <-chan struct{}) error {
	failed := make(chan error, 1)
	go func() { failed <- l.http.Serve(l.Connections) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	if rest != nil {
		<-rest
	}
	return l.http.Close()
}

// notifier notifies systemd that a service of Type=notify is ready, stopping or alive. It
// has no effect without NOTIFY_SOCKET.
type notifier struct {
	Interval time.Duration // of watchdog notifications; 0 = none
	Logger   *slog.Logger
}

// newNotifier reads the watchdog interval from the environment.
func newNotifier(logger *slog.Logger) notifier {
	limit, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		logger.Warn("systemd watchdog is off: bad WATCHDOG_USEC or WATCHDOG_PID", "error", err)
	}
	return notifier{Interval: limit / 2, Logger: logger}
}

// notify sends a state. Errors are logged.
func (n notifier) notify(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		n.Logger.Warn("systemd notification failed", "state", state, "error", err)
	}
}

func (n notifier) Ready(host string) {
	n.notify(fmt.Sprintf(daemon.SdNotifyReady+"\nMAINPID=%d\nSTATUS=ready on %s", os.Getpid(), host))
}

func (n notifier) Stopping() {
	n.notify(daemon.SdNotifyStopping + "\nSTATUS=draining")
}

// Watch notifies the watchdog at twice the wanted rate, in real time, as long as alive
// returns nil in time. If alive hangs, systemd restarts the service.
func (n notifier) Watch(ctx context.Context, alive func(context.Context) error) {
	if n.Interval == 0 {
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
				n.notify(daemon.SdNotifyWatchdog)
			} else if ctx.Err() == nil {
				n.Logger.Warn("database does not answer", "error", err)
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
