package store

import (
	"bytes"
	"context"
	"errors"

	"blueprintd/store/dbfile"
)

// claim checks the master key and, for a server, takes ownership of the database.
func (s *Store) claim(ctx context.Context) error {
	err := s.write(ctx, func(t *transaction) error {
		if err := s.checkKey(t); err != nil {
			return err
		}
		if !s.options.Server {
			return t.row("SELECT sandbox FROM meta WHERE id = 1", nil, &s.sandbox)
		}
		if err := s.options.settlePurpose(t); err != nil {
			return err
		}
		s.sandbox = s.options.Sandbox
		return t.row("UPDATE meta SET epoch = epoch + 1 WHERE id = 1 RETURNING epoch", nil, &s.epoch)
	})
	s.claimed = err == nil
	return err
}

// fence verifies that the database is still this server's, or, for a tool,
// that its master key has not been changed. It returns the generation at which the
// transaction begins.
func (s *Store) fence() (generation int64, err error) {
	if s.options.Ephemeral {
		return s.generation.Load(), nil // no other process can use it
	}
	if s.writer.untouched() {
		return s.writer.subscriptions.generation, nil
	}
	var epoch int64
	if err := s.writer.session.row("SELECT epoch, generation FROM meta WHERE id = 1", nil, &epoch, &generation); err != nil {
		return 0, err
	}
	switch {
	case s.epoch == 0:
		err = s.sameKey()
	case epoch != s.epoch:
		err = errFenced
	}
	return generation, err
}

// untouched reports, in a transaction, whether no other connection, and so no other
// process, has written since the last commit of this one. SQLite knows that without
// reading the disk once the transaction has begun.
func (w *writer) untouched() bool {
	left := w.dataVersion
	w.dataVersion = 0
	version, err := w.session.dataVersion()
	return err == nil && left != 0 && version == left
}

// noteDataVersion records, after a commit, the number that a commit of another
// connection would change. A tool reads the database each time.
func (s *Store) noteDataVersion() {
	if s.epoch != 0 {
		s.writer.dataVersion, _ = s.writer.session.dataVersion()
	}
}

// sameKey prevents a tool from writing with a master key that has been changed
// meanwhile: it does not hold the lock that would prevent the change.
func (s *Store) sameKey() error {
	if !s.claimed || s.options.Sealer == nil {
		return nil
	}
	var known []byte
	if err := s.writer.session.row("SELECT key_check FROM meta WHERE id = 1", nil, &known); err != nil {
		return err
	}
	if !bytes.Equal(known, s.options.Sealer.Check()) {
		return dbfile.Refusal("run the command again", "the master key was changed meanwhile")
	}
	return nil
}

// errOtherKey is returned for a database that belongs to another master key.
var errOtherKey = dbfile.Refusal("name the key file that belongs to this database with --master-key-file",
	"the secrets of the database are encrypted with another master key")

// OtherKey reports whether an error says that the database belongs to another master
// key.
func OtherKey(err error) bool { return errors.Is(err, errOtherKey) }

// checkKey compares the master key with that of the database, and makes it the key of
// the database where that is allowed.
func (s *Store) checkKey(t *transaction) error {
	adopt, err := s.options.keyFits(t.session)
	if err != nil || !adopt {
		return err
	}
	_, err = t.exec("UPDATE meta SET key_check = ? WHERE id = 1", s.options.Sealer.Check())
	return err
}

// keyFits compares the master key with that of the database. Only a server may adopt
// another key, and only while nothing is sealed.
func (o Options) keyFits(q *session) (adopt bool, err error) {
	var known []byte
	if err := q.row("SELECT key_check FROM meta WHERE id = 1", nil, &known); err != nil {
		return false, err
	}
	sealer := o.Sealer
	switch {
	case sealer == nil && (known == nil || !o.Server):
		return false, nil
	case sealer != nil && bytes.Equal(known, sealer.Check()):
		return false, nil
	case known != nil:
		sealed, err := holdsSealed(&transaction{session: q})
		if err != nil {
			return false, err
		}
		if sealed || !o.Server {
			return false, errOtherKey
		}
	}
	return sealer != nil, nil
}

// IsSandbox reports whether the database belongs to a sandbox: fakes answered the
// requests of its runs.
func (s *Store) IsSandbox() bool { return s.sandbox }

// settlePurpose refuses to run a sandbox on a real database, and a real server on the
// database of a sandbox or of a virtual clock: the answers of fakes, such as tokens
// of connections, would be used as real ones, and times in the future of a virtual
// clock would prevent schedules from firing. The first server on a file decides. A
// virtual clock on real history is allowed, for trying out what will happen, but
// prunes no history by age: advancing the clock would erase it.
func (o *Options) settlePurpose(t *transaction) error {
	if o.Ephemeral || o.anyKind {
		return nil
	}
	var epoch int64
	var sandbox, virtual bool
	if err := t.row("SELECT epoch, sandbox, virtual_clock FROM meta WHERE id = 1", nil, &epoch, &sandbox, &virtual); err != nil {
		return err
	}
	if epoch == 0 {
		_, err := t.exec("UPDATE meta SET sandbox = ?, virtual_clock = ? WHERE id = 1", o.Sandbox, o.VirtualClock)
		return err
	}
	switch {
	case o.Sandbox && !sandbox:
		return dbfile.Refusal("leave --sandbox out (BLUEPRINTD_SANDBOX is the same), or take a new database for the sandbox: --db sandbox.db, or --ephemeral",
			"the database is in earnest: in a sandbox its runs would go on with fakes, and its connections keep tokens of fakes")
	case sandbox && !o.Sandbox:
		return dbfile.Refusal("add --sandbox, or name another database with --db", "the database is a sandbox's: fakes made the tokens and answers in it")
	case o.VirtualClock && !virtual:
		o.Logger.Warn("virtual clock on a database with real times, nothing is pruned by age", "hint", "leave --clock out to go on in real time; work on a copy to try things")
		o.KeepExecutions.Age, o.KeepFirings.Age, o.KeepAudit.Age = 0, 0, 0
	case virtual && !o.VirtualClock:
		return dbfile.Refusal("add --clock virtual=RFC3339, or name another database with --db", "the times in the database are those of a virtual clock")
	}
	return nil
}
