package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/servertest"
)

// idFields are the ids that procedures take: IN is replaced by the id, and field is its
// name in the error about a malformed one. The rest of each input is valid.
var idFields = []struct {
	name, input, field string
	unknown            blueprint.Code // the code for an id of nothing; "" is a success
}{
	{"blueprint.get", `{"id":IN}`, "id", blueprint.CodeNotFound},
	{"blueprint.versions", `{"id":IN}`, "id", blueprint.CodeNotFound},
	{"blueprint.update", `{"id":IN,"title":"new"}`, "id", blueprint.CodeNotFound},
	{"blueprint.delete", `{"id":IN}`, "id", blueprint.CodeNotFound},
	{"blueprint.execute", `{"id":IN}`, "id", blueprint.CodeNotFound},
	{"blueprint.create", `{"title":"t","organization_id":IN}`, "organization_id", blueprint.CodeForbidden},
	{"execution.executeBlueprintWithLogging", `{"nodes":[{"id":"a","type":"merge","title":"","config":{}}],"options":{"blueprintId":IN}}`, "options.blueprintId", blueprint.CodeNotFound},
	{"execution.getExecutionStatus", `{"executionId":IN}`, "", ""},
	{"execution.getExecutionLogs", `{"blueprintId":IN}`, "blueprintId", blueprint.CodeNotFound},
	{"execution.listRecentExecutions", `{"organizationId":IN}`, "organizationId", blueprint.CodeForbidden},
	{"execution.resume", `{"executionId":IN,"input":{}}`, "", blueprint.CodeNotFound},
	{"execution.cancel", `{"executionId":IN}`, "", blueprint.CodeNotFound},
	{"execution.retry", `{"executionId":IN}`, "", blueprint.CodeNotFound},
	{"execution.subscribe", `{"executionId":IN}`, "", blueprint.CodeNotFound},
	{"blueprintTriggers.list", `{"blueprintId":IN}`, "blueprintId", blueprint.CodeNotFound},
	{"blueprintTriggers.create", `{"blueprintId":IN,"triggerType":"manual"}`, "blueprintId", blueprint.CodeNotFound},
	{"blueprintTriggers.update", `{"triggerId":IN,"isActive":false}`, "triggerId", blueprint.CodeNotFound},
	{"blueprintTriggers.delete", `{"triggerId":IN}`, "triggerId", blueprint.CodeNotFound},
	{"blueprintTriggers.fire", `{"triggerId":IN}`, "triggerId", blueprint.CodeNotFound},
	{"blueprintTriggers.getWebhookUrl", `{"triggerId":IN}`, "triggerId", blueprint.CodeNotFound},
	{"blueprintTriggers.history", `{"triggerId":IN}`, "triggerId", blueprint.CodeNotFound},
	{"apiKey.revoke", `{"id":IN}`, "", blueprint.CodeNotFound},
	{"connection.get", `{"id":IN}`, "id", blueprint.CodeNotFound},
	{"connection.update", `{"id":IN,"name":"new"}`, "id", blueprint.CodeNotFound},
	{"connection.delete", `{"id":IN}`, "id", blueprint.CodeNotFound},
	{"connection.test", `{"id":IN}`, "id", blueprint.CodeNotFound},
	{"connection.list", `{"organizationId":IN}`, "organizationId", blueprint.CodeForbidden},
	{"connection.create", `{"name":"n","type":"slack","config":{"botToken":"t"},"organizationId":IN}`, "organizationId", blueprint.CodeForbidden},
}

// malformedIDs are not ids of any kind.
var malformedIDs = []string{
	`""`, `"x"`, `"\u0000"`, `"6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412\u0000"`, `" 6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412"`, `"6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412\n"`,
	`"6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c41２"`, `"' OR 1=1 --"`, `"%"`, `"../../etc/passwd"`, `"exec_1_ffffffffffffffffffffffffff"`, `"` + strings.Repeat("f", 5_000) + `"`,
}

// TestBadIDs sends each procedure malformed ids of every kind, and an unknown id.
func TestBadIDs(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	for _, test := range idFields {
		t.Run(test.name+" "+test.field, func(t *testing.T) {
			v.unharmed(t, func() {
				for _, id := range malformedIDs {
					answer := v.Root.Call(t, test.name, servertest.Decoded(t, strings.Replace(test.input, "IN", id, 1)))
					if test.field == "" { // any text is well formed
						v.unknownID(t, test.name+" "+id, answer, test.unknown)
						continue
					}
					wellRefused(t, test.name+" "+id, answer.Value, answer.Status, blueprint.CodeBadRequest, test.name, test.field+": must be a UUID")
				}
				for _, id := range []string{`"6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412"`, `"00000000-0000-0000-0000-000000000000"`, `"FFFFFFFF-ffff-ffff-FFFF-ffffffffffff"`} {
					v.unknownID(t, test.name+" "+id, v.Root.Call(t, test.name, servertest.Decoded(t, strings.Replace(test.input, "IN", id, 1))), test.unknown)
				}
				wrongTypes := []string{`5`, `true`, `[]`, `{}`}
				if !strings.Contains(strings.ToLower(test.field), "organization") { // null for an optional field counts as absent
					wrongTypes = append(wrongTypes, `null`)
				}
				for _, wrong := range wrongTypes {
					answer := v.Root.Call(t, test.name, servertest.Decoded(t, strings.Replace(test.input, "IN", wrong, 1)))
					wellRefused(t, test.name+" "+wrong, answer.Value, answer.Status, blueprint.CodeBadRequest, test.name, "must be a string")
				}
			})
		})
	}
}

func (v *victim) unknownID(t *testing.T, what string, answer servertest.Reply, code blueprint.Code) {
	t.Helper()
	if code == "" {
		if answer.Status != http.StatusOK || at(answer.Payload(), "status") != "not_found" {
			t.Errorf("%s: %d %.500s, want %v and status not_found", what, answer.Status, answer.Text, http.StatusOK)
		}
		return
	}
	wellRefused(t, what, answer.Value, answer.Status, code, "", "")
}

// TestStrangeTexts puts NUL, lone surrogates and the like into every field for stored text:
// the field is returned unchanged, or refused.
func TestStrangeTexts(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	strange := "a\x00b\u2028\u202e\U0001f600\ufeff\ufffd'\";--%_\\"
	id := s.Root.IDOf(t, "blueprint.create", object{
		"title": strange, "description": strange, "tags": []any{strange, "\x00"},
		"blueprint_map":         object{"nodes": []any{node("n\x00", "template", object{"text": strange, strange: strange}, "title", strange)}, strange: object{strange: nil}},
		"environment_variables": []any{object{"name": "v", "default": strange, strange: strange}},
	})
	b := s.Root.OK(t, "blueprint.get", object{"id": id})
	for path, got := range map[string]any{
		"title": at(b, "title"), "description": at(b, "description"), "tag": at(b, "tags").([]any)[0],
		"text": at(at(b, "blueprint_map.nodes").([]any)[0], "config.text"), "default": at(at(b, "environment_variables").([]any)[0], "default"),
	} {
		t.Run(path, func(t *testing.T) {
			if got != strange {
				t.Errorf("%s came back as %q, want %v", path, got, strange)
			}
		})
	}
	for _, search := range []string{"a\x00b", "'\";--", "%_\\", "\U0001f600"} {
		if total := at(s.Root.OK(t, "blueprint.list", object{"search": search}), "pagination.total"); fmt.Sprint(total) != "1" {
			t.Errorf("a search for %q finds %v, want 1", search, total)
		}
	}
	run := s.Root.OK(t, "blueprint.execute", object{"id": id, "inputData": strange})
	if at(run, "result.output.text") != strange {
		t.Errorf("the run gave %q, want result.output.text %v", servertest.Encoded(t, run), strange)
	}
	// A lone surrogate has no UTF-8 encoding: U+FFFD replaces it.
	half := s.Root.Send(t, http.MethodPost, "/api/trpc/blueprint.create", `{"json":{"title":"a\ud800"}}`)
	if at(half.Payload(), "title") != "a\ufffd" {
		t.Errorf("half a character: %d %s, want title a�", half.Status, half.Text)
	}
	// Names with a meaning in a client's language are ordinary keys.
	made := s.Root.Send(t, http.MethodPost, "/api/trpc/blueprint.create", `{"json":{"title":"first","title":"last","__proto__":{"description":"x"},"constructor":1,"blueprint_map":{"nodes":[],"__proto__":{"a":1}}}}`)
	if at(made.Payload(), "title") != "last" || at(made.Payload(), "description") != "" || at(made.Payload(), "blueprint_map.__proto__.a") == nil {
		t.Errorf("%d %s, want title last, description nothing and blueprint_map.__proto__.a not nil", made.Status, made.Text)
	}
}
