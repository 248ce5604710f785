package api

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// The tests of bad input, bad_input_*_test.go, send invalid input to every endpoint: each
// gets the specified response, nothing in the database changes, and the next valid call
// works.

// victim is a server on a file with rows in every table.
type victim struct {
	*servertest.Server
	sql                            *sql.DB
	blueprint, run                 string
	manual, webhook, signed, api   string
	scheduled, otherKey, workspace string
}

// newVictim returns a victim. Its clock stands still, so that nothing happens by itself.
func newVictim(t *testing.T, change ...func(*server.Options)) *victim {
	t.Helper()
	path := filepath.Join(t.TempDir(), "victim.db")
	s := servertest.New(t, append([]func(*server.Options){servertest.OnFile(path), servertest.AtNoon}, change...)...)
	v := &victim{Server: s, workspace: s.Root.WorkspaceID}
	v.blueprint = s.Root.Blueprint(t, "victim", node("a", "set", object{"values": object{"x": 1}}))
	v.run = s.Root.IDOf(t, "blueprint.execute", object{"id": v.blueprint})
	trigger := func(kind string, config object) string {
		return s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": v.blueprint, "triggerType": kind, "config": config})
	}
	v.manual, v.api, v.webhook = trigger("manual", object{}), trigger("api", object{}), trigger("webhook", object{})
	v.signed, v.scheduled = trigger("webhook", object{"secret": "victims-secret"}), trigger("scheduled", object{"cron": "0 0 1 1 *"})
	v.otherKey = s.Root.IDOf(t, "apiKey.create", object{"name": "other"})
	var err error
	if v.sql, err = sql.Open("sqlite", "file:"+path+"?mode=ro"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.sql.Close() })
	v.Advance(t, "0s")
	return v
}

// restless are the rows that bad input may change: when a key was last used, and refused
// deliveries.
var restless = map[string]string{
	"api_keys": "SELECT id, user_id, name, hash, revoked_at FROM api_keys",
	"firings":  "SELECT * FROM firings WHERE decision <> 'refused'",
	"meta":     "SELECT id, epoch, generation FROM meta",
}

// not part of the fingerprint: counts of restless rows
var uncounted = []string{"firing_counts"}

// fingerprint hashes every row of every table.
func (v *victim) fingerprint(t *testing.T) string {
	t.Helper()
	tables := v.column(t, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
	if len(tables) < 12 {
		t.Fatalf("only the tables %q are there, want length at least 12", tables)
	}
	hash := sha256.New()
	for _, table := range tables {
		if slices.Contains(uncounted, table) {
			continue
		}
		query := restless[table]
		if query == "" {
			query = "SELECT * FROM " + table
		}
		rows := v.column(t, query)
		slices.Sort(rows)
		fmt.Fprintf(hash, "%s %d %q\n", table, len(rows), rows)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// column returns the rows of a query, each as text.
func (v *victim) column(t *testing.T, query string) (list []string) {
	t.Helper()
	rows, err := v.sql.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, pointers := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := rows.Scan(pointers...); err != nil {
			t.Fatal(err)
		}
		if len(values) == 1 {
			list = append(list, fmt.Sprint(values[0]))
		} else {
			list = append(list, fmt.Sprintf("%q", values))
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// unharmed runs a function that sends bad input, and checks that it changed nothing and
// that the server works.
func (v *victim) unharmed(t *testing.T, attack func()) {
	t.Helper()
	before := v.fingerprint(t)
	attack()
	v.Advance(t, "0s") // drains runs that should not have been started
	if after := v.fingerprint(t); after != before {
		t.Errorf("the database was changed: %v, want %v", after, before)
	}
	v.Root.OK(t, "blueprint.get", object{"id": v.blueprint})
	if answer := v.Root.Send(t, http.MethodGet, "/readyz", ""); answer.Status != http.StatusOK {
		t.Errorf("afterwards it is %d %s, want %v", answer.Status, answer.Text, http.StatusOK)
	}
}

// badText is a text that is not a valid input of any procedure.
type badText struct {
	name, text, wants string // the message contains wants
	large             bool   // too large for a URL
}

func badTexts() []badText {
	return []badText{
		{"half of it", `{"json":{"title":"x"`, "JSON ends unexpectedly", false},
		{"no JSON", `{"json":}`, "JSON is malformed", false},
		{"two values", `{"json":{}} {}`, "JSON is followed by more text", false},
		{"a NUL byte", "{\"json\":{\"title\":\"\x00\"}}", "JSON is malformed", false},
		{"a NUL byte behind it", "{\"json\":{}}\x00", "JSON is followed by more text", false},
		{"invalid UTF-8", "{\"json\":{\"title\":\"\xff\"}}", "not valid UTF-8", false},
		{"half a character", "{\"json\":{\"title\":\"\xc3\"}}", "not valid UTF-8", false},
		{"UTF-16", "\xff\xfe{\x00}\x00", "not valid UTF-8", false},
		{"compressed", "\x1f\x8b\x08\x00\x00\x00\x00\x00", "not valid UTF-8", false},
		{"129 levels", strings.Repeat("[", 129) + strings.Repeat("]", 129), "nested deeper than 128 levels", false},
		{"5,000 levels", strings.Repeat(`[`, 5_000), "nested deeper than 128 levels", false},
		{"100,000 levels", strings.Repeat(`{"a":`, 100_000), "nested deeper than 128 levels", true},
		{"a list", `{"json":[{"id":"x"}]}`, "input: must be an object", false},
		{"a text", `{"json":"x"}`, "input: must be an object", false},
		{"null", `{"json":null}`, "input: must be an object", false},
		{"5,000 digits", `{"json":` + strings.Repeat("1", 5_000) + `}`, "input: must be an object", false},
		{"1,000,000 digits", `{"json":-0.` + strings.Repeat("7", 1_000_000) + `e-999999999}`, "input: must be an object", true},
		{"an unknown annotation", `{"json":{},"meta":{"values":{"a":["nonsense"]},"v":1}}`, "meta holds an unknown kind of value", false},
		{"an annotation of a prototype", `{"json":{"a":{}},"meta":{"values":{"a.__proto__.x":["Date"]},"v":1}}`, "meta holds __proto__ in a path", false},
		{"an annotation of a constructor", `{"json":{"a":{}},"meta":{"values":{"constructor.prototype":["Date"]},"v":1}}`, "meta holds constructor in a path", false},
		{"an annotation that is a text", `{"json":{"a":{}},"meta":{"values":{"a":"Date"},"v":1}}`, "meta holds a string where a list is expected", false},
	}
}

// TestBadTexts sends each bad text to each procedure, alone and in a batch.
func TestBadTexts(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	for name, kind := range v.Kinds {
		t.Run(name, func(t *testing.T) {
			v.unharmed(t, func() {
				for _, bad := range badTexts() {
					if bad.large && kind != trpc.KindMutation {
						continue
					}
					v.sendBadText(t, name, kind, bad)
				}
			})
		})
	}
}

func (v *victim) sendBadText(t *testing.T, name string, kind trpc.Kind, bad badText) {
	t.Helper()
	post := kind == trpc.KindMutation
	send := func(path, query, text string) servertest.Reply {
		if post {
			return v.Root.Send(t, http.MethodPost, "/api/trpc/"+path+"?"+query, text)
		}
		return v.Root.Send(t, http.MethodGet, "/api/trpc/"+path+"?"+query+"&input="+url.QueryEscape(text), "")
	}
	answer := send(name, "", bad.text)
	if kind == trpc.KindSubscription {
		answer.EndOfStream(t)
	}
	wellRefused(t, name+": "+bad.name, answer.Value, answer.Status, blueprint.CodeBadRequest, name, bad.wants)
	if answer.Header.Get("Retry-After") != "" || len(answer.Text) > 4096 {
		t.Errorf("%s: %s: %d bytes, Retry-After %q; want nothing and at most 4096", name, bad.name, len(answer.Text), answer.Header.Get("Retry-After"))
	}
	if kind == trpc.KindSubscription {
		return
	}
	whole := bad.text // a text that is not JSON fails the batch, an envelope its call
	if _, err := blueprint.Decode([]byte(bad.text)); err == nil {
		whole = `{"0":` + bad.text + `,"1":` + bad.text + `}`
	}
	answer = send(name+","+name, "batch=1", whole)
	list, _ := answer.Value.([]any)
	if answer.Status != http.StatusBadRequest || len(list) != 2 {
		t.Fatalf("%s: %s in a batch: %d %.500s, want %v and length 2", name, bad.name, answer.Status, answer.Text, http.StatusBadRequest)
	}
	wellRefused(t, name+": "+bad.name+" in a batch", list[1], answer.Status, blueprint.CodeBadRequest, name, bad.wants)
}

// wellRefused checks one error response.
func wellRefused(t *testing.T, what string, value any, status int, code blueprint.Code, path, wants string) {
	t.Helper()
	message, _ := at(value, "error.json.message").(string)
	want := []any{code.HTTPStatus(), string(code), fmt.Sprint(code.Number()), fmt.Sprint(code.HTTPStatus())}
	got := []any{status, at(value, "error.json.data.code"), fmt.Sprint(at(value, "error.json.code")), fmt.Sprint(at(value, "error.json.data.httpStatus"))}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: status, code, number and status in the body (-want +got):\n%s%.600s", what, diff, fmt.Sprint(value))
	}
	if got := at(value, "error.json.data.path"); got != path && path != "" {
		t.Errorf("%s: path %v, want %s", what, got, path)
	}
	if !strings.Contains(message, wants) {
		t.Errorf("%s: message %.600q, want %q in it", what, message, wants)
	}
}
