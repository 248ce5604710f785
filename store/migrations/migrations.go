// Package migrations holds the steps that upgrade a database from one schema version to the
// next: one SQL file for each version, NNNN_what_it_does.sql, where NNNN is the version
// that the step leads to. Package store runs all steps that a database needs in one transaction
// when a server starts, with foreign_keys = OFF and legacy_alter_table = ON, and
// commits it only if the tables are then exactly those of schema.sql.
//
// A table is rebuilt by renaming the old one, creating the new one with the text of
// schema.sql, copying the rows and dropping the old one. Its indexes and triggers go
// with the old one and are created again. Rows are copied with INSERT OR FAIL: after a
// plain INSERT that fails the rows before it are removed, for which SQLite keeps each page
// of the dropped tables that it uses again in memory.
//
// Every table that exists before and after must have as many rows as before. A step
// that removes or adds rows names their tables in a line of its own:
//
//	-- changes the rows of: firings, firing_counts
package migrations

import (
	"embed"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Step is one step.
type Step struct {
	Version int    // the schema version that it leads to, from the one before
	Name    string // what it does, in words separated by underscores
	SQL     string
	// Changed are the tables whose number of rows may change.
	Changed []string
}

//go:embed *.sql
var files embed.FS

var (
	fileName    = regexp.MustCompile(`^([0-9]{4})_([a-z0-9_]+)\.sql$`)
	changedRows = regexp.MustCompile(`(?m)^-- changes the rows of: (.*)$`)
)

// Steps returns all steps, ordered by version.
func Steps() []Step { return steps() }

var steps = sync.OnceValue(func() (list []Step) {
	entries, _ := files.ReadDir(".") // sorted
	for _, entry := range entries {
		parts := fileName.FindStringSubmatch(entry.Name())
		if parts == nil {
			continue
		}
		text, _ := files.ReadFile(entry.Name())
		version, _ := strconv.Atoi(parts[1])
		list = append(list, New(version, parts[2], string(text)))
	}
	return list
})

// New returns the step with a text.
func New(version int, name, sql string) Step {
	step := Step{Version: version, Name: name, SQL: sql}
	for _, line := range changedRows.FindAllStringSubmatch(sql, -1) {
		for table := range strings.SplitSeq(line[1], ",") {
			step.Changed = append(step.Changed, strings.TrimSpace(table))
		}
	}
	return step
}
