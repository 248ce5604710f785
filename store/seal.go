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

// sealedColumn is a column with values that are encrypted with the master key.
type sealedColumn struct {
	table, column string
	// parts are at most three texts from which place returns what the value is bound
	// to.
	parts string
	place func(parts [3]string) string
	rowKey
	// sum returns the place of the checksum at the end of the value; nil if it has
	// none.
	sum func(first, second int64, parts [3]string) string
}

// rowKey says how the rows of a table are selected: by two numbers, of which the other
// is 0 if one is enough.
type rowKey struct {
	// first and second are the key, order is the condition of the rows after ?1 and ?2,
	// row that of the row ?1 and ?2.
	first, second, order, row string
}

// byRowid is the key of the tables whose rows have one number.
var byRowid = rowKey{first: "x.rowid", second: "0", order: "x.rowid > ?1 AND ?2 = 0", row: "rowid = ?1 AND ?2 = 0"}

// sealed is the condition that a row has a value.
func (c *sealedColumn) sealed() string { return "x." + c.column + " IS NOT NULL" }

// sealedColumns lists all of them. A column that is missing here would be lost when the
// master key is changed; a test compares the list with the schema.
var sealedColumns = []sealedColumn{
	sealedBy("blueprint_contents", "sealed_variables", "x.blueprint_id, x.version, ''", func(p [3]string) string { return variablesPlace(p[0], p[1]) }),
	sealedBy("triggers", "sealed_config", "x.id, '', ''", byID(configPlace)),
	sealedBy("firings", "sealed_reason", "x.id, '', ''", byID(reasonPlace)),
	sealedBy("firings", "sealed_body_hash", "x.id, '', ''", byID(bodyHashPlace)),
	sealedBy("firings", "sealed_delivery", "x.id, '', ''", byID(deliveryPlace)),
	sealedBy("files", "sealed_head", "x.id, '', ''", byID(filePlace)),
	sealedBy("connections", "sealed_config", "x.id, x.type, "+connectionOwner, func(p [3]string) string { return connectionPlace(p[0], p[1], p[2]) }),
	sealedBy("connection_tokens", "sealed_token", "x.connection_id, x.user_id, ''", func(p [3]string) string { return tokenPlace(p[0], p[1]) }),
	sealedBy("sign_ins", "sealed_secret", "lower(hex(x.state_hash)), x.connection_id || '/' || x.user_id, "+signInPromise,
		func(p [3]string) string { return signInPlace(p[0], p[1], p[2]) }),
	sealedBy("events", "sealed_data", "x.key, '', ''", byID(eventPlace)),
	{
		table: "executions", column: "record", parts: "x.id, '', ''", place: byID(secret.RecordPlace), rowKey: byRowid,
		sum: func(_, _ int64, p [3]string) string { return recordPlace(p[0]) },
	},
	{
		table: "executions", column: "state", parts: "x.id, '', ''", place: byID(secret.StatePlace), rowKey: byRowid,
		sum: func(_, _ int64, p [3]string) string { return statePlace(p[0]) },
	},
	{
		table: "journal", column: "entry",
		parts: "coalesce((SELECT e.id FROM executions e WHERE e.seq = x.execution), ''), '', ''", place: byID(secret.JournalPlace),
		rowKey: rowKey{first: "x.execution", second: "x.position", order: "(x.execution, x.position) > (?1, ?2)", row: "execution = ?1 AND position = ?2"},
		sum:    func(first, second int64, _ [3]string) string { return entryPlace(first, second) },
	},
}

// sealedBy returns a column without a checksum.
func sealedBy(table, column, parts string, place func(parts [3]string) string) sealedColumn {
	return sealedColumn{table: table, column: column, parts: parts, place: place, rowKey: byRowid}
}

// byID returns the place of a value that is bound to an id alone.
func byID(place func(id string) string) func(parts [3]string) string {
	return func(parts [3]string) string { return place(parts[0]) }
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
