package api

import (
	"database/sql"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/servertest"
)

// target is the subject of a cell: a blueprint with all that belongs to it.
type target struct {
	kind         string
	owner        servertest.Caller
	runner       servertest.Caller // the caller of its runs
	blueprint    string
	organization string
	webhook, api string                       // triggers
	firing       string                       // of api
	run          string                       // finished
	human        string                       // paused
	approval     string                       // paused
	key          string                       // of the owner
	connection   string                       // of the organization
	private      string                       // connection of the owner
	category     string                       // of the organization
	guests       map[string]servertest.Caller // by column: a user whom this principal may add
	people       map[string]servertest.Caller // by column
	marks        []string
	secrets      []string
}

// nodes is the map of a target; its output is requested by inputData, or a text.
func (x *target) nodes() []any {
	if len(x.marks) == 0 {
		return []any{node("mark", "template", object{"text": "x"})}
	}
	return []any{
		node("choose", "switch", object{"value": `{{inputData.ask ?? "nothing"}}`, "cases": []any{
			object{"equals": "human", "handle": "human"}, object{"equals": "approval", "handle": "approval"},
		}}),
		node("human", "human", object{"prompt": x.marks[2]}),
		node("approval", "approval-gate", object{"prompt": x.marks[2]}),
		node("mark", "template", object{"text": x.marks[3]}),
	}
}

func (x *target) edges() []any {
	edge := func(to, handle string) object {
		return object{"source": "choose", "target": to, "sourceHandle": handle}
	}
	return []any{edge("human", "human"), edge("approval", "approval"), edge("mark", "default")}
}

// world is a server with all principals of the matrix.
type world struct {
	*servertest.Server
	people  map[string]servertest.Caller
	guests  map[string]servertest.Caller
	team    string // the organization
	made    int
	sql     *sql.DB // another connection, for reading what is stored
	version int64   // of the data, as last read by the other connection
}

func newWorld(t *testing.T) *world {
	path := t.TempDir() + "/blueprintd.db"
	w := &world{Server: servertest.New(t, servertest.AtNoon, servertest.OnFile(path)), people: map[string]servertest.Caller{}, guests: map[string]servertest.Caller{}}
	for _, name := range columns {
		w.people[name] = w.NewUser(t, name)
	}
	for _, name := range columns {
		w.guests[name] = w.NewUser(t, guestOf(name))
	}
	w.keyless()
	for scope, name := range limited {
		made, err := w.Store.CreateLimitedKey(t.Context(), blueprint.NewAPIKey{UserID: w.people["creator"].ID, Name: name, Key: "key-of-the-creator-for-" + name, Scopes: blueprint.KeyScopes{scope}})
		w.must(t, err)
		w.people[name] = servertest.Caller{Server: w.Server, User: w.people["creator"].User, Authorization: "Bearer key-of-the-creator-for-" + made.Name}
	}
	made, err := w.Store.CreateOrganization(t.Context(), blueprint.Principal{UserID: w.people["o.owner"].ID}, "mark-of-the-team")
	if err != nil {
		t.Fatal(err)
	}
	w.team = made.ID
	for name, role := range map[string]blueprint.OrganizationRole{"creator": "member", "member": "member", "o.admin": "admin", "former": "admin"} {
		w.must(t, w.Store.SetMember(t.Context(), w.team, w.people[name].ID, role))
	}
	w.people["former"].OK(t, "organization.removeMember", object{"organizationId": w.team, "userId": w.people["former"].ID})
	revoked := w.people["revoked"]
	key, err := w.Store.CreateKey(t.Context(), w.people["creator"].ID, "revoked", strings.TrimPrefix(revoked.Authorization, "Bearer "))
	w.must(t, err)
	w.must(t, w.Store.RevokeKeyByID(t.Context(), key.ID))
	if w.sql, err = sql.Open("sqlite", "file:"+path+"?mode=ro"); err != nil {
		t.Fatal(err)
	}
	w.sql.SetMaxOpenConns(1)
	t.Cleanup(func() { w.sql.Close() })
	return w
}

// keyless adds the principals without a valid key.
func (w *world) keyless() {
	creators := strings.TrimPrefix(w.people["creator"].Authorization, "Bearer ")
	for name, authorization := range map[string]string{
		"no key": "", "malformed key": creators, "unknown key": "Bearer " + creators + "x", "revoked": "Bearer key-of-the-creator-that-was-revoked",
	} {
		w.people[name] = servertest.Caller{Server: w.Server, Authorization: authorization}
	}
}

// limited are keys of the creator with a single scope.
var limited = map[blueprint.KeyScope]string{blueprint.ScopeRead: "reading", blueprint.ScopeRun: "running", blueprint.ScopeWrite: "writing"}

// beyond lists the limited keys that a row must refuse, whatever its target.
func (w *world) beyond(row *row) (names []string) {
	needed := routeScopes[row.name]
	if row.path == nil {
		needed = w.Scopes[row.name]
	}
	for scope, name := range limited {
		if needed != scope && needed != blueprint.ScopeRead {
			names = append(names, name)
		}
	}
	return names
}

var keyless = []string{"no key", "malformed key", "unknown key", "revoked"}

func (*world) must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// target creates a new target of a kind.
func (w *world) target(t *testing.T, kind string) *target {
	t.Helper()
	x := &target{kind: kind, guests: w.guests, people: w.people}
	switch kind {
	case "none":
		return x
	case "unknown":
		id := w.IDs.UUID()
		now := w.Options.Clock.Now()
		x.blueprint, x.webhook, x.api, x.organization = id, id, id, id
		x.run = w.IDs.ExecutionID(now)
		x.human, x.approval, x.key, x.connection, x.private = x.run, x.run, w.IDs.ULID(now), id, id
		x.firing, x.category = x.key, id
		return x
	case "malformed":
		const id = "no-id-at-all"
		x.blueprint, x.webhook, x.api, x.organization, x.run, x.human, x.approval, x.key, x.connection, x.private = id, id, id, id, id, id, id, id, id, id
		x.firing, x.category = id, id
		return x
	}
	w.Advance(t, "1s") // make it newer than all others
	w.made++
	mark := func(of string) string { return fmt.Sprintf("canary-%s-%d-%s", kind, w.made, of) }
	x.marks = []string{mark("title"), mark("description"), mark("prompt"), mark("output"), mark("tag"), "mark-of-the-team"}
	x.secrets = []string{mark("token"), mark("hook"), mark("bearer")}
	x.owner, x.organization = w.people["creator"], w.team
	if kind == "theirs" {
		x.owner, x.organization = w.people["stranger"], w.people["stranger"].WorkspaceID
	}
	x.blueprint = x.owner.IDOf(t, "blueprint.create", object{
		"title": x.marks[0], "description": x.marks[1], "tags": []any{x.marks[4]}, "organization_id": x.organization,
		"blueprint_map":         object{"nodes": x.nodes(), "edges": x.edges()},
		"environment_variables": []any{object{"name": "token", "secret": true, "default": x.secrets[0]}},
	})
	w.share(t, x)
	create := func(kind string, config object) string {
		return x.owner.IDOf(t, "blueprintTriggers.create", object{"blueprintId": x.blueprint, "triggerType": kind, "config": config})
	}
	x.webhook = create("webhook", object{"secret": x.secrets[1]})
	x.api = create("api", object{"label": x.marks[0]})
	x.firing = at(x.owner.OK(t, "blueprintTriggers.fire", object{"triggerId": x.api}), "firingId").(string)
	x.runner = x.owner
	if kind == "viewed" {
		x.runner = w.people["viewer"]
	}
	run := func(ask string) string {
		return x.runner.IDOf(t, "execution.executeBlueprintWithLogging", object{
			"nodes": x.nodes(), "options": object{"blueprintId": x.blueprint, "inputData": object{"ask": ask}},
		})
	}
	x.run, x.human, x.approval = run("nothing"), run("human"), run("approval")
	key, err := w.Store.CreateKey(t.Context(), x.owner.ID, mark("key"), mark("key itself"))
	w.must(t, err)
	x.key = key.ID
	x.connection = x.owner.IDOf(t, "connection.create", connectionOf(x, x.organization))
	x.private = x.owner.IDOf(t, "connection.create", connectionOf(x, ""))
	category, err := w.Store.CreateCategory(t.Context(), blueprint.Principal{UserID: x.owner.ID}, x.organization, mark("category"))
	w.must(t, err)
	x.category = category.ID
	if kind == "deleted" {
		x.owner.OK(t, "blueprint.delete", object{"id": x.blueprint})
		x.owner.OK(t, "connection.delete", object{"id": x.connection})
		x.owner.OK(t, "connection.delete", object{"id": x.private})
	}
	w.Advance(t, "0s")
	return x
}

// connectionOf returns a connection to create that leads nowhere, with one of the secrets
// of a target; without an organization it belongs to its creator.
func connectionOf(x *target, organization string) object {
	secret, title := "of no parent", "made"
	if len(x.secrets) > 0 {
		secret, title = x.secrets[2], x.marks[0]
	}
	made := object{"name": title, "type": "http", "config": object{"auth": object{"type": "bearer", "token": secret}, "hosts": []any{"127.0.0.1:1"}}}
	if organization != "" {
		made["organizationId"] = organization
	}
	return made
}

// share assigns each user of the matrix their role in a blueprint of the team.
func (w *world) share(t *testing.T, x *target) {
	if x.kind == "theirs" {
		return
	}
	for name, role := range map[string]blueprint.CollaboratorRole{"editor": "editor", "c.admin": "admin", "former": "admin"} {
		x.owner.OK(t, "collaborator.add", object{"blueprintId": x.blueprint, "email": w.people[name].Email, "role": role})
	}
	x.owner.OK(t, "collaborator.remove", object{"blueprintId": x.blueprint, "userId": w.people["former"].ID})
	if x.kind == "public" || x.kind == "viewed" {
		x.owner.OK(t, "blueprint.update", object{"id": x.blueprint, "visibility": "public"})
	}
}

// changed reports whether anything was committed since the last call.
func (w *world) changed(t *testing.T) bool {
	t.Helper()
	before := w.version
	w.must(t, w.sql.QueryRow("PRAGMA data_version").Scan(&w.version))
	return w.version != before
}

// difference returns the rows that a call changed, except for the times when keys were
// used. Call it after changed returned true: the server records such times once a minute.
func (w *world) difference(t *testing.T, call func()) string {
	t.Helper()
	was := strings.Split(w.dumped(t), "\n")
	call()
	is := strings.Split(w.dumped(t), "\n")
	w.changed(t)
	gone := slices.DeleteFunc(slices.Clone(was), func(row string) bool { return slices.Contains(is, row) })
	come := slices.DeleteFunc(is, func(row string) bool { return slices.Contains(was, row) })
	if len(gone)+len(come) == 0 {
		return ""
	}
	return fmt.Sprintf("rows before %.2000q\nrows after %.2000q", gone, come)
}

// dumped writes every row of every table as a line.
func (w *world) dumped(t *testing.T) string {
	var tables []string
	w.rows(t, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name", func(values []any) {
		tables = append(tables, fmt.Sprint(values[0]))
	})
	var text strings.Builder
	for _, table := range tables {
		columns := "*"
		if table == "api_keys" {
			columns = "id, user_id, name, hash, last4, created_at, revoked_at"
		}
		w.rows(t, "SELECT "+columns+" FROM "+table+" ORDER BY 1, 2", func(values []any) {
			fmt.Fprintf(&text, "%s %q\n", table, values)
		})
	}
	return text.String()
}

func (w *world) rows(t *testing.T, query string, visit func(values []any)) {
	t.Helper()
	rows, err := w.sql.Query(query)
	w.must(t, err)
	defer rows.Close()
	names, err := rows.Columns()
	w.must(t, err)
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		w.must(t, rows.Scan(into...))
		visit(values)
	}
	w.must(t, rows.Err())
}

// TestAuthorizationMatrix calls every procedure as every principal on every target.
// A refused call must change nothing and reveal nothing; a query must change nothing
// either.
func TestAuthorizationMatrix(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cells := 0
	shared := map[string]*target{}
	rows := map[string]bool{}
	for _, row := range slices.Concat(matrix, accountRows) {
		rows[row.name] = true
		if _, known := w.Kinds[row.name]; !known && row.path == nil {
			t.Errorf("the matrix has a row for %s, which is no procedure", row.name)
			continue
		}
		t.Run(strings.TrimSpace(row.name+" "+row.how), func(t *testing.T) {
			for _, kind := range slices.Sorted(maps.Keys(row.grid)) {
				line := []rune(strings.ReplaceAll(row.grid[kind], " ", ""))
				if len(line) != len(columns) {
					t.Fatalf("%s: %d letters for %d columns", kind, len(line), len(columns))
				}
				if shared[kind] == nil || row.fresh {
					shared[kind] = w.target(t, kind)
				}
				x := shared[kind]
				w.changed(t)
				for _, name := range keyless {
					cells++
					w.cell(t, &row, x, name, 'u')
				}
				for _, name := range w.beyond(&row) {
					cells++
					w.cell(t, &row, x, name, 'f')
				}
				for i, name := range columns {
					cells++
					if w.cell(t, &row, x, name, line[i]); row.spoils && statuses[line[i]] == 0 {
						shared[kind] = w.target(t, kind)
						x = shared[kind]
						w.changed(t)
					}
				}
			}
		})
	}
	for name := range w.Kinds {
		if !rows[name] {
			t.Errorf("%s has no row in the matrix", name)
		}
	}
	t.Logf("%d cells", cells)
}

// cell makes one call and checks it against its letter; 'u' is for 401.
func (w *world) cell(t *testing.T, row *row, x *target, name string, letter rune) {
	t.Helper()
	p, where := w.people[name], x.kind+" by "+name
	call := func() servertest.Reply {
		if row.path == nil {
			return p.Call(t, row.name, row.input(x, name))
		}
		method, _, _ := strings.Cut(row.name, " ")
		return p.Send(t, method, row.path(x), servertest.Encoded(t, row.input(x, name)))
	}
	since := w.lastLine(t)
	answer := call()
	status, refused := statuses[letter]
	switch {
	case letter == 'u':
		status, refused = http.StatusUnauthorized, true
	case !refused && row.name == "POST /v1/triggers/{triggerId}/fire":
		status = http.StatusAccepted
	case !refused:
		status = http.StatusOK
	}
	if answer.Status != status {
		t.Errorf("%s: %d %s, want %d", where, answer.Status, answer.Text, status)
	}
	var wrong string
	if refused {
		wrong = refusedWrongly(x, answer)
	} else {
		wrong = doneWrongly(row, x, letter, answer)
	}
	if wrong != "" {
		t.Errorf("%s (%c): %s\n%s", where, letter, wrong, answer.Text)
	}
	if !refused && row.changes(w.Kinds) {
		w.Advance(t, "0s")
		if !w.changed(t) {
			t.Errorf("%s: nothing has changed, so that refusals prove nothing", where)
		}
	}
	if wrong := w.lineOf(t, row, p, since, servertest.Encoded(t, row.input(x, name)), answer.Text); !refused && wrong != "" {
		t.Errorf("%s: %s", where, wrong)
	}
	if !refused && row.changes(w.Kinds) {
		return
	}
	if w.changed(t) {
		if change := w.difference(t, func() { call() }); change != "" {
			t.Errorf("%s: something has changed\n%s", where, change)
		}
	}
}

// refusedWrongly checks a refusal: its form, and what it reveals.
func refusedWrongly(x *target, answer servertest.Reply) string {
	for _, mark := range slices.Concat(x.marks, x.secrets, []string{"@example.org", "key-of-", "sqlite", "goroutine"}) {
		if strings.Contains(answer.Text, mark) {
			return fmt.Sprintf("reveals %q", mark)
		}
	}
	code := answer.Code()
	if code == "" {
		code, _ = at(answer.Value, "error.code").(string)
	}
	if want := blueprint.Code(code).HTTPStatus(); want != answer.Status {
		return fmt.Sprintf("the code %q does not stand for %d", code, answer.Status)
	}
	return ""
}

// doneWrongly checks a success for what it must and must not contain.
func doneWrongly(row *row, x *target, letter rune, answer servertest.Reply) string {
	for _, secret := range x.secrets {
		if strings.Contains(answer.Text, secret) && letter != 's' {
			return "a secret is in the answer"
		}
	}
	shown := slices.ContainsFunc(x.secrets, func(secret string) bool { return strings.Contains(answer.Text, secret) })
	hidden := strings.Contains(answer.Text, `"default":null`) || strings.Contains(answer.Text, `"secret":null`) || strings.Contains(answer.Text, `"token":null`)
	of := slices.ContainsFunc([]string{x.run, x.key, x.connection, x.private}, func(id string) bool { return strings.Contains(answer.Text, `"`+id+`"`) })
	named := slices.ContainsFunc(x.marks, func(mark string) bool { return strings.Contains(answer.Text, mark) })
	missing := at(answer.Payload(), "status") == "not_found"
	switch {
	case letter == 's' && (!shown || hidden):
		return "the secrets are not in the answer"
	case letter == 'r' && (!hidden || !named):
		return "the secrets are not null in the answer"
	case strings.ContainsRune("xo", letter) && !of:
		return "it is not in the list"
	case letter == 't' && !named:
		return "it is not named in the list"
	case letter == '-' && (of || named):
		return "it is in the list"
	case (letter == '?') != missing:
		return fmt.Sprintf("the status is %v", at(answer.Payload(), "status"))
	case letter == '?' && named:
		return "reveals something that does not exist"
	}
	if letter == 'o' {
		runs, _ := at(answer.Payload(), "logs").([]any)
		if runs == nil {
			runs, _ = at(answer.Payload(), "runs").([]any)
		}
		for _, run := range runs {
			if at(run, "userId") != x.runner.ID {
				return "somebody else's run is in the list"
			}
		}
	}
	return ""
}
