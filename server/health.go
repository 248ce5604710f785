package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/metrics"
	"blueprintd/rpc"
	"blueprintd/store"
	"blueprintd/triggers"
)

// readyRetry is the Retry-After of a server that is not ready.
const readyRetry = 2 * time.Second

type check = rpc.Check

// Readiness is the answer of /readyz.
type Readiness struct {
	Status string  `json:"status"`
	Checks []check `json:"checks,omitempty"`
	*nodeReadiness
}

// nodeReadiness is the part of a server on PostgreSQL.
type nodeReadiness struct {
	Nodes       []NodeState `json:"nodes"`
	RunsUnowned int         `json:"runs_unowned"`
	// OldestDue is since when the oldest of those runs waits for a process, in seconds.
	OldestDue float64 `json:"oldest_due_seconds"`
}

// health answers GET /healthz: the process is alive.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	WriteJSON(w, http.StatusOK, map[string]any{"status": "ok"})
}

// healthFirst answers /healthz and /readyz ahead of the limits on requests, so that a busy
// server does not look dead.
func (s *Server) healthFirst(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch asks := r.Method == http.MethodGet || r.Method == http.MethodHead; {
		case asks && r.URL.Path == "/healthz":
			s.health(w, r)
		case asks && r.URL.Path == "/readyz":
			s.readyz(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// readyz answers GET /readyz. Details are for requests from this machine.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	s.writeReadiness(r.Context(), w, r.URL.Query().Has("verbose") && isLocalRequest(r))
}

// writeReadiness reports whether requests should be sent here.
func (s *Server) writeReadiness(ctx context.Context, w http.ResponseWriter, verbose bool) {
	answer, status := Readiness{Status: "ready"}, http.StatusOK
	if !s.isReady() {
		answer.Status, status = "not ready", http.StatusServiceUnavailable
		w.Header().Set("Retry-After", strconv.Itoa(int(readyRetry/time.Second)))
	}
	if verbose {
		answer.Checks = s.checks(ctx)
		answer.nodeReadiness = s.nodeReadiness(ctx)
	}
	WriteJSON(w, status, answer)
}

// status describes the server to its owner.
func (s *Server) status(ctx context.Context, started time.Time) rpc.ServerStatus {
	runs, schedules, database := s.Engine.Stats(), s.Triggers.Stats(), s.Store.Stats()
	status := rpc.ServerStatus{
		Ready: s.isReady(), Checks: s.checks(ctx), Now: blueprint.TimeOf(s.Options.Clock.Now()),
		Version: s.Options.Version, GoVersion: runtime.Version(), Database: "sqlite", SchemaVersion: s.Store.SchemaVersion(), StartedAt: blueprint.TimeOf(started),
		Runs: rpc.StatusRuns{
			Working: runs.Working, MaxRunning: runs.MaxRunning, Queued: runs.Queued, MaxQueued: runs.MaxQueued,
			Blocked: runs.Blocked, Waiting: runs.Waiting, Paused: runs.Paused,
		},
		Schedules:       rpc.StatusSchedules{Active: schedules.Schedules, Overdue: schedules.Overdue, Missed: schedules.Missed},
		Disk:            rpc.StatusDisk{Database: database.Database + database.Log, Limit: database.Limit},
		OpenConnections: s.main.Open(), Processes: []rpc.Process{},
	}
	if s.Options.URL != "" {
		status.Database = "postgres"
	}
	if database.Free > 0 || database.Reserve > 0 {
		status.Disk.Free = &database.Free
	}
	if bytes, ok := residentMemory(); ok {
		status.MemoryBytes = &bytes
	}
	for _, node := range s.nodeStates() {
		status.Processes = append(status.Processes, rpc.Process(node))
	}
	return status
}

// isReady reports whether requests should be sent here: the server has recovered, is not
// about to stop, and its database answers.
func (s *Server) isReady() bool {
	return s.Ready.Load() && !s.leaving.Load() && s.Store.Reachable()
}

func (s *Server) checks(ctx context.Context) []check {
	database := s.Store.Stats()
	return append(s.checkCertificate(), []check{
		DatabaseCheck(&database, clock.Real{}.Now()), diskCheck(&database), s.checkRecovery(), s.checkScheduler(), schedulesCheck(s.Triggers.Stats(), s.Triggers.Overdue(maxNamed)), s.CheckTriggers(ctx), s.checkQueue(),
		s.checkConnections(), s.checkClock(), s.checkDraining(),
		{Name: "version", OK: true, Detail: "blueprintd " + s.Options.Version + ", up for " + s.up.Elapsed().Round(time.Second).String()},
	}...)
}

// slowWriter is the duration of a commit from which the writer counts as stuck.
const slowWriter = 10 * time.Second

func DatabaseCheck(stats *store.Stats, now time.Time) check {
	c := check{Name: "database", OK: true, Detail: "no commit yet"}
	if !stats.LastCommit.IsZero() {
		c.Detail = fmt.Sprintf("last commit at %s, %d writes wait", blueprint.TimeOf(stats.LastCommit), stats.Queued)
	}
	if stats.LastError != nil {
		c.OK = stats.LastCommit.After(stats.LastErrorAt)
		c.Detail += fmt.Sprintf("; last error at %s: %s", blueprint.TimeOf(stats.LastErrorAt), stats.LastError)
	}
	switch {
	case stats.Failure != nil:
		c.OK, c.Detail, c.Hint = false, stats.Failure.Error(), "restart the server; blueprintd doctor checks the database"
	case stats.Unreachable:
		c.OK, c.Hint = false, "start PostgreSQL, or look at the network; the server goes on once the database answers"
	case !stats.BusySince.IsZero() && now.Sub(stats.BusySince) > slowWriter:
		c.OK, c.Hint = false, "the disk does not answer: check the system log"
	case !c.OK:
		c.Hint = "it is retried; check the disk if it persists"
	}
	return c
}

func diskCheck(stats *store.Stats) check {
	c := check{Name: "disk", OK: !stats.LowSpace && !stats.Full}
	if c.Detail = "unknown"; stats.Reserve != 0 || stats.Free != 0 {
		c.Detail = fmt.Sprintf("%s free, new runs are refused below %s; the database has %s, its log %s", store.Size(stats.Free), store.Size(stats.Reserve), store.Size(stats.Database), store.Size(stats.Log))
	}
	if stats.Limit > 0 {
		c.Detail += fmt.Sprintf(", both at most %s", store.Size(stats.Limit))
	}
	switch {
	case stats.LowSpace:
		c.Hint = "make room on the disk"
	case stats.Full:
		c.Hint = "raise --max-disk, or cancel unfinished runs"
	}
	return c
}

func (s *Server) checkRecovery() check {
	if !s.IsOpen() {
		return check{Name: "recovery", Detail: fmt.Sprintf("in progress: %d runs to recover", s.Engine.Stats().Recovered), Hint: "wait"}
	}
	return check{Name: "recovery", OK: true, Detail: fmt.Sprintf("done: %d unfinished runs recovered", s.Engine.Stats().Recovered)}
}

// slowScheduler is the time without a check from which the scheduler counts as stuck. It
// checks at least twice a minute.
const slowScheduler = 90 * time.Second

func (s *Server) checkScheduler() check {
	stats := s.Triggers.Stats()
	c := check{Name: "scheduler", OK: true}
	if stats.Looked == 0 {
		c.Detail = "not started"
		return c
	}
	c.Detail = fmt.Sprintf("%s, last check at %s, the latest tick started %s after it was due", blueprint.Counted(int(stats.Schedules), "schedule"), stats.Looked, stats.Lag)
	if stats.Next != 0 {
		c.Detail += ", next check at " + stats.Next.String()
	}
	_, virtual := s.Options.Clock.(*clock.Virtual)
	if away := s.Options.Clock.Now().Sub(stats.Looked.Time()); !virtual && s.Ready.Load() && away > slowScheduler {
		c.OK, c.Hint = false, "the disk is slow, or the machine was suspended"
	}
	return c
}

func (s *Server) checkQueue() check {
	stats := s.Engine.Stats()
	c := check{
		Name: "queue", OK: stats.Queued < stats.MaxQueued,
		Detail: fmt.Sprintf("%d of at most %d runs working, %d of at most %d queued", stats.Working, stats.MaxRunning, stats.Queued, stats.MaxQueued),
	}
	if stats.Flows > 0 {
		c.Detail += fmt.Sprintf(" for %d triggers or users, at most %d of one", stats.Flows, stats.LongestQueue)
	}
	if stats.Blocked > 0 {
		c.Detail += fmt.Sprintf("; %d wait for a slot of their concurrency group", stats.Blocked)
	}
	if !c.OK {
		c.Hint = "new runs are refused; see --max-running and --max-queued"
	}
	return c
}

func (s *Server) checkConnections() check {
	open, most := s.main.Open(), int64(s.Options.MaxConnections)
	c := check{Name: "connections", OK: most == 0 || open < most, Detail: fmt.Sprintf("%d of at most %d open, %d refused", open, most, s.main.Refused())}
	if !c.OK {
		c.Hint = "more are refused; see --max-connections"
	}
	return c
}

func (s *Server) checkClock() check {
	kind := "real"
	if _, virtual := s.Options.Clock.(*clock.Virtual); virtual {
		kind = "virtual"
	}
	c := check{Name: "clock", OK: true, Detail: fmt.Sprintf("%s, %s", kind, blueprint.TimeOf(s.Options.Clock.Now()))}
	if n := s.Triggers.Stats().Backwards; n > 0 {
		c.Detail += fmt.Sprintf(", went backwards %d times", n)
		c.Hint = "adjust the clock gradually; no tick runs twice"
	}
	return c
}

func (s *Server) checkDraining() check {
	select {
	case <-s.Draining:
		return check{Name: "draining", Detail: "the server is stopping: runs are draining"}
	default:
	}
	if s.leaving.Load() {
		return check{Name: "draining", Detail: fmt.Sprintf("the server stops %s after the signal, and serves until then", s.Options.ShutdownDelay)}
	}
	return check{Name: "draining", OK: true, Detail: "no"}
}

// checkCertificate checks whether clients accept the certificate; nil without TLS.
func (s *Server) checkCertificate() []check {
	if s.Certificates == nil {
		return nil
	}
	c := check{Name: "certificate", Detail: s.Certificates.About()}
	switch until := s.Certificates.Expiry(); {
	case until.IsZero():
		c.Detail, c.Hint = "missing for one of "+c.Detail, "the log has the answer of the authority"
	case clock.Real{}.Now().After(until):
		c.Detail, c.Hint = "expired on "+until.UTC().Format(time.DateOnly)+": "+c.Detail, "renew it; the log says why the renewal failed"
	default:
		c.OK = true
	}
	return []check{c}
}

func (s *Server) writeCertificate(p *metrics.Page) {
	if s.Certificates == nil {
		return
	}
	until := int64(0)
	if expiry := s.Certificates.Expiry(); !expiry.IsZero() {
		until = expiry.Unix()
	}
	gauge(p, "tls_certificate_expiry_seconds", "When the first certificate expires, in seconds since 1970; 0 = one is missing.", until)
}

// maxNamed is how many triggers a check names.
const maxNamed = 3

// schedulesCheck checks the schedule watchdog; first are the overdue schedules to name.
func schedulesCheck(stats triggers.Stats, first []triggers.OverdueSchedule) check {
	c := check{Name: "schedules", OK: stats.Overdue == 0 && stats.WatchError == "", Detail: fmt.Sprintf("none overdue, %d ticks missed since the start", stats.Missed)}
	if stats.Watched != 0 {
		c.Detail += ", last full check at " + stats.Watched.String()
	}
	if stats.WatchError != "" {
		c.Detail, c.Hint = "schedule watchdog check failed: "+stats.WatchError, "check the disk of the database"
	}
	if stats.Overdue == 0 {
		return c
	}
	var names []string
	unread := false
	for _, one := range first {
		if unread = unread || one.Since == 0; one.Since == 0 {
			names = append(names, one.TriggerID+" cannot be read")
			continue
		}
		names = append(names, one.TriggerID+" since "+one.Since.String())
	}
	if more := stats.Overdue - int64(len(names)); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	c.Detail = fmt.Sprintf("%d overdue: %s", stats.Overdue, strings.Join(names, ", "))
	c.Hint = "if database and queue are healthy, restart the server"
	if unread {
		c.Hint = "update the config of those that cannot be read; for others, " + c.Hint
	}
	return c
}

// CheckTriggers checks for triggers that the breaker has paused.
func (s *Server) CheckTriggers(ctx context.Context) check {
	return triggersCheck(s.Store.PausedTriggers(ctx, maxNamed))
}

// triggersCheck checks for triggers paused by the breaker, and names the first.
func triggersCheck(first []store.PausedTrigger, total int, err error) check {
	c := check{Name: "triggers", OK: true, Detail: "none paused by the server"}
	switch {
	case err != nil:
		hint := "check the disk of the database"
		if known, ok := errors.AsType[*blueprint.Error](err); ok && known.Hint != "" {
			hint = known.Hint
		}
		return check{Name: c.Name, Detail: "triggers cannot be read: " + err.Error(), Hint: hint}
	case total == 0:
		return c
	}
	var names []string
	for _, one := range first {
		names = append(names, one.ID+" ("+one.Short()+")")
	}
	if more := total - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	were := "1 trigger was"
	if total > 1 {
		were = fmt.Sprintf("%d triggers were", total)
	}
	c.OK, c.Detail = false, were+" paused by the server: "+strings.Join(names, ", ")
	c.Hint = blueprint.SeeDocs("see blueprintd why ID; fix the cause, then activate it with isActive: true, or delete it", "triggers")
	return c
}
