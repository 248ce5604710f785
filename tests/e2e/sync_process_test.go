package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"blueprintd/tests/process"
)

const flow = `title: %s
visibility: public
blueprint_map:
  nodes:
    - {id: a, type: template, title: A, config: {text: %s}}
triggers:
  - {triggerType: webhook, config: {secret: null, respond: wait}}
  - {triggerType: manual, isActive: false}
`

// flowFile writes a blueprint file into a folder.
func flowFile(t *testing.T, dir, name, title, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, flow, title, text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// syncCommand runs blueprintd sync and returns its exit code and output.
func syncCommand(t *testing.T, args ...string) (int, string) {
	t.Helper()
	path := process.Path(t)
	cmd := exec.Command(path, append([]string{"sync"}, args...)...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// wantSync runs sync and expects an exit code and parts of the output.
func wantSync(t *testing.T, args []string, code int, parts ...string) {
	t.Helper()
	got, out := syncCommand(t, args...)
	for _, part := range parts {
		if !strings.Contains(out, part) {
			t.Errorf("sync %q does not say %q:\n%s", args, part, out)
		}
	}
	if got != code {
		t.Errorf("sync %q exits with %d, want %d:\n%s", args, got, code, out)
	}
}

func TestSyncOverTheNetwork(t *testing.T) {
	t.Parallel()
	p := process.Serve(t, "--ephemeral")
	dir := filepath.Join(t.TempDir(), "flows")
	flowFile(t, dir, "a.blueprint.yaml", "A", "hi")
	flowFile(t, dir, "b.blueprint.yaml", "B", "1.50")
	own := p.Create("made by hand", node("x", "set", object{"values": object{}}))
	args := []string{dir, "--url", p.Host, "--api-key", process.Key}
	applied := append(args, "--apply")
	wantSync(t, args, 0, "2 to create; apply with --apply")
	wantSync(t, applied, 0, "+ a.blueprint.yaml", "+ b.blueprint.yaml", "      "+p.Host+"/webhooks/blueprint/", "2 created")
	wantSync(t, applied, 0, "nothing to do")

	synced := func(path string) object {
		t.Helper()
		list := at(p.Query("blueprint.list", object{"source": "sync:flows:" + path}), "data").([]any)
		if len(list) != 1 {
			t.Fatalf("%d blueprints of %s, want 1", len(list), path)
		}
		return list[0].(object)
	}
	a := synced("a.blueprint.yaml")
	if a["visibility"] != "public" || a["source"] != "sync:flows:a.blueprint.yaml" || a["synced_version"] != a["version"] {
		t.Errorf("made %v, want visibility public, source sync:flows:a.blueprint.yaml and synced_version %v", a, a["version"])
	}
	hooks := p.Query("blueprintTriggers.list", object{"blueprintId": a["id"]}).([]any)
	if len(hooks) != 2 || at(hooks[0], "config.secret") == nil || at(hooks[0], "is_active") != true || at(hooks[1], "is_active") != false {
		t.Errorf("triggers %v, want length 2, config.secret not nil, is_active true and is_active false", hooks)
	}

	flowFile(t, dir, "a.blueprint.yaml", "A", "hello")
	wantSync(t, applied, 0, `~ node a: config.text: "hi" -> "hello"`, "1 updated")
	if after := p.Query("blueprintTriggers.list", object{"blueprintId": a["id"]}).([]any); at(after[0], "id") != at(hooks[0], "id") || at(after[0], "config.secret") != at(hooks[0], "config.secret") {
		t.Errorf("the webhook was %v and is %v", hooks[0], after[0])
	}

	// A blueprint that was edited on the server is not overwritten without --force.
	p.Mutate("blueprint.update", object{"id": a["id"], "title": "theirs"})
	flowFile(t, dir, "b.blueprint.yaml", "B2", "1.50")
	wantSync(t, applied, 1, `"B" -> "B2"`, "1 blueprint changed on the server, left as is", "hint: ")
	if synced("a.blueprint.yaml")["title"] != "theirs" || synced("b.blueprint.yaml")["title"] != "B2" {
		t.Error("a conflict was overwritten, or kept another file from its change")
	}
	wantSync(t, append(args, "--exit-code"), 1, "it was changed on the server", "1 conflict")
	wantSync(t, append(applied, "--force"), 0, `title: "theirs" -> "A"`)

	// Removed files are deleted on request, and nothing else is.
	if err := os.Remove(filepath.Join(dir, "a.blueprint.yaml")); err != nil {
		t.Fatal(err)
	}
	wantSync(t, applied, 0, "? a.blueprint.yaml", "1 kept")
	wantSync(t, append(args, "--exit-code"), 1, "1 kept")
	wantSync(t, append(applied, "--prune"), 0, "- a.blueprint.yaml", "1 deleted")
	p.Query("blueprint.get", object{"id": own})
	if total := at(p.Query("blueprint.list", object{}), "pagination.total"); fmt.Sprint(total) != "2" {
		t.Errorf("%v blueprints are left, want 2", total)
	}
	wantSync(t, []string{dir, "--url", p.Host, "--api-key", "wrong-key-of-nobody"}, 1, "\nblueprintd: the API key is not accepted by "+p.Host+"\nhint: check that the key is one of this server")
	wantSync(t, []string{dir, "--url", p.Host + "/nothing", "--api-key", process.Key}, 1, p.Host+"/nothing is not a blueprintd server", "hint: check the address: ")
	wantSync(t, []string{dir, "--url", p.Host + "/dash", "--api-key", process.Key}, 1, "/dash is not a blueprintd server")
}

// TestSyncOfAnOrganization syncs two organizations with the same folder.
func TestSyncOfAnOrganization(t *testing.T) {
	t.Parallel()
	p := process.Serve(t, "--ephemeral")
	dir := filepath.Join(t.TempDir(), "flows")
	flowFile(t, dir, "a.blueprint.yaml", "A", "hi")
	shop := at(p.Mutate("organization.create", object{"name": "Shop"}), "id").(string)
	own := []string{dir, "--url", p.Host, "--api-key", process.Key, "--apply"}
	theirs := append(own, "--organization", shop)
	wantSync(t, theirs, 0, "1 created")
	flowFile(t, dir, "a.blueprint.yaml", "A", "hello")
	wantSync(t, own, 0, "1 created")
	wantSync(t, own, 0, "nothing to do")
	wantSync(t, theirs, 0, `"hi" -> "hello"`, "1 updated")
	wantSync(t, append(own, "--organization", "3f0e8400-e29b-41d4-a716-446655440000"), 1, "the owner is not a member of organization 3f0e8400-e29b-41d4-a716-446655440000; nothing was changed", "or choose one of "+shop+" Shop")
}

// TestSyncTriggersEdited changes triggers on the server between two syncs.
func TestSyncTriggersEdited(t *testing.T) {
	t.Parallel()
	p := process.Serve(t, "--ephemeral")
	dir := filepath.Join(t.TempDir(), "flows")
	flowFile(t, dir, "a.blueprint.yaml", "A", "hi")
	args := []string{dir, "--url", p.Host, "--api-key", process.Key, "--apply"}
	wantSync(t, args, 0, "1 created")
	id := at(p.Query("blueprint.list", object{}), "data").([]any)[0].(object)["id"]
	hook := func() object {
		return p.Query("blueprintTriggers.list", object{"blueprintId": id}).([]any)[0].(object)
	}
	p.Mutate("blueprintTriggers.update", object{"triggerId": hook()["id"], "isActive": false, "config": object{"respond": "accept"}})
	wantSync(t, args, 1, "! a.blueprint.yaml", "config.respond of trigger webhook", "it is paused on the server; --force activates it")
	wantSync(t, append(args, "--force"), 0, `config.respond: "accept" -> "wait"`, "isActive: false -> true", "1 updated")
	if h := hook(); h["is_active"] != true || at(h, "config.respond") != "wait" || h["edited"] != nil {
		t.Errorf("after force: %v, want is_active true, config.respond wait and edited nil", h)
	}
	p.Mutate("blueprintTriggers.update", object{"triggerId": hook()["id"], "isActive": false})
	wantSync(t, args, 0, "? a.blueprint.yaml", "it is paused on the server; --force activates it", "1 kept")
	if hook()["is_active"] != false {
		t.Error("it was switched on")
	}
}

// TestSyncStopsHalfWay syncs with a server that refuses the second blueprint.
func TestSyncStopsHalfWay(t *testing.T) {
	t.Parallel()
	p := process.Serve(t, "--ephemeral", "--max-blueprints", "1")
	dir := filepath.Join(t.TempDir(), "flows")
	for _, name := range []string{"a", "b", "c"} {
		flowFile(t, dir, name+".blueprint.yaml", name, "hi")
	}
	wantSync(t, []string{dir, "--url", p.Host, "--api-key", process.Key, "--apply", "--json"}, 1,
		`"summary": "1 created"`, `"applied": true`, `"complete": false`, `"error": "b.blueprint.yaml: `, "1 change made before it")
}

// TestSyncKilled kills sync --apply before and after each of its changes reaches the
// server; the next run makes the remaining ones.
func TestSyncKilled(t *testing.T) {
	t.Parallel()
	p := process.Serve(t, "--ephemeral")
	path := process.Path(t)
	target, err := url.Parse(p.Host)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "flows")
	for _, after := range []bool{false, true} {
		for cut := int64(1); cut <= 8; cut++ {
			if !*thorough && (cut%2 == 0) != after { // every other one
				continue
			}
			name := fmt.Sprintf("cut%d%t", cut, after)
			flowFile(t, dir, "a.blueprint.yaml", "A", "hi")
			flowFile(t, dir, "b.blueprint.yaml", "B", "hi")
			cmd := exec.Command(path, "sync", dir, "--name", name, "--api-key", process.Key, "--apply")
			var changes atomic.Int64
			began := make(chan struct{})
			forward := httputil.NewSingleHostReverseProxy(target)
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost && changes.Add(1) == cut {
					if after {
						forward.ServeHTTP(httptest.NewRecorder(), r)
					}
					<-began
					cmd.Process.Kill()
					return
				}
				forward.ServeHTTP(w, r)
			}))
			cmd.Args = append(cmd.Args, "--url", proxy.URL)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			err := cmd.Start()
			close(began)
			if err == nil {
				err = cmd.Wait()
			}
			proxy.Close()
			if err == nil {
				t.Fatalf("%s was not cut: %d changes\n%s", name, changes.Load(), &out)
			}
			wantSync(t, []string{dir, "--name", name, "--url", p.Host, "--api-key", process.Key, "--apply"}, 0)
			wantSync(t, []string{dir, "--name", name, "--url", p.Host, "--api-key", process.Key, "--exit-code"}, 0, "nothing to do")
			list := at(p.Query("blueprint.list", object{"source": "sync:" + name + ":"}), "data").([]any)
			if len(list) != 2 {
				t.Errorf("%s: %d blueprints, want 2", name, len(list))
			}
			for _, b := range list {
				if found := p.Query("blueprintTriggers.list", object{"blueprintId": at(b, "id")}).([]any); len(found) != 2 {
					t.Errorf("%s: %d triggers, want 2", name, len(found))
				}
			}
		}
	}
}

// TestSyncKilledBesideTheDatabase does the same without a server: sync is killed as soon as
// it prints a change.
func TestSyncKilledBesideTheDatabase(t *testing.T) {
	t.Parallel()
	path := process.Path(t)
	folder := t.TempDir()
	dir, db := filepath.Join(folder, "flows"), filepath.Join(folder, "my.db")
	for i := range 30 {
		flowFile(t, dir, fmt.Sprintf("f%02d.blueprint.yaml", i), fmt.Sprint("F", i), "hi")
	}
	if out, err := exec.Command(path, "user", "add", "--email", "ada@example.org", "--db", db).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(path, "sync", dir, "--db", db, "--apply")
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if lines := bufio.NewScanner(out); !lines.Scan() || !strings.HasPrefix(lines.Text(), "+ f00.blueprint.yaml") {
		t.Errorf("it began with %q\n%s", lines.Text(), &problems)
	}
	cmd.Process.Kill()
	cmd.Wait()
	wantSync(t, []string{dir, "--db", db, "--apply"}, 0)
	wantSync(t, []string{dir, "--db", db, "--exit-code"}, 0, "nothing to do")
	wantSync(t, []string{dir, "--db", db, "--name", "other", "--json"}, 0, `"summary": "30 to create"`)
}
