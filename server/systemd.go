package server

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

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
