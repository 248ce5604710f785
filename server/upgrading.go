package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/server/limits"
)

// upgrading represents the server while the store upgrades the database, which may take
// minutes: it answers health checks, refuses requests with 503, and keeps systemd from
// ending the start.
type upgrading struct {
	site   *site
	notify func(state string)

	once   sync.Once
	http   *http.Server
	served chan struct{}
}

// upgradePatience is how long systemd waits for the next stage message. The store sends
// one every few seconds.
const upgradePatience = time.Minute

// stage is called at each stage of an upgrade. The first call starts to answer.
func (u *upgrading) stage(name string) {
	u.notify(fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d\nSTATUS=upgrading the database: %s", upgradePatience.Microseconds(), name))
	u.once.Do(func() {
		listener, ok := u.site.Listener.(*net.TCPListener)
		if !ok {
			return
		}
		u.http, u.served = u.site.newHTTP(http.HandlerFunc(serveUpgrading)), make(chan struct{})
		connections := limits.NewConnections(lentListener{listener}, u.site.Options.MaxConnections)
		go func() {
			defer close(u.served)
			if files := u.site.Options.TLSFiles; files != nil {
				u.http.TLSConfig = tlsConfig(files.Get)
				_ = u.http.ServeTLS(connections, "", "")
			} else {
				_ = u.http.Serve(connections)
			}
		}()
	})
}

// end stops answering and returns the listener to the server.
func (u *upgrading) end() {
	if u.http == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if u.http.Shutdown(ctx) != nil {
		_ = u.http.Close()
	}
	<-u.served
	_ = u.site.Listener.(*net.TCPListener).SetDeadline(time.Time{})
}

// lentListener is a listener that stays open when an HTTP server closes it.
type lentListener struct{ *net.TCPListener }

func (l lentListener) Close() error { return l.SetDeadline(time.Unix(1, 0)) }

func serveUpgrading(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Retry-After", strconv.Itoa(int(readyRetry/time.Second)))
	switch asks := r.Method == http.MethodGet || r.Method == http.MethodHead; {
	case asks && r.URL.Path == "/healthz":
		w.Header().Del("Retry-After")
		WriteJSON(w, http.StatusOK, map[string]any{"status": "ok"})
	case asks && r.URL.Path == "/readyz":
		WriteJSON(w, http.StatusServiceUnavailable, Readiness{Status: "not ready"})
	default:
		refusal := map[string]any{"code": blueprint.CodeUnavailable, "message": "the server is starting: it upgrades the database"}
		WriteJSON(w, http.StatusServiceUnavailable, map[string]any{"error": refusal})
	}
}
