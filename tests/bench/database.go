package main

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite", the same that the server uses
)

// openDatabase opens a database of the server, or one like it, with settings of
// the driver.
func openDatabase(path string, settings ...string) (*sql.DB, error) {
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	return sql.Open("sqlite", name.String()+"?_busy_timeout=5000&"+strings.Join(settings, "&"))
}

// size returns the number of used bytes of a database, including its write-ahead log.
func size(ctx context.Context, path string) (bytes int64, err error) {
	db, err := openDatabase(path, "_query_only=1")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	const query = "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
	err = db.QueryRowContext(ctx, query).Scan(&bytes)
	return bytes, err
}

// column returns the first column of a query's rows, as strings.
func column(ctx context.Context, path, query string, args ...any) (list []string, err error) {
	db, err := openDatabase(path, "_query_only=1")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}

// stored is a row as stored in a table.
type stored struct {
	columns []string
	values  []any
}

// at returns the position of a column, which must exist.
func (s stored) at(column string) int {
	i := slices.Index(s.columns, column)
	if i < 0 {
		panic("the schema has no column " + column)
	}
	return i
}

// readRow returns the row that a query finds.
func readRow(ctx context.Context, db *sql.DB, query string, args ...any) (s stored, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return s, err
	}
	defer rows.Close()
	if s.columns, err = rows.Columns(); err != nil {
		return s, err
	}
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return s, err
		}
		return s, sql.ErrNoRows
	}
	s.values = make([]any, len(s.columns))
	into := make([]any, len(s.columns))
	for i := range s.values {
		into[i] = &s.values[i]
	}
	return s, rows.Scan(into...)
}

// length returns the bytes of content in a row: SQLite stores a number in at most 8 bytes,
// a time in 6.
func (s stored) length() (n int) {
	for _, value := range s.values {
		switch v := value.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		case int64:
			n += 6
		}
	}
	return n
}
