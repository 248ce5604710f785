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
// with. Only a server changes to another one, and only while nothing is sealed.
func (s *Store) checkKey(t *transaction) error {
	var known []byte
	if err := t.row("SELECT key_check FROM meta WHERE id = 1", nil, &known); err != nil {
		return err
	}
	sealer := s.options.Sealer
	switch {
	case sealer == nil && (known == nil || !s.options.Server):
		return nil
	case sealer != nil && bytes.Equal(known, sealer.Check()):
		return nil
	case known != nil:
		sealed, err := holdsSealed(t)
		if err != nil {
			return err
		}
		if sealed || !s.options.Server {
			return &blueprint.Error{
				Code: blueprint.CodeConflict, Message: "the secrets of the database are encrypted with another master key",
				Hint: "name the key file that belongs to this database with --master-key-file",
			}
		}
	}
	if sealer == nil {
		return nil
	}
	_, err := t.exec("UPDATE meta SET key_check = ? WHERE id = 1", sealer.Check())
	return err
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
