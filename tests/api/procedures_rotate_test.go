package api

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/servertest"
)

// TestRotateSecret rotates the secrets of triggers, and checks who can read which part of
// them.
func TestRotateSecret(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	id := ada.Blueprint(t, "t", node("a", "merge", object{}))
	ada.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
	const rotate = "blueprintTriggers.rotateSecret"
	for _, c := range []struct{ kind, secret, previous, until string }{
		{"webhook", "secret", "previousSecret", "previousSecretUntil"},
		{"slack", "signingSecret", "previousSigningSecret", "previousSigningSecretUntil"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			trigger := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": c.kind, "config": object{c.secret: "first canary", "note": "n"}})
			config := func(p servertest.Caller) any {
				for _, listed := range p.OK(t, "blueprintTriggers.list", object{"blueprintId": id}).([]any) {
					if at(listed, "id") == trigger {
						return at(listed, "config")
					}
				}
				return nil
			}
			servertest.Shape(t, "a day", ada.OK(t, rotate, object{"triggerId": trigger, "secret": "second canary"}), `{"secret": "second canary", "previousSecretUntil": "2030-05-02T12:00:00.000Z"}`)
			both := fmt.Sprintf(`{%q: "second canary", %q: "first canary", %q: "2030-05-02T12:00:00.000Z", "note": "n"}`, c.secret, c.previous, c.until)
			servertest.Shape(t, "to a manager", config(ada), both)
			ben.Refused(t, blueprint.CodeForbidden, "blueprintTriggers.list", object{"blueprintId": id})
			ada.OK(t, "blueprintTriggers.update", object{"triggerId": trigger, "config": object{c.secret: nil, c.previous: nil}})
			servertest.Shape(t, "null keeps them", config(ada), both)
			ada.Refused(t, blueprint.CodeBadRequest, "blueprintTriggers.update", object{"triggerId": trigger, "config": object{c.until: nil}})
			ada.OK(t, "blueprintTriggers.update", object{"triggerId": trigger, "config": object{c.previous: "", c.until: nil}})
			servertest.Shape(t, "an empty one is removed", config(ada), fmt.Sprintf(`{%q: "second canary", "note": "n"}`, c.secret))
			servertest.Shape(t, "at once", ada.OK(t, rotate, object{"triggerId": trigger, "secret": "third canary", "keepPreviousFor": "0s"}), `{"secret": "third canary", "previousSecretUntil": null}`)
			servertest.Shape(t, "after that", config(ada), fmt.Sprintf(`{%q: "third canary", "note": "n"}`, c.secret))
			made, _ := at(ada.OK(t, rotate, object{"triggerId": trigger, "keepPreviousFor": "30d"}), "secret").(string)
			if !regexp.MustCompile(`^[\w-]{43}$`).MatchString(made) {
				t.Errorf("made up is %q", made)
			}
			ben.Refused(t, blueprint.CodeForbidden, rotate, object{"triggerId": trigger})
			for field, value := range map[string]string{"secret": made, "keepPreviousFor": "31d"} {
				t.Run(field, func(t *testing.T) {
					if message := ada.Refused(t, blueprint.CodeBadRequest, rotate, object{"triggerId": trigger, field: value}); !strings.HasPrefix(message, field+": ") || strings.Contains(message, made) {
						t.Errorf("%q, want %q at the start and no %q", message, field+": ", made)
					}
				})
			}
		})
	}
	manual := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "manual"})
	ada.Refused(t, blueprint.CodeBadRequest, rotate, object{"triggerId": manual})
	ada.Refused(t, blueprint.CodeNotFound, rotate, object{"triggerId": s.IDs.UUID()})
}
