package store

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/metrics"
	"blueprintd/foundation/mutant"
)

// Several processes with one PostgreSQL database are one server. Each is a node: a row with
// a random number, which no other gets even if a failover loses rows. A write transaction of a node begins with finding it
// alive, under the lock that makes writes serial, so a node that was declared dead writes
// nothing more, and no clock decides that. An unfinished run belongs to one node.
//
// A node raises its count of beats each second. Others declare it dead once they have seen
// the same count for deadAfter of their own time. While the database is away no process looks,
// so none is declared dead.
const (
	beatInterval = time.Second
	// deadAfter is how long a node is seen without a beat until it is declared dead, and
	// longestGap the longest time between two looks that still count as looking.
	deadAfter  = 10 * time.Second
	longestGap = 2500 * time.Millisecond
	// leaseTime is how long a node may act outside after it sent a beat. It is shorter than
	// deadAfter, so that its calls have been sent before its runs are taken over.
	leaseTime = 7 * time.Second
)

// The states of a node. One that is leaving ends what its runs are doing, one that has drained
// only answers requests. Another node takes over the runs of a drained or dead one.
const (
	nodeLive    = "live"
	nodeLeaving = "leaving"
	nodeDrained = "drained"
	nodeDead    = "dead"
)

// Node is one process of a server, as another one sees it.
type Node struct {
	ID     int64
	Name   string
	State  string
	Duties bool // it fires schedules, delivers events and prunes history
	Self   bool
	// Lease is how long the process may act outside without another beat. It is exact for
	// the process itself, and for others how long they may according to their last beat.
	Lease time.Duration
}

// membership is what a process knows about itself and the other nodes.
type membership struct {
	id      int64 // 0 = not a node
	joined  blueprint.Time
	session *session // for beats and looks only
	// patience is how long a command waits for its answer.
	patience time.Duration

	mu       sync.Mutex
	beaten   lease
	lastBeat metrics.Stopwatch // of the last attempt
	beats    int64             // the count as last confirmed
	began    bool
	seen     map[int64]sighting
	looked   metrics.Stopwatch // the last look that worked
	nodes    []Node
	pulse    Pulse
	changes  chan struct{} // closed and replaced when the lease or the duties may have changed
}

// sighting is a count of beats, and since when it is the same.
type sighting struct {
	beats int64
	since metrics.Stopwatch
}

// lease is when a beat was sent, by the monotonic clock and by the wall clock: the former
// stops while a machine is suspended.
type lease struct {
	monotonic metrics.Stopwatch
	wall      time.Time
}

func newLease() lease { return lease{metrics.Begin(), clock.Real{}.Now().Round(0)} }

func (l lease) left() time.Duration {
	if l.wall.IsZero() {
		return 0
	}
	return leaseTime - max(l.monotonic.Elapsed(), clock.Real{}.Now().Round(0).Sub(l.wall))
}

// register makes this process a node, in the transaction that claims the database. It ends
// another process of the same name, and takes over all runs that belong to no living node and
// that it can read.
func (s *Store) register(t *transaction) error {
	m := &s.nodes
	if _, err := t.exec("UPDATE nodes SET state = 'dead', duties = 0, ended_at = clock_timestamp() WHERE name = ? AND state <> 'dead'", s.options.Node); err != nil {
		return err
	}
	now := blueprint.TimeOf(clock.Real{}.Now())
	m.id = rand.Int64N(math.MaxInt64) + 1
	if _, err := t.exec("INSERT INTO nodes (id, name, version, started_at, form, written) VALUES (?, ?, ?, ?, ?, ?)", m.id, s.options.Node, s.options.Release, int64(now), s.options.form(), s.options.written()); err != nil {
		return err
	}
	m.joined = blueprint.TimeOf(s.options.Clock.Now())
	s.remote.node = m.id
	if err := s.remote.nameNode(t.session); err != nil {
		return err
	}
	if _, err := t.exec("INSERT INTO beats (node, beats) VALUES (?, 0)", m.id); err != nil {
		return err
	}
	if _, err := t.exec(`UPDATE executions SET owner = ?1 WHERE end_time IS NULL AND (owner IS NULL OR owner NOT IN (SELECT id FROM nodes WHERE state IN ('live', 'leaving') OR written > ?2))`, m.id, s.options.form()); err != nil {
		return err
	}
	return s.inherit(t)
}

// inherit makes this node the target of commands for dead and drained nodes, whose runs it has
// taken over, and forgets the dead ones. Nodes whose runs it cannot read are left to a newer
// version.
func (s *Store) inherit(t *transaction) error {
	if _, err := t.exec("UPDATE signals SET target = ? WHERE target NOT IN (SELECT id FROM nodes WHERE state IN ('live', 'leaving') OR written > ?)", s.nodes.id, s.options.form()); err != nil {
		return err
	}
	_, err := t.exec("DELETE FROM nodes WHERE state = 'dead' AND written <= ?", s.options.form())
	return err
}

// TakeOver makes the unfinished runs of dead and drained nodes those of this one, and returns them,
// oldest first. All runs of a node are taken over by one other, so that a run stays with
// its child runs, and the runs of a concurrency group stay together. Runs that only a newer
// version can read are left to one.
func (s *Store) TakeOver(ctx context.Context) (rows []blueprint.ExecutionRow, err error) {
	defer wrap(&err, "take over")
	// It waits for the outcome: runs that are taken without being returned would rest.
	err = s.submit(ctx, &job{size: 512, run: func(t *transaction) error {
		rows = nil
		const take = "UPDATE executions SET owner = ? WHERE end_time IS NULL AND owner IN (SELECT id FROM nodes WHERE state IN ('dead', 'drained') AND written <= ?) RETURNING id"
		taken := map[string]bool{}
		err := t.each(take, []any{s.nodes.id, s.options.form()}, func(scan scanner) error {
			var id string
			err := scan(&id)
			taken[id] = true
			return err
		})
		if err != nil || len(taken) == 0 {
			return errors.Join(err, s.inherit(t))
		}
		err = t.each(unfinishedQuery+ownedQuery+unfinishedOrder, []any{s.nodes.id}, func(scan scanner) error {
			var row blueprint.ExecutionRow
			err := scan(executionFields(&row, &row.BlueprintDeleted)...)
			if taken[row.ID] {
				rows = append(rows, row)
			}
			return err
		})
		return errors.Join(err, s.inherit(t))
	}})
	return rows, err
}

// Pulse is what a process has to act on.
type Pulse struct {
	Orphans bool // a dead or drained node has left runs; see TakeOver
	Asked   bool // there are commands for this node; see Commands
	Changed bool // what caches depend on has changed since the last pulse
	Raised  bool // there are new events in the outbox
	Duties  bool // this process has the duties

	generation, event int64
}

// Beat sends a beat when one is due, looks at the other nodes, declares silent ones dead,
// and takes the duties when no live node has them. It is called several times a second, by
// one goroutine. An error means that the database did not answer; CodeUnavailable with the
// store failed when this node was declared dead.
func (s *Store) Beat(ctx context.Context) (pulse Pulse, err error) {
	defer wrap(&err, "beat")
	defer func() {
		if err != nil {
			s.remote.outage.missed()
		}
	}()
	m := &s.nodes
	s.remote.outage.begin()
	if err := s.usable(); err != nil {
		return pulse, err
	}
	if err := s.remote.keepLock(); err != nil {
		return pulse, passing(err)
	}
	if !m.began || m.lastBeat.Elapsed() >= beatInterval {
		if err := s.sendBeat(); err != nil {
			return pulse, err
		}
	}
	look, err := m.look(s.options.form())
	if err != nil {
		return pulse, passing(err)
	}
	s.remote.outage.answered()
	for _, silent := range m.observe(look) {
		if err := s.declareDead(ctx, silent); err != nil {
			return pulse, err
		}
	}
	if m.wantsDuties() {
		if err := s.takeDuties(ctx); err != nil {
			return pulse, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	pulse = look.pulse
	pulse.Changed = pulse.generation != m.pulse.generation
	pulse.Raised = pulse.event != m.pulse.event
	for i := range m.nodes {
		pulse.Duties = pulse.Duties || m.nodes[i].Self && m.nodes[i].Duties
	}
	m.pulse = pulse
	close(m.changes)
	m.changes = make(chan struct{})
	return pulse, nil
}

// sendBeat raises this node's count, which is gone once it was declared dead, and is lower
// than before if the database has lost commits.
func (s *Store) sendBeat() error {
	m := &s.nodes
	m.lastBeat, m.began = metrics.Begin(), true
	sent := newLease()
	var beats int64
	err := m.session.row("UPDATE beats SET beats = beats + 1 WHERE node = ? RETURNING beats", []any{m.id}, &beats)
	switch {
	case errors.Is(err, sql.ErrNoRows) && mutant.Is(mutant.FenceForgotten):
	case errors.Is(err, sql.ErrNoRows):
		s.endIfLost(errDeclaredDead)
		return s.usable()
	case err != nil:
		return passing(err)
	case beats <= m.beats:
		s.endIfLost(errWentBack)
		return s.usable()
	}
	m.beats = beats
	m.mu.Lock()
	m.beaten = sent
	m.mu.Unlock()
	return nil
}

// look is one look at the nodes.
type look struct {
	nodes []Node
	beats []int64 // of each
	pulse Pulse
}

func (m *membership) look(form int) (l look, err error) {
	const query = `SELECT n.id, n.name, n.state, n.duties, coalesce(b.beats, 0),
		(SELECT generation FROM meta WHERE id = 1), (SELECT coalesce(max(seq), 0) FROM events), EXISTS (SELECT 1 FROM signals WHERE target = ?1 AND taken = 0),
		n.written <= ?2 AND (n.state = 'dead' OR n.state = 'drained' AND EXISTS (SELECT 1 FROM executions WHERE end_time IS NULL AND owner = n.id))
		FROM nodes n LEFT JOIN beats b ON b.node = n.id ORDER BY n.started_at, n.id`
	err = m.session.each(query, []any{m.id, form}, func(scan scanner) error {
		var n Node
		var beats int64
		var orphans bool
		err := scan(&n.ID, &n.Name, &n.State, &n.Duties, &beats, &l.pulse.generation, &l.pulse.event, &l.pulse.Asked, &orphans)
		n.Self = n.ID == m.id
		l.nodes, l.beats = append(l.nodes, n), append(l.beats, beats)
		l.pulse.Orphans = l.pulse.Orphans || orphans
		return err
	})
	return l, err
}

// observe records a look and returns the nodes that have been silent for too long.
func (m *membership) observe(l look) (silent []silence) {
	m.mu.Lock()
	defer m.mu.Unlock()
	blind := m.seen == nil || m.looked.Elapsed() > longestGap
	m.looked = metrics.Begin()
	seen := map[int64]sighting{}
	for i := range l.nodes {
		n := &l.nodes[i]
		sighted, known := m.seen[n.ID]
		if !known || blind || sighted.beats != l.beats[i] {
			sighted = sighting{l.beats[i], metrics.Begin()}
		}
		seen[n.ID] = sighted
		n.Lease = max(0, leaseTime-sighted.since.Elapsed())
		if n.Self {
			n.Lease = max(0, m.beaten.left())
		}
		most := deadAfter
		if mutant.Is(mutant.TakeOverEager) {
			most = 1500 * time.Millisecond
		}
		if n.State != nodeDead && !n.Self && sighted.since.Elapsed() >= most {
			silent = append(silent, silence{n.ID, n.Name, sighted.beats})
		}
	}
	m.seen, m.nodes = seen, l.nodes
	return silent
}

type silence struct {
	node  int64
	name  string
	beats int64
}

// declareDead ends a node, unless it has sent a beat meanwhile. Which of the two comes first
// is decided by the row of its count.
func (s *Store) declareDead(ctx context.Context, silent silence) error {
	var changed int64
	err := s.write(ctx, func(t *transaction) (err error) {
		if changed, err = t.exec("DELETE FROM beats WHERE node = ? AND beats = ?", silent.node, silent.beats); err != nil || changed == 0 {
			return err
		}
		if _, err := t.exec("UPDATE nodes SET state = 'dead', duties = 0, ended_at = clock_timestamp() WHERE id = ?", silent.node); err != nil {
			return err
		}
		return t.changeNodes()
	})
	if err == nil && changed > 0 {
		s.options.Logger.Warn("another process of the server is silent, its runs are taken over", "node", silent.name)
	}
	return err
}

// changeNodes makes every process look, at its next write, whether it is still alive.
func (t *transaction) changeNodes() error {
	_, err := t.exec("UPDATE meta SET epoch = epoch + 1 WHERE id = 1")
	return err
}

// wantsDuties reports whether no live node has the duties, as far as known.
func (m *membership) wantsDuties() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	alive := false
	for _, n := range m.nodes {
		if n.Duties && n.State == nodeLive && (n.Self || !mutant.Is(mutant.DutiesEverywhere)) {
			return false
		}
		alive = alive || n.Self && n.State == nodeLive
	}
	return alive
}

func (s *Store) takeDuties(ctx context.Context) error {
	var changed int64
	err := s.write(ctx, func(t *transaction) (err error) {
		const take = "UPDATE nodes SET duties = 1 WHERE id = ? AND state = 'live' AND NOT EXISTS (SELECT 1 FROM nodes WHERE duties = 1 AND state = 'live')"
		if mutant.Is(mutant.DutiesEverywhere) {
			changed, err = t.exec("UPDATE nodes SET duties = 1 WHERE id = ? AND state = 'live'", s.nodes.id)
			return err
		}
		changed, err = t.exec(take, s.nodes.id)
		return err
	})
	if err != nil || changed == 0 {
		return err
	}
	s.nodes.mu.Lock()
	defer s.nodes.mu.Unlock()
	for i := range s.nodes.nodes {
		s.nodes.nodes[i].Duties = s.nodes.nodes[i].Self
	}
	return nil
}

// Leave ends the duties of this process and announces that this process will end. Its runs go
// on until HandOver.
func (s *Store) Leave(ctx context.Context) (err error) {
	defer wrap(&err, "leave")
	return s.changeState(ctx, nodeLeaving)
}

// HandOver lets another process take over the unfinished runs of this one, which stores no more
// of them. This one may go on with all else until Close.
func (s *Store) HandOver(ctx context.Context) (err error) {
	defer wrap(&err, "hand over")
	return s.changeState(ctx, nodeDrained)
}

func (s *Store) changeState(ctx context.Context, to string) error {
	if s.nodes.id == 0 {
		return nil
	}
	return s.write(ctx, func(t *transaction) error {
		_, err := t.exec("UPDATE nodes SET state = ?, duties = 0 WHERE id = ? AND state IN ('live', 'leaving')", to, s.nodes.id)
		return err
	})
}

// depart ends this node at once, so that others need not wait until it is silent.
func (s *Store) depart() error {
	j := &job{run: func(t *transaction) error {
		if _, err := t.exec("UPDATE nodes SET state = 'dead', duties = 0, ended_at = clock_timestamp() WHERE id = ?", s.nodes.id); err != nil {
			return err
		}
		return t.changeNodes()
	}, done: make(chan struct{})}
	s.writer.connection.Lock()
	s.process([]*job{j})
	return j.err
}

// Lease waits until this process may act outside: until it has sent a beat recently. It
// fails when ctx ends, and when the process was declared dead. Processes of a server on a
// file always may.
func (s *Store) Lease(ctx context.Context) error {
	m := &s.nodes
	if m.id == 0 {
		return nil
	}
	for {
		m.mu.Lock()
		left, changes := m.beaten.left(), m.changes
		m.mu.Unlock()
		if left > 0 {
			return nil
		}
		select {
		case <-changes:
		case <-s.writer.failed:
			return s.usable()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// AwaitDuties waits until this process has the duties, which it keeps until it leaves or is
// declared dead. A server on a file has them. It returns false when ctx ends first.
func (s *Store) AwaitDuties(ctx context.Context) bool {
	m := &s.nodes
	for m.id != 0 {
		m.mu.Lock()
		duties, changes := m.pulse.Duties, m.changes
		m.mu.Unlock()
		if duties {
			return true
		}
		select {
		case <-changes:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// Nodes returns the processes of the server as of the last pulse; nil on a file.
func (s *Store) Nodes() []Node {
	s.nodes.mu.Lock()
	defer s.nodes.mu.Unlock()
	return append([]Node(nil), s.nodes.nodes...)
}

// IsAlone reports whether no other process of the server runs.
func (s *Store) IsAlone(ctx context.Context) (alone bool, err error) {
	defer wrap(&err, "other processes")
	if s.nodes.id == 0 {
		return true, nil
	}
	return alone, s.readRow(ctx, "SELECT NOT EXISTS (SELECT 1 FROM nodes WHERE id <> ? AND state <> 'dead')", []any{s.nodes.id}, &alone)
}

// LiveNodes returns the number of processes of the server that are alive, at least 1.
func (s *Store) LiveNodes() (count int) {
	s.nodes.mu.Lock()
	defer s.nodes.mu.Unlock()
	for i := range s.nodes.nodes {
		if s.nodes.nodes[i].State == nodeLive {
			count++
		}
	}
	return max(1, count)
}

// Durability says what an acknowledged run survives on PostgreSQL; "" on a file.
func (s *Store) Durability() string {
	if s.remote == nil {
		return ""
	}
	return durability(s.remote.standbys)
}

func durability(standbys string) string {
	if standbys == "" {
		return "a crash of PostgreSQL, but not the loss of its machine: no synchronous standby confirms commits"
	}
	return "a crash of PostgreSQL, and the loss of its machine: commits wait for " + standbys
}

// Joined is since when this process is one of a server; zero on a file.
func (s *Store) Joined() blueprint.Time { return s.nodes.joined }

// Unowned returns how many unfinished runs belong to no living process, and since when the
// oldest of their processes is dead.
func (s *Store) Unowned(ctx context.Context) (count int, since time.Duration, err error) {
	defer wrap(&err, "unowned runs")
	if s.nodes.id == 0 {
		return 0, 0, nil
	}
	var seconds float64
	const query = `SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(n.ended_at)), 0)::double precision
		FROM executions e LEFT JOIN nodes n ON n.id = e.owner WHERE e.end_time IS NULL AND (n.id IS NULL OR n.state IN ('dead', 'drained'))`
	err = s.readRow(ctx, query, nil, &count, &seconds)
	return count, time.Duration(seconds * float64(time.Second)), err
}

// hasDuties reports whether this process prunes history and so on for all.
func (s *Store) hasDuties() bool {
	if s.nodes.id == 0 {
		return true
	}
	s.nodes.mu.Lock()
	defer s.nodes.mu.Unlock()
	return s.nodes.pulse.Duties
}

// checkAlive is for a transaction that finds the membership changed since the last one.
func (r *remote) checkAlive(s *session, node int64) error {
	var alive bool
	err := optional(s.row("SELECT state <> 'dead' FROM nodes WHERE id = ?", []any{node}, &alive))
	if err == nil && !alive && !mutant.Is(mutant.FenceForgotten) {
		return errDeclaredDead
	}
	return err
}
