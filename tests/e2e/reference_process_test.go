package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blueprintd/tests/process"
)

// referringFolder is a folder with a parent that names a child and a connection.
func referringFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "flows")
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a-parent.blueprint.yaml", `title: Parent
blueprint_map:
  nodes:
    - {id: call, type: http-request, title: Call, config: {url: "https://api.example.com/x", connectionId: {$connection: crm}}}
    - {id: child, type: blueprint, title: Child, config: {blueprintId: {$blueprint: sub/child.blueprint.yaml}}}
triggers:
  - {triggerType: event, config: {event: execution.failed, blueprintId: {$blueprint: sub/child.blueprint.yaml}}}
`)
	write("sub/child.blueprint.yaml", "title: Child\nblueprint_map:\n  nodes:\n    - {id: t, type: template, title: T, config: {text: from the child}}\n")
	return dir
}

// configOf is the config of a node of a stored blueprint.
func configOf(b object, node int) object {
	return at(at(b, "blueprint_map.nodes").([]any)[node], "config").(object)
}

// TestSyncNamesFitSeveralServers syncs one folder with two servers on which the connections
// and blueprints have different ids.
func TestSyncNamesFitSeveralServers(t *testing.T) {
	t.Parallel()
	dir := referringFolder(t)
	for range 2 {
		p := process.Serve(t, "--ephemeral")
		args := []string{dir, "--url", p.Host, "--api-key", process.Key, "--apply"}
		wantSync(t, args, 1, `a-parent.blueprint.yaml:4:`, `there is no connection "crm" here; create one of type http or oauth2 with this name`, "hint: nothing was changed")
		connect := func(name string) string {
			return at(p.Mutate("connection.create", object{"name": name, "type": "http", "config": object{"auth": object{"type": "none"}, "hosts": []any{"api.example.com"}}}), "id").(string)
		}
		crm := connect("crm")
		p.Mutate("connection.create", object{"name": "crm", "type": "slack", "config": object{"botToken": "xoxb"}}) // the wrong type
		wantSync(t, args, 0, "2 created")
		wantSync(t, args, 0, "nothing to do")
		stored := func(path string) object {
			list := at(p.Query("blueprint.list", object{"source": "sync:flows:" + path}), "data").([]any)
			return list[0].(object)
		}
		parent, child := stored("a-parent.blueprint.yaml"), stored("sub/child.blueprint.yaml")
		if got := configOf(parent, 0)["connectionId"]; got != crm {
			t.Errorf("connection %v, want %s", got, crm)
		}
		if got := configOf(parent, 1)["blueprintId"]; got != child["id"] {
			t.Errorf("blueprint %v, want %s", got, child["id"])
		}
		hook := p.Query("blueprintTriggers.list", object{"blueprintId": parent["id"]}).([]any)[0]
		if got := at(hook, "config.blueprintId"); got != child["id"] {
			t.Errorf("the trigger is for %v, want %s", got, child["id"])
		}

		// An ambiguous name is refused; another connection is reported by name.
		second := connect("crm")
		wantSync(t, args, 1, "there are 2 connections with the name", second, "rename all but one")
		p.Mutate("connection.update", object{"id": crm, "name": "old"})
		wantSync(t, args, 0, `config.connectionId: {"$connection":"old"} -> {"$connection":"crm"}`)
		if got := configOf(stored("a-parent.blueprint.yaml"), 0)["connectionId"]; got != second {
			t.Errorf("connection %v, want %s", got, second)
		}
	}
}

// TestSyncNamesOfAnOrganization looks for connections where the blueprints are.
func TestSyncNamesOfAnOrganization(t *testing.T) {
	t.Parallel()
	p := process.Serve(t, "--ephemeral")
	dir := referringFolder(t)
	shop := at(p.Mutate("organization.create", object{"name": "Shop"}), "id").(string)
	p.Mutate("connection.create", object{"name": "crm", "type": "http", "organizationId": shop, "config": object{"auth": object{"type": "none"}, "hosts": []any{"api.example.com"}}})
	own := []string{dir, "--url", p.Host, "--api-key", process.Key, "--apply"}
	wantSync(t, own, 1, `there is no connection "crm" here`)
	wantSync(t, append(own, "--organization", shop), 0, "2 created")
}

func TestDevNames(t *testing.T) {
	t.Parallel()
	for _, sandboxed := range []bool{false, true} {
		t.Run(fmt.Sprint(sandboxed), func(t *testing.T) {
			dir := referringFolder(t)
			var flags []string
			if sandboxed {
				flags = []string{"--sandbox"}
			}
			d := startDev(t, dir, flags...)
			if sandboxed {
				d.until(`connection crm: created a placeholder of type http`)
			} else {
				d.until(`a-parent.blueprint.yaml:4:\d+: .*there is no connection "crm" here; .*--sandbox creates a placeholder`)
			}
			d.until(`a-parent.blueprint.yaml: created`)
			d.until(`watching `)
			file := filepath.Join(dir, "a-parent.blueprint.yaml")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(strings.Replace(string(text), "title: Parent", "title: Parents", 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			d.until(`a-parent.blueprint.yaml: updated: title: "Parent" -> "Parents"`)
			if sandboxed {
				d.until(`a-parent.blueprint.yaml: completed: .*from the child`)
			} else {
				d.until(`a-parent.blueprint.yaml: failed: .*`)
			}
			if n := strings.Count(strings.Join(d.seen, "\n"), "connection \"crm\" here"); !sandboxed && n != 1 {
				t.Errorf("told %d times", n)
			}
			// A cycle changes nothing and is reported with its place.
			if err := os.WriteFile(filepath.Join(dir, "sub", "child.blueprint.yaml"), []byte("title: Child\nblueprint_map:\n  nodes:\n    - {id: a, type: blueprint, title: A, config: {blueprintId: {$blueprint: ../a-parent.blueprint.yaml}}}\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			d.until(`child.blueprint.yaml:4:\d+: .*refers back to this file`)
		})
	}
}
