package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// TestAuthorityMatrix runs a blueprint for every combination of last editor, starter,
// way of starting and grant, and checks which credential left the process. The
// expectation is one rule, implemented by cell.
func TestAuthorityMatrix(t *testing.T) {
	t.Parallel()
	w := newAuthorityWorld(t)
	cells := 0
	for _, resource := range authorityResources {
		for _, author := range []string{"anna", "bert", "edna", "exel"} {
			w.edit(t, author, resource)
			for _, granted := range []bool{false, true} {
				if granted {
					for _, name := range []string{"anna", "bert", "edna"} {
						w.people[name].OK(t, "blueprint.grant", object{"id": w.shared})
					}
				}
				for _, start := range authorityStarts {
					cells++
					w.cell(t, resource, author, start, granted)
				}
			}
		}
	}
	t.Logf("%d cells", cells)
}

// authorityResource is a resource that a version tries to use.
type authorityResource struct {
	name       string
	credential string   // what the receiver gets when it is used
	users      []string // users who may use it themselves
	refusal    string   // the code of the step for other principals
	node       func(w *authorityWorld) object
}

var authorityResources = []authorityResource{
	{"anna's connection", "Bearer credential-of-anna", []string{"anna"}, "connection_unavailable", func(w *authorityWorld) object {
		return w.request(object{"connectionId": w.annas})
	}},
	{"the team's connection", "Bearer credential-of-the-team", []string{"anna", "bert"}, "connection_unavailable", func(w *authorityWorld) object {
		return w.request(object{"connectionId": w.teams})
	}},
	{"the blueprint's secret variable", "credential-of-the-blueprint", []string{"anna", "bert", "edna"}, "secret_denied", func(w *authorityWorld) object {
		return w.request(object{"headers": object{"Authorization": "{{token}}"}})
	}},
	{"the secret variable in an expression", "credential-of-the-blueprint", []string{"anna", "bert", "edna"}, "secret_denied", func(w *authorityWorld) object {
		return w.request(object{"headers": object{"Authorization": "{{= token }}"}})
	}},
	{"the secret variable in a script", "", []string{"anna", "bert", "edna"}, "", func(*authorityWorld) object {
		return node("use", "code", object{"language": "javascript", "source": "return variables.token.length"})
	}},
	{"anna's private blueprint", "credential-of-the-child", []string{"anna"}, "blueprint_unavailable", func(w *authorityWorld) object {
		return node("use", "blueprint", object{"blueprintId": w.child, "inputData": object{}})
	}},
}

// authorityStart is a way to start the blueprint.
type authorityStart struct {
	name      string
	principal string // the principal of the run; "" = the start is refused
	start     func(t *testing.T, w *authorityWorld) (run string, refused bool)
}

var authorityStarts = []authorityStart{
	{"anna executes", "anna", executedBy("anna")},
	{"bert executes", "bert", executedBy("bert")},
	{"edna executes", "edna", executedBy("edna")},
	{"exel executes", "", executedBy("exel")},
	{"sam executes", "", executedBy("sam")},
	{"anna fires her trigger", "anna", firedBy("anna", "anna")},
	{"bert fires anna's trigger", "anna", firedBy("bert", "anna")},
	{"edna fires anna's trigger", "anna", firedBy("edna", "anna")},
	{"exel fires anna's trigger", "", firedBy("exel", "anna")},
	{"sam fires anna's trigger", "", firedBy("sam", "anna")},
	{"bert fires his trigger", "bert", firedBy("bert", "bert")},
	{"anna fires exel's trigger", "", firedBy("anna", "exel")},
	{"a stranger calls anna's webhook", "anna", func(t *testing.T, w *authorityWorld) (string, bool) {
		answer := servertest.Caller{Server: w.Server}.Send(t, http.MethodPost, "/webhooks/blueprint/"+w.hook, "{}")
		run, _ := at(answer.Value, "executionId").(string)
		return run, answer.Status != http.StatusAccepted
	}},
}

func executedBy(who string) func(*testing.T, *authorityWorld) (string, bool) {
	return func(t *testing.T, w *authorityWorld) (string, bool) {
		answer := w.people[who].Call(t, "blueprint.execute", object{"id": w.shared})
		run, _ := at(answer.Payload(), "executionId").(string)
		return run, answer.Status == http.StatusForbidden
	}
}

func firedBy(who, whose string) func(*testing.T, *authorityWorld) (string, bool) {
	return func(t *testing.T, w *authorityWorld) (string, bool) {
		answer := w.people[who].Call(t, "blueprintTriggers.fire", object{"triggerId": w.triggers[whose]})
		run, _ := at(answer.Payload(), "executionId").(string)
		return run, answer.Status == http.StatusForbidden
	}
}

// authorityWorld is a team with a blueprint: anna and bert are members, edna edits this one
// blueprint, exel was a member, sam has no relation to it.
type authorityWorld struct {
	*servertest.Server
	people              map[string]servertest.Caller
	team, shared, child string
	annas, teams        string
	triggers            map[string]string
	hook                string
	at                  string
	edits               int

	mu   sync.Mutex
	sent []string // credentials that left the process
}

func newAuthorityWorld(t *testing.T, setups ...func(*server.Options)) *authorityWorld {
	w := &authorityWorld{people: map[string]servertest.Caller{}, triggers: map[string]string{}}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.sent = append(w.sent, r.Header.Get("Authorization"))
	}))
	t.Cleanup(receiver.Close)
	w.at = receiver.URL
	w.Server = servertest.New(t, append(setups, func(o *server.Options) { o.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })...)
	for _, name := range []string{"anna", "bert", "edna", "exel", "sam", "olga"} {
		w.people[name] = w.NewUser(t, name)
	}
	anna, olga := w.people["anna"], w.people["olga"]
	w.team = olga.IDOf(t, "organization.create", object{"name": "team"})
	for _, name := range []string{"anna", "bert", "exel"} {
		olga.OK(t, "organization.addMember", object{"organizationId": w.team, "email": w.people[name].Email, "role": "member"})
	}
	bearer := func(token string) object {
		return object{"auth": object{"type": "bearer", "token": token}, "hosts": []any{strings.TrimPrefix(w.at, "http://")}}
	}
	w.annas = anna.IDOf(t, "connection.create", object{"name": "anna's own", "type": "http", "config": bearer("credential-of-anna")})
	w.teams = w.people["bert"].IDOf(t, "connection.create", object{"name": "payments", "type": "http", "config": bearer("credential-of-the-team"), "organizationId": w.team})
	secret := func(value string) []any { return []any{object{"name": "token", "secret": true, "default": value}} }
	w.child = anna.IDOf(t, "blueprint.create", object{"title": "anna's child", "environment_variables": secret("credential-of-the-child"), "blueprint_map": object{"nodes": []any{
		w.request(object{"headers": object{"Authorization": "{{token}}"}}),
	}}})
	w.shared = anna.IDOf(t, "blueprint.create", object{"title": "shared", "organization_id": w.team, "environment_variables": secret("credential-of-the-blueprint"), "blueprint_map": object{"nodes": []any{
		node("use", "merge", object{}),
	}}})
	olga.OK(t, "collaborator.add", object{"blueprintId": w.shared, "email": w.people["edna"].Email, "role": "editor"})
	for _, name := range []string{"anna", "bert", "exel"} {
		w.triggers[name] = w.people[name].IDOf(t, "blueprintTriggers.create", object{"blueprintId": w.shared, "triggerType": "manual"})
	}
	w.hook = anna.IDOf(t, "blueprintTriggers.create", object{"blueprintId": w.shared, "triggerType": "webhook"})
	olga.OK(t, "organization.removeMember", object{"organizationId": w.team, "userId": w.people["exel"].ID})
	return w
}

// request returns a node that calls the receiver.
func (w *authorityWorld) request(config object) object {
	config["url"] = w.at
	return node("use", "http-request", config)
}

// edit stores a version that uses the resource. exel is a member again only during the
// edit.
func (w *authorityWorld) edit(t *testing.T, author string, resource authorityResource) {
	t.Helper()
	w.edits++
	if author == "exel" {
		w.people["olga"].OK(t, "organization.addMember", object{"organizationId": w.team, "email": w.people[author].Email, "role": "member"})
	}
	w.people[author].OK(t, "blueprint.update", object{"id": w.shared, "blueprint_map": object{"nodes": []any{
		node("first", "set", object{"values": object{"edit": w.edits}}), resource.node(w),
	}}})
	if author == "exel" {
		w.people["olga"].OK(t, "organization.removeMember", object{"organizationId": w.team, "userId": w.people[author].ID})
	}
}

// cell starts the blueprint once and compares the credentials that left the process with
// the rule.
func (w *authorityWorld) cell(t *testing.T, resource authorityResource, author string, start authorityStart, granted bool) {
	t.Helper()
	here := fmt.Sprintf("%s, last edited by %s, %s, granted %v", resource.name, author, start.name, granted)
	w.mu.Lock()
	w.sent = nil
	w.mu.Unlock()
	run, refused := start.start(t, w)
	var want []string
	code := ""
	switch mayUse := func(user string) bool { return slices.Contains(resource.users, user) }; {
	case start.principal == "":
		if !refused {
			t.Errorf("%s: it starts (%s)", here, run)
		}
		return
	case refused || run == "":
		t.Errorf("%s: refused %v, run %q", here, refused, run)
		return
	case !mayUse(start.principal):
		code = resource.refusal
	case author != start.principal && !mayUse(author) && !granted:
		code = blueprint.CodeNeedsGrant
	case resource.credential != "":
		want = []string{resource.credential}
	}
	reader := w.people[start.principal]
	record := awaitEnd(t, reader, run)
	w.mu.Lock()
	sent := slices.Clone(w.sent)
	w.mu.Unlock()
	if !slices.Equal(sent, want) {
		t.Errorf("%s: left the process: %q, want %q\n%s", here, sent, want, servertest.Encoded(t, record))
	}
	steps := at(record, "steps").([]any)
	if got, _ := at(steps[len(steps)-1], "error.code").(string); got != code {
		t.Errorf("%s: the step fails with %q, want %q\n%s", here, got, code, servertest.Encoded(t, record))
	}
}

// ended waits until a run has ended.
func awaitEnd(t testing.TB, p servertest.Caller, run string) object {
	t.Helper()
	for {
		record := p.Record(t, run)
		if record["status"] != "running" {
			return record
		}
		runtime.Gosched()
	}
}
