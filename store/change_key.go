package store

import (
	"context"
	"errors"

	"blueprintd/foundation/secret"
	"blueprintd/store/dbfile"
)

// resealedAtOnce is how many rows are selected at a time when the master key is
// changed; one of their values at a time is in memory.
const resealedAtOnce = 500

// ChangeKeyOptions are the options of ChangeKey.
type ChangeKeyOptions struct {
	// AllowDamaged leaves values that cannot be decrypted with the current key as they
	// are; without it they are a CodeConflict error.
	AllowDamaged bool
	// Progress, if not nil, is called with the current stage and its progress.
	Progress func(stage string, done, total int64)
}

// ChangeKeyReport counts what was encrypted with the new key.
type ChangeKeyReport struct {
	Values int64 `json:"values"`
	// Damaged is how many values were left because they cannot be decrypted,
	// DamagedPlaces what the first ten of them belong to.
	Damaged       int64    `json:"damaged,omitempty"`
	DamagedPlaces []string `json:"damagedPlaces,omitempty"`
}

// OpenToChangeKey opens an existing database for ChangeKey. CodeConflict if a server
// holds it. Options are those of a server.
func OpenToChangeKey(ctx context.Context, options Options) (*Store, error) {
	if err := unheld(options.Path); err != nil {
		return nil, err
	}
	options.Server, options.anyKind = true, true // the only one
	return Open(ctx, options)
}

// ChangeKey encrypts everything that is encrypted with the current master key with
// another one. Values under the old key may remain in free pages of the file. It is one
// transaction: whenever the process is killed, the database belongs to one key or the
// other. The store must have been opened by OpenToChangeKey, and Run must not have been
// called; after ChangeKey only Close may be called. After an error other than
// CodeConflict or the end of ctx it is unknown which key the database has until it is
// opened again, so both must be kept.
func (s *Store) ChangeKey(ctx context.Context, next *secret.Sealer, o ChangeKeyOptions) (r ChangeKeyReport, err error) {
	defer wrap(&err, "change the master key of %s", s.options.name())
	if s.options.Sealer == nil || s.epoch == 0 {
		return r, errors.New("the store was not opened for this")
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	err = s.write(ctx, func(t *transaction) error {
		for _, c := range sealedColumns {
			if err := s.reseal(ctx, t, c, next, o, &r); err != nil {
				return err
			}
		}
		if _, err := t.exec("UPDATE meta SET key_check = ? WHERE id = 1", next.Check()); err != nil {
			return err
		}
		return s.audit(ctx, t, subject{kind: "database", detail: map[string]any{"values": r.Values}})
	})
	if err != nil {
		return ChangeKeyReport{}, err
	}
	s.options.Sealer = next
	return r, nil
}

type sealedRow struct {
	first, second int64
	parts         [3]string
}

// reseal encrypts the values of one column, in the order of their rows.
func (s *Store) reseal(ctx context.Context, t *transaction, c sealedColumn, next *secret.Sealer, o ChangeKeyOptions, r *ChangeKeyReport) error {
	var last int64
	if err := t.row("SELECT coalesce(max("+c.first+"), 0) FROM "+c.table+" x", nil, &last); err != nil {
		return err
	}
	query := "SELECT " + c.first + ", " + c.second + ", " + c.parts + " FROM " + c.table + " x WHERE " + c.order + " AND " + c.sealed() +
		" ORDER BY 1, 2 LIMIT ?3"
	for at, more := (sealedRow{}), true; more; {
		var rows []sealedRow
		err := collect(t.session, &rows, query, []any{at.first, at.second, resealedAtOnce}, fields(func(row *sealedRow) []any {
			return []any{&row.first, &row.second, &row.parts[0], &row.parts[1], &row.parts[2]}
		}))
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.resealValue(t, c, row, next, o, r); err != nil {
				return err
			}
		}
		if more = len(rows) == resealedAtOnce; more {
			at = rows[len(rows)-1]
			o.Progress("encrypting "+c.table, at.first, last)
		}
	}
	return nil
}

func (s *Store) resealValue(t *transaction, c sealedColumn, row sealedRow, next *secret.Sealer, o ChangeKeyOptions, r *ChangeKeyReport) error {
	var value []byte
	if err := t.row("SELECT "+c.column+" FROM "+c.table+" WHERE "+c.row, []any{row.first, row.second}, &value); err != nil {
		return err
	}
	place := c.place(row.parts)
	var err error
	if c.sum != nil {
		err = checked(&value, c.sum(row.first, row.second, row.parts))
	}
	var plain []byte
	if err == nil {
		plain, err = s.options.Sealer.Open(value, place)
	}
	if err != nil {
		if r.Damaged++; len(r.DamagedPlaces) < mostNamed {
			r.DamagedPlaces = append(r.DamagedPlaces, place)
		}
		if o.AllowDamaged {
			return nil
		}
		return dbfile.Refusal("restore a backup with blueprintd restore; --allow-damaged changes the key all the same and leaves what cannot be read as it is",
			"the database is damaged: %s cannot be opened with its master key", place)
	}
	var stored any = next.Seal(plain, place)
	if c.sum != nil {
		stored = withChecksum(stored.([]byte), c.sum(row.first, row.second, row.parts))
	}
	_, err = t.exec("UPDATE "+c.table+" SET "+c.column+" = ?3 WHERE "+c.row, row.first, row.second, stored)
	r.Values++
	return err
}
