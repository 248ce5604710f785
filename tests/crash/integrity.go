package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver of the database
)

// checkDatabase checks the database file with SQLite, read-only and without the server,
// which is under test. It must not contain a readable secret.
func (s *scenario) checkDatabase() error {
	for _, part := range []string{"", "-wal"} {
		data, err := os.ReadFile(s.database() + part)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		s.history.checkSecrets("", "the file "+filepath.Base(s.database()+part), string(data))
	}
	db, err := sql.Open("sqlite", "file:"+s.database()+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	for _, check := range []string{"PRAGMA integrity_check", "PRAGMA foreign_key_check"} {
		rows, err := db.Query(check)
		if err != nil {
			return err
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		for rows.Next() {
			row := make([]sql.NullString, len(columns))
			into := make([]any, len(columns))
			for i := range row {
				into[i] = &row[i]
			}
			if err := rows.Scan(into...); err != nil {
				return err
			}
			if row[0].String != "ok" {
				s.history.violated("I9", "", "%s: %s", check, strings.Trim(strings.Join(texts(row), " "), " "))
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	return nil
}

func texts(row []sql.NullString) []string {
	var all []string
	for _, cell := range row {
		all = append(all, cell.String)
	}
	return all
}
