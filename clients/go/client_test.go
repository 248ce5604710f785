package blueprintd_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	blueprintd "blueprintd/clients/go"
	"blueprintd/clients/go/program"
)

const key = "a-key-of-tests"

// address is where the server is that TestMain starts.
var address string

func TestMain(m *testing.M) { os.Exit(withServer(m.Run)) }

func withServer(run func() int) int {
	path, err := program.Built()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	server, err := program.Start(program.Command{
		Path: path, Args: []string{"serve", "--ephemeral", "--addr", "127.0.0.1:0", "--api-key", key, "--until-eof"}, Errors: os.Stderr, Ready: program.ServerReady,
	})
	if err == nil {
		defer server.Kill()
		address, err = server.Address(context.Background(), time.Minute)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return run()
}

func greeting(text string) map[string]any {
	return map[string]any{"title": "Greeting", "blueprint_map": map[string]any{"nodes": []any{
		map[string]any{"id": "greet", "type": "template", "title": "Greet", "config": map[string]any{"text": text}},
	}}}
}

func TestCalls(t *testing.T) {
	for _, end := range []string{"", "/", "/api/trpc", "/api/trpc/"} {
		client := &blueprintd.Client{Address: address + end, Key: key}
		var made, stored struct{ ID, Title string }
		if err := client.Mutate(t.Context(), "blueprint.create", greeting("<Hello> & {{name}}"), &made); err != nil {
			t.Fatalf("%q: %v", end, err)
		}
		if err := client.Query(t.Context(), "blueprint.get", map[string]any{"id": made.ID}, &stored); err != nil || stored != made || stored.Title != "Greeting" {
			t.Errorf("%q: stored %+v, %v; want %v and Title Greeting", end, stored, err, made)
		}
		run, err := client.Execute(t.Context(), made.ID, map[string]any{"name": "Ada"})
		if err != nil || run.Status != "completed" || string(run.Output) != `{"text":"<Hello> & Ada"}` {
			t.Errorf("%q: %+v, %v; want Status completed and Output {\"text\":\"<Hello> & Ada\"}", end, run, err)
		}
		e, err := client.Wait(t.Context(), run.ID)
		if err != nil || e.Status != "completed" || e.Step("greet") == nil || e.Step("nowhere") != nil {
			t.Errorf("%q: %+v, %v; want Status completed, greet not nil and nowhere nil", end, e, err)
		}
		if err := client.Mutate(t.Context(), "blueprint.delete", map[string]any{"id": made.ID}, nil); err != nil {
			t.Errorf("%q: %v", end, err)
		}
	}
	client := &blueprintd.Client{Address: address, Key: key}
	var raw json.RawMessage
	if err := client.Query(t.Context(), "organization.list", nil, &raw); err != nil || !strings.HasPrefix(string(raw), "[{") {
		t.Errorf("%s, %v; want \"[{\" at the start", raw, err)
	}
	if err := client.Mutate(t.Context(), "organization.create", func() {}, nil); err == nil || !strings.HasPrefix(err.Error(), "organization.create: input: ") {
		t.Errorf("an input that is no JSON: %v, want an error and \"organization.create: input: \" at the start", err)
	}
	var number int
	if err := client.Query(t.Context(), "organization.list", nil, &number); err == nil || !strings.HasPrefix(err.Error(), "organization.list: decode the answer: ") {
		t.Errorf("an output that does not fit: %v, want an error and \"organization.list: decode the answer: \" at the start", err)
	}
}

func TestExecuteWith(t *testing.T) {
	client := &blueprintd.Client{Address: address, Key: key}
	var made struct{ ID string }
	if err := client.Mutate(t.Context(), "blueprint.create", greeting("{{greeting ?? \"Hello\"}} {{inputData.name ?? \"all\"}}"), &made); err != nil {
		t.Fatal(err)
	}
	for want, input := range map[string]blueprintd.Input{
		"Hello all": {},
		"Hello Ada": {InputData: map[string]any{"name": "Ada"}},
		"Servus Ada": {InputData: struct {
			Name string `json:"name"`
		}{"Ada"}, Variables: map[string]any{"greeting": "Servus"}, Record: true},
	} {
		t.Run(want, func(t *testing.T) {
			run, err := client.ExecuteWith(t.Context(), made.ID, input)
			if err != nil || string(run.Output) != `{"text":"`+want+`"}` {
				t.Fatalf("%+v, %v; want the text %q", run, err, want)
			}
			var exported struct{ Cassette any }
			if err := client.Query(t.Context(), "execution.export", map[string]any{"executionId": run.ID}, &exported); err != nil || (exported.Cassette != nil) != input.Record {
				t.Errorf("the recording is %v, %v; want one: %t", exported.Cassette, err, input.Record)
			}
		})
	}
}

func TestWait(t *testing.T) {
	client := &blueprintd.Client{Address: address, Key: key}
	var made struct{ ID string }
	nodes := []any{map[string]any{"id": "wait", "type": "wait", "title": "Wait", "config": map[string]any{"durationMs": 3_600_000}}}
	flow := map[string]any{"title": "Long", "blueprint_map": map[string]any{"nodes": nodes}}
	var started struct{ ExecutionID string }
	if err := client.Mutate(t.Context(), "blueprint.create", flow, &made); err != nil {
		t.Fatal(err)
	}
	if err := client.Mutate(t.Context(), "execution.executeBlueprintWithLogging", map[string]any{"nodes": nodes, "options": map[string]any{"blueprintId": made.ID}}, &started); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	seen := http.DefaultTransport
	client.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		defer stop(enough) // it has been asked once
		return seen.RoundTrip(r)
	})}
	if e, err := client.Wait(ctx, started.ExecutionID); !errors.Is(err, enough) || e == nil || e.Status != "running" {
		t.Errorf("%+v, %v; want %v, not nil and Status running", e, err, enough)
	}
	client.HTTP = nil
	if _, err := client.Wait(t.Context(), "exec_nowhere"); err == nil || err.Error() != "there is no run exec_nowhere" {
		t.Errorf("%v, want an error and there is no run exec_nowhere", err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRefusals(t *testing.T) {
	strange := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/trpc/moved":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		case "/api/trpc/short":
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "{")
		case "/api/trpc/page":
			io.WriteString(w, "<html>")
		default:
			w.WriteHeader(http.StatusBadGateway)
			io.WriteString(w, `{"error":"upstream"}`)
		}
	}))
	defer strange.Close()
	for _, c := range []struct {
		address, key, procedure string
		input                   any
		text                    string // a pattern of the error
		code                    string
		status                  int
		hint                    string
	}{
		{address, key, "blueprint.get", map[string]any{"id": "3fa85f64-5717-4562-b3fc-2c963f66afa6"}, `^blueprint\.get: .+ \(NOT_FOUND, 404\)$`, "NOT_FOUND", 404, ""},
		{address, key, "blueprint.get", map[string]any{"id": "x"}, `id`, "BAD_REQUEST", 400, ""},
		{address, key, "blueprint.create", nil, `GET`, "METHOD_NOT_SUPPORTED", 405, ""},
		{address, "another", "blueprint.list", nil, `key`, "UNAUTHORIZED", 401, "make a key"},
		{address, "", "blueprint.list", nil, `key`, "UNAUTHORIZED", 401, "make a key"},
		{strange.URL, key, "page", nil, `^page: the answer is not that of a blueprintd server \(200\)$`, "", 200, "check the address"},
		{strange.URL, key, "down", nil, `\(502\)$`, "", 502, "check the address"},
		{strange.URL, key, "moved", nil, `\(302\)$`, "", 302, "check the address"},
	} {
		t.Run(c.procedure+" "+c.text, func(t *testing.T) {
			err := (&blueprintd.Client{Address: c.address, Key: c.key}).Query(t.Context(), c.procedure, c.input, nil)
			var refused *blueprintd.Error
			if !errors.As(err, &refused) || !regexp.MustCompile(c.text).MatchString(err.Error()) || len(refused.Body) == 0 {
				t.Fatalf("%v, want a refusal with a body that matches %q", err, c.text)
			}
			if refused.Code != c.code || refused.HTTPStatus != c.status || refused.Path != c.procedure || !strings.HasPrefix(refused.Hint, c.hint) {
				t.Errorf("%+v, want %s, %d, %s and the hint %q", refused, c.code, c.status, c.procedure, c.hint)
			}
			if c.code == "BAD_REQUEST" && (len(refused.Issues) != 1 || refused.Issues[0].Path[0] != "id") {
				t.Errorf("the issues are %+v, want one at id", refused.Issues)
			}
		})
	}
	for where, want := range map[string]string{strange.URL: "short: the answer of " + strange.URL + " broke off: ", "http://127.0.0.1:1": "short: http://127.0.0.1:1 cannot be reached: "} {
		t.Run(strings.Replace(where, strange.URL, "strange", 1), func(t *testing.T) {
			err := (&blueprintd.Client{Address: where, Key: key}).Query(t.Context(), "short", nil, nil)
			var refused *blueprintd.Error
			if err == nil || errors.As(err, &refused) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), basePath) {
				t.Errorf("%v, want %q without %s", err, want, basePath)
			}
		})
	}
}

const basePath = "/api/trpc"

// TestBusy calls a server that refuses two calls of three, in simulated time.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, again := 0, "7"
		server := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			answer := httptest.NewRecorder()
			if asked++; asked%3 == 0 {
				io.WriteString(answer, `{"result":{"data":{"json":7}}}`)
				return answer.Result(), nil
			}
			answer.Header().Set("Retry-After", again)
			answer.WriteHeader([]int{http.StatusTooManyRequests, http.StatusServiceUnavailable}[asked%2])
			io.WriteString(answer, `{"error":{"json":{"message":"busy","data":{"code":"BUSY"}}}}`)
			return answer.Result(), nil
		})}
		client := &blueprintd.Client{Address: "http://here", HTTP: server}
		var refused *blueprintd.Error
		if err := client.Query(t.Context(), "p", nil, nil); !errors.As(err, &refused) || refused.RetryAfter != 7*time.Second || !refused.Busy() {
			t.Errorf("%v", err)
		}
		client.Attempts = 3
		for _, c := range []struct {
			again string
			took  time.Duration
		}{{"7", 14 * time.Second}, {"", 2 * time.Second}, {"0", 2 * time.Second}, {"3600", time.Minute}} {
			var seven int
			asked, again = 0, c.again
			began := time.Now()
			if err := client.Mutate(t.Context(), "p", nil, &seven); err != nil || seven != 7 || time.Since(began) != c.took {
				t.Errorf("Retry-After %q: %d after %s: %v, want 7 and %v", c.again, seven, time.Since(began), err, c.took)
			}
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		asked, again = 0, "20"
		if err := client.Query(ctx, "p", nil, nil); !errors.Is(err, context.DeadlineExceeded) || asked != 1 {
			t.Errorf("%v after %d calls, want %v and 1", err, asked, context.DeadlineExceeded)
		}
	})
}
