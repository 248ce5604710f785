package store

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/metrics"
	"blueprintd/store/postgres"
)

// The limits of one transaction of the writer, and of the queue before it.
const (
	maxQueued     = 4096
	maxBatchJobs  = 512
	maxBatchBytes = 8 << 20
)

// transaction is what a job writes through.
type transaction struct {
	*session
	// generation is the generation at which the job runs; -1 if an earlier job in the same
	// transaction changes it.
	generation int64
	bump       bool
	published  int                     // approximate bytes of the events that it put into the outbox
	mended     bool                    // it removed a trigger from the failing ones
	tripped    []string                // triggers that it paused
	ended      *blueprint.ExecutionRow // the run that it ended, or nil
	firings    []string                // the triggers of the rows that it added to the ledger
}

// changed records that the job changed data that caches depend on.
func (t *transaction) changed() { t.bump = true }

// job is one write, which is applied completely or not at all.
type job struct {
	run func(*transaction) error
	// size is the approximate number of bytes that it writes, without events.
	size int
	// events are the events that run will publish, as far as they are known in advance.
	events []blueprint.Event
	// single marks a job of one statement, which is undone when it fails. It needs no
	// savepoint unless a trigger listens to its events.
	single bool
	// short is the run that the job stores, if it is one that has ended already and needs
	// nothing but its row and that of its firing; see beginTogether.
	short *blueprint.JournalCommit
	// repeatable marks a job that may run again after its transaction was undone.
	repeatable bool
	// ended is called when the job is committed or has failed. May be nil.
	ended func(error)
	err   error
	done  chan struct{}
}

// writer is the connection that writes, with the queue of its jobs.
type writer struct {
	session *session
	// connection guards the session.
	connection sync.Mutex

	slots chan struct{} // one for each queued job
	wake  chan struct{} // holds one token while the queue may have jobs

	mu      sync.Mutex
	running bool // Run takes jobs
	closed  bool // no more jobs are accepted
	queue   []*job
	failure error // the reason why the store refuses all calls
	failed  chan struct{}
	// busySince is when the current batch was taken from the queue, or when the first
	// job of the next one arrived; zero if there is none.
	busySince time.Time
	lonely    bool // the last batch was one job, so the next is likely to be one too

	// What the transactions of the connection know about triggers.
	subscriptions subscriptions
	failing       map[string]bool // triggers whose last run failed; nil = to be read

	// What the jobs of the current transaction ended and added to the ledger.
	ended   hourCounts
	firings firingCounts

	enclosing *batch // the writes so far of a Transact; nil = there is none

	dataVersion uint32 // after the last commit; 0 = unknown

	unseen int  // approximate bytes written since the size of the log was last checked
	held   bool // the log could not be emptied at the last check

	// beforeCommit lets tests make a commit fail.
	beforeCommit func() error
}

func newWriter(session *session) *writer {
	return &writer{
		session: session,
		slots:   make(chan struct{}, maxQueued),
		wake:    make(chan struct{}, 1),
		failed:  make(chan struct{}),
	}
}

// write runs f in a write transaction, possibly together with other jobs, and returns when
// all of it is on the disk or none of it will be. It waits for a slot in the queue until
// ctx ends; once it has one, it waits for the outcome.
//
// A caller gets CodeUnavailable when PostgreSQL does not answer. If the job has begun, it may
// still be committed.
func (s *Store) write(ctx context.Context, f func(*transaction) error) error {
	waiting, done := s.WhileAvailable(context.WithoutCancel(ctx))
	defer done()
	j := &job{run: f, size: 512}
	if err := s.queue(ctx, j); err != nil {
		return err
	}
	select {
	case <-j.done:
		return j.err
	case <-waiting.Done():
		if s.writer.withdraw(j) {
			return errAway
		}
		return context.Cause(waiting)
	}
}

// withdraw removes a job from the queue, and reports whether it had not begun.
func (w *writer) withdraw(j *job) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.queue, j)
	if i < 0 {
		return false
	}
	w.queue = slices.Delete(w.queue, i, i+1)
	<-w.slots
	return true
}

// submit queues a job and waits for its outcome.
func (s *Store) submit(ctx context.Context, j *job) error {
	if err := s.queue(ctx, j); err != nil {
		return err
	}
	<-j.done
	return j.err
}

func (s *Store) queue(ctx context.Context, j *job) error {
	err := s.enqueue(ctx, j)
	if err == nil {
		s.writer.signal()
	}
	return err
}

// commitAlone commits a job in the goroutine of the caller if the writer is idle and recent
// batches were single jobs: handing it to another goroutine would cost more than the job
// itself. If it returns false, it has done nothing, and the job has to be queued.
func (s *Store) commitAlone(j *job) bool {
	w := s.writer
	w.mu.Lock()
	if !w.running || w.closed || w.failure != nil || !w.lonely || len(w.queue) > 0 || !w.connection.TryLock() {
		w.mu.Unlock()
		return false
	}
	w.busySince = clock.Real{}.Now()
	w.mu.Unlock()
	j.done = make(chan struct{})
	s.process([]*job{j})
	return true
}

// enqueue puts a job into the queue. In a tool, and in a server before Run, nothing
// empties the queue and the caller commits the job.
func (s *Store) enqueue(ctx context.Context, j *job) error {
	w := s.writer
	j.done = make(chan struct{})
	w.mu.Lock()
	running := w.running
	w.mu.Unlock()
	if !running {
		if err := s.usable(); err != nil {
			return err
		}
		if w.enclosing != nil {
			return s.join(ctx, j)
		}
		w.connection.Lock()
		s.process([]*job{j})
		return nil
	}
	select {
	case w.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.failed:
		return s.usable()
	}
	w.mu.Lock()
	if w.failure != nil || w.closed {
		w.mu.Unlock()
		<-w.slots
		return s.usable()
	}
	if w.queue = append(w.queue, j); w.busySince.IsZero() {
		w.busySince = clock.Real{}.Now()
	}
	w.mu.Unlock()
	return nil
}

// signal wakes the writer for queued jobs.
func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// usable returns the reason why the store accepts no more calls, nil if it does.
func (s *Store) usable() error {
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	if s.writer.failure != nil {
		return broken(s.writer.failure)
	}
	if s.writer.closed {
		return errClosed
	}
	return nil
}

// fail makes the store refuse all calls from now on, with the first failure. It reports
// whether err is the first.
func (w *writer) fail(err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failure != nil {
		return false
	}
	w.failure = err
	close(w.failed)
	return true
}

// endIfLost fails the store, and logs that once, after an error that leaves the content of
// the disk unknown. It reports whether it did.
func (s *Store) endIfLost(err error) (lost bool) {
	if lost = severityOf(err) == ofStore; !lost || !s.writer.fail(err) {
		return lost
	}
	if errors.Is(err, errFenced) {
		s.options.Logger.Error("this process takes no more writes", "database", s.Name(), "error", err)
	} else {
		s.options.Logger.Error("database failed and takes no more writes", "database", s.Name(), "error", err)
	}
	return true
}

// next removes jobs from the queue, up to the limits of a batch.
func (w *writer) next() []*job {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, size := 0, 0
	for n < len(w.queue) && n < maxBatchJobs && (n == 0 || size+w.queue[n].size <= maxBatchBytes) {
		size += w.queue[n].size
		n++
	}
	batch := w.queue[:n:n]
	if w.queue = w.queue[n:]; len(w.queue) == 0 {
		w.queue = nil
	}
	for range n {
		<-w.slots
	}
	if n > 0 {
		w.busySince, w.lonely = clock.Real{}.Now(), n == 1 && len(w.queue) == 0
	}
	return batch
}

// atRest records that a batch is done.
func (w *writer) atRest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busySince = (time.Time{}); len(w.queue) > 0 {
		w.busySince = clock.Real{}.Now()
	}
}

// serve takes jobs until ctx ends or the store fails, then answers those still queued.
func (s *Store) serve(ctx context.Context) error {
	w := s.writer
	for ctx.Err() == nil && s.usable() == nil {
		select {
		case <-w.wake:
			s.drain()
		case <-ctx.Done():
		case <-w.failed:
		}
	}
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	s.drain() // also waits for a caller in commitAlone
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failure == nil {
		return nil
	}
	return broken(w.failure)
}

// drain commits until the queue is empty. Before it takes a batch it yields once, so that
// callers that are about to queue a write share this commit instead of waiting for the next
// one. That makes batches two to three times as large on a busy server and costs nothing on
// an idle one. It locks the connection first: jobs queued meanwhile join the batch.
func (s *Store) drain() {
	w := s.writer
	for {
		w.connection.Lock()
		runtime.Gosched()
		batch := w.next()
		if len(batch) == 0 {
			w.connection.Unlock()
			return
		}
		s.process(batch)
	}
}

// process runs a batch in one transaction and answers its callers. The connection is
// locked, and unlocked before the callers are answered.
func (s *Store) process(batch []*job) {
	w := s.writer
	w.mu.Lock()
	failure := w.failure
	w.mu.Unlock()
	var done outcome
	if failure == nil {
		watch := metrics.Begin()
		done, failure = s.commitJobs(batch)
		s.counts.batch(watch.Elapsed(), len(batch), failure)
		s.endIfLost(failure)
	}
	w.atRest()
	w.connection.Unlock()
	if failure == nil {
		s.notify(done)
	}
	for _, j := range batch {
		if failure != nil {
			j.err = explain(failure)
		}
		if j.ended != nil {
			j.ended(j.err)
		}
		close(j.done)
	}
}

// batch is the outcome of the jobs of a transaction so far.
type batch struct {
	done    outcome
	good    int
	bump    bool
	written int   // approximate bytes
	err     error // if not nil, the transaction is undone
	// bare batches have no savepoints; failed is set once a job fails that needs one.
	bare, failed bool
}

// commitJobs runs the jobs of a batch and commits them. A job that fails alone has
// its own error; if commitJobs returns an error, all jobs were undone.
//
// A savepoint for each job costs a tenth of a commit, and jobs rarely fail. So if all
// jobs are repeatable they first run without savepoints, and again with them if one
// fails.
func (s *Store) commitJobs(jobs []*job) (done outcome, err error) {
	b := batch{bare: len(jobs) == 1 || !slices.ContainsFunc(jobs, func(j *job) bool { return !j.repeatable })}
	if err := s.runJobs(&b, jobs); err != nil {
		return done, err
	}
	if b.err == nil && b.failed && len(jobs) > 1 {
		s.writer.undo()
		b = batch{}
		if err := s.runJobs(&b, jobs); err != nil {
			return done, err
		}
	}
	return b.done, s.end(&b)
}

// runJobs runs the jobs of a batch in a new transaction.
func (s *Store) runJobs(b *batch, jobs []*job) (err error) {
	if s.remote != nil {
		jobs, err = s.beginTogether(b, jobs)
	} else {
		err = s.begin()
	}
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if b.err = s.add(b, j); b.err != nil || b.failed {
			break
		}
	}
	return nil
}

func (s *Store) begin() error {
	if s.remote != nil {
		return s.beginRemote(nil)
	}
	w := s.writer
	if err := w.session.begin(context.Background(), beginWrites); err != nil {
		return err
	}
	generation, err := s.fence()
	if err != nil {
		w.undo()
		return err
	}
	w.begun(generation)
	return nil
}

// beginWrites begins a transaction that writes.
const beginWrites = "BEGIN IMMEDIATE"

// begun prepares for the jobs of a transaction that has begun.
func (w *writer) begun(generation int64) {
	w.subscriptions.at(generation)
	w.ended.forget()
	w.firings.forget()
}

// add runs a job in the open transaction, which has to be undone if add returns an error.
func (s *Store) add(b *batch, j *job) error {
	w := s.writer
	b.written += j.size
	t := &transaction{session: w.session, generation: w.subscriptions.generation}
	if b.bump {
		t.generation = -1
	}
	err := w.attempt(b, j, t)
	if severityOf(err) != ofJob {
		return err
	}
	if t.bump { // read before the change, or together with changes that are undone
		w.subscriptions.forget()
	}
	if j.err = err; err != nil && t.mended {
		w.failing = nil
	}
	if err == nil {
		b.good++
		b.bump = b.bump || t.bump
		b.written += t.published
		b.done.add(t)
		w.ended.add(t.ended)
		w.firings.add(t.firings)
	}
	return nil
}

// end commits the open transaction, or undoes it and returns the reason.
func (s *Store) end(b *batch) (err error) {
	w := s.writer
	if b.err == nil && b.good == 0 {
		w.rollback()
		return nil
	}
	if err = b.err; err == nil {
		err = s.commit(b)
	}
	if err != nil {
		w.undo()
		return err
	}
	s.noteDataVersion()
	s.learn(w.subscriptions.generation) // before OnEvents
	s.commits.Add(1)
	s.rewound.Store(false)
	if b.bump && s.options.Ephemeral {
		s.generation.Add(1)
	}
	s.written.Add(int64(b.written))
	s.boundLog(b.written)
	return nil
}

func (s *Store) commit(b *batch) error {
	w := s.writer
	if b.bump {
		if _, err := w.session.exec("UPDATE meta SET generation = generation + 1 WHERE id = 1"); err != nil {
			return err
		}
		w.subscriptions.generation++
	}
	if err := w.session.execAll(w.firings.appendTo(w.ended.appendTo(nil))); err != nil {
		return err
	}
	if w.beforeCommit != nil {
		if err := w.beforeCommit(); err != nil {
			return err
		}
	}
	if s.remote != nil {
		return s.remote.commit(w.session)
	}
	_, err := w.session.exec("COMMIT")
	return err
}

// attempt runs one job so that its failure undoes it alone, except in a bare batch.
func (w *writer) attempt(b *batch, j *job, t *transaction) error {
	if j.single && w.session.remote == nil && !w.subscriptions.any(t, j.events) {
		return j.run(t)
	}
	if b.bare {
		err := j.run(t)
		b.failed = err != nil
		return err
	}
	if _, err := w.session.exec("SAVEPOINT job"); err != nil {
		return err
	}
	failed := j.run(t)
	if failed != nil {
		if severityOf(failed) != ofJob {
			return failed
		}
		if _, err := w.session.exec("ROLLBACK TO job"); err != nil {
			return err
		}
	}
	if _, err := w.session.exec("RELEASE job"); err != nil {
		return err
	}
	return failed
}

// rollback undoes the open transaction. If SQLite has already done so, its error is
// meaningless and ignored.
func (w *writer) rollback() { _, _ = w.session.exec("ROLLBACK") }

// undo is rollback for a transaction in which jobs may have run.
func (w *writer) undo() {
	w.rollback()
	w.subscriptions.forget()
	w.failing = nil
}

// Transact makes all writes of f one transaction: if f fails, its context ends or the
// process dies, none of it is stored. Reads in f see its writes. It is used when a server
// starts, before Run, while nothing else uses the store; f must not call Transact again. As
// in Open, f is called again after PostgreSQL went away meanwhile.
func (s *Store) Transact(ctx context.Context, f func() error) error {
	for watch := metrics.Begin(); ; s.remote.pause(retryInterval) {
		err := s.transactOnce(ctx, f)
		if s.remote == nil || !isPassing(err) || watch.Elapsed() > startPatience || ctx.Err() != nil {
			return err
		}
	}
}

// isPassing reports whether a start may succeed when it is tried again.
func isPassing(err error) bool {
	class := postgres.ClassOf(err)
	return class == postgres.Unreachable || class == postgres.Busy
}

func (s *Store) transactOnce(ctx context.Context, f func() error) (err error) {
	w := s.writer
	w.mu.Lock()
	running := w.running
	w.mu.Unlock()
	if running || w.enclosing != nil {
		return errors.New("the store is in use already")
	}
	if err := s.usable(); err != nil {
		return err
	}
	w.connection.Lock()
	defer w.connection.Unlock()
	watch := metrics.Begin()
	if err := s.begin(); err != nil {
		s.endIfLost(err)
		return explain(err)
	}
	b := &batch{}
	w.enclosing = b
	defer func() {
		if w.enclosing != nil { // f panicked
			w.enclosing = nil
			w.undo()
		}
	}()
	failed := f()
	if failed == nil {
		failed = ctx.Err()
	}
	w.enclosing = nil
	if failed != nil && b.err == nil { // the database did not cause the error
		w.undo()
		return failed
	}
	err = s.end(b)
	s.counts.batch(watch.Elapsed(), b.good, err)
	s.endIfLost(err)
	if err != nil {
		return cmp.Or(failed, explain(err))
	}
	s.notify(b.done)
	return nil
}

// join runs a job within the transaction of Transact.
func (s *Store) join(ctx context.Context, j *job) error {
	b := s.writer.enclosing
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.err == nil {
		b.err = s.add(b, j)
	}
	if b.err != nil {
		j.err = explain(b.err)
	}
	if j.ended != nil {
		j.ended(j.err)
	}
	close(j.done)
	return nil
}
