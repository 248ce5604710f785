package store

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"blueprintd/blueprint"
)

// content opens the database and looks into it, again when somebody else
// changed it meanwhile.
func (d *diagnosis) content() {
	before := len(d.list)
	_ = steadily(d.ctx, d.path, func() error {
		d.list = d.list[:before]
		d.contentOnce()
		for _, f := range d.list[before:] {
			if f.Health == Broken {
				return errUnsteady
			}
		}
		return nil
	})
}

var errUnsteady = errors.New("something is broken, if nobody changes it")

func (d *diagnosis) contentOnce() {
	err := look(d.ctx, d.path, func(q *session, whole bool) error {
		if !whole {
			d.add("log", Dubious, "start the server once, which reads the log", "the write-ahead log has no index, so what it holds was not looked at")
		}
		blank, err := marks(q)
		if err != nil {
			return err
		}
		if blank {
			d.add("form", Dubious, "start blueprintd serve, which makes it a database", "it is an SQLite database with nothing in it")
			return nil
		}
		if err := compareSchema(d.ctx, q.conn, d.options.Schema); err != nil {
			return err
		}
		d.add("form", Fine, "", "a database of blueprintd, form %d", schemaVersion)
		if whole && size(d.path+"-wal") > 0 {
			if err := sameOrigin(d.ctx, q, d.path); err != nil {
				d.add("log", Broken, hintOf(err, ""), "%s", messageOf(err))
			}
		}
		d.integrity(q)
		d.runs(q)
		d.key(q)
		d.clock(q)
		return nil
	})
	if resultCode(err)&0xff == sqliteNotADB {
		err = foreign("it is not an SQLite database")
	}
	if err != nil {
		err = unopened(err)
		d.add("form", Broken, hintOf(err, "restore a backup with blueprintd restore"), "%s", messageOf(err))
	}
}

// integrity lets SQLite look for damage.
func (d *diagnosis) integrity(q *session) {
	checks := []string{"PRAGMA quick_check(5)"}
	if d.full {
		checks = []string{"PRAGMA integrity_check(5)", "PRAGMA foreign_key_check"}
	}
	var found []string
	for _, check := range checks {
		err := q.each(check, nil, func(scan func(...any) error) error {
			var text string
			if check != "PRAGMA foreign_key_check" {
				err := scan(&text)
				if text != "ok" {
					found = append(found, strings.ReplaceAll(text, "\n", "; "))
				}
				return err
			}
			var row, parent, key any
			err := scan(&text, &row, &parent, &key)
			if len(found) < 5 {
				found = append(found, fmt.Sprintf("row %v of %s refers to a row of %v that is not there", row, text, parent))
			}
			return err
		})
		if err != nil {
			found = append(found, err.Error())
		}
	}
	switch {
	case len(found) > 0:
		d.add("integrity", Broken, "restore a backup with blueprintd restore", "the database is damaged: %s", strings.Join(found, "; "))
	case d.full:
		d.add("integrity", Fine, "", "every page, index and reference is sound")
	default:
		d.add("integrity", Fine, "", "the pages are sound; --full checks indexes and references too")
	}
}

// runs compares what runs left behind with its checksums.
func (d *diagnosis) runs(q *session) {
	if !d.full {
		return
	}
	switch damaged, err := contents(q); {
	case err != nil:
		d.add("runs", Broken, "restore a backup with blueprintd restore", "what is stored of the runs cannot all be read: %s", err)
	case damaged.Count > 0:
		d.add("runs", Broken, "restore a backup with blueprintd restore; what else is stored can be used, and blueprintd backup --allow-damaged copies it as it is",
			"the content of %d runs is not what was stored: %s", damaged.Count, &damaged)
	default:
		d.add("runs", Fine, "", "what runs left behind is what was stored")
	}
}

// key looks whether the master key is the one that the database is used with.
func (d *diagnosis) key(q *session) {
	options := d.options
	options.Server = true
	_, err := options.keyFits(q)
	var refused *blueprint.Error
	switch {
	case errors.As(err, &refused) && options.Sealer == nil:
		d.add("master key", Broken, "restore the key file from your backup, or name it with --master-key-file", "the master key is missing, and secrets of the database are encrypted with it")
	case err != nil:
		d.add("master key", Broken, hintOf(err, "restore the key file from your backup"), "%s", messageOf(err))
	case options.Sealer == nil:
		d.add("master key", Dubious, "restore the key file from your backup, or start the server, which makes a new one", "there is no master key; nothing is encrypted with one yet")
	default:
		d.add("master key", Fine, "", "it fits the database")
	}
}

// clock looks whether the clock stands behind what was stored already.
func (d *diagnosis) clock(q *session) {
	const newest = `SELECT max(
		coalesce((SELECT created_at FROM executions ORDER BY seq DESC LIMIT 1), 0),
		coalesce((SELECT received_at FROM firings ORDER BY seq DESC LIMIT 1), 0),
		coalesce((SELECT created_at FROM blueprints ORDER BY seq DESC LIMIT 1), 0),
		(SELECT created_at FROM meta WHERE id = 1))`
	var at int64
	if err := q.row(newest, nil, &at); err != nil {
		d.add("clock", Broken, "restore a backup with blueprintd restore", "the newest row cannot be read: %s", err)
		return
	}
	now, last := d.options.Clock.Now(), blueprint.Time(at).Time()
	if behind := last.Sub(now); behind > time.Minute {
		d.add("clock", Broken, "set the clock of the machine; what is stored as of later will not be run again until then",
			"the clock shows %s, but the newest row is of %s: %s later", blueprint.TimeOf(now), blueprint.TimeOf(last), behind.Round(time.Second))
		return
	}
	d.add("clock", Fine, "", "%s, after the newest row", blueprint.TimeOf(now))
}

// messageOf and hintOf give what an error tells people.
func messageOf(err error) string {
	var known *blueprint.Error
	if errors.As(err, &known) {
		return known.Message
	}
	return err.Error()
}

func hintOf(err error, otherwise string) string {
	var known *blueprint.Error
	if errors.As(err, &known) && known.Hint != "" {
		return known.Hint
	}
	return otherwise
}
