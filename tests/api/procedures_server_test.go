package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/rpc/trpc"
	"blueprintd/server"
)

// service is a whole server inside the test's own process, reached over HTTP.
type service struct {
	*server.Server
	host   string
	kinds  map[string]trpc.Kind
	scopes map[string]blueprint.KeyScope
	client *http.Client
	root   person        // the server's owner
	logs   *lockedBuffer // what the server wrote
	stop   func()        // ends the server early and waits until it has ended
}

// newService runs a server, ephemeral and on real time unless changed, until
// the test ends. Whatever the test does, the server must log no error and end
// well.
func newService(t testing.TB, change ...func(*server.Options)) *service {
	t.Helper()
	logs := &lockedBuffer{}
	o := server.Options{
		Database: server.Database{Schema: schema, Ephemeral: true},
		Network:  server.Network{Addr: "127.0.0.1:0"},
		Limits:   server.Limits{SyncTimeout: 30 * time.Second, MaxBody: 5 << 20, MaxRunning: 1000, MaxQueued: 10_000},
		Version:  version, APIKey: testKey, Clock: clock.Real{}, Logger: slog.New(slog.NewTextHandler(logs, nil)), Out: io.Discard,
	}
	for _, f := range change {
		f(&o)
	}
	ctx, end := context.WithCancel(context.Background())
	wired, err := server.New(ctx, o)
	if err != nil {
		end()
		t.Fatal(err)
	}
	s := &service{
		Server: wired, host: wired.APIHost(), kinds: map[string]trpc.Kind{}, scopes: map[string]blueprint.KeyScope{}, logs: logs,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}},
	}
	for _, procedure := range s.RPC.Procedures() {
		s.kinds[procedure.Name], s.scopes[procedure.Name] = procedure.Kind, procedure.Scope
	}
	ended := make(chan error, 1)
	go func() { ended <- wired.Run(ctx) }()
	s.stop = sync.OnceFunc(func() {
		s.client.CloseIdleConnections()
		end()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if text := logs.String(); strings.Contains(text, "level=ERROR") || text != "" && t.Failed() {
			t.Errorf("log of the server:\n%s", text)
		}
	})
	t.Cleanup(s.stop)
	select {
	case <-wired.Opened:
	case err := <-ended:
		ended <- err
	}
	s.root = person{service: s, authorization: "Bearer " + testKey, User: s.Bootstrap.Account}
	return s
}

// onFile keeps the database in a file.
func onFile(path string) func(*server.Options) {
	return func(o *server.Options) { o.Ephemeral, o.DB = false, path }
}

// atNoon gives the server a clock that stands at noon of the first of May 2030.
func atNoon(o *server.Options) { o.Clock = clock.NewVirtual(noon) }

var noon = time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)

// person is somebody who calls a service.
type person struct {
	*service
	blueprint.User
	authorization string // the header
}

// user makes an account with a key.
func (s *service) user(t testing.TB, name string) person {
	t.Helper()
	account, err := s.Store.CreateUser(t.Context(), name+"@example.org", name)
	if err != nil {
		t.Fatal(err)
	}
	key := "key-of-" + name + "-and-of-nobody-else"
	if _, err := s.Store.CreateKey(t.Context(), account.ID, "key of "+name, key); err != nil {
		t.Fatal(err)
	}
	return person{service: s, User: account, authorization: "Bearer " + key}
}

// reply is an answer as it came over the wire.
type reply struct {
	status int // of a subscription, what its last event says
	header http.Header
	text   string
	value  any // decoded, numbers with their digits; nil when it is no JSON
}

func (r reply) payload() any { return at(r.value, "result.data.json") }

func (r reply) code() string {
	code, _ := at(r.value, "error.json.data.code").(string)
	return code
}

func (r reply) message() string {
	message, _ := at(r.value, "error.json.message").(string)
	return message
}

// call calls a procedure as tRPC clients do, without a look at the outcome. A
// nil input is not sent at all.
func (p person) call(t testing.TB, name string, input any) reply {
	t.Helper()
	kind, known := p.kinds[name]
	if !known {
		t.Fatalf("there is no procedure %s", name)
	}
	text := ""
	if input != nil {
		text = encoded(t, object{"json": input})
	}
	if kind == trpc.KindMutation {
		return p.send(t, http.MethodPost, "/api/trpc/"+name, text)
	}
	path := "/api/trpc/" + name
	if text != "" {
		path += "?input=" + url.QueryEscape(text)
	}
	answer := p.send(t, http.MethodGet, path, "")
	if kind == trpc.KindSubscription {
		answer.endOfStream(t)
	}
	return answer
}

// endOfStream makes the last event of a subscription its outcome.
func (r *reply) endOfStream(t testing.TB) {
	t.Helper()
	events := events(t, strings.NewReader(r.text))
	var last any
	for _, one := range events {
		switch one.name {
		case "":
			last = one.data
		case "serialized-error":
			r.value, r.status = object{"error": one.data}, http.StatusInternalServerError
			if number, err := fmt.Sscan(fmt.Sprint(at(one.data, "json.data.httpStatus")), &r.status); number != 1 {
				t.Fatalf("the error of a subscription names no status: %v", err)
			}
			return
		}
	}
	r.value = object{"result": object{"data": last}}
}

// event is one server-sent event; data is decoded JSON.
type event struct {
	name string
	data any
}

// events reads a stream of server-sent events to its end.
func events(t testing.TB, stream io.Reader) (list []event) {
	t.Helper()
	text, err := io.ReadAll(stream)
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(string(text), "\n\n") {
		one := event{}
		for line := range strings.SplitSeq(strings.TrimLeft(block, "\n"), "\n") {
			if name, found := strings.CutPrefix(line, "event: "); found {
				one.name = name
			} else if data, found := strings.CutPrefix(line, "data: "); found && data != "" {
				one.data = decoded(t, data)
			}
		}
		if one.name != "" || one.data != nil {
			list = append(list, one)
		}
	}
	return list
}

// send makes one request. The body, unless empty, is said to be JSON.
func (p person) send(t testing.TB, method, path, body string, headers ...string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, p.host+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	if p.authorization != "" {
		request.Header.Set("Authorization", p.authorization)
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := p.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	value, _ := blueprint.Decode(text)
	return reply{status: response.StatusCode, header: response.Header, text: string(text), value: value}
}

// ok calls a procedure that must succeed and gives its payload.
func (p person) ok(t testing.TB, name string, input any) any {
	t.Helper()
	answer := p.call(t, name, input)
	if answer.status != http.StatusOK {
		t.Fatalf("%s %s: %d %s", name, encoded(t, input), answer.status, answer.text)
	}
	return answer.payload()
}

// id calls a procedure that must succeed and gives the id in its payload.
func (p person) id(t testing.TB, name string, input any) string {
	t.Helper()
	payload := p.ok(t, name, input)
	for _, key := range []string{"id", "executionId"} {
		if id, ok := at(payload, key).(string); ok {
			return id
		}
	}
	t.Fatalf("%s gave no id: %v", name, payload)
	return ""
}

// refused calls a procedure that must fail with a code, and gives the message.
func (p person) refused(t testing.TB, code blueprint.Code, name string, input any) string {
	t.Helper()
	answer := p.call(t, name, input)
	if answer.status != code.HTTPStatus() || answer.code() != string(code) ||
		fmt.Sprint(at(answer.value, "error.json.code")) != fmt.Sprint(code.Number()) ||
		fmt.Sprint(at(answer.value, "error.json.data.httpStatus")) != fmt.Sprint(code.HTTPStatus()) || at(answer.value, "error.json.data.path") != name {
		t.Errorf("%s %s: got %d %s, want %s", name, encoded(t, input), answer.status, answer.text, code)
	}
	return answer.message()
}

// advance moves the virtual clock by a time, "0s" just lets all work come to
// rest, and gives how many ledger rows were started.
func (s *service) advance(t testing.TB, by string) int {
	t.Helper()
	answer := s.root.send(t, http.MethodPost, "/clock/advance", encoded(t, object{"by": by}))
	var fired int
	if _, err := fmt.Sscan(fmt.Sprint(at(answer.value, "fired")), &fired); err != nil || answer.status != http.StatusOK {
		t.Fatalf("advance by %s: %d %s", by, answer.status, answer.text)
	}
	return fired
}

// until polls the status of a run, as clients do, until it is the one wanted.
func (p person) until(t testing.TB, id string, wanted blueprint.Status) object {
	t.Helper()
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for {
		record := p.ok(t, "execution.getExecutionStatus", object{"executionId": id}).(object)
		if record["status"] == string(wanted) {
			return record
		}
		select {
		case <-poll.C:
		case <-deadline.C:
			t.Fatalf("run %s is not %s: %s", id, wanted, encoded(t, record))
		}
	}
}

// blueprint stores a blueprint of these nodes, one after the other.
func (p person) blueprint(t testing.TB, title string, nodes ...any) string {
	t.Helper()
	if nodes == nil {
		nodes = []any{}
	}
	return p.id(t, "blueprint.create", object{"title": title, "blueprint_map": object{"nodes": nodes}})
}

func encoded(t testing.TB, value any) string {
	t.Helper()
	text, err := blueprint.Encode(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func decoded(t testing.TB, text string) any {
	t.Helper()
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}
