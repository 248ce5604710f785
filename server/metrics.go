package server

import (
	"net/http"
	"os"
	"runtime"
	runtimemetrics "runtime/metrics"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/metrics"
	"blueprintd/rpc/trpc"
	"blueprintd/store"
	"blueprintd/triggers"
)

// writeMetrics writes all series. Labels never contain text of users.
func (s *Server) writeMetrics(w http.ResponseWriter, r *http.Request) {
	p := metrics.NewPage()
	s.writeServer(p)
	writeRuns(p, s.Engine.Stats())
	writeTriggers(p, s.Triggers.Stats())
	writeCalls(p, s.RPC.Stats())
	writeStore(p, s.Store.Stats())
	s.writeNodes(r.Context(), p)
	if _, paused, err := s.Store.PausedTriggers(r.Context(), 0); err == nil {
		gauge(p, "triggers_tripped", "Triggers that are off because their runs kept failing.", int64(paused))
	}
	writeProcess(p)
	var text strings.Builder
	if err := p.Write(&text); err != nil {
		s.RPC.WritePlainError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", metrics.ContentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Write([]byte(text.String()))
}

const prefix = "blueprintd_"

func gauge(p *metrics.Page, name, help string, value int64) {
	p.Gauge(prefix+name, help).Value(float64(value))
}

func counter(p *metrics.Page, name, help string, value int64) {
	p.Counter(prefix+name, help).Value(float64(value))
}

func (s *Server) writeServer(p *metrics.Page) {
	p.Gauge(prefix+"build_info", "Version of the program; always 1.").Value(1, "version", s.Options.Version, "go_version", runtime.Version(), "sqlite_version", store.SQLiteVersion)
	p.Gauge(prefix+"start_time_seconds", "Start time of the process, in seconds since 1970.").Value(float64(s.began.Unix()))
	p.Gauge(prefix+"uptime_seconds", "Time since the start of the process.").Value(s.up.Elapsed().Seconds())
	ready := int64(0)
	if s.isReady() {
		ready = 1
	}
	gauge(p, "ready", "1 while requests should be sent to this process.", ready)
	gauge(p, "connections_open", "Open connections.", s.main.Open())
	counter(p, "connections_refused_total", "Connections refused because too many were open.", s.main.Refused())
	s.writeCertificate(p)
	gauge(p, "request_body_bytes_held", "Estimated memory of request bodies and their decoded values, in bytes.", s.bodies.Held())
	gauge(p, "request_bodies_waiting", "Requests waiting for memory for their bodies.", s.bodies.Waiting())
}

func writeRuns(p *metrics.Page, stats engine.Stats) {
	counter(p, "runs_started_total", "Started runs.", stats.Started)
	ended := p.Counter(prefix+"runs_ended_total", "Ended runs, by status.")
	ended.Value(float64(stats.Completed), "status", string(blueprint.StatusCompleted))
	ended.Value(float64(stats.Failed), "status", string(blueprint.StatusFailed))
	gauge(p, "runs_working", "Runs being executed.", int64(stats.Working))
	gauge(p, "runs_queued", "Runs in the queue.", int64(stats.Queued))
	gauge(p, "runs_queued_flows", "Triggers, and users for runs without one, with queued runs.", int64(stats.Flows))
	gauge(p, "runs_queued_longest", "Maximum of queued runs of one trigger or user.", int64(stats.LongestQueue))
	gauge(p, "runs_standing", "Runs waiting for a slot of their concurrency group.", int64(stats.Blocked))
	gauge(p, "runs_waiting", "Runs suspended until an instant.", int64(stats.Waiting))
	gauge(p, "runs_paused", "Runs waiting for input.", stats.Paused)
	gauge(p, "run_input_bytes_held", "Estimated memory of the input of new runs, in bytes.", int64(stats.Held))
	p.Histogram(prefix+"run_duration_seconds", "Duration of runs, by the server's clock.").Distribution(stats.Durations)
	gauge(p, "recovered_runs", "Unfinished runs found at the start of the process.", stats.Recovered)
}

func writeTriggers(p *metrics.Page, stats triggers.Stats) {
	slices.SortFunc(stats.Firings, func(a, b triggers.FiringCount) int {
		return strings.Compare(string(a.Source)+" "+string(a.Decision), string(b.Source)+" "+string(b.Decision))
	})
	firings := p.Counter(prefix+"firings_total", "Firings written to the ledger.")
	for _, one := range stats.Firings {
		firings.Value(float64(one.Count), "source", string(one.Source), "decision", string(one.Decision))
	}
	p.Gauge(prefix+"schedule_lag_seconds", "Delay between the due time and the start of the latest tick.").Value(stats.Lag.Seconds())
	gauge(p, "schedules_active", "Active schedules.", stats.Schedules)
	gauge(p, "schedules_overdue", "Schedules with an undecided overdue tick, or that cannot be read.", stats.Overdue)
	counter(p, "ticks_missed_total", "Ticks that did not start a run when they were due.", stats.Missed)
	gauge(p, "events_untold", "Events not yet delivered to all triggers; delivery is retried.", stats.Undelivered)
	counter(p, "events_unheard_total", "Events that started no run because their chain reached its limit.", stats.Unheard)
	counter(p, "clock_backwards_total", "Times that the clock went backwards.", stats.Backwards)
	answers := p.Counter(prefix+"webhook_requests_total", "Requests to webhooks, by response status.")
	for status := http.StatusOK; status < 600; status++ {
		if count := stats.Webhooks[status]; count > 0 {
			answers.Value(float64(count), "code", strconv.Itoa(status))
		}
	}
}

func writeCalls(p *metrics.Page, stats trpc.Stats) {
	slices.SortFunc(stats.Calls, func(a, b trpc.CallCount) int {
		return strings.Compare(a.Procedure+" "+a.Code, b.Procedure+" "+b.Code)
	})
	calls := p.Counter(prefix+"rpc_calls_total", "Calls of procedures, by outcome.")
	for _, one := range stats.Calls {
		calls.Value(float64(one.Count), "procedure", one.Procedure, "code", one.Code)
	}
	p.Histogram(prefix+"rpc_duration_seconds", "Duration of calls, without subscriptions.").Distribution(stats.Durations)
}

func writeStore(p *metrics.Page, stats store.Stats) {
	counter(p, "commits_total", "Committed transactions of the database.", stats.Commits)
	counter(p, "commit_jobs_total", "Writes in these transactions.", stats.Jobs)
	p.Histogram(prefix+"commit_duration_seconds", "Duration of transactions.").Distribution(stats.Durations)
	gauge(p, "writer_queue", "Writes waiting for the next transaction.", int64(stats.Queued))
	gauge(p, "database_bytes", "Size of the database file.", stats.Database)
	gauge(p, "wal_bytes", "Size of the write-ahead log.", stats.Log)
	if stats.Free > 0 || stats.Reserve > 0 {
		gauge(p, "disk_free_bytes", "Free space on the disk of the database.", stats.Free)
		gauge(p, "disk_reserve_bytes", "New runs are refused while less is free.", stats.Reserve)
	}
	counter(p, "checkpoint_failures_total", "Failed checkpoints, which are retried.", stats.CheckpointFailures)
	counter(p, "triggers_tripped_total", "Triggers paused because their runs kept failing.", stats.Tripped)
	counter(p, "pruned_runs_total", "Runs removed from the history.", stats.PrunedRuns)
	counter(p, "pruned_firings_total", "Firings removed from the ledger.", stats.PrunedFirings)
}

// writeProcess adds the usual series of processes and Go programs. Values that the system
// does not provide are left out.
func writeProcess(p *metrics.Page) {
	p.Gauge("go_goroutines", "Number of goroutines.").Value(float64(runtime.NumGoroutine()))
	heap := []runtimemetrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	runtimemetrics.Read(heap) // does not stop the world
	if heap[0].Value.Kind() == runtimemetrics.KindUint64 {
		p.Gauge("go_memstats_heap_alloc_bytes", "Bytes of objects on the heap.").Value(float64(heap[0].Value.Uint64()))
	}
	if bytes, ok := residentMemory(); ok {
		p.Gauge("process_resident_memory_bytes", "Resident memory of the process.").Value(float64(bytes))
	}
	// The fields follow the program's name, which may contain spaces.
	user, ok := processField("/proc/self/stat", ") ", 11)
	system, alsoOK := processField("/proc/self/stat", ") ", 12)
	if ok && alsoOK {
		const ticks = 100 // per second, on every Linux platform of Go
		p.Counter("process_cpu_seconds_total", "CPU time of the process, in seconds.").Value(float64(user+system) / ticks)
	}
	if folder, err := os.Open("/proc/self/fd"); err == nil {
		names, err := folder.Readdirnames(-1)
		folder.Close()
		if err == nil {
			p.Gauge("process_open_fds", "Open file descriptors.").Value(float64(len(names)))
		}
	}
}

// residentMemory returns the resident memory of the process in bytes.
func residentMemory() (int64, bool) {
	pages, ok := processField("/proc/self/statm", "", 1)
	return pages * int64(os.Getpagesize()), ok
}

// processField returns field n after the last mark of a file of /proc/self.
func processField(path, mark string, n int) (int64, bool) {
	data, err := fileio.Read(path, 4096)
	if err != nil {
		return 0, false
	}
	text := string(data)
	if mark != "" {
		text = text[strings.LastIndex(text, mark)+len(mark):]
	}
	fields := strings.Fields(text)
	if n >= len(fields) {
		return 0, false
	}
	value, err := strconv.ParseInt(fields[n], 10, 64)
	return value, err == nil
}
