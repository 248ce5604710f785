package postgres

import (
	"context"
	"database/sql"
	"regexp"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Copy inserts rows into a table with COPY and returns their number. next returns the next
// row, or nil after the last one; it may reuse the row.
func Copy(ctx context.Context, conn *sql.Conn, table string, columns []string, next func() ([]any, error)) (rows int64, err error) {
	source := pgx.CopyFromFunc(func() ([]any, error) {
		row, err := next()
		return Arguments(row), err
	})
	err = conn.Raw(func(driverConn any) error {
		rows, err = driverConn.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{table}, columns, source)
		return err
	})
	return rows, err
}

var createTable = regexp.MustCompile(`(?m)^CREATE (?:UNLOGGED )?TABLE (\w+)`)

// Tables returns the names of all tables of a translated schema.
func Tables(schema string) (names []string) {
	for _, match := range createTable.FindAllStringSubmatch(schema, -1) {
		names = append(names, match[1])
	}
	return names
}
