package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blueprintd/tests/process"
)

// A server stores its seed in a new database; a restart with the same database leaves it
// unchanged.
func TestSeededServer(t *testing.T) {
	folder := t.TempDir()
	path, ready := filepath.Join(folder, "s.yaml"), filepath.Join(folder, "ready.json")
	if err := os.WriteFile(path, wholeSeed(t), 0o600); err != nil {
		t.Fatal(err)
	}
	var before any
	for range 2 {
		p := process.Serve(t, "--db", filepath.Join(folder, "my.db"), "--seed", path, "--ready-file", ready)
		data := process.AwaitFile(t, ready)
		var told any
		if err := json.Unmarshal(data, &told); err != nil {
			t.Fatal(err)
		}
		seed := at(told, "seed")
		text := strings.ReplaceAll(encoded(t, seed), p.Host, "")
		if before != nil && before != text {
			t.Errorf("made anew: %s, before %s", text, before)
		}
		before = text
		list, _ := at(seed, "blueprints").([]any)
		if len(list) != 2 || len(at(list[0], "triggers").([]any)) != 2 {
			t.Fatalf("seed %s, want length 2 and length 2", text)
		}
		var calls []string
		for _, b := range list {
			for _, trigger := range at(b, "triggers").([]any) {
				url, _ := at(trigger, "url").(string)
				calls = append(calls, at(trigger, "triggerType").(string)+" "+strings.ReplaceAll(url, at(trigger, "id").(string), "ID"))
			}
		}
		if calls[0] != "webhook "+p.Host+"/webhooks/blueprint/ID" || calls[1] != "scheduled " || !strings.Contains(calls[2], "@") || calls[3] != "api "+p.Host+"/v1/triggers/ID/fire" {
			t.Errorf("called at %v, want %v, scheduled , \"@\" in it and %v", calls, "webhook "+p.Host+"/webhooks/blueprint/ID", "api "+p.Host+"/v1/triggers/ID/fire")
		}
		if all := encoded(t, p.Query("blueprint.list", object{})); strings.Count(all, `"title":"Orders"`) != 1 || strings.Contains(all, "canary") {
			t.Errorf("blueprints %s, want 1 and no \"canary\"", all)
		}
		if status, _ := p.Post("/api/trpc/blueprint.list", "key-of-ada", object{}); status == 401 {
			t.Errorf("the key of the seed is not known: %v, want other than 401", status)
		}
		p.Stop()
	}
}

// TestSeedKilled kills servers while they store their seed, and checks the next start.
func TestSeedKilled(t *testing.T) {
	path := process.Path(t)
	folder := t.TempDir()
	seed, database, ready := filepath.Join(folder, "s.yaml"), filepath.Join(folder, "my.db"), filepath.Join(folder, "ready.json")
	if err := os.WriteFile(seed, wholeSeed(t), 0o600); err != nil {
		t.Fatal(err)
	}
	beat := time.NewTicker(10 * time.Millisecond)
	defer beat.Stop()
	for beats := 1; beats < 60; beats += 3 {
		c := exec.Command(path, "serve", "--addr", "127.0.0.1:0", "--db", database, "--seed", seed, "--ready-file", ready)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for range beats {
			<-beat.C
		}
		_ = c.Process.Kill()
		_ = c.Wait()
		if _, err := os.Stat(ready); err == nil {
			t.Logf("ready after %d beats", beats)
			break // it was stored
		}
	}
	os.Remove(ready)
	p := process.Serve(t, "--db", database, "--seed", seed, "--ready-file", ready)
	var told any
	if err := json.Unmarshal(process.AwaitFile(t, ready), &told); err != nil {
		t.Fatal(err)
	}
	list, _ := at(told, "seed.blueprints").([]any)
	if len(list) != 2 || len(at(list[0], "triggers").([]any)) != 2 || len(at(list[1], "triggers").([]any)) != 2 {
		t.Errorf("there is %s, want length 2, length 2 and length 2", encoded(t, told))
	}
	if status, answer := p.Post("/api/trpc/blueprint.create", "key-of-ada", object{"json": object{"title": "x"}}); status != 200 {
		t.Errorf("the key of the seed: %d %v, want 200", status, answer)
	}
	p.Stop()
}

// wholeSeed returns a seed with everything that a seed can have, and sets the variables
// that it uses.
func wholeSeed(t *testing.T) []byte {
	t.Helper()
	for name, value := range map[string]string{"WHO": "ada", "SHOP_TOKEN": "canary-of-the-shop", "HOOK": "secret-of-hook"} {
		t.Setenv(name, value)
	}
	text, err := os.ReadFile(process.File(t, "project/testdata/whole.seed.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// encoded returns value as JSON.
func encoded(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
