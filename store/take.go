package store

import (
	"bytes"
	"context"

	"blueprintd/blueprint"
)

// take checks the master key and, for a server, makes the database its own.
func (s *Store) take(ctx context.Context) error {
	return s.write(ctx, func(t *transaction) error {
		if err := s.checkKey(t); err != nil {
			return err
		}
		if !s.options.Server {
			return nil
		}
		return t.row("UPDATE meta SET epoch = epoch + 1 WHERE id = 1 RETURNING epoch", nil, &s.epoch)
	})
}

// fence makes sure that the database is still this server's.
func (s *Store) fence() error {
	if s.epoch == 0 {
		return nil
	}
	var epoch int64
	if err := s.writer.session.row("SELECT epoch FROM meta WHERE id = 1", nil, &epoch); err != nil {
		return err
	}
	if epoch != s.epoch {
		return errFenced
	}
	return nil
}

// checkKey compares the master key with the one that the database is used
// with, and makes it that one where that is allowed.
func (s *Store) checkKey(t *transaction) error {
	adopt, err := s.options.keyFits(t.session)
	if err != nil || !adopt {
		return err
	}
	_, err = t.exec("UPDATE meta SET key_check = ? WHERE id = 1", s.options.Sealer.Check())
	return err
}

// keyFits compares the master key with the one that the database is used with.
// Only a server changes to another one, and only while nothing is sealed.
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
			return false, &blueprint.Error{
				Code: blueprint.CodeConflict, Message: "the secrets of the database are encrypted with another master key",
				Hint: "name the key file that belongs to this database with --master-key-file",
			}
		}
	}
	return sealer != nil, nil
}

// holdsSealed looks for anything encrypted. The engine's journal and state are
// its own affair, but JSON is what they are when they are not sealed. It reads
// everything there is, which only a changed key makes necessary.
func holdsSealed(t *transaction) (sealed bool, err error) {
	const query = `SELECT EXISTS (SELECT 1 FROM blueprint_contents WHERE sealed_variables IS NOT NULL)
		OR EXISTS (SELECT 1 FROM triggers WHERE sealed_config IS NOT NULL)
		OR EXISTS (SELECT 1 FROM journal WHERE substr(entry, 1, 1) <> x'7b')
		OR EXISTS (SELECT 1 FROM executions WHERE substr(state, 1, 1) <> x'7b')`
	err = t.row(query, nil, &sealed)
	return sealed, err
}
