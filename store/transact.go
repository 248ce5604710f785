package store

import (
	"cmp"
	"context"
	"errors"

	"blueprintd/foundation/metrics"
)

// batch is the outcome of the jobs of a transaction so far.
type batch struct {
	done    outcome
	good    int
	bump    bool
	written int   // approximate bytes
	err     error // if not nil, the transaction is undone
}

// commitJobs runs the jobs of a batch and commits them. A job that fails alone has
// its own error; if commitJobs returns an error, all jobs were undone.
func (s *Store) commitJobs(jobs []*job) (done outcome, err error) {
	if err := s.begin(); err != nil {
		return done, err
	}
	var b batch
	for _, j := range jobs {
		if b.err = s.add(&b, j, len(jobs) == 1); b.err != nil {
			break
		}
	}
	return b.done, s.end(&b)
}

func (s *Store) begin() error {
	w := s.writer
	if _, err := w.session.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	generation, err := s.fence()
	if err != nil {
		w.undo()
		return err
	}
	w.subscriptions.at(generation)
	w.ended.forget()
	return nil
}

// add runs a job in the open transaction, which has to be undone if add returns an
// error.
func (s *Store) add(b *batch, j *job, alone bool) error {
	w := s.writer
	b.written += j.size
	t := &transaction{session: w.session, generation: w.subscriptions.generation}
	if b.bump {
		t.generation = -1
	}
	err := w.attempt(j, t, alone)
	if severityOf(err) != ofJob {
		return err
	}
	if t.bump { // what was read before it, or beside changes that are undone
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
	if err := w.ended.write(w.session); err != nil {
		return err
	}
	if w.beforeCommit != nil {
		if err := w.beforeCommit(); err != nil {
			return err
		}
	}
	_, err := w.session.exec("COMMIT")
	return err
}

// attempt runs one job so that its failure undoes it alone. A job that is alone in
// the transaction needs no savepoint.
func (w *writer) attempt(j *job, t *transaction, alone bool) error {
	if alone || j.single && !w.subscriptions.any(t, j.events) {
		return j.run(t)
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

// rollback undoes the open transaction. If SQLite has already done so it returns an
// error that means nothing.
func (w *writer) rollback() { _, _ = w.session.exec("ROLLBACK") }

// undo is rollback for a transaction in which jobs may have run.
func (w *writer) undo() {
	w.rollback()
	w.subscriptions.forget()
	w.failing = nil
}

// Transact makes everything that f writes one transaction: if f fails, its context
// ends or the process dies, none of it is stored. Reads in f see its writes. It is
// for the start of a server, before Run, while nothing else uses the store; f must
// not call Transact again.
func (s *Store) Transact(ctx context.Context, f func() error) (err error) {
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
	if failed != nil && b.err == nil { // the database is not to blame
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
		b.err = s.add(b, j, false)
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
