package api

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// TestConsent makes random calls as one user, many of them about another user: the tools of
// the other user, their names, and the other user's own lists never change.
func TestConsent(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { consent(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

// lastUsed matches the time when a key was used, which each of its calls changes.
var lastUsed = regexp.MustCompile(`"lastUsedAt":[^,}]*`)

// labels collide once they are converted to tool names.
var labels = []string{"Deploy", "deploy!", "DEPLOY 2", "deploy-2", "Report", "report by", "", "日本"}

func consent(t *testing.T, random *rand.Rand) {
	s := servertest.New(t, func(o *server.Options) { o.RateLimit = 0 })
	victim, attacker := s.NewUser(t, "victim"), s.NewUser(t, "attacker")
	node := node("t", "template", object{"text": "x"})
	for _, label := range []string{"Deploy", "deploy", "Report"} {
		publishTool(t, victim, label, object{"label": label}, node)
	}
	own, ownTrigger := publishTool(t, victim, "Deploy 2", object{}, node)
	enabledID, enabled := publishTool(t, attacker, "Enabled", object{"label": "Deploy"}, node)
	attacker.OK(t, "collaborator.add", object{"blueprintId": enabledID, "email": "victim@example.org", "role": "editor"})
	victim.OK(t, "mcpTool.enable", object{"triggerId": enabled})

	// What the victim sees without the one tool that it took from the attacker, and its
	// name, "" once the attacker has removed it.
	short := "_by_" + attacker.ID[:8]
	seen := func() (rest, name string) {
		tools := at(callTool(t, victim, "tools/list", object{}), "tools").([]any)
		listed := victim.OK(t, "mcpTool.list", object{}).([]any)
		for _, tool := range listed {
			if at(tool, "triggerId") == enabled && at(tool, "enabled") == true {
				name = at(tool, "name").(string)
			}
		}
		theirs := func(tool any) bool { return strings.Contains(at(tool, "name").(string), short) }
		more := 0
		for _, tool := range tools {
			if theirs(tool) {
				more++
			}
		}
		if more > 1 {
			t.Fatalf("the attacker put a tool into the victim's list: %s, want at most 1", servertest.Encoded(t, tools))
		}
		parts := []any{
			slices.DeleteFunc(tools, theirs), slices.DeleteFunc(listed, theirs),
			victim.OK(t, "blueprint.list", object{}), victim.OK(t, "blueprint.listSummaries", object{"scope": "own"}), victim.OK(t, "connection.list", object{}), victim.OK(t, "apiKey.list", object{}),
		}
		return lastUsed.ReplaceAllString(servertest.Encoded(t, parts), ""), name
	}
	before, name := seen()
	if name != "deploy"+short || strings.Count(before, `"name":"deploy-2"`) != 2 {
		t.Fatalf("at first: %s, %s; want %v and 2", name, before, "deploy"+short)
	}

	blueprints, triggers, teams := []string{enabledID, own}, []string{enabled, ownTrigger}, []string{victim.WorkspaceID}
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	made := func(list *[]string, name string, input object) {
		if id, ok := at(attacker.Call(t, name, input).Payload(), "id").(string); ok {
			*list = append(*list, id)
		}
	}
	call := func(name string, input object) func() { return func() { attacker.Call(t, name, input) } }
	for step := range 80 {
		what := []func(){
			func() {
				input := object{"title": pick(labels) + ".", "status": pick([]string{"draft", "published"}), "blueprint_map": object{"nodes": []any{node}}}
				if random.IntN(2) == 0 {
					input["organization_id"] = pick(teams)
				}
				made(&blueprints, "blueprint.create", input)
			},
			func() {
				made(&triggers, "blueprintTriggers.create", object{"blueprintId": pick(blueprints), "triggerType": "api", "config": object{"label": pick(labels)}})
			},
			func() { made(&teams, "organization.create", object{"name": pick(labels) + "."}) },
			call("organization.addMember", object{"organizationId": pick(teams), "email": "victim@example.org", "role": pick([]string{"member", "admin", "owner"})}),
			call("organization.removeMember", object{"organizationId": pick(teams), "userId": pick([]string{victim.ID, attacker.ID})}),
			call("collaborator.add", object{"blueprintId": pick(blueprints), "email": "victim@example.org", "role": pick([]string{"editor", "admin"})}),
			call("collaborator.remove", object{"blueprintId": pick(blueprints), "userId": victim.ID}),
			call("blueprint.update", object{"id": pick(blueprints), "title": pick(labels) + "."}),
			call("blueprint.update", object{"id": pick(blueprints), "status": pick([]string{"draft", "published"})}),
			call("blueprint.update", object{"id": pick(blueprints), "visibility": pick([]string{"private", "public"})}),
			call("blueprintTriggers.update", object{"triggerId": pick(triggers), "config": object{"label": pick(labels)}}),
			call("blueprintTriggers.update", object{"triggerId": pick(triggers), "isActive": random.IntN(2) == 0}),
			call("blueprintTriggers.delete", object{"triggerId": pick(triggers)}),
			call("blueprint.delete", object{"id": pick(blueprints[1:])}),
			call("blueprint.rate", object{"id": own, "rating": 1}),
			call("mcpTool.enable", object{"triggerId": pick(triggers)}),
			call("mcpTool.disable", object{"triggerId": pick(triggers)}),
		}
		kind := random.IntN(len(what))
		what[kind]()
		if after, now := seen(); after != before || now != "" && now != name {
			t.Fatalf("call %d of kind %d changed what the victim sees: %s\n%s\n%s", step, kind, now, before, after)
		}
	}
	if len(blueprints) < 4 || len(triggers) < 4 {
		t.Errorf("only %d blueprints and %d triggers were made, want at least 4 and at least 4", len(blueprints), len(triggers))
	}
}
