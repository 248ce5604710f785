package store

import (
	"fmt"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
	"blueprintd/store/dbfile"
)

// errNoKey is returned to a tool that was opened without the master key.
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

// seal encrypts bytes for their place.
func (s *Store) seal(plain []byte, place string) ([]byte, error) {
	if s.options.Sealer == nil {
		return nil, errNoKey
	}
	return s.options.Sealer.Seal(plain, place), nil
}

// unsealed decrypts what seal encrypted.
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

// unseal decodes what sealable encoded.
func (s *Store) unseal(plain, sealed []byte, place string) (any, error) {
	if sealed != nil {
		var err error
		if plain, err = s.unsealed(sealed, place); err != nil {
			return nil, err
		}
	}
	return decode(plain, place)
}

// decode decodes JSON that this program wrote; an error is not the caller's fault.
func decode(data []byte, place string) (any, error) {
	value, err := blueprint.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: stored JSON does not decode: %s", place, err.Error())
	}
	return value, nil
}

// sealedColumn is a column with values that are encrypted with the master key. The key
// of a row is two numbers; if one is enough the other is 0.
type sealedColumn struct {
	table, column string
	// first and second are the key, order is the condition of the rows after ?1 and ?2,
	// row that of the row ?1 and ?2.
	first, second, order, row string
	// parts are at most three texts from which place returns what the value is bound
	// to.
	parts string
	place func(parts [3]string) string
	// sum returns the place of the checksum at the end of the value; nil if it has
	// none.
	sum func(first, second int64, parts [3]string) string
}

// sealed is the condition that a row has a value.
func (c *sealedColumn) sealed() string { return "x." + c.column + " IS NOT NULL" }

// For rows whose key is one number.
const (
	rowOrder = "x.rowid > ?1 AND ?2 = 0"
	rowNamed = "rowid = ?1 AND ?2 = 0"
)

// sealedColumns lists all of them. A column that is missing here would be lost when the
// master key is changed; a test compares the list with the schema.
var sealedColumns = []sealedColumn{
	{
		table: "blueprint_contents", column: "sealed_variables",
		first: "x.rowid", second: "0", order: rowOrder, row: rowNamed, parts: "x.blueprint_id, x.version, ''",
		place: func(p [3]string) string { return variablesPlace(p[0], p[1]) },
	},
	{
		table: "triggers", column: "sealed_config",
		first: "x.rowid", second: "0", order: rowOrder, row: rowNamed, parts: "x.id, '', ''",
		place: func(p [3]string) string { return configPlace(p[0]) },
	},
	{
		table: "firings", column: "sealed_reason",
		first: "x.rowid", second: "0", order: rowOrder, row: rowNamed, parts: "x.id, '', ''",
		place: func(p [3]string) string { return reasonPlace(p[0]) },
	},
	{
		table: "firings", column: "sealed_body_hash",
		first: "x.rowid", second: "0", order: rowOrder, row: rowNamed, parts: "x.id, '', ''",
		place: func(p [3]string) string { return bodyHashPlace(p[0]) },
	},
	{
		table: "firings", column: "sealed_delivery",
		first: "x.rowid", second: "0", order: rowOrder, row: rowNamed, parts: "x.id, '', ''",
		place: func(p [3]string) string { return deliveryPlace(p[0]) },
	},
	{
		table: "files", column: "sealed_head",
		first: "x.rowid", second: "0", order: rowOrder, row: rowNamed, parts: "x.id, '', ''",
		place: func(p [3]string) string { return filePlace(p[0]) },
	},
	{
		table: "connections", column: "sealed_config",
		first: "x.rowid", second: "0", order: rowOrder, row: rowNamed, parts: "x.id, x.type, " + connectionOwner,
		place: func(p [3]string) string { return connectionPlace(p[0], p[1], p[2]) },
	},
	{
		table: "connection_tokens", column: "sealed_token",
		first: "x.rowid", second: "0", order: rowOrder, row: rowNamed, parts: "x.connection_id, x.user_id, ''",
		place: func(p [3]string) string { return tokenPlace(p[0], p[1]) },
	},
	{
		table: "sign_ins", column: "sealed_secret",
		first: "x.rowid", second: "0", order: rowOrder, row: rowNamed, parts: "lower(hex(x.state_hash)), x.connection_id || '/' || x.user_id, " + signInPromise,
		place: func(p [3]string) string { return signInPlace(p[0], p[1], p[2]) },
	},
	{
		table: "events", column: "sealed_data",
		first: "x.rowid", second: "0", order: rowOrder, row: rowNamed, parts: "x.key, '', ''",
		place: func(p [3]string) string { return eventPlace(p[0]) },
	},
	{
		table: "executions", column: "record",
		first: "x.rowid", second: "0", order: rowOrder, row: rowNamed, parts: "x.id, '', ''",
		place: func(p [3]string) string { return secret.RecordPlace(p[0]) },
		sum:   func(_, _ int64, p [3]string) string { return recordPlace(p[0]) },
	},
	{
		table: "executions", column: "state",
		first: "x.rowid", second: "0", order: rowOrder, row: rowNamed, parts: "x.id, '', ''",
		place: func(p [3]string) string { return secret.StatePlace(p[0]) },
		sum:   func(_, _ int64, p [3]string) string { return statePlace(p[0]) },
	},
	{
		table: "journal", column: "entry",
		first: "x.execution", second: "x.position", order: "(x.execution, x.position) > (?1, ?2)", row: "execution = ?1 AND position = ?2",
		parts: "coalesce((SELECT e.id FROM executions e WHERE e.seq = x.execution), ''), '', ''",
		place: func(p [3]string) string { return secret.JournalPlace(p[0]) },
		sum:   func(first, second int64, _ [3]string) string { return entryPlace(first, second) },
	},
}

// holdsSealed reports whether anything is encrypted. It may have to read the whole
// database, which is only necessary for a changed key.
func holdsSealed(t *transaction) (sealed bool, err error) {
	for _, c := range sealedColumns {
		err := t.row("SELECT EXISTS (SELECT 1 FROM "+c.table+" x WHERE "+c.sealed()+")", nil, &sealed)
		if sealed || err != nil {
			return sealed, err
		}
	}
	return false, nil
}
