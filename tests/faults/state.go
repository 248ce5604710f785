package main

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"blueprintd/tests/process"

	_ "modernc.org/sqlite" // the driver of the database
)

const pageSize = 100

// pages reads a list page by page.
func (c *api) pages(procedure string, path string, visit func(any)) error {
	for offset := 0; ; offset += pageSize {
		a := c.query(procedure, object{"limit": pageSize, "offset": offset})
		if !a.OK() {
			return fmt.Errorf("%s: %s", procedure, a)
		}
		page, _ := process.At(a.Value, path).([]any)
		for _, row := range page {
			visit(row)
		}
		if len(page) < pageSize {
			return nil
		}
	}
}

// state lists everything that the server has, once every run has ended or waits for a user.
func (c *api) state(b *expectations) (map[resource]string, error) {
	found := map[resource]string{}
	err := c.pages("blueprint.list", "data", func(row any) {
		name, _ := process.At(row, "title").(string)
		found[resource{"blueprint", name}] = blueprintState(row)
	})
	if err != nil {
		return nil, err
	}
	keys := c.query("apiKey.list", object{})
	if !keys.OK() {
		return nil, fmt.Errorf("apiKey.list: %s", keys)
	}
	rows, _ := keys.Value.([]any)
	for _, row := range rows {
		name, _ := process.At(row, "name").(string)
		state := "active"
		if process.At(row, "revokedAt") != nil {
			state = "revoked"
		}
		found[resource{"key", name}] = state
	}
	delete(found, resource{"key", firstKey})
	if b.shared.main != "" {
		triggers := c.query("blueprintTriggers.list", object{"blueprintId": b.shared.main})
		if !triggers.OK() {
			return nil, fmt.Errorf("blueprintTriggers.list: %s", triggers)
		}
		rows, _ := triggers.Value.([]any)
		for _, row := range rows {
			name, _ := process.At(row, "config", "label").(string)
			found[resource{"trigger", name}] = "active"
		}
	}
	return found, c.findRuns(found)
}

// blueprintState returns which of its known contents a blueprint has. A mixture of
// two matches neither.
func blueprintState(row any) string {
	description, _ := process.At(row, "description").(string)
	nodes, _ := process.At(row, "blueprint_map", "nodes").([]any)
	version, _ := process.At(row, "version").(string)
	switch title, _ := process.At(row, "title").(string); {
	case description == "first" && len(nodes) == 1 && version == "1.0.0", description == "second" && len(nodes) == 2 && version == "1.1.0", title == description:
		return description
	case title == sampleTitle:
		return "there"
	}
	return fmt.Sprintf("incomplete: %q, %d nodes, version %s", description, len(nodes), version)
}

const (
	sampleTitle = "Hello, webhook"
	firstKey    = "first key"
	maxWait     = 5 * time.Second
)

// findRuns waits for the unfinished runs and adds all runs.
func (c *api) findRuns(found map[resource]string) error {
	type run struct{ id, status string }
	var runs []run
	err := c.pages("execution.listRecentExecutions", "logs", func(row any) {
		id, _ := process.At(row, "executionData", "executionId").(string)
		status, _ := process.At(row, "status").(string)
		if steps, _ := process.At(row, "executionData", "steps").([]any); len(steps) > 0 && process.At(steps[0], "input", "marker") != nil && status == completed {
			last := steps[len(steps)-1]
			marker, _ := process.At(steps[0], "input", "marker").(string)
			if text := process.At(last, "output", "text"); text != "done "+marker {
				status = fmt.Sprintf("completed with %v", text)
			}
			c.add(found, marker, status)
			return
		}
		runs = append(runs, run{id, status})
	})
	if err != nil {
		return err
	}
	for _, r := range runs {
		marker, status, err := c.awaitRest(r.id)
		if err != nil {
			return err
		}
		c.add(found, marker, status)
	}
	return nil
}

func (c *api) add(found map[resource]string, marker, status string) {
	t := resource{"run", marker}
	if other, twice := found[t]; twice {
		status = "stored twice, " + other + " and " + status
	}
	found[t] = status
}

// awaitRest waits until a run has ended or waits for a user.
func (c *api) awaitRest(id string) (marker, status string, err error) {
	for end := now().Add(maxWait); ; time.Sleep(5 * time.Millisecond) {
		a := c.query("execution.getExecutionStatus", object{"executionId": id})
		if !a.OK() {
			return "", "", fmt.Errorf("getExecutionStatus: %s", a)
		}
		steps, _ := process.At(a.Value, "steps").([]any)
		for _, step := range steps {
			if text, _ := process.At(step, "input", "marker").(string); text != "" {
				marker = text
			}
		}
		status = a.Text("status")
		if status == paused || status == completed || status == cancelled {
			return marker, status, nil
		}
		if now().After(end) {
			return marker, "stuck: " + strings.TrimSpace(string(a.Body)), nil
		}
	}
}

// checkDatabase checks the database in a folder with SQLite, read-only and without the server,
// which is under test.
func checkDatabase(folder string) (wrong []string, err error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, "blueprintd.db")+"?mode=ro")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var result string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&result); err != nil {
		return nil, err
	}
	if result != "ok" {
		wrong = append(wrong, "integrity_check: "+result)
	}
	rows, err := db.Query("SELECT \"table\", rowid, parent FROM pragma_foreign_key_check")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var table, parent string
		var row sql.NullInt64
		if err := rows.Scan(&table, &row, &parent); err != nil {
			return nil, err
		}
		wrong = append(wrong, fmt.Sprintf("foreign_key_check: row %d of %s has no %s", row.Int64, table, parent))
	}
	return wrong, rows.Err()
}
