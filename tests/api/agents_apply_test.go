package api

import (
	"strings"
	"sync"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/process"
	"blueprintd/tests/servertest"
)

// A person applies a draft in the dashboard; the audit log names both sides.
func TestDraftIsApplied(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	person := setUpAda(t, s)
	agent := limitedTo(t, s.Root, object{"scopes": []any{"write"}})
	id := s.Root.IDOf(t, "blueprint.create", object{
		"title": "Greet", "blueprint_map": object{"nodes": []any{node("t", "template", object{"text": "before {{token}}"})}},
		"environment_variables": []any{object{"name": "token", "type": "string", "secret": true, "default": "the secret token"}},
	})
	draft := build(t, agent, "build_create_draft", object{"from": id})
	for name, seen := range map[string]any{
		"build_get_blueprint": build(t, agent, "build_get_blueprint", object{"id": id}), "an old version": build(t, agent, "build_get_blueprint", object{"id": id, "version": "1.0.0"}),
		"the draft": agent.OK(t, "blueprint.get", object{"id": draft["id"]}), "build_run_sandbox": build(t, agent, "build_run_sandbox", object{"id": id}),
	} {
		t.Run(name, func(t *testing.T) {
			if got := servertest.Encoded(t, seen); strings.Contains(got, "the secret token") {
				t.Errorf("an agent sees the secret: %s", got)
			}
		})
	}
	edited := build(t, agent, "build_edit_draft", object{"id": draft["id"], "version": draft["version"], "changes": []any{
		object{"op": "change_node", "id": "t", "node": object{"config": object{"text": "after {{token}}"}}},
		object{"op": "set_variable", "variable": object{"name": "token", "type": "string", "secret": true, "description": "of the service"}},
		object{"op": "set_title", "title": "Greet well (draft)"},
	}})
	has(t, "another value of a secret", unbuilt(t, agent, "build_edit_draft", object{"id": draft["id"], "version": edited["version"], "changes": []any{
		object{"op": "set_variable", "variable": object{"name": "token", "type": "string", "secret": true, "default": "another token"}},
	}}), `"path":["changes",0,"variable"]`, "a person sets its value")
	for _, spelling := range []object{{"name": "token", "secret": true, "value": "x"}, {"name": "token", "isSecret": true, "default": "x"}} {
		t.Run(caseName(spelling), func(t *testing.T) {
			has(t, "a secret", unbuilt(t, agent, "build_create_draft", object{"title": "x", "environment_variables": []any{spelling}}), `"path":["environment_variables",0,"default"]`)
		})
	}
	has(t, "a new secret", unbuilt(t, agent, "build_create_draft", object{"title": "x", "environment_variables": []any{object{"name": "token", "type": "string", "secret": true, "default": "x"}}}), `"path":["environment_variables",0,"default"]`)
	// The API itself accepts it; applying the draft does not.
	agent.OK(t, "blueprint.update", object{"id": draft["id"], "environment_variables": []any{object{"name": "token", "type": "string", "secret": true, "default": "another token"}}})
	edited = build(t, agent, "build_get_blueprint", object{"id": draft["id"]})
	ran := build(t, agent, "build_run_sandbox", object{"id": draft["id"]})
	s.Root.OK(t, "blueprint.update", object{"id": draft["id"], "description": "A person looked at it."})
	if got := servertest.Encoded(t, ran); strings.Contains(got, "the secret token") {
		t.Errorf("the run of the draft shows the secret: %s", got)
	}
	proposed := build(t, agent, "build_propose", object{"id": draft["id"], "version": edited["version"], "note": "Says after."})
	if got := s.Root.OK(t, "blueprint.get", object{"id": id}); at(got, "version") != "1.0.0" {
		t.Errorf("a proposal changed the blueprint: %s", servertest.Encoded(t, got))
	}

	s.Root.OK(t, "blueprint.update", object{"id": id, "tags": []any{"greets"}}) // another version with the same content
	apply := object{"id": draft["id"], "version": proposed["version"], "of": id}
	if answer := s.Root.Send(t, "POST", "/api/trpc/draft.apply", servertest.Encoded(t, object{"json": apply})); answer.Status != 404 {
		t.Errorf("an API key applied the draft: %d %s", answer.Status, answer.Text)
	}
	person.Refused(t, blueprint.CodeConflict, "review it again", "draft.apply", object{"id": draft["id"], "version": "1.0.0", "of": id})
	person.Refused(t, blueprint.CodeConflict, "compared with", "draft.apply", object{"id": draft["id"], "version": proposed["version"], "of": draft["id"]})
	person.Refused(t, blueprint.CodeConflict, "not a draft", "draft.apply", object{"id": id, "version": "1.0.0"})
	person.Refused(t, blueprint.CodeBadRequest, "version: required", "draft.apply", object{"id": id})
	applied := person.OK(t, "draft.apply", apply)
	if at(applied, "id") != id || at(applied, "version") != "1.1.0" || at(applied, "title") != "Greet well" {
		t.Errorf("applied: %s", servertest.Encoded(t, applied))
	}
	// The bare output of a tool is not masked, so that it shows which value the secret has.
	s.Root.OK(t, "blueprint.update", object{"id": id, "status": "published"})
	s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "api", "config": object{"label": "greet"}})
	result := callTool(t, s.Root, "tools/call", object{"name": "greet"})
	has(t, "the run of the new version", servertest.Encoded(t, result), "after the secret token")
	s.Root.Refused(t, blueprint.CodeNotFound, "blueprint.get", object{"id": draft["id"]})
	entries := servertest.Encoded(t, at(s.Root.OK(t, "auditLog.list", object{}), "entries"))
	has(t, "the audit log", entries, `"action":"draft.apply"`, `"via":"dashboard"`, `"draft":"`+draft["id"].(string)+`"`, `"draftBy":`, `"tool":"build_propose"`, `"key":"limited"`)
}

// A draft that was made from an earlier version is refused, and a new blueprint is published.
func TestDraftOfAnOtherVersion(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	person := setUpAda(t, s)
	id := s.Root.Blueprint(t, "Base", node("t", "template", object{"text": "one"}))
	draft := build(t, s.Root, "build_create_draft", object{"from": id})
	edited := build(t, s.Root, "build_edit_draft", object{"id": draft["id"], "version": draft["version"], "changes": []any{object{"op": "set_title", "title": "Other"}}})
	s.Root.OK(t, "blueprint.update", object{"id": id, "blueprint_map": object{"nodes": []any{node("t", "template", object{"text": "two"})}}})
	has(t, "a proposal", unbuilt(t, s.Root, "build_propose", object{"id": draft["id"], "version": edited["version"], "note": "x"}), `"code":"CONFLICT"`, "the draft was made from version 1.0.0")
	person.Refused(t, blueprint.CodeConflict, "has changed since version 1.0.0", "draft.apply", object{"id": draft["id"], "version": edited["version"], "of": id})

	made := build(t, s.Root, "build_create_draft", object{"title": "New", "blueprint_map": object{"nodes": []any{object{"id": "t", "type": "template", "config": object{"text": "new"}}}}})
	proposed := build(t, s.Root, "build_propose", object{"id": made["id"], "version": made["version"], "note": "A new one."})
	published := person.OK(t, "draft.apply", object{"id": made["id"], "version": proposed["version"]})
	if at(published, "status") != "published" || servertest.Encoded(t, at(published, "tags")) != "[]" {
		t.Errorf("published: %s", servertest.Encoded(t, published))
	}
	has(t, "a tool on what is live", unbuilt(t, s.Root, "build_edit_draft", object{"id": made["id"], "version": at(published, "version"), "changes": []any{object{"op": "set_title", "title": "x"}}}), "is not a draft")
}

// Applying needs the right to manage both the draft and the blueprint that it changes.
func TestDraftOfAnotherUser(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	setUpAda(t, s)
	other := s.NewUser(t, "bo")
	path, err := s.Accounts.NewLink(t.Context(), other.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(path, "token=")
	bo := &browser{Server: s}
	bo.OK(t, "session.setup", object{"token": token, "email": "bo@example.org", "name": "Bo", "password": "another long password"})

	id := s.Root.Blueprint(t, "Base", node("t", "template", object{"text": "one"}))
	draft := build(t, s.Root, "build_create_draft", object{"from": id})
	edited := build(t, s.Root, "build_edit_draft", object{"id": draft["id"], "version": draft["version"], "changes": []any{object{"op": "change_node", "id": "t", "node": object{"config": object{"text": "two"}}}}})
	proposed := build(t, s.Root, "build_propose", object{"id": draft["id"], "version": edited["version"], "note": "Says two."})
	apply := object{"id": draft["id"], "version": proposed["version"], "of": id}
	bo.Refused(t, blueprint.CodeForbidden, "", "draft.apply", apply)
	s.Root.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
	bo.Refused(t, blueprint.CodeForbidden, "", "draft.apply", apply)
	s.Root.OK(t, "collaborator.add", object{"blueprintId": draft["id"], "email": "bo@example.org", "role": "editor"})
	bo.Refused(t, blueprint.CodeForbidden, "", "draft.apply", apply)
	if got := s.Root.OK(t, "blueprint.get", object{"id": id}); servertest.Encoded(t, at(got, "blueprint_map")) != servertest.Encoded(t, object{"nodes": []any{node("t", "template", object{"text": "one"})}}) {
		t.Errorf("a refused draft changed the blueprint: %s", servertest.Encoded(t, got))
	}
}

// A draft of a user who may not manage the blueprint is not applied: anyone can share a blueprint
// with a manager that looks like one. An organization may apply its own drafts, also those of
// users who have left.
func TestDraftOfAStranger(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	person := setUpAda(t, s)
	bo := s.NewUser(t, "bo")
	organization := s.Root.IDOf(t, "organization.create", object{"name": "Team"})
	id := s.Root.IDOf(t, "blueprint.create", object{"title": "Base", "organization_id": organization, "blueprint_map": object{"nodes": []any{node("t", "template", object{"text": "one"})}}})
	forge := func(in object) object {
		in["title"], in["tags"] = "Base (draft)", []any{"agent-draft", "draft-of:" + id, "draft-from:1.0.0", "proposed"}
		in["blueprint_map"] = object{"nodes": []any{node("t", "template", object{"text": "two"})}}
		return object{"id": bo.IDOf(t, "blueprint.create", in), "version": "1.0.0", "of": id}
	}
	forged := forge(object{})
	bo.OK(t, "collaborator.add", object{"blueprintId": forged["id"], "email": "ada@example.org", "role": "admin"})
	person.Refused(t, blueprint.CodeForbidden, "the creator of this draft may not manage the blueprint", "draft.apply", forged)
	s.Root.OK(t, "collaborator.add", object{"blueprintId": id, "email": "bo@example.org", "role": "editor"})
	person.OK(t, "draft.apply", forged)

	s.Root.OK(t, "organization.addMember", object{"organizationId": organization, "email": "bo@example.org", "role": "member"})
	s.Root.OK(t, "collaborator.remove", object{"blueprintId": id, "userId": bo.ID})
	s.Root.OK(t, "blueprint.update", object{"id": id, "blueprint_map": object{"nodes": []any{node("t", "template", object{"text": "one"})}}})
	left := forge(object{"organization_id": organization})
	s.Root.OK(t, "organization.removeMember", object{"organizationId": organization, "userId": bo.ID})
	person.OK(t, "draft.apply", left)
}

// What a person changed meanwhile stays when a draft is applied: the title and the layout.
func TestDraftKeepsWhatItDidNotChange(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	person := setUpAda(t, s)
	at0 := func(n any, x int) object {
		out := object{"position": object{"x": x, "y": 0}}
		for key, value := range n.(object) {
			out[key] = value
		}
		return out
	}
	one, two := node("a", "template", object{"text": "one"}), node("b", "template", object{"text": "two"})
	id := s.Root.IDOf(t, "blueprint.create", object{"title": "Base", "blueprint_map": object{"nodes": []any{at0(one, 1), at0(two, 2)}}})
	draft := build(t, s.Root, "build_create_draft", object{"from": id})
	edited := build(t, s.Root, "build_edit_draft", object{"id": draft["id"], "version": draft["version"], "changes": []any{
		object{"op": "change_node", "id": "a", "node": object{"config": object{"text": "changed"}}},
	}})
	s.Root.OK(t, "blueprint.update", object{"id": id, "title": "Renamed", "blueprint_map": object{"nodes": []any{at0(one, 7), at0(two, 8)}, "notes": []any{object{"id": "n", "text": "why", "position": object{"x": 0, "y": 0}}}}})
	proposed := build(t, s.Root, "build_propose", object{"id": draft["id"], "version": edited["version"], "note": "x"})
	if changes := servertest.Encoded(t, proposed["changes"]); strings.Contains(changes, "position") || !strings.Contains(changes, "config.text") {
		t.Errorf("it proposes %s, want the text alone", changes)
	}
	applied := person.OK(t, "draft.apply", object{"id": draft["id"], "version": proposed["version"], "of": id})
	got := servertest.Encoded(t, at(applied, "blueprint_map"))
	if at(applied, "title") != "Renamed" || !process.ContainsAll(got, `"changed"`, `"x":7`, `"x":8`, `"why"`) {
		t.Errorf("applied: %v with %s, want the new title, text and places, and the note", at(applied, "title"), got)
	}
}

// A draft is deleted only while it is one: what a person published a moment ago stays.
func TestDraftIsDeletedOnlyAsOne(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	for name, live := range map[string]func(id string){
		"published": func(id string) { s.Root.OK(t, "blueprint.update", object{"id": id, "status": "published"}) },
		"public":    func(id string) { s.Root.OK(t, "blueprint.update", object{"id": id, "visibility": "public"}) },
		"with a trigger": func(id string) {
			s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "api", "config": object{}})
		},
		"no draft": func(id string) { s.Root.OK(t, "blueprint.update", object{"id": id, "tags": []any{}}) },
	} {
		t.Run(name, func(t *testing.T) {
			made := build(t, s.Root, "build_create_draft", object{"title": "New", "blueprint_map": object{"nodes": []any{node("t", "template", object{"text": "new"})}}})
			id := made["id"].(string)
			live(id)
			if said := s.Root.Refused(t, blueprint.CodeConflict, "blueprint.delete", object{"id": id, "onlyDraft": true}); !strings.Contains(said, "is not a draft any more, or is live") {
				t.Errorf("the refusal says %q", said)
			}
			s.Root.OK(t, "blueprint.get", object{"id": id})
		})
	}
	made := build(t, s.Root, "build_create_draft", object{"title": "New"})
	s.Root.OK(t, "blueprint.delete", object{"id": made["id"], "onlyDraft": true})
	s.Root.Refused(t, blueprint.CodeNotFound, "blueprint.update", object{"id": made["id"], "status": "published"})
}

// TestDraftDeletionRace lets an agent delete a draft while a person publishes it: one of them
// wins, and the other fails.
func TestDraftDeletionRace(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	person := setUpAda(t, s)
	for range 30 {
		made := build(t, s.Root, "build_create_draft", object{"title": "New", "blueprint_map": object{"nodes": []any{node("t", "template", object{"text": "new"})}}})
		proposed := build(t, s.Root, "build_propose", object{"id": made["id"], "version": made["version"], "note": "x"})
		var deleted, published servertest.Reply
		var both sync.WaitGroup
		both.Go(func() {
			deleted = sendMCP(t, s.Root, "tools/call", object{"name": "build_delete_draft", "arguments": object{"id": made["id"]}})
		})
		both.Go(func() {
			published = person.Call(t, "draft.apply", object{"id": made["id"], "version": proposed["version"]})
		})
		both.Wait()
		wasDeleted, wasPublished := !strings.Contains(deleted.Text, `"isError":true`), published.Status == 200
		if wasDeleted == wasPublished || !wasPublished && published.Status/100 != 4 {
			t.Fatalf("deleted %v: %s; published %v: %d %s", wasDeleted, deleted.Text, wasPublished, published.Status, published.Text)
		}
		if wasPublished {
			s.Root.OK(t, "blueprint.get", object{"id": made["id"]})
		}
	}
}
