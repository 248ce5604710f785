package store

import (
	"context"
	"runtime"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/metrics"
)

// The bounds of one transaction of the writer, and of the queue before it.
const (
	maxQueued     = 4096
	maxBatchJobs  = 512
	maxBatchBytes = 8 << 20
)

// transaction is what a job writes through.
type transaction struct {
	*session
	// generation is the number of changes in the state that the job finds; -1
	// when a job before it in the same transaction makes one more.
	generation int64
	bump       bool
	published  int                     // bytes, about, of events that it put into the outbox
	mended     bool                    // it took a trigger off the list of the failing
	tripped    []string                // triggers that it switched off
	ended      *blueprint.ExecutionRow // the run that ended with it; nil = none did
}

// changed records that the job changed something that caches depend on.
func (t *transaction) changed() { t.bump = true }

// job is one write: all of it, or nothing.
type job struct {
	run func(*transaction) error
	// size is about how many bytes it writes, without events.
	size int
	// events are those that run raises, as far as they are known beforehand.
	events []blueprint.Event
	// single says that it consists of one statement, which undoes itself when
	// it fails; such a job needs no savepoint, unless somebody listens to its
	// events.
	single bool
	// ended is called when it is committed or has failed, for who does not wait.
	ended func(error)
	err   error
	done  chan struct{}
}

// writer is the one connection that writes, and the queue before it.
type writer struct {
	session *session
	// connection is held by whoever uses the session.
	connection sync.Mutex

	slots chan struct{} // one for each queued job
	wake  chan struct{} // holds one token while the queue may have jobs

	mu      sync.Mutex
	running bool // Run is taking jobs
	closed  bool // no more jobs are taken
	queue   []*job
	failure error // why the store refuses everything
	failed  chan struct{}
	// busySince is when the batch at work was taken, or, before it is, when the
	// first job of it came; zero when there is none.
	busySince time.Time
	lonely    bool // the last batch was one job, so the next job is likely to be alone too

	// What the connection's transactions know of triggers.
	subscriptions subscriptions
	failing       map[string]bool // those of which the last run failed; nil = to be read

	ended hourCounts // in the transaction at work

	enclosing *batch // the writes so far of a Transact; nil = there is none

	dataVersion uint32 // the version of the data behind the last commit; 0 = ask the database

	unseen int  // bytes, about, written since the log was last looked at
	held   bool // the log could not be emptied then

	// beforeCommit lets a test fail a commit.
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

// write runs f in a write transaction, perhaps together with other jobs, and
// returns when all of it is on the disk or none of it will be. While ctx lasts
// it waits for a place in the queue; once it has one it stays for the outcome.
func (s *Store) write(ctx context.Context, f func(*transaction) error) error {
	return s.submit(ctx, &job{run: f, size: 512})
}

func (s *Store) submit(ctx context.Context, j *job) error {
	if err := s.enqueue(ctx, j); err != nil {
		return err
	}
	s.writer.signal()
	<-j.done
	return j.err
}

// commitAlone lets the caller do the work of a job when the writer is idle and
// jobs have lately come one at a time: handing it to another goroutine and
// waiting for that costs more than such a job's rows. It gives false, and has
// done nothing, when the job is to be queued.
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

// enqueue puts a job into the queue. Where nobody empties it, in a tool and in a
// server before Run, the caller does the work.
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

// usable returns why the store takes no more calls, nil if it does.
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

// fail makes the store refuse everything from now on. The first failure stays;
// it reports whether this is the first.
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

// endIfLost ends the store, and says so once, when an error is one after which
// nothing that this process knows of the disk can be trusted.
func (s *Store) endIfLost(err error) (lost bool) {
	if lost = severityOf(err) == ofStore; lost && s.writer.fail(err) {
		s.options.Logger.Error("the database has failed and takes no more writes", "path", s.options.Path, "error", err)
	}
	return lost
}

// next takes what has queued, up to the bounds of a batch.
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

// atRest notes that a batch is done. What queued meanwhile waits from now on.
func (w *writer) atRest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busySince = (time.Time{}); len(w.queue) > 0 {
		w.busySince = clock.Real{}.Now()
	}
}

// serve takes jobs until ctx ends or the store fails, then answers what is
// still queued.
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
	s.drain() // which also waits for a caller that commits by itself
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failure == nil {
		return nil
	}
	return broken(w.failure)
}

// drain commits until nothing is queued. Before it takes a batch it lets others
// run once: callers that are about to queue a write share this commit instead
// of waiting for the next one. That makes batches two to three times as large
// when the server is busy and costs nothing when it is idle. The connection is
// taken first: what queues until it is free is of the same batch.
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

// process runs a batch in one transaction and answers its callers. The
// connection is held, and let go before anybody is answered.
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
