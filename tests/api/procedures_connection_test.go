package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/tests/servertest"
)

// TestConnectionProcedures follows a connection of an organization from creation to
// deletion, and searches for its secret in every response.
func TestConnectionProcedures(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	const canary = "canary-of-the-connection"
	calls := func(name string, input object) servertest.Reply {
		answer := s.Root.Call(t, name, input)
		if strings.Contains(answer.Text, canary) {
			t.Errorf("%s reveals a secret: %s, want no %q", name, answer.Text, canary)
		}
		return answer
	}
	ok := func(name string, input object) any {
		t.Helper()
		answer := calls(name, input)
		if answer.Status != http.StatusOK {
			t.Fatalf("%s: %d %s, want %v", name, answer.Status, answer.Text, http.StatusOK)
		}
		return answer.Payload()
	}
	made := ok("connection.create", object{
		"name": " Mail ", "type": "smtp", "organizationId": strings.ToUpper(s.Root.WorkspaceID), "id": "mine", "createdBy": "mine",
		"config": object{"host": "127.0.0.1", "port": 587, "username": "u", "password": canary, "tls": "starttls", "from": "a@example.com"},
	})
	id, _ := at(made, "id").(string)
	if !blueprint.IsUUID(id) {
		t.Errorf("id %q, want a UUID", id)
	}
	got := []any{at(made, "name"), at(made, "createdBy"), at(made, "organizationId"), at(made, "config.password"), at(made, "config.username")}
	if diff := cmp.Diff([]any{"Mail", s.Root.ID, s.Root.WorkspaceID, nil, "u"}, got); diff != "" {
		t.Errorf("name, creator, organization, password and username (-want +got):\n%s", diff)
	}
	if list, _ := ok("connection.list", object{}).([]any); len(list) != 1 || at(list[0], "id") != id {
		t.Errorf("the list is %v, want length 1 and id %v", list, id)
	}
	updated := ok("connection.update", object{"id": id, "name": "Post", "config": object{"from": "b@example.com", "password": nil}})
	if at(updated, "name") != "Post" || at(updated, "config.from") != "b@example.com" {
		t.Errorf("updated %v, want name Post and config.from b@example.com", updated)
	}
	if at(ok("connection.test", object{"id": id}), "message") == "" {
		t.Error("a test says nothing")
	}
	ok("connection.delete", object{"id": id})
	if answer := calls("connection.get", object{"id": id}); answer.Status != http.StatusNotFound {
		t.Errorf("a deleted one: %d %s, want %v", answer.Status, answer.Text, http.StatusNotFound)
	}
}

// TestBadConnections sends invalid configs: the error names the place.
func TestBadConnections(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	id := v.Root.IDOf(t, "connection.create", object{"name": "n", "type": "slack", "config": object{"botToken": "canary-of-slack"}})
	create := func(rest string) string { return `{"name":"n",` + rest + `}` }
	v.unharmed(t, func() {
		for _, test := range []struct{ name, input, want string }{
			{"connection.create", `{}`, "name: required; type: required; config: required"},
			{"connection.create", create(`"type":"telnet","config":{}`), "type: must be one of " + string(blueprint.ConnectionTypes[0])},
			{"connection.create", create(`"type":"slack","config":[]`), "config: must be an object"},
			{"connection.create", create(`"type":"slack","config":null`), "config: must be an object"},
			{"connection.create", create(`"type":"slack","config":{"token":"canary-of-slack"}`), "config.botToken: required; config.token: is unknown"},
			{"connection.create", create(`"type":"http","config":{"auth":{"type":"basic"},"hosts":["a b",5]}`), "config.auth.username: required; config.auth.password: required; config.hosts[0]: must be a host"},
			{"connection.create", `{"name":" ","type":"slack","config":{"botToken":"t"}}`, "name: must not be empty"},
			{"connection.update", `{"id":"` + id + `","config":{"baseUrl":"https://evil.example"}}`, "config.botToken: must be given again"},
			{"connection.update", `{"id":"` + id + `","config":{"botToken":""}}`, "config.botToken: required"},
			{"connection.update", `{"id":"` + id + `","name":""}`, "name: must not be empty"},
		} {
			t.Run(test.name+" "+test.want, func(t *testing.T) {
				answer := v.Root.Call(t, test.name, servertest.Decoded(t, test.input))
				wellRefused(t, test.input, answer.Value, answer.Status, blueprint.CodeBadRequest, test.name, test.want)
				if strings.Contains(answer.Text, "canary") {
					t.Errorf("%s: reveals a secret: %s, want no \"canary\"", test.input, answer.Text)
				}
			})
		}
	})
}
