package server

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// notifier tells systemd, when it started the process as a service of Type=notify,
// that the server is ready, stopping or alive. Otherwise it does nothing.
type notifier struct {
	Interval time.Duration // between two signs of life; 0 = none are wanted
	Logger   *slog.Logger
}

// newNotifier reads from the environment how often systemd wants a sign of life.
func newNotifier(logger *slog.Logger) notifier {
	limit, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		logger.Warn("the watchdog of the service manager stays off", "error", err)
	}
	return notifier{Interval: limit / 2, Logger: logger}
}

// tell sends one state. A manager that cannot be reached is no reason to stop.
func (n notifier) tell(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		n.Logger.Warn("the service manager cannot be told how the server is", "state", state, "error", err)
	}
}

func (n notifier) Ready(host string) {
	n.tell(fmt.Sprintf(daemon.SdNotifyReady+"\nMAINPID=%d\nSTATUS=ready on %s", os.Getpid(), host))
}

func (n notifier) Stopping() {
	n.tell(daemon.SdNotifyStopping + "\nSTATUS=finishing what is under way")
}

// Watch gives a sign of life, twice as often as is wanted, for as long as alive
// answers in time. It measures real time, as the manager does: when what it
// asks hangs, the signs stay out, and the manager starts the service anew.
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
				n.tell(daemon.SdNotifyWatchdog)
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
