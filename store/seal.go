package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
	"blueprintd/store/dbfile"
)

// errNoKey is returned to a tool that opened the database without the master key.
var errNoKey = dbfile.Refusal("name the key file that belongs to this database with --master-key-file",
	"this needs the master key, because it has to do with a secret")

// sealable encodes a JSON value for two columns, one of which is NULL: plain, or sealed
// for its place if it is secret.
func (s *Store) sealable(value any, secret bool, place string) (plain, sealed any, err error) {
	data, err := blueprint.Encode(value)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", place, err)
	}
	if !secret {
		return string(data), nil, nil
	}
	sealed, err = s.seal(data, place)
	return nil, sealed, err
}

// seal encrypts bytes and binds them to a place.
func (s *Store) seal(plain []byte, place string) ([]byte, error) {
	if s.options.Sealer == nil {
		return nil, errNoKey
	}
	return s.options.Sealer.Seal(plain, place), nil
}

// unsealed decrypts a value encrypted by seal.
func (s *Store) unsealed(sealed []byte, place string) ([]byte, error) {
	if s.options.Sealer == nil {
		return nil, errNoKey
	}
	plain, err := s.options.Sealer.Open(sealed, place)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	return plain, nil
}

// unseal decodes a value encoded by sealable.
func (s *Store) unseal(plain, sealed []byte, place string) (any, error) {
	if sealed != nil {
		var err error
		if plain, err = s.unsealed(sealed, place); err != nil {
			return nil, err
		}
	}
	return decode(plain, place)
}

// decode decodes JSON that this program wrote. An error is not the caller's fault.
func decode(data []byte, place string) (any, error) {
	value, err := blueprint.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: stored JSON does not decode: %s", place, err.Error())
	}
	return value, nil
}

// sealedColumn is a column with values that are encrypted with the master key.
type sealedColumn struct {
	table, column string
	// parts are at most three texts from which place derives the name of the value.
	parts string
	place func(parts [3]string) string
	rowKey
	// sum returns the place of the checksum at the end of the value; nil if it has none.
	sum func(first, second int64, parts [3]string) string
}

// rowKey says how the rows of a table are selected: by two numbers, the second of which is
// 0 if one is enough.
type rowKey struct {
	// first and second are the key, order is the condition for the rows after ?1 and ?2,
	// row is that for the row ?1 and ?2.
	first, second, order, row string
}

// numberedBy is the key of a table whose rows have one number, in a column.
func numberedBy(column string) rowKey {
	return rowKey{first: "x." + column, second: "0", order: "x." + column + " > ?1 AND ?2 = 0", row: column + " = ?1 AND ?2 = 0"}
}

// sealed is the condition that a row has a value.
func (c *sealedColumn) sealed() string { return "x." + c.column + " IS NOT NULL" }

// sealedColumns lists all sealed columns. A column that is missing here would be lost when
// the master key is changed; a test compares the list with the schema.
var sealedColumns = []sealedColumn{
	sealedBy("blueprint_contents", "rowid", "sealed_variables", "x.blueprint_id, x.version, ''", func(p [3]string) string { return variablesPlace(p[0], p[1]) }),
	sealedBy("triggers", "seq", "sealed_config", "x.id, '', ''", byID(configPlace)),
	sealedBy("firings", "seq", "sealed_reason", "x.id, '', ''", byID(reasonPlace)),
	sealedBy("firings", "seq", "sealed_body_hash", "x.id, '', ''", byID(bodyHashPlace)),
	sealedBy("firings", "seq", "sealed_delivery", "x.id, '', ''", byID(deliveryPlace)),
	sealedBy("files", "rowid", "sealed_head", "x.id, '', ''", byID(filePlace)),
	sealedBy("connections", "seq", "sealed_config", "x.id, x.type, "+connectionOwner, func(p [3]string) string { return connectionPlace(p[0], p[1], p[2]) }),
	sealedBy("connection_tokens", "rowid", "sealed_token", "x.connection_id, x.user_id, ''", func(p [3]string) string { return tokenPlace(p[0], p[1]) }),
	sealedBy("sign_ins", "rowid", "sealed_secret", "hex(x.state_hash), x.connection_id || '/' || x.user_id, "+signInPromise,
		func(p [3]string) string { return signInPlace(strings.ToLower(p[0]), p[1], p[2]) }),
	sealedBy("events", "seq", "sealed_data", "x.key, '', ''", byID(eventPlace)),
	{
		table: "executions", column: "record", parts: "x.id, '', ''", place: byID(secret.RecordPlace), rowKey: numberedBy("seq"),
		sum: func(_, _ int64, p [3]string) string { return recordPlace(p[0]) },
	},
	{
		table: "executions", column: "state", parts: "x.id, '', ''", place: byID(secret.StatePlace), rowKey: numberedBy("seq"),
		sum: func(_, _ int64, p [3]string) string { return statePlace(p[0]) },
	},
	{
		table: "journal", column: "entry",
		parts: "coalesce((SELECT e.id FROM executions e WHERE e.seq = x.execution), ''), '', ''", place: byID(secret.JournalPlace),
		rowKey: rowKey{first: "x.execution", second: "x.position", order: "(x.execution, x.position) > (?1, ?2)", row: "execution = ?1 AND position = ?2"},
		sum:    func(first, second int64, _ [3]string) string { return entryPlace(first, second) },
	},
}

// sealedBy returns a column without a checksum of a table whose rows have one number.
func sealedBy(table, number, column, parts string, place func(parts [3]string) string) sealedColumn {
	return sealedColumn{table: table, column: column, parts: parts, place: place, rowKey: numberedBy(number)}
}

// byID returns the place of a value that is bound only to an id.
func byID(place func(id string) string) func(parts [3]string) string {
	return func(parts [3]string) string { return place(parts[0]) }
}

// holdsSealed reports whether any value is encrypted. It may have to read the whole
// database, which is only necessary after a key change.
func holdsSealed(t *transaction) (sealed bool, err error) {
	for _, c := range sealedColumns {
		err := t.row("SELECT EXISTS (SELECT 1 FROM "+c.table+" x WHERE "+c.sealed()+")", nil, &sealed)
		if sealed || err != nil {
			return sealed, err
		}
	}
	return false, nil
}

// The data of runs is most of a database, and SQLite cannot notice a flipped bit in it: it
// checks the structure of its pages, not their content. Records, states and journal entries
// therefore end with a checksum of four bytes over the content and the place that it
// belongs to. It can be verified without the master key.
const checksumSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(data []byte, place string) uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte(place)), castagnoli, data)
}

// withChecksum returns content with its checksum, nil for none. It may reuse data.
func withChecksum(data []byte, place string) any {
	if data == nil {
		return nil
	}
	return binary.BigEndian.AppendUint32(data, checksum(data, place))
}

// checked verifies and removes the checksum of a stored value. If the content is damaged,
// it returns an error with a hint.
func checked(stored *[]byte, place string) error {
	if *stored == nil {
		return nil
	}
	end := len(*stored) - checksumSize
	if end < 0 || binary.BigEndian.Uint32((*stored)[end:]) != checksum((*stored)[:end], place) {
		*stored = nil
		return damagedPart(fmt.Errorf("the checksum of %s does not match", place))
	}
	*stored = (*stored)[:end:end]
	return nil
}

// recordPlace and the two functions below return the place of run data, to which its
// checksum is bound.
func recordPlace(id string) string { return "record/" + id }
func statePlace(id string) string  { return "state/" + id }
func entryPlace(execution, position int64) string {
	return fmt.Sprintf("journal/%d/%d", execution, position)
}

// checkedRun removes the checksums from a stored run that has ended.
func checkedRun(stored *blueprint.StoredExecution) error {
	return errors.Join(checked(&stored.Record, recordPlace(stored.Row.ID)), checked(&stored.State, statePlace(stored.Row.ID)))
}

// damagedPart returns the error for data that is damaged on the disk.
func damagedPart(err error) error {
	return &blueprint.Error{
		Code: blueprint.CodeInternal, Message: "a part of the database is damaged",
		Hint: "run blueprintd doctor --full to see which; restore a backup with blueprintd restore",
		Err:  fmt.Errorf("%w; run blueprintd doctor --full for details", err),
	}
}

// resealedAtOnce is the number of rows selected in one step when the master key is changed;
// only one of their values is in memory.
const resealedAtOnce = 500

// ChangeKeyOptions are the options of ChangeKey.
type ChangeKeyOptions struct {
	// AllowDamaged leaves values that cannot be decrypted with the current key unchanged;
	// without it they are a CodeConflict error.
	AllowDamaged bool
	// Progress, if not nil, is called with the current stage and its progress.
	Progress func(stage string, done, total int64)
}

// ChangeKeyReport counts the values that were re-encrypted with the new key.
type ChangeKeyReport struct {
	Values int64 `json:"values"`
	// Damaged is the number of values that were left because they cannot be decrypted.
	// DamagedPlaces lists the first ten.
	Damaged       int64    `json:"damaged,omitempty"`
	DamagedPlaces []string `json:"damagedPlaces,omitempty"`
}

// OpenToChangeKey opens an existing database for ChangeKey. CodeConflict if a server
// holds it. Options are those of a server.
func OpenToChangeKey(ctx context.Context, options Options) (*Store, error) {
	if options.Database != "" {
		options.Server, options.ReadOnly = false, true
		release, err := options.keepUnserved(ctx)
		if err != nil {
			return nil, err
		}
		s, err := Open(ctx, options)
		if err != nil {
			return nil, errors.Join(err, release())
		}
		s.unserved = release
		return s, nil
	}
	if err := unheld(options.Path); err != nil {
		return nil, err
	}
	options.Server, options.anyKind = true, true // the only one
	return Open(ctx, options)
}

// ChangeKey re-encrypts everything that is encrypted with the current master key with
// another one. Values under the old key may remain in free pages of the file. It is one
// transaction: whenever the process is killed, the database belongs to one key or the
// other. The store must have been opened by OpenToChangeKey, and Run must not have been
// called; after ChangeKey only Close may be called. After an error other than CodeConflict
// or the end of ctx, it is unknown which key the database has until it is opened again, so
// both must be kept.
func (s *Store) ChangeKey(ctx context.Context, next *secret.Sealer, o ChangeKeyOptions) (r ChangeKeyReport, err error) {
	defer wrap(&err, "change the master key of %s", s.options.name())
	if s.options.Sealer == nil || s.epoch == 0 && s.unserved == nil {
		return r, errors.New("the store was not opened by OpenToChangeKey")
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

// reseal re-encrypts the values of one column, in the order of their rows.
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
		return dbfile.Refusal("restore a backup with blueprintd restore; --allow-damaged changes the key anyway and leaves unreadable values unchanged",
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
