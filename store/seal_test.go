package store

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// plainBlobs are the columns that hold bytes which are not encrypted.
var plainBlobs = []string{
	"meta.key_check",      // tells keys apart
	"api_keys.hash",       // SHA-256
	"sessions.hash",       // SHA-256
	"setup_links.hash",    // SHA-256
	"sign_ins.state_hash", // SHA-256
}

// TestSealedColumns keeps the list of what is encrypted whole: every column that
// can hold bytes is in it, or is named above.
func TestSealedColumns(t *testing.T) {
	s := open(t, testOptions(t))
	known := map[string]bool{}
	for _, c := range sealedColumns {
		known[c.table+"."+c.column] = true
	}
	found := map[string]bool{}
	const columns = `SELECT t.name || '.' || c.name, c.type FROM sqlite_schema t, pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`
	check(t, s.read(context.Background(), func(q *session) error {
		return q.each(columns, nil, func(scan func(...any) error) error {
			var name, kind string
			if err := scan(&name, &kind); err != nil {
				return err
			}
			found[name] = true
			_, column, _ := strings.Cut(name, ".")
			switch mustSeal := strings.HasPrefix(column, "sealed"); {
			case known[name] && slices.Contains(plainBlobs, name):
				t.Errorf("%s is in both lists", name)
			case !known[name] && (mustSeal || kind != "INTEGER" && kind != "TEXT" && kind != "REAL" && !slices.Contains(plainBlobs, name)):
				t.Errorf("%s can hold what is encrypted, and would be lost when the master key is changed: add it to sealedColumns", name)
			}
			return nil
		})
	}))
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(known)), plainBlobs) {
		if !found[name] {
			t.Errorf("there is no column %s", name)
		}
	}
}

// sealedWorld is a database with something in every sealed column, several
// times more than is looked up at once in some.
func sealedWorld(t *testing.T) (options Options, look func(s *Store) map[string]string) {
	ctx := context.Background()
	options = testOptions(t)
	s := must(Open(ctx, options))(t)
	ann := user(t, s, "ann")
	variables := []any{map[string]any{"name": "v", "secret": true, "default": "canary of a variable"}}
	b := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", Map: oneNode("set"), Variables: variables}))(t)
	hook := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, map[string]any{"secret": "canary of a trigger"}))(t)
	must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, map[string]any{}))(t)
	c := connection(t, s, ann, "")
	check(t, s.SaveToken(ctx, c.ID, ann.UserID, []byte("canary of a token"), nil))
	check(t, s.BeginSignIn(ctx, signIn(c.ID, ann, 1)))
	ended := finished(s, b, ann, nil)
	ended.Record = options.Sealer.Seal([]byte("canary of a record"), secret.RecordPlace(ended.Row.ID))
	ended.State = options.Sealer.Seal([]byte("canary of a state"), secret.StatePlace(ended.Row.ID))
	must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerEvent, map[string]any{"event": "custom.x"}))(t)
	ended.Events = []blueprint.Event{{Name: "custom.x", OrganizationID: ended.Row.OrganizationID, BlueprintID: b.ID, ExecutionID: ended.Row.ID, Data: "canary of an event"}}
	check(t, s.Commit(ctx, ended))
	going := &blueprint.JournalCommit{Row: row(s, b, ann), New: true}
	for range 2*resealedAtOnce + 1 {
		going.Entries = append(going.Entries, options.Sealer.Seal([]byte("canary of a journal"), secret.JournalPlace(going.Row.ID)))
	}
	check(t, s.Commit(ctx, going))
	came := firing(s, hook, "k")
	came.SetReason(blueprint.MessageReason(blueprint.ReasonMessage, "canary of a reason"))
	came.Delivery = &blueprint.Delivery{Body: []byte("canary of a delivery"), Size: 20}
	came.Files = []blueprint.File{{ID: s.options.IDs.ULID(start), Name: "canary of a file", ContentType: "text/plain"}}
	came.BodyHash = "of a body"
	check(t, s.RecordFirings(ctx, hook.ID, []blueprint.Firing{came}, 0))
	check(t, s.Close())
	return options, func(s *Store) map[string]string {
		t.Helper()
		got := map[string]string{}
		unsealed := func(data []byte, place string) string { return string(must(s.unsealed(data, place))(t)) }
		got["variable"] = must(s.GetBlueprint(ctx, ann, b.ID))(t).EnvironmentVariables[0].(map[string]any)["default"].(string)
		got["trigger"] = must(s.GetTrigger(ctx, ann, hook.ID))(t).Config["secret"].(string)
		got["connection"] = must(s.ConnectionForUse(ctx, blueprint.Authority{PrincipalID: ann.UserID}, c.ID))(t).Config["botToken"].(string)
		got["token"] = string(must(s.Token(ctx, c.ID, ann.UserID))(t))
		got["sign-in"] = string(must(s.FindSignIn(ctx, signIn(c.ID, ann, 1).StateHash))(t).Secret)
		got["record"] = unsealed(must(s.Load(ctx, ended.Row.ID))(t).Record, secret.RecordPlace(ended.Row.ID))
		got["event"] = must(s.Events(ctx, 0, 9))(t)[0].Data.(string)
		got["state"] = unsealed(must(s.Load(ctx, ended.Row.ID))(t).State, secret.StatePlace(ended.Row.ID))
		got["reason"] = must(s.Firing(ctx, ann, came.ID))(t).Reason
		file, _, err := s.File(ctx, ann, came.Files[0].ID)
		check(t, err)
		got["file"] = file.Name
		got["delivery"] = string(must(s.FiringWithDelivery(ctx, ann, came.ID))(t).Delivery.Body)
		entries := map[string]int{}
		for _, entry := range must(s.Load(ctx, going.Row.ID))(t).Entries {
			entries[unsealed(entry, secret.JournalPlace(going.Row.ID))]++
		}
		if want := 2*resealedAtOnce + 1; len(entries) != 1 || entries["canary of a journal"] != want {
			t.Errorf("the journal has %v, want length 1 and canary of a journal %v", entries, want)
		}
		return got
	}
}

// sealedContent is what look finds.
var sealedContent = map[string]string{
	"variable": "canary of a variable", "trigger": "canary of a trigger", "connection": "canary-of-slack",
	"token": "canary of a token", "sign-in": "\x01", "state": "canary of a state",
	"delivery": "canary of a delivery", "record": "canary of a record", "event": "canary of an event",
	"reason": "canary of a reason", "file": "canary of a file",
}

func TestChangeKey(t *testing.T) {
	ctx := context.Background()
	options, look := sealedWorld(t)
	before := sealedValues(t, options)
	next := options
	next.Sealer = sealer(t, 2)
	s := must(OpenToChangeKey(ctx, options))(t)
	var stages []string
	report := must(s.ChangeKey(ctx, next.Sealer, ChangeKeyOptions{Progress: func(stage string, done, total int64) {
		if done > total {
			t.Errorf("%s: %d of %d, want at most %v", stage, done, total, total)
		}
		stages = append(stages, stage)
	}}))(t)
	if want := int64(12 + 2*resealedAtOnce + 1); report.Values != want || report.Damaged != 0 || !slices.Contains(stages, "encrypting journal") {
		t.Errorf("report %+v, want %d values; stages %q", report, want, stages)
	}
	check(t, s.Close())
	_, err := Open(ctx, options)
	if !OtherKey(err) {
		t.Errorf("with the old key: %v", err)
	}
	if diff := cmp.Diff(sealedContent, look(open(t, next))); diff != "" {
		t.Error(diff)
	}
	after := sealedValues(t, options)
	for _, value := range before {
		if slices.ContainsFunc(after, func(other []byte) bool { return bytes.Equal(other, value) }) {
			t.Fatal("a value was left as it was")
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d values are encrypted, and %d were", len(after), len(before))
	}
}

// sealedValues returns all that is encrypted, read past the store. There must be
// something in each of the columns.
func sealedValues(t *testing.T, options Options) (values [][]byte) {
	t.Helper()
	check(t, withDatabase(context.Background(), options.Path, nil, func(q *session) error {
		for _, c := range sealedColumns {
			known := len(values)
			err := q.each("SELECT "+c.column+" FROM "+c.table+" x WHERE "+c.sealed(), nil, func(scan func(...any) error) error {
				var value []byte
				err := scan(&value)
				values = append(values, value)
				return err
			})
			if err != nil {
				return err
			}
			if len(values) == known {
				t.Errorf("nothing is encrypted in %s.%s, want something", c.table, c.column)
			}
		}
		return nil
	}))
	return values
}

func TestChangeKeyRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	options, look := sealedWorld(t)
	next := sealer(t, 2)
	other := options
	other.Sealer = sealer(t, 3)
	if _, err := OpenToChangeKey(ctx, other); !OtherKey(err) {
		t.Errorf("with a wrong key: %v", err)
	}
	server := must(Open(ctx, options))(t)
	_, err := OpenToChangeKey(ctx, options)
	wantCode(t, err, blueprint.CodeConflict)
	if !strings.Contains(err.Error(), "another server has the database open") {
		t.Errorf("%v, want \"another server has the database open\" in it", err)
	}
	check(t, server.Close())
	tool := options
	tool.Server = false
	s := must(Open(ctx, tool))(t)
	if _, err := s.ChangeKey(ctx, next, ChangeKeyOptions{}); err == nil {
		t.Error("a tool may change the key, want an error")
	}
	check(t, s.Close())
	// A commit that fails, and one that is called off, change nothing.
	for name, spoil := range map[string]func(s *Store) context.Context{
		"commit": func(s *Store) context.Context {
			s.writer.beforeCommit = func() error { return errors.New("cut off") }
			return ctx
		},
		"interrupted": func(*Store) context.Context {
			ended, end := context.WithCancel(ctx)
			end()
			return ended
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := must(OpenToChangeKey(ctx, options))(t)
			if _, err := s.ChangeKey(spoil(s), next, ChangeKeyOptions{}); err == nil {
				t.Error("the key was changed, want an error")
			}
			check(t, s.Close())
			s = must(Open(ctx, options))(t)
			if diff := cmp.Diff(sealedContent, look(s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			check(t, s.Close())
		})
	}
}

// TestChangeKeyBesideTool lets a tool that was opened before the key was changed
// write after it.
func TestChangeKeyBesideTool(t *testing.T) {
	ctx := context.Background()
	options, _ := sealedWorld(t)
	old := options
	old.Server = false
	tool := open(t, old)
	s := must(OpenToChangeKey(ctx, options))(t)
	must(s.ChangeKey(ctx, sealer(t, 2), ChangeKeyOptions{}))(t)
	check(t, s.Close())
	_, err := tool.CreateUser(ctx, "bob@example.com", "bob")
	wantCode(t, err, blueprint.CodeConflict)
	if err == nil || !strings.Contains(err.Error(), "master key was changed") {
		t.Errorf("%v, want an error and \"master key was changed\" in it", err)
	}
}

func TestChangeKeyOfDamaged(t *testing.T) {
	ctx := context.Background()
	options, _ := sealedWorld(t)
	check(t, withDatabase(ctx, options.Path, nil, func(q *session) error {
		_, err := q.exec("UPDATE executions SET state = CAST(state || x'00' AS BLOB)")
		return err
	}))
	s := must(OpenToChangeKey(ctx, options))(t)
	_, err := s.ChangeKey(ctx, sealer(t, 2), ChangeKeyOptions{})
	wantCode(t, err, blueprint.CodeConflict)
	check(t, s.Close())
	s = must(OpenToChangeKey(ctx, options))(t)
	report := must(s.ChangeKey(ctx, sealer(t, 2), ChangeKeyOptions{AllowDamaged: true}))(t)
	if report.Damaged != 1 || len(report.DamagedPlaces) != 1 || !strings.HasPrefix(report.DamagedPlaces[0], "executions/exec_") {
		t.Errorf("report %+v, want Damaged 1, length 1 and \"executions/exec_\" at the start", report)
	}
	check(t, s.Close())
	options.Sealer = sealer(t, 2)
	found := func() (rows int) {
		check(t, open(t, options).read(ctx, func(q *session) error {
			return q.row("SELECT count(*) FROM executions WHERE state IS NOT NULL", nil, &rows)
		}))
		return rows
	}
	if found() != 1 {
		t.Error("what was damaged is gone")
	}
}
