// Package servertest runs a whole server inside a test's own process, with its real
// handler and a real SQLite database, and calls it over HTTP as clients do. Packages
// that use it call script.Child in their TestMain, because the test binary is also the
// process in which code of blueprints runs.
package servertest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/rpc/trpc"
	"blueprintd/server"
	"blueprintd/tests/process"
)

// Version stands in for the version of a release.
const Version = "0.1.0-dev"

// Server is a server in the process of the test.
type Server struct {
	*server.Server
	Host   string                        // http://host:port
	Kinds  map[string]trpc.Kind          // of the procedures, by name
	Scopes map[string]blueprint.KeyScope // of the procedures, by name
	Client *http.Client
	Root   Caller          // the server's owner
	Logs   *process.Output // what the server logged
	Stop   func()          // stops the server before the test ends and waits until it has stopped
}

// New runs a server until the test ends, ephemeral and on real time unless change says
// otherwise. The test fails if the server logs an error or does not stop cleanly.
func New(t testing.TB, change ...func(*server.Options)) *Server {
	t.Helper()
	logs := &process.Output{}
	o := server.Options{
		Database: server.Database{Schema: schema(t), Ephemeral: true},
		Network:  server.Network{Addr: "127.0.0.1:0"},
		Limits:   server.Limits{SyncTimeout: 30 * time.Second, MaxBody: 5 << 20, MaxRunning: 1000, MaxQueued: 10_000},
		Version:  Version, APIKey: process.Key, Clock: clock.Real{}, Logger: slog.New(slog.NewTextHandler(logs, nil)), Out: io.Discard,
		PasswordMemory: 64,
	}
	for _, f := range change {
		f(&o)
	}
	if onPostgreSQL != nil && o.Ephemeral && !o.Dev { // those of developers are in memory only
		onPostgreSQL(t, &o)
	}
	ctx, end := context.WithCancel(context.Background())
	wired, err := server.New(ctx, o)
	if err != nil {
		end()
		t.Fatal(err)
	}
	s := &Server{
		Server: wired, Host: wired.APIHost(), Kinds: map[string]trpc.Kind{}, Scopes: map[string]blueprint.KeyScope{}, Logs: logs,
		Client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}},
	}
	for _, procedure := range s.RPC.Procedures() {
		s.Kinds[procedure.Name], s.Scopes[procedure.Name] = procedure.Kind, procedure.Scope
	}
	ended := make(chan error, 1)
	go func() { ended <- wired.Run(ctx) }()
	s.Stop = sync.OnceFunc(func() {
		s.Client.CloseIdleConnections()
		end()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if text := logs.String(); strings.Contains(text, "level=ERROR") || text != "" && t.Failed() {
			t.Errorf("log of the server:\n%s", text)
		}
	})
	t.Cleanup(s.Stop)
	select {
	case <-wired.Opened:
	case err := <-ended:
		ended <- err
	}
	s.Root = Caller{Server: s, Authorization: "Bearer " + process.Key, User: s.Bootstrap.Account}
	return s
}

// onPostgreSQL moves an ephemeral server to a new PostgreSQL database; nil without the
// build tag postgres.
var onPostgreSQL func(testing.TB, *server.Options)

// OnFile stores the database in a file.
func OnFile(path string) func(*server.Options) {
	return func(o *server.Options) { o.Ephemeral, o.DB = false, path }
}

// AtNoon sets a virtual clock at Noon.
func AtNoon(o *server.Options) { o.Clock = clock.NewVirtual(Noon) }

// Noon is noon on the first of May 2030, UTC.
var Noon = time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)

// Caller is a user of a server with the credentials that requests carry.
type Caller struct {
	*Server
	blueprint.User
	Authorization string // the header; "" sends none
}

// NewUser creates a user with an API key.
func (s *Server) NewUser(t testing.TB, name string) Caller {
	t.Helper()
	account, err := s.Store.CreateUser(t.Context(), name+"@example.org", name)
	if err != nil {
		t.Fatal(err)
	}
	key := "key-of-" + name + "-for-tests-only"
	if _, err := s.Store.CreateKey(t.Context(), account.ID, "key of "+name, key); err != nil {
		t.Fatal(err)
	}
	return Caller{Server: s, User: account, Authorization: "Bearer " + key}
}

// Reply is an HTTP response. For a subscription, Status and Value are those of its last
// event.
type Reply struct {
	Status int
	Header http.Header
	Text   string
	Value  any // decoded, numbers with their digits; nil if it is not JSON
}

// Payload returns the output of a procedure, nil after an error.
func (r Reply) Payload() any { return process.At(r.Value, "result.data.json") }

// Code returns the error code of a procedure, "" without an error.
func (r Reply) Code() string {
	code, _ := process.At(r.Value, "error.json.data.code").(string)
	return code
}

// Message returns the error message of a procedure, "" without an error.
func (r Reply) Message() string {
	message, _ := process.At(r.Value, "error.json.message").(string)
	return message
}

// Call calls a procedure as tRPC clients do and returns its response, also an error. A nil
// input is not sent.
func (c Caller) Call(t testing.TB, name string, input any) Reply {
	t.Helper()
	kind, known := c.Kinds[name]
	if !known {
		t.Fatalf("there is no procedure %s", name)
	}
	text := ""
	if input != nil {
		text = Encoded(t, process.Object{"json": input})
	}
	if kind == trpc.KindMutation {
		return c.Send(t, http.MethodPost, "/api/trpc/"+name, text)
	}
	path := "/api/trpc/" + name
	if text != "" {
		path += "?input=" + url.QueryEscape(text)
	}
	answer := c.Send(t, http.MethodGet, path, "")
	if kind == trpc.KindSubscription {
		answer.EndOfStream(t)
	}
	return answer
}

// EndOfStream sets r to the outcome in the last event of a subscription.
func (r *Reply) EndOfStream(t testing.TB) {
	t.Helper()
	events := Events(t, strings.NewReader(r.Text))
	var last any
	for _, one := range events {
		switch one.Name {
		case "":
			last = one.Data
		case "serialized-error":
			r.Value, r.Status = process.Object{"error": one.Data}, http.StatusInternalServerError
			if number, err := fmt.Sscan(fmt.Sprint(process.At(one.Data, "json.data.httpStatus")), &r.Status); number != 1 {
				t.Fatalf("the error of a subscription names no status: %v", err)
			}
			return
		}
	}
	r.Value = process.Object{"result": process.Object{"data": last}}
}

// Event is one server-sent event; Data is decoded JSON.
type Event struct {
	Name string
	Data any
}

// Events reads a stream of server-sent events to its end.
func Events(t testing.TB, stream io.Reader) (list []Event) {
	t.Helper()
	text, err := io.ReadAll(stream)
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(string(text), "\n\n") {
		one := Event{}
		for line := range strings.SplitSeq(strings.TrimLeft(block, "\n"), "\n") {
			if name, found := strings.CutPrefix(line, "event: "); found {
				one.Name = name
			} else if data, found := strings.CutPrefix(line, "data: "); found && data != "" {
				one.Data = Decoded(t, data)
			}
		}
		if one.Name != "" || one.Data != nil {
			list = append(list, one)
		}
	}
	return list
}

// Send makes one request. A body is sent as JSON; headers are alternating names and values.
func (c Caller) Send(t testing.TB, method, path, body string, headers ...string) Reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, c.Host+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	if c.Authorization != "" {
		request.Header.Set("Authorization", c.Authorization)
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := c.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	value, _ := blueprint.Decode(text)
	return Reply{Status: response.StatusCode, Header: response.Header, Text: string(text), Value: value}
}

// OK calls a procedure that must succeed and returns its payload.
func (c Caller) OK(t testing.TB, name string, input any) any {
	t.Helper()
	answer := c.Call(t, name, input)
	if answer.Status != http.StatusOK {
		t.Fatalf("%s %s: %d %s", name, Encoded(t, input), answer.Status, answer.Text)
	}
	return answer.Payload()
}

// IDOf calls a procedure that must succeed and returns the id or executionId in its payload.
func (c Caller) IDOf(t testing.TB, name string, input any) string {
	t.Helper()
	payload := c.OK(t, name, input)
	for _, key := range []string{"id", "executionId"} {
		if id, ok := process.At(payload, key).(string); ok {
			return id
		}
	}
	t.Fatalf("%s returned no id: %v", name, payload)
	return ""
}

// Refused calls a procedure that must fail with a code and returns the message.
func (c Caller) Refused(t testing.TB, code blueprint.Code, name string, input any) string {
	t.Helper()
	answer := c.Call(t, name, input)
	at := func(key string) any { return process.At(answer.Value, "error.json."+key) }
	want := fmt.Sprintf("%d %s %v %v %s", code.HTTPStatus(), code, code.Number(), code.HTTPStatus(), name)
	if got := fmt.Sprintf("%d %s %v %v %v", answer.Status, answer.Code(), at("code"), at("data.httpStatus"), at("data.path")); got != want {
		t.Errorf("%s %s: got %s in %s, want %s", name, Encoded(t, input), got, answer.Text, want)
	}
	return answer.Message()
}

// Advance advances the virtual clock, drains all work (also for "0s") and returns the
// number of started firings.
func (s *Server) Advance(t testing.TB, by string) int {
	t.Helper()
	answer := s.Root.Send(t, http.MethodPost, "/clock/advance", Encoded(t, process.Object{"by": by}))
	var fired int
	if _, err := fmt.Sscan(fmt.Sprint(process.At(answer.Value, "fired")), &fired); err != nil || answer.Status != http.StatusOK {
		t.Fatalf("advance by %s: %d %s", by, answer.Status, answer.Text)
	}
	return fired
}

// Await polls a run, as clients do, until it has a status, and returns its record.
func (c Caller) Await(t testing.TB, id string, wanted blueprint.Status) process.Object {
	t.Helper()
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for {
		record := c.OK(t, "execution.getExecutionStatus", process.Object{"executionId": id}).(process.Object)
		if record["status"] == string(wanted) {
			return record
		}
		select {
		case <-poll.C:
		case <-deadline.C:
			t.Fatalf("run %s is not %s: %s", id, wanted, Encoded(t, record))
		}
	}
}

// Blueprint stores a blueprint of these nodes, one after the other, and returns its id.
func (c Caller) Blueprint(t testing.TB, title string, nodes ...any) string {
	t.Helper()
	if nodes == nil {
		nodes = []any{}
	}
	return c.IDOf(t, "blueprint.create", process.Object{"title": title, "blueprint_map": process.Object{"nodes": nodes}})
}

// Encoded returns value as JSON.
func Encoded(t testing.TB, value any) string {
	t.Helper()
	text, err := blueprint.Encode(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Decoded returns the value of JSON; numbers keep their digits.
func Decoded(t testing.TB, text string) any {
	t.Helper()
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// Launch starts a logged run of the nodes of a blueprint, drains all
// work, and returns its id.
func (c Caller) Launch(t testing.TB, blueprintID string, inputData any, nodes ...any) string {
	t.Helper()
	id := c.IDOf(t, "execution.executeBlueprintWithLogging", process.Object{"nodes": nodes, "options": process.Object{"blueprintId": blueprintID, "inputData": inputData}})
	c.Advance(t, "0s")
	return id
}

// Record returns the record of a run, as getExecutionStatus does.
func (c Caller) Record(t testing.TB, id string) process.Object {
	t.Helper()
	return c.OK(t, "execution.getExecutionStatus", process.Object{"executionId": id}).(process.Object)
}

// Log returns the log record of a run.
func (c Caller) Log(t testing.TB, id string) any {
	t.Helper()
	for _, record := range process.At(c.OK(t, "execution.listRecentExecutions", process.Object{"limit": 100}), "logs").([]any) {
		if process.At(record, "executionData.executionId") == id {
			return record
		}
	}
	t.Fatalf("run %s has no log record", id)
	return nil
}

// schema returns the database schema of the repository.
func schema(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(process.File(t, "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
