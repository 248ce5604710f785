package api

import (
	"database/sql"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"blueprintd/rpc/trpc"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// TestCapabilities reads everything that a viewer of a public blueprint, a user who left
// its organization, and a stranger can read. Each value found is then used at every public
// endpoint and in every procedure: nothing may run as the owner, change the owner's data,
// or reveal more.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, servertest.OnFile(t.TempDir()+"/blueprintd.db"), func(o *server.Options) { o.RateLimit = 0 })
	owner := s.NewUser(t, "owner")
	readers := map[string]*reader{}
	for _, name := range []string{"viewer", "former", "stranger"} {
		readers[name] = &reader{Caller: s.NewUser(t, name), found: map[string]bool{}, read: map[string]bool{}}
	}
	w := &world{Server: s}
	var err error
	if w.sql, err = sql.Open("sqlite", "file:"+s.Options.DB+"?mode=ro"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.sql.Close() })
	team := owner.IDOf(t, "organization.create", object{"name": "Team"})
	add := func(name, role string) {
		owner.OK(t, "organization.addMember", object{"organizationId": team, "email": name + "@example.org", "role": role})
	}
	add("former", "admin")

	// The public blueprint and a private one, each with everything that an owner can have.
	const canary = "canary-of-the-owner"
	secrets := []string{canary, "owner@example.org"}
	var public string
	for _, visibility := range []string{"public", "private"} {
		mark := canary + "-" + visibility
		title := "Public"
		if visibility == "private" {
			title = mark
		}
		nodes := []any{node("say", "template", object{"text": "{{inputData.x ?? \"nothing\"}}"}), node("gate", "approval-gate", object{"prompt": "go on?"})}
		id := owner.IDOf(t, "blueprint.create", object{
			"title": title, "organization_id": team, "status": "published", "blueprint_map": object{"nodes": nodes},
			"environment_variables": []any{object{"name": "token", "secret": true, "default": mark}},
		})
		for kind, config := range map[string]object{
			"webhook": {"respond": "wait"}, "slack": {"signingSecret": mark}, "email": {}, "api": {"label": mark}, "manual": {},
			"event": {"event": "custom.x"}, "scheduled": {"cron": "0 0 1 1 *"},
		} {
			made := owner.OK(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": kind, "config": config})
			secrets = append(secrets, at(made, "id").(string))
			if address, ok := at(made, "config.address").(string); ok {
				secrets = append(secrets, address)
			}
		}
		signed := owner.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"secret": mark}})
		fired := owner.OK(t, "blueprintTriggers.fire", object{"triggerId": signed, "inputData": object{"x": mark}})
		run := owner.IDOf(t, "blueprint.execute", object{"id": id, "inputData": object{"x": mark}})
		for _, organization := range []string{team, ""} {
			secrets = append(secrets, owner.IDOf(t, "connection.create", connectionOf(&target{marks: []string{mark}, secrets: []string{"", "", mark}}, organization)))
		}
		secrets = append(secrets, signed, at(fired, "executionId").(string), at(fired, "firingId").(string), run)
		if visibility == "private" {
			secrets = append(secrets, id)
		} else {
			public = id
			owner.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
		}
	}
	former := readers["former"]
	left := former.IDOf(t, "blueprint.create", object{"title": "Left behind", "organization_id": team, "blueprint_map": object{"nodes": []any{node("a", "template", object{"text": "x"})}}})
	former.IDOf(t, "blueprintTriggers.create", object{"blueprintId": left, "triggerType": "webhook"}) // they know its address, which no longer works
	former.OK(t, "organization.removeMember", object{"organizationId": team, "userId": former.ID})
	readers["viewer"].OK(t, "blueprint.execute", object{"id": public})
	s.Advance(t, "0s")

	for _, name := range slices.Sorted(maps.Keys(readers)) {
		r := readers[name]
		r.secrets = secrets
		if r.readAll(t); !r.found[public] || name == "former" && !r.found[left] {
			t.Fatalf("%s found only %v", name, r.found)
		}
		t.Logf("%s found %d values", name, len(r.found))
	}
	owned := func() []string {
		s.Advance(t, "0s")
		var text strings.Builder
		for table, which := range map[string]string{
			"triggers": "1", "firings": "decision = 'started'", "connections": "created_by = %[1]s", "executions": "user_seq = (SELECT seq FROM users WHERE id = %[1]s)", "collaborators": "blueprint_id IN (SELECT id FROM blueprints WHERE organization_id = '" + team + "')",
			"memberships": "organization_id = '" + team + "'", "organizations": "created_by = %[1]s", "categories": "organization_id = '" + team + "'", "blueprint_versions": "created_by = %[1]s",
			"users": "id = %[1]s", "sessions": "user_id = %[1]s", "mcp_tools": "user_id = %[1]s",
		} {
			query := "SELECT '" + table + "', * FROM " + table + " WHERE " + which
			if strings.Contains(query, "%[1]s") {
				query = fmt.Sprintf(query, "'"+owner.ID+"'")
			}
			w.rows(t, query, func(values []any) { fmt.Fprintf(&text, "%q\n", values) })
		}
		// Without last_used_at, which is stored some time after a use.
		w.rows(t, "SELECT id, name, hash, scopes, expires_at, revoked_at FROM api_keys WHERE user_id = '"+owner.ID+"'", func(values []any) { fmt.Fprintf(&text, "%q\n", values) })
		w.rows(t, "SELECT id, title, description, status, visibility, version, tags, organization_id, deleted_at FROM blueprints WHERE organization_id = '"+team+"'", func(values []any) { fmt.Fprintf(&text, "%q\n", values) })
		lines := strings.Split(text.String(), "\n")
		slices.Sort(lines)
		return lines
	}
	before := owned()
	for _, name := range slices.Sorted(maps.Keys(readers)) {
		readers[name].useAll(t)
		after := owned()
		for i, line := range slices.Concat(before, after) {
			if slices.Contains(before, line) != slices.Contains(after, line) {
				t.Errorf("%s changed what is the owner's (after the change: %v): %.400s", name, i >= len(before), line)
			}
		}
	}
}

// reader collects what a user can read.
type reader struct {
	servertest.Caller
	found   map[string]bool
	read    map[string]bool // responses whose values are in found
	secrets []string        // what no response may contain
}

var (
	anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|exec_[0-9]+_[0-9a-z]+|\b[0-9A-HJKMNP-TV-Z]{26}\b|[a-z0-9.]+@[a-z.]+|http://127\.0\.0\.1:[0-9]+/[^"\\\s{}]+`)
	apart = regexp.MustCompile(`[/?&=]`)
)

// take checks a response for secrets, and collects its values.
func (r *reader) take(t *testing.T, where, sent string, answer servertest.Reply) {
	t.Helper()
	for _, secret := range r.secrets {
		if strings.Contains(answer.Text, secret) && !strings.Contains(sent, secret) {
			t.Errorf("%s: %s shows %s: %d %.500s", r.Name, where, secret, answer.Status, answer.Text)
		}
	}
	if answer.Status == http.StatusForbidden || answer.Status == http.StatusNotFound {
		for _, id := range anyID.FindAllString(answer.Text, -1) {
			if !strings.Contains(strings.ToLower(sent), strings.ToLower(id)) && !strings.HasPrefix(id, r.Host) {
				t.Errorf("%s: %s names %s: %s", r.Name, where, id, answer.Text)
			}
		}
		return
	}
	if r.read[answer.Text] {
		return
	}
	r.read[answer.Text] = true
	for _, value := range anyID.FindAllString(answer.Text, -1) {
		for _, part := range append(apart.Split(value, -1), value) {
			if len(part) > 20 || strings.Contains(part, "@") {
				r.found[part] = true
			}
		}
	}
}

// values are the values found, in order.
func (r *reader) values() []string { return slices.Sorted(maps.Keys(r.found)) }

// calls calls every procedure of a kind with every value found.
func (r *reader) calls(t *testing.T, mutations bool, done map[string]bool) {
	t.Helper()
	for _, procedure := range r.RPC.Procedures() {
		if (procedure.Kind == trpc.KindMutation) != mutations || procedure.Kind == trpc.KindSubscription || procedure.Name == "apiKey.revoke" { // which would revoke its own key
			continue
		}
		values := append(r.values(), "")
		for i := range 3 * len(values) {
			input := inputOf(procedure.Input, values[i/3])
			if _, scoped := input["scope"]; scoped {
				input["scope"] = []string{"own", "shared", "public"}[i%3]
			}
			sent := servertest.Encoded(t, input)
			if key := procedure.Name + sent; !done[key] {
				done[key] = true
				r.take(t, procedure.Name+" "+sent, sent, r.Call(t, procedure.Name, input))
			}
		}
	}
}

// readAll reads until nothing new is found.
func (r *reader) readAll(t *testing.T) {
	t.Helper()
	done := map[string]bool{}
	for known := -1; known < len(r.found); {
		known = len(r.found)
		r.calls(t, false, done)
	}
	for _, path := range []string{"/", "/openapi.json", "/healthz", "/readyz", "/readyz?verbose", "/metrics", "/mcp", "/files/x", "/clock", "/sandbox/calls"} {
		r.take(t, path, path, r.Send(t, http.MethodGet, path, ""))
	}
}

// useAll uses every value without a key, and with one in every mutation.
func (r *reader) useAll(t *testing.T) {
	t.Helper()
	nobody := servertest.Caller{Server: r.Server}
	for _, value := range r.values() {
		id := url.PathEscape(value)
		for _, request := range []string{
			"POST /webhooks/blueprint/" + id, "POST /webhooks/blueprint/" + id + "/", "POST /webhooks/slack/" + id, "POST /v1/triggers/" + id + "/fire", "GET /files/" + id,
			"GET /oauth/start?ticket=" + id, "GET /oauth/callback?code=x&state=" + id, "GET /schemas/" + id, "GET /setup?token=" + id, "POST /mcp",
		} {
			method, path, _ := strings.Cut(request, " ")
			answer := nobody.Send(t, method, path, "{}", "Authorization", "Bearer "+value, "Cookie", "session="+value)
			r.take(t, request, request, answer)
			if answer.Status < 400 && !strings.Contains(path, "setup?") {
				t.Errorf("%s: %s without a key: %d %.300s", r.Name, request, answer.Status, answer.Text)
			}
		}
	}
	r.calls(t, true, map[string]bool{})
	r.readAll(t) // read what that revealed
}

// inputOf returns an input of a procedure with a value in place of every id.
func inputOf(input reflect.Type, value string) object {
	out := object{}
	for i := range input.NumField() {
		field := input.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		check := field.Tag.Get("check")
		kind := field.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		_, words, isWord := strings.Cut(check, "enum=")
		isID := strings.Contains(check, "uuid") || strings.HasSuffix(strings.ToLower(name), "id")
		switch required := strings.Contains(check, "required"); {
		case name == "" || name == "-":
		case kind.Kind() == reflect.String && isID && (value != "" || required):
			out[name] = value
		case kind.Kind() == reflect.String && isWord && required:
			word, _, _ := strings.Cut(words, ",")
			out[name], _, _ = strings.Cut(word, "|")
		case kind.Kind() == reflect.String && name == "email":
			out[name] = "stranger@example.org"
		case kind.Kind() == reflect.String && (required || name == "title" || name == "visibility"):
			out[name] = map[bool]string{true: "private", false: "0 0 * * *"}[name == "visibility"]
		case kind.Kind() == reflect.Bool:
			out[name] = true
		case kind.Kind() == reflect.Struct && kind.NumField() > 0 && kind.Field(0).Tag.Get("json") != "":
			out[name] = inputOf(kind, value)
		case name == "nodes":
			out[name] = []any{object{"id": "n", "type": "template", "title": "n", "config": object{"text": "{{token}}"}}}
		case name == "categoryIds":
			out[name] = []any{}
		case name == "config" || name == "blueprint_map":
			out[name] = object{"note": "x", "nodes": []any{}}
		case name == "scope":
			out[name] = "own"
		case name == "rating":
			out[name] = 5
		}
	}
	return out
}
