package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"blueprintd/tests/process"
)

// accounts is the audit log and the hourly counts as the drained server returned them.
type accounts struct {
	lines             []line
	organizationLines []line          // of them, those of the dashboard user's organization
	hours             map[hour]ends   // by blueprint and organization
	asked             map[string]bool // hours that were returned
}

// fetchAccounts reads the audit log and the hourly counts, after the last change.
func (s *scenario) fetchAccounts(ctx context.Context) {
	s.accounts.hours, s.accounts.asked = map[hour]ends{}, map[string]bool{}
	s.fetchAccountsAs(func(procedure string, input object) answer { return s.api.Query(ctx, procedure, input) }, "")
	if s.dashboardUser != nil {
		ask := func(procedure string, input object) answer { return s.dashboardUser.ask(ctx, procedure, input) }
		s.fetchAccountsAs(ask, s.dashboardUser.organization)
	}
}

// fetchAccountsAs reads the audit log and the counts that a user and one of the user's
// organizations may see.
func (s *scenario) fetchAccountsAs(ask func(procedure string, input object) answer, organization string) {
	list := func(input object) answer { return ask("auditLog.list", input) }
	s.accounts.lines = append(s.accounts.lines, s.history.lines(list, "")...)
	if organization != "" {
		s.accounts.organizationLines = s.history.lines(list, organization)
		for _, l := range s.accounts.organizationLines {
			if l.actor == "" { // the command line has no account to read its own entries
				s.accounts.lines = append(s.accounts.lines, l)
			}
		}
	}
	organizations, _ := ask("organization.list", object{}).Value.([]any)
	for _, one := range organizations {
		id, _ := process.At(one, "id").(string)
		s.fetchHours(ask, "organizationId", id)
	}
	for page, n := 1, 100; n == 100; page++ {
		data, _ := process.At(ask("blueprint.list", object{"limit": 100, "page": page}).Value, "data").([]any)
		n = len(data)
		for _, one := range data {
			id, _ := process.At(one, "id").(string)
			s.fetchHours(ask, "blueprintId", id)
		}
	}
}

// checkAccounts compares the accounts with the database, once the server has stopped.
func (s *scenario) checkAccounts() error {
	db, err := sql.Open("sqlite", "file:"+s.database()+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	if err := s.checkHours(db); err != nil {
		return err
	}
	users, err := queryText(db, "SELECT id, email FROM users")
	if err != nil {
		return err
	}
	names := map[string]string{"": ""}
	for _, row := range users {
		names[row[0]], _, _ = strings.Cut(row[1], "@")
	}
	s.history.checkLines(s.api.changes, s.accounts.lines, names)
	stored, err := readContent(db)
	if err != nil {
		return err
	}
	s.history.checkContent(s.api.changes, s.accounts.lines, stored)
	// The lines that can be read must be exactly the lines in the database.
	organization := ""
	if s.dashboardUser != nil {
		organization = s.dashboardUser.organization
	}
	for _, c := range []struct {
		of    string
		lines []line
		query string
	}{
		{"all", s.accounts.lines, "SELECT id, '' FROM audit_log WHERE ?1 = ?1"},
		{"the dashboard user's organization", s.accounts.organizationLines, "SELECT id, '' FROM audit_log WHERE organization_id = ? AND organization_id <> ''"},
	} {
		rows, err := queryText(db, c.query, organization)
		if err != nil {
			return err
		}
		var there, read []string
		for _, row := range rows {
			there = append(there, row[0])
		}
		for _, l := range c.lines {
			read = append(read, l.id)
		}
		slices.Sort(there)
		if slices.Sort(read); !slices.Equal(there, read) {
			s.history.violated("I17", "", "of %s the audit log has %d lines, and %d could be read: %s", c.of, len(there), len(read), difference(there, read))
		}
	}
	return nil
}

// difference returns examples of what only one of two sorted lists contains.
func difference(a, b []string) string {
	var only []string
	for _, pair := range [][2][]string{{a, b}, {b, a}} {
		for _, one := range pair[0] {
			if _, both := slices.BinarySearch(pair[1], one); !both && len(only) < 5 {
				only = append(only, one)
			}
		}
	}
	return fmt.Sprint(only)
}

// queryText reads rows as text; NULL becomes "".
func queryText(db *sql.DB, query string, args ...any) (all [][]string, err error) {
	rows, err := db.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		row, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		all = append(all, texts(row))
	}
	return all, rows.Err()
}
