package main

import (
	"database/sql"

	"blueprintd/tests/process"
)

// content is the state of the targets of audit lines in the database, by kind and id.
type content struct {
	exists   map[string]map[string]bool // by id: whether it is not deleted; deleting a blueprint deletes its triggers
	versions map[string]map[string]bool // of each blueprint, but the first
	names    map[string]string          // of connections
	active   map[string]bool            // of triggers
}

// readContent reads the content of a database.
func readContent(db *sql.DB) (content, error) {
	c := content{map[string]map[string]bool{}, map[string]map[string]bool{}, map[string]string{}, map[string]bool{}}
	for kind, query := range map[string]string{
		"blueprint":  "SELECT id, deleted_at IS NULL, '' FROM blueprints",
		"trigger":    "SELECT t.id, t.deleted_at IS NULL OR t.deleted_at IS b.deleted_at, t.is_active FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id",
		"connection": "SELECT id, 1, name FROM connections",
		"key":        "SELECT id, revoked_at IS NULL, '' FROM api_keys WHERE name <> 'first key'",
		"session":    "SELECT id, 1, '' FROM sessions",
		"execution":  "SELECT id, 1, '' FROM executions",
		"firing":     "SELECT id, 1, '' FROM firings",
		"user":       "SELECT id, 1, '' FROM users",
	} {
		rows, err := queryText(db, query)
		if err != nil {
			return c, err
		}
		c.exists[kind] = map[string]bool{}
		for _, row := range rows {
			switch c.exists[kind][row[0]] = row[1] == "1"; kind {
			case "connection":
				c.names[row[0]] = row[2]
			case "trigger":
				c.active[row[0]] = row[2] == "1"
			}
		}
	}
	rows, err := queryText(db, "SELECT blueprint_id, version FROM blueprint_versions WHERE seq > 1")
	for _, row := range rows {
		if c.versions[row[0]] == nil {
			c.versions[row[0]] = map[string]bool{}
		}
		c.versions[row[0]][row[1]] = true
	}
	return c, err
}

// createActions and deleteActions are the actions that create and delete a target of each kind.
var (
	createActions = map[string]string{"blueprint.create": "blueprint", "blueprintTriggers.create": "trigger", "connection.create": "connection", "apiKey.create": "key", "session.create": "session", "session.setup": "session"}
	deleteActions = map[string]string{"blueprint.delete": "blueprint", "blueprintTriggers.delete": "trigger", "connection.delete": "connection", "apiKey.revoke": "key", "session.delete": "session", "session.revoke": "session"}
)

// checkContent compares the lines of the audit log, newest first, with the database: each
// creation, change and deletion has its lines, acknowledged or not, and each line was
// carried out.
func (h *history) checkContent(m *changeLog, lines []line, stored content) {
	type thing struct{ kind, id string }
	made, ended, acknowledged := map[thing]int{}, map[thing]int{}, map[thing]bool{}
	versions, names, active := map[string]map[string]bool{}, map[string]string{}, map[string]any{}
	for _, d := range m.all {
		if d.acknowledged {
			acknowledged[thing{auditLines[d.action].kind, d.target}] = true
		}
	}
	for _, l := range lines {
		detail := func(key string) string { text, _ := process.At(l.detail, key).(string); return text }
		of := thing{l.kind, l.target}
		if createActions[l.action] == l.kind {
			made[of]++
		}
		if deleteActions[l.action] == l.kind {
			ended[of]++
		}
		switch l.action {
		case "blueprint.update":
			if versions[l.target] == nil {
				versions[l.target] = map[string]bool{}
			}
			if versions[l.target][detail("version")] || !stored.versions[l.target][detail("version")] {
				h.violated("I17", "", "the audit log says that blueprint %s became version %q, which does not exist or is logged twice", l.target, detail("version"))
			}
			versions[l.target][detail("version")] = true
		case "connection.update", "connection.create":
			next, known := names[l.target]
			if stands, there := stored.names[l.target]; !known && there {
				next, known = stands, true
			}
			if known && detail("name") != next {
				h.violated("I17", "", "the audit log says that connection %s became %q, but the next line or the database has %q", l.target, detail("name"), next)
			}
			if names[l.target] = detail("name"); detail("nameBefore") != "" {
				names[l.target] = detail("nameBefore")
			}
		case "blueprintTriggers.update":
			is := process.At(l.detail, "isActive")
			if next, known := active[l.target]; is != nil && !known && is != stored.active[l.target] || is != nil && known && is != next {
				h.violated("I17", "", "the audit log says that trigger %s changed to active: %v, but the next line or the database differs", l.target, is)
			}
			if is != nil {
				active[l.target] = process.At(l.detail, "isActiveBefore")
			}
		}
	}
	for _, l := range lines {
		of := thing{l.kind, l.target}
		if _, there := stored.exists[l.kind][l.target]; !there && !acknowledged[of] && made[of] == 0 {
			h.violated("I17", "", "the audit log has a line for %s (%s) of %s %s, which does not exist and was never acknowledged", l.action, l.via, l.kind, l.target)
		}
	}
	for _, kind := range createActions {
		for id, stays := range stored.exists[kind] {
			of := thing{kind, id}
			if made[of] != 1 {
				h.violated("I17", "", "the %s %s exists, but the audit log has %d lines for its creation", kind, id, made[of])
			}
			if want := map[bool]int{false: 1}[stays]; ended[of] != want {
				h.violated("I17", "", "the %s %s exists (deleted: %v), but the audit log has %d lines for its deletion", kind, id, !stays, ended[of])
			}
		}
	}
	for of, n := range made {
		if _, there := stored.exists[of.kind][of.id]; !there && of.kind != "session" && ended[of] != 1 { // sessions end in many ways
			h.violated("I17", "", "the audit log has %d lines for the creation of %s %s and %d for its deletion, but it does not exist", n, of.kind, of.id, ended[of])
		}
	}
	for id, all := range stored.versions {
		for version := range all {
			if !versions[id][version] {
				h.violated("I17", "", "blueprint %s has version %s, but the audit log has no line for it", id, version)
			}
		}
	}
}
