package postgres

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"
)

// register makes the arguments of statements mean what they do in SQLite: a bool is a
// number for a column of numbers, and text may contain any bytes.
func register(m *pgtype.Map) {
	for oid, name := range map[uint32]string{pgtype.Int2OID: "int2", pgtype.Int4OID: "int4", pgtype.Int8OID: "int8"} {
		codec, _ := m.TypeForOID(oid)
		m.RegisterType(&pgtype.Type{Name: name, OID: oid, Codec: numberCodec{codec.Codec}})
	}
	for oid, name := range map[uint32]string{pgtype.TextOID: "text", pgtype.VarcharOID: "varchar"} {
		codec, _ := m.TypeForOID(oid)
		m.RegisterType(&pgtype.Type{Name: name, OID: oid, Codec: textCodec{codec.Codec}})
	}
}

// numberCodec also encodes bools, as 0 and 1.
type numberCodec struct{ pgtype.Codec }

func (c numberCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(bool); ok {
		if next := c.Codec.PlanEncode(m, oid, format, int64(0)); next != nil {
			return encodeBool{next}
		}
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

type encodeBool struct{ next pgtype.EncodePlan }

func (e encodeBool) Encode(value any, into []byte) ([]byte, error) {
	number := int64(0)
	if value.(bool) {
		number = 1
	}
	return e.next.Encode(number, into)
}

// Arguments escapes the texts among the arguments of a statement; see escape. The driver
// sends them without asking a codec.
func Arguments(args []any) []any {
	copied := false
	for i, arg := range args {
		text, ok := arg.(string)
		if !ok || isPlain(text) {
			continue
		}
		if !copied {
			args, copied = slices.Clone(args), true
		}
		args[i] = escape(text)
	}
	return args
}

// Columns returns the columns of rows as arrays for unnest. types has a letter for each: t
// for text, n for numbers, b for bytes.
func Columns(types string, rows [][]any) []any {
	columns := make([]any, len(types))
	for i := range types {
		switch types[i] {
		case 't':
			columns[i] = column(rows, i, func(value any) *string {
				text, ok := value.(string)
				if given, isPointer := value.(*string); isPointer && given != nil {
					text, ok = *given, true
				}
				if !ok {
					return nil
				}
				text = escape(text)
				return &text
			})
		case 'n':
			columns[i] = column(rows, i, func(value any) *int64 {
				if number, ok := value.(int64); ok {
					return &number
				}
				return nil
			})
		default:
			columns[i] = column(rows, i, func(value any) []byte {
				data, _ := value.([]byte)
				return data
			})
		}
	}
	return columns
}

func column[T any](rows [][]any, i int, convert func(any) T) []T {
	list := make([]T, len(rows))
	for n, row := range rows {
		list[n] = convert(row[i])
	}
	return list
}

// textCodec escapes what text in PostgreSQL cannot contain; see escape.
type textCodec struct{ pgtype.Codec }

func (c textCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.([]byte); ok {
		return encodeBytes{}
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

type encodeBytes struct{}

func (encodeBytes) Encode(value any, into []byte) ([]byte, error) {
	text := value.([]byte)
	if text == nil {
		return nil, nil
	}
	return append(into, escape(string(text))...), nil
}

// Restore reverses escape for the texts that a row was read into. Bytes stay as they are.
func Restore(into []any) error {
	for _, target := range into {
		text, ok := target.(*string)
		if !ok {
			value := reflect.ValueOf(target).Elem()
			if value.Kind() == reflect.Pointer && !value.IsNil() {
				value = value.Elem()
			}
			if value.Kind() != reflect.String || strings.IndexByte(value.String(), escaper) < 0 {
				continue
			}
			plain, err := unescape(value.String())
			if err != nil {
				return err
			}
			value.SetString(plain)
			continue
		}
		plain, err := unescape(*text)
		if err != nil {
			return err
		}
		*text = plain
	}
	return nil
}

// The escape character, and what may follow it. Code points below it are only NUL, so that
// escaped text keeps its order, and a part of a text remains a part of the escaped text.
const (
	escaper     = '\x01'
	escapedNUL  = '\x01'
	escapedSelf = '\x02'
	escapedByte = '\x03' // two hexadecimal digits follow: a byte that is not part of UTF-8
)

// isPlain reports whether a text is the same when it is escaped.
func isPlain(text string) bool {
	return !strings.ContainsAny(text, "\x00\x01") && utf8.ValidString(text)
}

// escape returns text without NUL and bytes that are not UTF-8, which PostgreSQL refuses
// in text. Text that has neither, nor the escape character, is unchanged.
func escape(text string) string {
	if isPlain(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(string(escaper) + string(escapedByte) + hex.EncodeToString([]byte{text[i]}))
		case r == 0:
			b.WriteString(string(escaper) + string(escapedNUL))
		case r == escaper:
			b.WriteString(string(escaper) + string(escapedSelf))
		default:
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

// unescape reverses escape.
func unescape(stored string) (string, error) {
	at := strings.IndexByte(stored, escaper)
	if at < 0 {
		return stored, nil
	}
	var b strings.Builder
	for at >= 0 {
		b.WriteString(stored[:at])
		rest := stored[at+1:]
		switch {
		case strings.HasPrefix(rest, string(escapedNUL)):
			b.WriteByte(0)
			stored = rest[1:]
		case strings.HasPrefix(rest, string(escapedSelf)):
			b.WriteByte(escaper)
			stored = rest[1:]
		case strings.HasPrefix(rest, string(escapedByte)) && len(rest) >= 3:
			value, err := hex.DecodeString(rest[1:3])
			if err != nil {
				return "", fmt.Errorf("text with a damaged escape sequence: %w", err)
			}
			b.Write(value)
			stored = rest[3:]
		default:
			return "", fmt.Errorf("text with an unknown escape sequence")
		}
		at = strings.IndexByte(stored, escaper)
	}
	b.WriteString(stored)
	return b.String(), nil
}
