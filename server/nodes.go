package server

import (
	"context"
	"net"
	"os"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/metrics"
)

// pulseInterval is how often a process of a server on PostgreSQL checks the database for dead
// processes, commands and changes; leavePatience is how long it tries to hand over its duties, and then its runs.
const (
	pulseInterval = 200 * time.Millisecond
	leavePatience = time.Second
)

// heartbeat sends beats until ctx ends. Once the engine has recovered, and until the server
// stops, it also acts on what it finds. It does nothing for a server on a file.
func (s *Server) heartbeat(ctx context.Context, recovered <-chan struct{}, stopping context.Context) {
	if s.Options.URL == "" {
		return
	}
	var work sync.WaitGroup
	defer work.Wait()
	var takesOver, listens sync.Mutex
	for failing := false; ; {
		pulse, err := s.Store.Beat(ctx)
		if failed := err != nil && ctx.Err() == nil; failed != failing {
			if failing = failed; failed {
				s.Options.Logger.Warn("database unreachable", "error", err)
			} else {
				s.Options.Logger.Info("database reachable again")
			}
		}
		if err == nil && isClosed(recovered) && stopping.Err() == nil {
			if pulse.Orphans && takesOver.TryLock() {
				work.Go(func() {
					defer takesOver.Unlock()
					if err := s.Engine.TakeOver(stopping, s.Store.TakeOver); err != nil && stopping.Err() == nil {
						s.Options.Logger.Warn("taking over the runs of another process failed, retrying", "error", err)
					}
				})
			}
			if pulse.Asked && listens.TryLock() {
				work.Go(func() {
					defer listens.Unlock()
					s.performCommands(stopping, &work)
				})
			}
			if pulse.Changed {
				s.Triggers.Changed()
				work.Go(func() { s.Engine.Relimit(stopping) })
			}
			if pulse.Raised {
				s.notifyEvents()
			}
			s.Engine.LookAfter()
		}
		if !clock.Sleep(ctx, pulseInterval) {
			return
		}
	}
}

// leave lets another process take the duties once this one no longer performs them.
func (s *Server) leave(ctx context.Context) {
	if err := withPatience(ctx, s.Store.Leave); err != nil && !isClosed(s.lost) {
		s.Options.Logger.Warn("duties not handed over; another process takes them when this one has ended", "error", err)
	}
}

// handOver lets another process take over the runs once they have stopped here, so that they
// need not wait for slow clients of this one.
func (s *Server) handOver(ctx context.Context) {
	if err := withPatience(ctx, s.Store.HandOver); err != nil && !isClosed(s.lost) {
		s.Options.Logger.Warn("runs not handed over; another process takes them over when this one has ended", "error", err)
	}
}

func withPatience(ctx context.Context, change func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leavePatience)
	defer cancel()
	return change(ctx)
}

// nodeName is the default name of a process: host name and port.
func nodeName(listener net.Listener) string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return net.JoinHostPort(host, port)
}

// performCommands performs the commands of other processes.
func (s *Server) performCommands(ctx context.Context, work *sync.WaitGroup) {
	commands, err := s.Store.Commands(ctx)
	if err != nil {
		s.Options.Logger.Warn("reading commands of other processes failed, retrying", "error", err)
		return
	}
	for _, c := range commands {
		work.Go(func() { s.Engine.Perform(ctx, c) })
	}
}

// NodeState is one process of the server in the answer of /readyz.
type NodeState struct {
	Name         string   `json:"name"`
	State        string   `json:"state"` // live, leaving, drained or dead
	LeaseSeconds float64  `json:"lease_seconds"`
	Duties       []string `json:"duties"`
}

// duties are what one process of a server does for all.
var duties = []string{"schedules", "events", "history"}

func (s *Server) nodeStates() []NodeState {
	list := []NodeState{}
	for _, n := range s.Store.Nodes() {
		state := NodeState{Name: n.Name, State: n.State, LeaseSeconds: n.Lease.Seconds(), Duties: []string{}}
		if n.Duties {
			state.Duties = duties
		}
		list = append(list, state)
	}
	return list
}

func (s *Server) nodeReadiness(ctx context.Context) *nodeReadiness {
	if s.Options.URL == "" {
		return nil
	}
	part := &nodeReadiness{Nodes: s.nodeStates()}
	if unowned, oldest, err := s.Store.Unowned(ctx); err == nil {
		part.RunsUnowned, part.OldestDue = unowned, oldest.Seconds()
	}
	return part
}

// writeNodes writes the series of a server on PostgreSQL.
func (s *Server) writeNodes(ctx context.Context, p *metrics.Page) {
	if s.Options.URL == "" {
		return
	}
	live, holds, lease := 0, 0, 0.0
	for _, n := range s.Store.Nodes() {
		if n.State == "live" {
			live++
		}
		if n.Self {
			lease = n.Lease.Seconds()
			p.Gauge(prefix+"node_info", "Name of this process among those of the server; always 1.").Value(1, "name", n.Name)
		}
		if n.Self && n.Duties {
			holds = 1
		}
	}
	gauge(p, "nodes_live", "Live processes of the server.", int64(live))
	gauge(p, "node_duties", "1 while this process fires schedules, delivers events and prunes history for all.", int64(holds))
	p.Gauge(prefix+"node_lease_seconds", "How long this process may act outside without another beat.").Value(lease)
	if unowned, oldest, err := s.Store.Unowned(ctx); err == nil {
		gauge(p, "runs_unowned", "Unfinished runs of dead and drained processes that no other has taken over yet.", int64(unowned))
		p.Gauge(prefix+"oldest_due_seconds", "Time since the oldest of these processes died.").Value(oldest.Seconds())
	}
}

// upSince returns since when schedules have been fired without interruption: when this process
// takes the duties, another one has had them since it joined.
func (s *Server) upSince() time.Time {
	now := s.Options.Clock.Now()
	if joined := s.Store.Joined(); joined != 0 && joined < blueprint.TimeOf(now) {
		return joined.Time()
	}
	return now
}
