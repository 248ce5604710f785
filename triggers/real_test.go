package triggers_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
	"blueprintd/store"
	"blueprintd/triggers"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// runner is the engine as triggers see it.
type runner struct{ *engine.Engine }

func (r runner) Start(_ context.Context, request *blueprint.StartRequest, patience time.Duration) (triggers.Run, error) {
	handle, err := r.Engine.Start(request, engine.Urgency(patience))
	if err != nil {
		return nil, err
	}
	return handle, nil
}

// server is a store, an engine and triggers over a database, wired as in the program.
type server struct {
	t        testing.TB
	clock    *clock.Virtual
	store    *store.Store
	engine   *engine.Engine
	triggers *triggers.Service
	http     *httptest.Server
	user     blueprint.Principal
	gate     chan struct{}                 // what a node of type gate waits for
	begun    chan struct{}                 // one for each gate that was reached
	touched  atomic.Int64                  // how often a node of type touch reached the outside
	away     atomic.Pointer[chan struct{}] // new runs are stored once it closes, and no caller waits for that; nil = at once
	stop     func()
}

// journalAway is the store, which may be away for new runs.
type journalAway struct {
	*store.Store
	server *server
}

func (j journalAway) Commit(ctx context.Context, c *blueprint.JournalCommit) error {
	if away := j.server.away.Load(); away != nil && c.New {
		<-*away
	}
	return j.Store.Commit(ctx, c)
}

func (j journalAway) RecordFirings(ctx context.Context, triggerID string, firings []blueprint.Firing, cursor blueprint.Time, events ...blueprint.Event) error {
	if j.server.away.Load() != nil {
		return blueprint.Errorf(blueprint.CodeUnavailable, "the database cannot be reached")
	}
	return j.Store.RecordFirings(ctx, triggerID, firings, cursor, events...)
}

func (s *server) whileAvailable(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if s.away.Load() != nil {
		cancel(blueprint.Errorf(blueprint.CodeUnavailable, "the database does not answer, and this may have been stored"))
	}
	return ctx, func() { cancel(context.Canceled) }
}

// serve runs a server on a database file, or on a database in memory if path is empty.
func serve(t testing.TB, path string, at time.Time) *server {
	t.Helper()
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := secret.NewSealer(make([]byte, secret.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	s := &server{t: t, clock: clock.NewVirtual(at), gate: make(chan struct{}), begun: make(chan struct{}, 1000)}
	source := ids.New(nil)
	s.store, err = store.Open(t.Context(), store.Options{Path: path, Ephemeral: path == "", Server: true, Schema: string(schema), Sealer: sealer, Clock: s.clock, IDs: source, Logger: logger, OnEvents: func() { s.triggers.Published() }})
	if err != nil {
		t.Fatal(err)
	}
	s.engine = engine.New(engine.Options{
		Catalogue: s.catalogue(), Journal: journalAway{s.store, s}, Clock: s.clock, IDs: source, Sealer: sealer, Logger: logger,
		Emit: func(ctx context.Context, e blueprint.Event) (int, error) { return s.triggers.Emit(ctx, e) },
		Concurrency: func(ctx context.Context, key string) (*blueprint.ConcurrencyGroup, error) {
			return s.triggers.Concurrency(ctx, key)
		},
	})
	s.triggers = triggers.New(triggers.Options{Store: journalAway{s.store, s}, Runner: runner{s.engine}, Clock: s.clock, IDs: source, Logger: logger, SyncTimeout: time.Minute, Relimit: s.engine.Relimit, WhileAvailable: s.whileAvailable})
	mux := http.NewServeMux()
	mux.Handle("/webhooks/blueprint/{triggerId}", s.triggers.Handler(blueprint.TriggerWebhook))
	mux.HandleFunc("/v1/triggers/{triggerId}/fire", func(w http.ResponseWriter, r *http.Request) {
		if err := s.triggers.Serve(triggers.KindOf(blueprint.TriggerAPI), w, r, s.user); err != nil {
			w.WriteHeader(blueprint.CodeOf(err).HTTPStatus())
			io.WriteString(w, err.Error())
		}
	})
	s.http = httptest.NewServer(mux)

	working, cancel := context.WithCancel(context.Background())
	storing, cancelStore := context.WithCancel(context.Background())
	var rooms, disk sync.WaitGroup
	disk.Go(func() { s.fine(s.store.Run(storing)) })
	ready := make(chan struct{})
	rooms.Go(func() { s.fine(s.engine.Run(working, func() { close(ready) })) })
	<-ready
	s.triggers.Changed()
	rooms.Go(func() { s.fine(s.triggers.Run(working)) })
	s.stop = sync.OnceFunc(func() {
		s.http.CloseClientConnections()
		s.http.Close()
		cancel()
		rooms.Wait()
		cancelStore()
		disk.Wait()
		s.fine(s.store.Close())
	})
	t.Cleanup(s.stop)
	s.advance(at)
	if user, err := s.store.ServerOwner(t.Context()); err == nil {
		s.user = blueprint.Principal{UserID: user.ID}
	} else if user, err := s.store.CreateUser(t.Context(), "ada@example.org", "Ada"); err == nil {
		s.user = blueprint.Principal{UserID: user.ID}
	} else {
		t.Fatal(err)
	}
	return s
}

func (s *server) fine(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Error(err)
	}
}

func (s *server) advance(to time.Time) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.clock.Advance(ctx, to); err != nil {
		s.t.Fatal(err)
	}
}

// catalogue has a few node types: pass hands its input on, respond answers,
// fail fails, gate waits for s.gate, human pauses the run, custom.ping and
// custom.pong raise the events of these names, touch reaches the outside, though
// blueprints call it pure.
func (s *server) catalogue() blueprint.Catalogue {
	kind := func(name string, run func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error)) *blueprint.NodeType {
		return &blueprint.NodeType{Type: name, Title: name, Effect: blueprint.EffectPure, Run: run, Schema: map[string]any{"type": "object"}}
	}
	// acting makes a type one that acts on the outside, before which its run is stored.
	acting := func(t *blueprint.NodeType) *blueprint.NodeType {
		t.Effect = blueprint.EffectIdempotent
		return t
	}
	raise := func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
		delivered, err := task.Emit(ctx, task.Address, task.InputData)
		return blueprint.Result{Output: delivered > 0}, err
	}
	catalogue := blueprint.Catalogue{}
	for _, t := range []*blueprint.NodeType{
		kind("pass", func(context.Context, *blueprint.Task) (blueprint.Result, error) {
			return blueprint.Result{PassInput: true}, nil
		}),
		kind("respond", func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
			return blueprint.Result{PassInput: true, Respond: &blueprint.Response{Status: 201, Body: task.Config["body"], Headers: map[string]string{"X-Mine": "a\r\nSet-Cookie: b=c"}}}, nil
		}),
		kind("fail", func(context.Context, *blueprint.Task) (blueprint.Result, error) {
			return blueprint.Result{}, errors.New("no luck")
		}),
		kind("gate", func(ctx context.Context, _ *blueprint.Task) (blueprint.Result, error) {
			s.begun <- struct{}{}
			select {
			case <-s.gate:
				return blueprint.Result{PassInput: true}, nil
			case <-ctx.Done():
				return blueprint.Result{}, ctx.Err()
			}
		}),
		kind("human", func(context.Context, *blueprint.Task) (blueprint.Result, error) {
			return blueprint.Result{Await: &blueprint.Await{Kind: blueprint.AwaitHuman, Prompt: "?"}}, nil
		}),
		acting(kind("touch", func(context.Context, *blueprint.Task) (blueprint.Result, error) {
			s.touched.Add(1)
			return blueprint.Result{PassInput: true}, nil
		})),
		acting(kind("custom.ping", raise)),
		acting(kind("custom.pong", raise)),
	} {
		catalogue[t.Type] = t
	}
	return catalogue
}

// nodeID names a node by its place, or by the event that it raises.
func nodeID(i int, kind string) string {
	if blueprint.IsCustomEvent(kind) {
		return kind
	}
	return fmt.Sprint("n", i)
}

// trigger makes a blueprint of the given node types, in a row, with a trigger.
func (s *server) trigger(kind blueprint.TriggerType, config map[string]any, nodes ...string) blueprint.Trigger {
	s.t.Helper()
	list := []any{}
	for i, name := range nodes {
		node := map[string]any{"id": nodeID(i, name), "type": name, "title": name, "config": map[string]any{"body": "hello"}}
		if name == "touch" {
			node["effect"] = "pure"
		}
		list = append(list, node)
	}
	made, err := s.store.CreateBlueprint(s.t.Context(), s.user, blueprint.NewBlueprint{Title: "test", Map: map[string]any{"nodes": list}})
	if err != nil {
		s.t.Fatal(err)
	}
	if issues := triggers.Check(kind, config); len(issues) > 0 {
		s.t.Fatal(issues)
	}
	trigger, err := s.store.CreateTrigger(s.t.Context(), s.user, made.ID, kind, config)
	if err != nil {
		s.t.Fatal(err)
	}
	s.triggers.Changed()
	return trigger
}

// post sends a request and gives status, body and headers.
func (s *server) post(path, body string, headers ...string) (int, string, http.Header) {
	s.t.Helper()
	r, err := http.NewRequest("POST", s.http.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	answer, err := s.http.Client().Do(r)
	if err != nil {
		s.t.Error(err)
		return 0, "", nil
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	s.fine(err)
	return answer.StatusCode, string(text), answer.Header
}

func (s *server) hook(trigger blueprint.Trigger, body string, headers ...string) (int, string, http.Header) {
	s.t.Helper()
	return s.post("/webhooks/blueprint/"+trigger.ID, body, headers...)
}

// ledger returns the rows of a trigger, the oldest first.
func (s *server) ledger(trigger blueprint.Trigger) []blueprint.Firing {
	s.t.Helper()
	list, _, err := s.store.Firings(s.t.Context(), s.user, trigger.ID, 100_000, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

func count(rows []blueprint.Firing) map[blueprint.Decision]int {
	out := map[blueprint.Decision]int{}
	for _, row := range rows {
		out[row.Decision]++
	}
	return out
}

func file(t testing.TB) string { return filepath.Join(t.TempDir(), "test.db") }

func TestManyCopiesOfOneDelivery(t *testing.T) {
	t.Parallel()
	s := serve(t, file(t), noon) // a file has several readers
	for _, respond := range []string{"accept", "wait"} {
		trigger := s.trigger(blueprint.TriggerWebhook, map[string]any{"secret": "s3cret", "respond": respond}, "gate", "pass")
		const body = `{"a":1}`
		var group sync.WaitGroup
		answers := make([]string, 100)
		statuses := make([]int, 100)
		for i := range answers {
			group.Go(func() {
				statuses[i], answers[i], _ = s.hook(trigger, body, "X-Signature", "a5fcb7a3fdd9abc0a3ae7d2b1c2e64e6f4fe58b5b87c5a1f64ed6ba60a4e0ad1", "webhook-id", "one")
			})
		}
		group.Wait()
		for i := range answers {
			if statuses[i] != 401 {
				t.Fatalf("a wrong signature: %d %s, want 401", statuses[i], answers[i])
			}
		}
		signature := sign("s3cret", body)
		for i := range answers {
			group.Go(func() {
				statuses[i], answers[i], _ = s.hook(trigger, body, "X-Signature", signature, "webhook-id", "one")
			})
		}
		<-s.begun // one run has got as far as its first node
		s.gate <- struct{}{}
		group.Wait()
		rows := s.ledger(trigger)
		if got := count(rows); got[blueprint.DecisionStarted] != 1 || got[blueprint.DecisionDuplicate] != 99 || got[blueprint.DecisionRefused] != 100 {
			t.Fatalf("%s: rows %v, want 1, 99 and 100", respond, got)
		}
		var first blueprint.Firing
		for _, row := range rows {
			if row.Decision == blueprint.DecisionStarted {
				first = row
			}
		}
		for _, row := range rows {
			if row.Decision == blueprint.DecisionDuplicate && *row.ExecutionID != *first.ExecutionID {
				t.Errorf("row %+v", row)
			}
		}
		ok, others := 0, 0
		want := fmt.Sprintf(`{"success":true,"executionId":"%s","firingId":"%s"}`, *first.ExecutionID, first.ID)
		for i, text := range answers {
			switch {
			case statuses[i] == 200 && text == want:
				others++
			case statuses[i] == 202 && text == want && respond == "accept", statuses[i] == 200 && text == body && respond == "wait":
				ok++
			default:
				t.Errorf("%s: %d %s", respond, statuses[i], text)
			}
		}
		if ok != 1 || others != 99 {
			t.Errorf("%s: %d and %d answers, want 1 and 99", respond, ok, others)
		}
		if len(s.begun) > 0 {
			t.Errorf("a second run got to its first node: %v, want none", s.begun)
		}
	}
	if s.triggers.Started() != 2 {
		t.Errorf("%d started, want 2", s.triggers.Started())
	}
}

func TestWaitModes(t *testing.T) {
	s := serve(t, "", noon)
	wait := map[string]any{"respond": "wait"}
	for _, c := range []struct {
		nodes  []string
		status int
		part   string
	}{
		{[]string{"pass"}, 200, `{"n":1.50}`},
		{[]string{"respond", "fail"}, 201, "hello"},
		{[]string{"pass", "respond"}, 201, "hello"},
		{[]string{"fail", "respond"}, 500, `"error":{"code":"INTERNAL_SERVER_ERROR","message":"the run failed"}`},
		{[]string{"human"}, 202, `"executionId"`},
		{[]string{"respond", "human"}, 201, "hello"},
	} {
		t.Run(strings.Join(c.nodes, " "), func(t *testing.T) {
			trigger := s.trigger(blueprint.TriggerWebhook, wait, c.nodes...)
			status, body, header := s.hook(trigger, `{"n":1.50}`)
			if status != c.status || !strings.Contains(body, c.part) || header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Content-Security-Policy") != "sandbox" {
				t.Errorf("%v: %d %s %v, want %v, %q in it, X-Content-Type-Options nosniff and Content-Security-Policy sandbox", c.nodes, status, body, header, c.status, c.part)
			}
			if header.Get("Set-Cookie") != "" {
				t.Errorf("%v: a header was smuggled in: %v, want Set-Cookie nothing", c.nodes, header)
			}
			if strings.Contains(body, "no luck") { // the sender proved nothing
				t.Errorf("%v: %s, want no \"no luck\"", c.nodes, body)
			}
			if rows := s.ledger(trigger); len(rows) != 1 || rows[0].Decision != blueprint.DecisionStarted {
				t.Errorf("%v: rows %v, want length 1 and Decision %v", c.nodes, rows, blueprint.DecisionStarted)
			}
		})
	}
}

func TestAnswerBeforeTheRunEnds(t *testing.T) {
	s := serve(t, "", noon)
	trigger := s.trigger(blueprint.TriggerWebhook, map[string]any{"respond": "wait"}, "respond", "gate")
	if status, body, _ := s.hook(trigger, "{}"); status != 201 || body != "hello" {
		t.Errorf("%d %s, want 201 and hello", status, body)
	}
	<-s.begun
	close(s.gate)
	s.advance(noon) // the run ends
	checkStatus(t, s, *s.ledger(trigger)[0].ExecutionID, blueprint.StatusCompleted)
}

func TestCallerHangsUp(t *testing.T) {
	s := serve(t, "", noon)
	trigger := s.trigger(blueprint.TriggerWebhook, map[string]any{"respond": "wait"}, "gate", "pass")
	conn, err := net.Dial("tcp", s.http.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /webhooks/blueprint/%s HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", trigger.ID)
	<-s.begun
	s.fine(conn.Close())
	close(s.gate)
	s.advance(noon)
	rows := s.ledger(trigger)
	if len(rows) != 1 {
		t.Fatalf("rows %v, want length 1", rows)
	}
	checkStatus(t, s, *rows[0].ExecutionID, blueprint.StatusCompleted)
}

func checkStatus(t *testing.T, s *server, execution string, want blueprint.Status) {
	t.Helper()
	stored, err := s.store.Load(t.Context(), execution)
	if err != nil || stored.Row.Status != want {
		t.Errorf("execution %s: %+v %v, want Status %v", execution, stored, err, want)
	}
}

func TestDeletedAtOnce(t *testing.T) {
	s := serve(t, "", noon)
	trigger := s.trigger(blueprint.TriggerWebhook, map[string]any{}, "pass")
	status, _, _ := s.hook(trigger, "{}")
	s.fine(s.store.DeleteTrigger(t.Context(), s.user, trigger.ID))
	gone, body, _ := s.hook(trigger, "{}")
	never, other, _ := s.post("/webhooks/blueprint/11111111-1111-4111-8111-111111111111", "{}")
	if status != 202 || gone != 404 || never != 404 || body != other {
		t.Errorf("%d %d %d %s %s, want 202, 404, 404 and %v", status, gone, never, body, other, other)
	}
}

func TestAPIOverHTTP(t *testing.T) {
	t.Parallel()
	s := serve(t, file(t), noon) // a file has several readers
	trigger := s.trigger(blueprint.TriggerAPI, map[string]any{"inputSchema": map[string]any{"required": []any{"n"}}}, "pass")
	path := "/v1/triggers/" + trigger.ID + "/fire"
	var group sync.WaitGroup
	answers := make([]string, 40)
	for i := range answers {
		group.Go(func() { _, answers[i], _ = s.post(path, `{"n":1}`, "Idempotency-Key", "k") })
	}
	group.Wait()
	for _, text := range answers {
		if text != answers[0] {
			t.Errorf("%s, %s", text, answers[0])
		}
	}
	for _, step := range []struct {
		body string
		want int
	}{{`{ "n" : 1 }`, 200}, {`{"n":2}`, 409}, {`{}`, 400}} {
		if status, text, _ := s.post(path, step.body, "Idempotency-Key", "k"); status != step.want {
			t.Errorf("%s: %d %s, want %d", step.body, status, text, step.want)
		}
	}
	if got := count(s.ledger(trigger)); got[blueprint.DecisionStarted] != 1 || got[blueprint.DecisionDuplicate] != 40 || got[blueprint.DecisionRefused] != 2 {
		t.Errorf("rows %v, want 1, 40 and 2", got)
	}
}

func TestNothingToRun(t *testing.T) {
	s := serve(t, "", noon)
	trigger := s.trigger(blueprint.TriggerWebhook, map[string]any{}, []string{}...)
	status, body, _ := s.hook(trigger, "{}")
	if rows := s.ledger(trigger); status != 400 || len(rows) != 1 || rows[0].Decision != blueprint.DecisionRefused || !strings.Contains(rows[0].Reason, "no nodes") {
		t.Errorf("%d %s %+v, want 400, length 1, Decision %v and \"no nodes\" in it", status, body, rows, blueprint.DecisionRefused)
	}
}

func TestScheduleOverMonthsAndRestarts(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := serve(t, path, noon)
	hourly := s.trigger(blueprint.TriggerScheduled, map[string]any{"cron": "0 * * * *", "breaker": false}, "pass", "fail")
	nightly := s.trigger(blueprint.TriggerScheduled, map[string]any{"cron": "30 2 * * *", "timezone": "Europe/Berlin", "catchUp": "all"}, "pass")
	strict := s.trigger(blueprint.TriggerScheduled, map[string]any{"cron": "15 * * * *", "catchUp": "none"}, "pass")
	later := noon.AddDate(0, 0, 40)
	s.advance(later)
	if got := s.triggers.Started(); got != 40*24+40+40*24 {
		t.Errorf("%d started, want %v", got, 40*24+40+40*24)
	}
	for _, row := range s.ledger(hourly) {
		if row.Decision != blueprint.DecisionStarted || row.Reason != "on time" || row.ReceivedAt != row.DueAt || row.Key != row.DueAt.String() {
			t.Fatalf("row %+v", row)
		}
	}
	checkStatus(t, s, *s.ledger(hourly)[3].ExecutionID, blueprint.StatusFailed)
	unfinished, err := s.store.Unfinished(t.Context())
	if err != nil || len(unfinished) != 0 {
		t.Errorf("unfinished %v %v, want none", unfinished, err)
	}
	s.stop()

	// Down for ten days and a half.
	again := later.AddDate(0, 0, 10).Add(30 * time.Minute)
	s = serve(t, path, again)
	rows := s.ledger(hourly)[40*24:]
	if len(rows) != 2 || rows[0].Decision != blueprint.DecisionCoalesced || !strings.HasPrefix(rows[0].Reason, "239 ticks") || rows[1].Decision != blueprint.DecisionStarted {
		t.Errorf("rows %+v, want length 2, Decision %v, \"239 ticks\" at the start and Decision %v", rows, blueprint.DecisionCoalesced, blueprint.DecisionStarted)
	}
	if rows := s.ledger(nightly)[40:]; len(rows) != 10 || count(rows)[blueprint.DecisionStarted] != 10 {
		t.Errorf("rows %+v, want length 10 and 10", rows)
	}
	if rows := s.ledger(strict)[40*24:]; len(rows) != 1 || rows[0].Decision != blueprint.DecisionSkipped || !strings.HasPrefix(rows[0].Reason, "241 ticks") {
		t.Errorf("rows %+v, want length 1, Decision %v and \"241 ticks\" at the start", rows, blueprint.DecisionSkipped)
	}
	view := s.ledger(hourly)
	stored, err := s.store.Load(t.Context(), *view[len(view)-1].ExecutionID)
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.engine.View(t.Context(), stored)
	if err != nil || !blueprint.Equal(run.InputData, map[string]any{
		"scheduledAt": again.Add(-30 * time.Minute).Format(blueprint.TimeFormat), "firedAt": again.Format(blueprint.TimeFormat), "missedCount": 239,
	}) {
		t.Errorf("input %v %v", run.InputData, err)
	}
	s.stop()

	// Once more at the same instant: no row is written twice.
	s = serve(t, path, again)
	if len(s.ledger(hourly)) != len(view) || len(s.ledger(strict)) != 40*24+1 {
		t.Errorf("%d rows, want %v and length %v", len(s.ledger(hourly)), len(view), 40*24+1)
	}
	// Switched off for a day, and edited.
	off, on := false, true
	_, err = s.store.UpdateTrigger(t.Context(), s.user, strict.ID, nil, &off)
	s.fine(err)
	s.triggers.Changed()
	s.advance(again.AddDate(0, 0, 1))
	_, err = s.store.UpdateTrigger(t.Context(), s.user, strict.ID, nil, &on)
	s.fine(err)
	_, err = s.store.UpdateTrigger(t.Context(), s.user, hourly.ID, func(present blueprint.Trigger) (map[string]any, error) {
		return blueprint.MergeConfig(present.Config, map[string]any{"cron": "* * * * *"}), nil
	}, nil)
	s.fine(err)
	s.triggers.Changed()
	before := len(s.ledger(hourly))
	s.advance(again.AddDate(0, 0, 1).Add(50 * time.Minute))
	if rows := s.ledger(strict)[40*24+1:]; len(rows) != 1 || rows[0].Reason != "on time" {
		t.Errorf("rows %+v, want length 1 and Reason on time", rows)
	}
	if rows := s.ledger(hourly)[before:]; len(rows) != 50 || rows[0].Reason != "on time" {
		t.Errorf("%d rows %+v, want 50 and Reason on time", len(rows), rows[0])
	}
}

func TestLostAccessOverTheStore(t *testing.T) {
	s := serve(t, "", noon)
	bob, err := s.store.CreateUser(t.Context(), "bob@example.org", "Bob")
	if err != nil {
		t.Fatal(err)
	}
	own := s.trigger(blueprint.TriggerScheduled, map[string]any{"cron": "0 * * * *"}, "pass")
	_, err = s.store.AddCollaborator(t.Context(), s.user, own.BlueprintID, bob.Email, blueprint.CollaboratorEditor)
	s.fine(err)
	his := blueprint.Principal{UserID: bob.ID}
	hook, err := s.store.CreateTrigger(t.Context(), his, own.BlueprintID, blueprint.TriggerWebhook, nil)
	s.fine(err)
	tick, err := s.store.CreateTrigger(t.Context(), his, own.BlueprintID, blueprint.TriggerScheduled, map[string]any{"cron": "0 * * * *"})
	s.fine(err)
	s.triggers.Changed()
	s.advance(noon.Add(time.Hour))
	if status, _, _ := s.hook(hook, "{}"); status != 202 {
		t.Errorf("%d, want 202", status)
	}
	s.fine(s.store.DropCollaborator(t.Context(), s.user, own.BlueprintID, bob.ID))
	s.advance(noon.Add(2 * time.Hour))
	if status, _, _ := s.hook(hook, "{}"); status != 404 {
		t.Errorf("%d, want 404", status)
	}
	if _, _, err := s.triggers.Fire(t.Context(), s.user, hook.ID, nil, false); blueprint.CodeOf(err) != blueprint.CodeForbidden {
		t.Errorf("fire: %v, want %v", err, blueprint.CodeForbidden)
	}
	if _, _, err := s.triggers.Fire(t.Context(), his, hook.ID, nil, false); blueprint.CodeOf(err) != blueprint.CodeForbidden {
		t.Errorf("fire by the creator: %v, want %v", err, blueprint.CodeForbidden)
	}
	for trigger, want := range map[*blueprint.Trigger]string{&own: "map[started:2]", &hook: "map[refused:2 started:1]", &tick: "map[refused:1 started:1]"} {
		t.Run(string(trigger.Type), func(t *testing.T) {
			if got := fmt.Sprint(count(s.ledger(*trigger))); got != want {
				t.Errorf("rows %s, want %s", got, want)
			}
		})
	}
}

// What stands for missed ticks is stored with the firing or not at all.
func TestCoalescedGoesWithItsFiring(t *testing.T) {
	s := serve(t, "", noon)
	trigger := s.trigger(blueprint.TriggerScheduled, map[string]any{"cron": "0 * * * *"}, "pass")
	s.advance(noon.Add(time.Hour))
	binding, err := s.store.Binding(t.Context(), trigger.ID)
	if err != nil {
		t.Fatal(err)
	}
	started := s.ledger(trigger)[0]
	source := ids.New(nil)
	again, lot := started, started
	again.ID, lot.ID, lot.Decision, lot.Key, lot.ExecutionID = source.ULID(noon), source.ULID(noon), blueprint.DecisionCoalesced, "x", nil
	run, err := runner{s.engine}.Start(t.Context(), &blueprint.StartRequest{
		Definition: binding.Definition, Principal: binding.Principal, Firing: &again, Coalesced: &lot, Cursor: blueprint.TimeOf(noon.AddDate(1, 0, 0)),
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var duplicate *blueprint.DuplicateFiringError
	if err := run.Accepted(t.Context()); !errors.As(err, &duplicate) || duplicate.FiringID != started.ID {
		t.Errorf("accepted: %v, want FiringID %v", err, started.ID)
	}
	s.advance(noon.Add(2 * time.Hour))
	if got := fmt.Sprint(count(s.ledger(trigger))); got != "map[started:2]" {
		t.Errorf("rows %s, want map[started:2]", got)
	}
}
