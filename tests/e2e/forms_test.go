package e2e

import (
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/tests/process"
)

// writeForm makes TestForms write the folder of a form before it reads all of them. The
// folder of a form that a release had is never written again.
var writeForm = flag.String("write-form", "", "write testdata/forms/`NUMBER`, databases as the program makes them now")

// A form is what testdata/forms/NUMBER/form.json says about the databases beside it:
// server.db, with its log, as a killed server left it, and server.backup. Both are
// compressed; master.key is their master key.
type form struct {
	Now      string            `json:"now"` // the virtual time at which the server was killed
	Runs     map[string]string `json:"runs"`
	Statuses map[string]string `json:"statuses"` // of Runs, at that time
	Signed   string            `json:"signed"`   // id of a webhook trigger with the secret formSecret
	Order    string            `json:"order"`    // id of a webhook trigger that runs one order at a time
	Firings  map[string]int    `json:"firings"`  // of Order, by their decisions
	Listener string            `json:"listener"` // id of an event trigger that lacks deliveries
	Events   int               `json:"events"`   // rows of the outbox
}

const (
	formSecret = "a-secret-of-the-signed-webhook"
	formStart  = "2026-01-05T09:00:00.000Z"
)

// formFiles are the files of a form that are stored compressed.
var formFiles = []string{"server.db", "server.db-wal", "server.backup"}

// TestForms upgrades databases of every released schema version. Runs in every state
// continue, secrets open, stored deliveries are delivered.
func TestForms(t *testing.T) {
	if *writeForm != "" {
		folder := filepath.Join(process.File(t, "testdata"), "forms", *writeForm)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		makeForm(t, folder)
	}
	folders, err := filepath.Glob(filepath.Join(process.File(t, "testdata"), "forms", "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no forms: %v", err)
	}
	fresh := filepath.Join(t.TempDir(), "fresh.db")
	process.Serve(t, "--db", fresh).Stop()
	current := SchemaVersion(t, fresh)
	for _, folder := range folders {
		number, err := strconv.Atoi(filepath.Base(folder))
		if err != nil || number > current {
			t.Fatalf("the folder %s is not that of a form up to %d", folder, current)
		}
		t.Run(fmt.Sprintf("form %d", number), func(t *testing.T) {
			t.Parallel()
			t.Run("database", func(t *testing.T) {
				t.Parallel()
				f, to := unpackForm(t, folder)
				database := filepath.Join(to, "server.db")
				useForm(t, f, "--db", database)
				if got := SchemaVersion(t, database); got != current {
					t.Errorf("schema version %d, want %d", got, current)
				}
				kept := fmt.Sprintf("%s.v%d", database, number)
				if _, err := os.Stat(kept); (err == nil) != (number < current) {
					t.Errorf("the copy before the upgrade: %v", err)
				} else if err == nil && SchemaVersion(t, kept) != number {
					t.Errorf("the copy has schema version %d, want %d", SchemaVersion(t, kept), number)
				}
			})
			t.Run("without a copy", func(t *testing.T) {
				t.Parallel()
				f, to := unpackForm(t, folder)
				database := filepath.Join(to, "server.db")
				if refused := process.Run(t, "backup", filepath.Join(to, "b.backup"), "--db", database); number < current && !strings.Contains(refused.Err, "start the server once") {
					t.Errorf("a backup before the upgrade: %s", refused.Said())
				}
				process.Serve(t, "--db", database, "--clock", "virtual="+f.Now, "--keep-old", "never").Stop()
				if got := SchemaVersion(t, database); got != current {
					t.Errorf("schema version %d, want %d", got, current)
				}
				if kept, err := filepath.Glob(database + ".v*"); err != nil || len(kept) > 0 {
					t.Errorf("a copy is left: %v, %v", kept, err)
				}
			})
			t.Run("backup", func(t *testing.T) {
				t.Parallel()
				f, to := unpackForm(t, folder)
				restored := filepath.Join(to, "restored.db")
				process.Command(t, "restore", filepath.Join(to, "server.backup"), "--db", restored, "--master-key-file", filepath.Join(to, "server.db.key"))
				f.Events = 0 // it was made before the last of them
				useForm(t, f, "--db", restored, "--master-key-file", filepath.Join(to, "server.db.key"))
			})
		})
	}
}

// SchemaVersion returns the schema version of a database that no process uses.
func SchemaVersion(t *testing.T, database string) (version int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+database+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&version); err != nil {
		t.Fatal(err)
	}
	return version
}

// unpackForm copies a form into a folder of the test.
func unpackForm(t *testing.T, folder string) (f form, to string) {
	t.Helper()
	to = t.TempDir()
	for _, name := range formFiles {
		packed, err := os.Open(filepath.Join(folder, name+".gz"))
		if err != nil {
			t.Fatal(err)
		}
		reader, err := gzip.NewReader(packed)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(reader)
		packed.Close()
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	key, err := os.ReadFile(filepath.Join(folder, "master.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(to, "server.db.key"), key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "form.json"))
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f, to
}

// useForm opens a database of a form, which flags name, and continues everything in it.
func useForm(t *testing.T, f form, flags ...string) {
	t.Helper()
	s := process.Serve(t, append([]string{"--clock", "virtual=" + f.Now}, flags...)...)

	for name, id := range f.Runs {
		s.Until(id, f.Statuses[name])
	}
	if got := decisions(s, f.Order); !cmp.Equal(f.Firings, got) {
		t.Errorf("firings of the order trigger are %v, want %v", got, f.Firings)
	}

	// Paused runs continue with an answer, queued runs follow, a wait ends at its time.
	s.Mutate("execution.resume", object{"executionId": f.Runs["asked"], "input": object{"city": "Berlin"}})
	s.Until(f.Runs["asked"], "completed")
	s.Mutate("execution.resume", object{"executionId": f.Runs["interrupted"], "input": object{"action": "mark-done"}})
	s.Until(f.Runs["interrupted"], "completed")
	for _, name := range []string{"first order", "second order", "third order"} {
		s.Until(f.Runs[name], "paused")
		s.Mutate("execution.resume", object{"executionId": f.Runs[name], "input": object{"approved": true}})
		s.Until(f.Runs[name], "completed")
	}
	advance(s, "72h")
	s.Until(f.Runs["waiting"], "completed")
	if got := decisions(s, f.Listener)["started"]; f.Events > 0 && got < f.Events {
		t.Errorf("%d deliveries to the event trigger, want the %d of the outbox at least", got, f.Events)
	}

	// Secrets open: a signature is verified, and each sealed value is encrypted with
	// another key.
	body := `{"name":"Ada"}`
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Host+"/webhooks/blueprint/"+f.Signed, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Webhook-Signature", "sha256="+process.HexHMAC(formSecret, body))
	if status, answer := s.Do(request, ""); status != http.StatusAccepted {
		t.Errorf("a signed delivery: %d %v, want 202", status, answer)
	}
	s.Stop()
	process.Command(t, append([]string{"master-key", "rotate"}, flags...)...)
	process.Command(t, append([]string{"doctor"}, flags...)...)
}

// decisions counts the latest firings of a trigger by their decisions.
func decisions(s *process.Server, triggerID string) map[string]int {
	s.T.Helper()
	counts := map[string]int{}
	for _, firing := range at(s.Query("blueprintTriggers.history", object{"triggerId": triggerID, "limit": 100}), "firings").([]any) {
		counts[at(firing, "decision").(string)]++
	}
	return counts
}

// advance moves the virtual clock.
func advance(s *process.Server, by string) {
	s.T.Helper()
	if status, answer := s.Post("/clock/advance", process.Key, object{"by": by}); status != http.StatusOK {
		s.T.Fatalf("advance by %s: %d %v", by, status, answer)
	}
}

// makeForm writes a form: the database of a killed server.
func makeForm(t *testing.T, folder string) {
	work := t.TempDir()
	database, seed := filepath.Join(work, "server.db"), filepath.Join(work, "s.yaml")
	if err := os.WriteFile(seed, wholeSeed(t), 0o600); err != nil {
		t.Fatal(err)
	}
	silent := newSilent(t)
	args := []string{"--db", database, "--allow-net", "127.0.0.0/8"}
	s := process.Serve(t, append(args, "--seed", seed, "--clock", "virtual="+formStart)...)
	f := form{Runs: map[string]string{}, Statuses: map[string]string{}}
	trigger := func(blueprintID, kind string, config object) string {
		return at(s.Mutate("blueprintTriggers.create", object{"blueprintId": blueprintID, "triggerType": kind, "config": config}), "id").(string)
	}
	launch := func(name, status string, nodes ...any) {
		f.Runs[name] = s.Launch(s.Create(name, nodes...), nodes...)
		f.Statuses[name] = status
		if status != "running" {
			s.Until(f.Runs[name], status)
		}
	}

	// Accounts and their objects, besides those of the seed.
	greet := s.Create("Greet", node("hi", "template", object{"text": "Hello, {{inputData.name ?? \"you\"}}!"}))
	s.Mutate("blueprint.update", object{"id": greet, "title": "Greeting", "environment_variables": []any{object{"name": "token", "secret": true, "default": "t0ken"}}})
	s.Mutate("blueprint.rate", object{"id": greet, "rating": 4.5})
	s.Mutate("blueprint.favorite", object{"id": greet})
	category := at(s.Mutate("category.create", object{"name": "Letters"}), "id")
	s.Mutate("blueprint.setCategories", object{"id": greet, "categoryIds": []any{category}})
	s.Mutate("apiKey.create", object{"name": "laptop"})
	for _, kind := range []string{"manual", "api", "email"} {
		trigger(greet, kind, object{})
	}
	trigger(greet, "slack", object{"signingSecret": "of-the-app"})
	trigger(greet, "scheduled", object{"cron": "0 * * * *"})
	f.Signed = trigger(greet, "webhook", object{"secret": formSecret})
	if status, _ := s.Post("/webhooks/blueprint/"+f.Signed, "", object{"name": "Eve"}); status != http.StatusUnauthorized {
		t.Fatalf("a delivery without a signature: %d, want %v", status, http.StatusUnauthorized)
	}
	advance(s, "4h") // ticks

	// Runs in every state.
	launch("completed", "completed", node("hi", "template", object{"text": "hello"}))
	launch("failed", "failed", node("no", "stop", object{"failed": true, "message": "no"}))
	f.Runs["forked"] = at(s.Mutate("execution.fork", object{"executionId": f.Runs["failed"], "fromNodeId": "no", "input": object{"n": 2}}), "executionId").(string)
	f.Statuses["forked"] = "failed"
	s.Until(f.Runs["forked"], "failed")
	launch("waiting", "running", node("before", "template", object{"text": "a"}), node("two days", "wait", object{"durationMs": 172800000}), node("after", "template", object{"text": "b"}))
	launch("asked", "paused", node("before", "template", object{"text": "a"}), node("ask", "human", object{"prompt": "Where?"}), node("after", "template", object{"text": "b"}))
	order := s.Create("Order", node("decide", "approval-gate", object{"prompt": "Pay {{inputData.n}}?"}))
	f.Order = trigger(order, "webhook", object{"concurrency": object{"limit": 1, "onLimit": "queue"}})
	for n, name := range []string{"first order", "second order", "third order"} {
		status, answer := s.Post("/webhooks/blueprint/"+f.Order, "", object{"n": n}, "Idempotency-Key", name)
		if status != http.StatusAccepted {
			t.Fatalf("%s: %d %v, want %v", name, status, answer, http.StatusAccepted)
		}
		f.Runs[name], f.Statuses[name] = at(answer, "executionId").(string), "running"
	}
	s.Until(f.Runs["first order"], "paused")
	f.Statuses["first order"] = "paused"
	s.Post("/webhooks/blueprint/"+f.Order, "", object{"n": 0}, "Idempotency-Key", "first order")
	f.Firings = decisions(s, f.Order)
	source := s.Create("Source", node("a", "template", object{"text": "{{inputData.n}}"}))
	hook := trigger(source, "webhook", object{})
	f.Listener = trigger(s.Create("Listener", node("b", "template", object{"text": "heard"})), "event", object{"event": "execution.completed", "blueprintId": source})
	launch("interrupted", "running", node("call", "http-request", object{"method": "POST", "url": silent.address}, "effect", "once"))
	<-silent.called
	process.Command(t, "backup", filepath.Join(work, "server.backup"), "--db", database)

	// Kill the server until it leaves undelivered events.
	f.Statuses["interrupted"] = "paused" // after the next start
	f.Now = at(s.Query("server.getInfo", object{}), "now").(string)
	args = append(args, "--clock", "virtual="+f.Now)
	s.Kill()
	s = process.Serve(t, args...)
	s.Stop() // this empties the write-ahead log
	s = process.Serve(t, args...)
	for f.Events == 0 {
		done := make(chan struct{})
		go func() {
			defer close(done)
			for n := range 20 {
				response, err := http.Post(s.Host+"/webhooks/blueprint/"+hook, "application/json", strings.NewReader(fmt.Sprintf(`{"n":%d}`, n)))
				if err != nil {
					return
				}
				response.Body.Close()
			}
		}()
		process.Pause(t.Context(), 20*time.Millisecond)
		s.Kill()
		<-done
		if f.Events = outbox(t, database); f.Events == 0 {
			s = process.Serve(t, args...)
		}
	}
	for _, name := range formFiles {
		packFile(t, filepath.Join(work, name), filepath.Join(folder, name+".gz"))
	}
	key, err := os.ReadFile(database + ".key")
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "master.key"), key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "form.json"), append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// outbox counts the events in a copy of a database.
func outbox(t *testing.T, database string) (count int) {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(database + suffix)
		if err == nil {
			err = os.WriteFile(copied+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", "file:"+copied)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM events").Scan(&count); err != nil {
		t.Fatal(err)
	}
	return count
}

func packFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	writer, _ := gzip.NewWriterLevel(file, gzip.BestCompression)
	_, err = writer.Write(data)
	for _, end := range []func() error{writer.Close, file.Close} {
		if failed := end(); err == nil {
			err = failed
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// silent is a service that accepts connections and never responds.
type silent struct {
	address string
	called  chan struct{}
}

func newSilent(t *testing.T) silent {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	s := silent{address: "http://" + listener.Addr().String() + "/pay", called: make(chan struct{}, 1)}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
			s.called <- struct{}{}
		}
	}()
	return s
}
