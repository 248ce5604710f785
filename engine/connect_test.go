package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// connections are the available connections by id; asking holds those that need a sign-
// in.
type connections struct {
	known  map[string]blueprint.OpenConnection
	asking map[string]bool
	uses   []blueprint.ConnectionUse
	asks   func() // called when a sign-in is needed; may be nil
}

func (c *connections) Open(_ context.Context, use blueprint.ConnectionUse) (*blueprint.OpenConnection, error) {
	c.uses = append(c.uses, use)
	open, ok := c.known[use.ConnectionID]
	switch {
	case !ok:
		return nil, blueprint.Errorf(blueprint.CodeNotFound, "no such connection")
	case c.asking[use.ConnectionID]:
		if c.asks != nil {
			c.asks()
		}
		return nil, &blueprint.Pause{Await: blueprint.Await{Kind: blueprint.AwaitOAuth, Prompt: "Sign in", URL: "https://login.example/x"}}
	}
	open.ID = use.ConnectionID
	return &open, nil
}

func known() *connections {
	return &connections{asking: map[string]bool{}, known: map[string]blueprint.OpenConnection{
		"http":  {Type: blueprint.ConnectionHTTP, Auth: "bearer", Config: map[string]any{"key": token}, Secrets: []string{token}},
		"login": {Type: blueprint.ConnectionOAuth2, Auth: "oauth2", SignIn: true, Config: map[string]any{"key": token}, Secrets: []string{token}},
		"ai1":   {Type: blueprint.ConnectionAIProvider, Auth: "api_key"},
		"ai2":   {Type: blueprint.ConnectionAIProvider, Auth: "api_key"},
	}}
}

// Secrets of connections are masked in views and encrypted in the journal, also after a
// restart and in a retry.
func TestConnectionSecretsAreMasked(t *testing.T) {
	c := known()
	testWith(t, func(o *engine.Options) { o.Connections = c }, func(w *fixture) {
		h := w.start(w.define(`
			a leak {"connectionId": "http"}
			b log {"message": "{{input.key}}"}
			c wait {"ms": 1000}
			d eval {"expression": "nodes.a.output.key == \"` + token + `\""}`))
		x := w.settle(h.ID)
		w.noSecret("a record", x)
		if data, err := blueprint.Encode(w.journal.stored(h.ID)); err != nil || strings.Contains(string(data), token) {
			t.Errorf("the journal is readable: %s, %v; want no %q", data, err, token)
		}
		w.reboot()
		w.advance(time.Second)
		x = w.settle(h.ID)
		w.noSecret("a record", x)
		if x.Output != true {
			t.Errorf("the node behind the crash got %v, want true", x.Output)
		}
		if got := c.uses[0]; got.UserID != "owner" || got.ExecutionID != h.ID || got.Address != "a" {
			t.Errorf("opened for %+v, want UserID owner, ExecutionID %v and Address a", got, h.ID)
		}
		if x.Telemetry.MCPServerNames[0] != "server ***" || !slices.Equal(x.Telemetry.AuthenticationMethodsUsed, []string{"bearer"}) || x.Telemetry.RequiredLogin {
			t.Errorf("telemetry %+v, want MCPServerNames server ***, %v and not RequiredLogin", x.Telemetry, []string{"bearer"})
		}
		w.noSecret("the record of a repetition", w.repeat(h.ID, "d"))
	})
}

// An outage of the database while a node opens a connection, checks a right or publishes an
// event delays the node and does not fail its run.
func TestNodesWaitThroughOutages(t *testing.T) {
	c, left := known(), 0
	away := func() error {
		if left--; left >= 0 {
			return &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "the database cannot be reached", Outage: true}
		}
		return nil
	}
	testWith(t, func(o *engine.Options) {
		o.Connections = &opensLate{c, away}
		o.Authority = authorizesLate(away)
		o.Emit = func(context.Context, blueprint.Event) (int, error) { return 1, away() }
	}, func(w *fixture) {
		for _, node := range []string{`a leak {"connectionId": "http"}`, `a emit`, `a eval {"expression": "token"}`} {
			t.Run(node, func(t *testing.T) {
				left = 5
				if x := w.wait(w.start(w.defineWith(node, secretVariables))); x.Status != blueprint.StatusCompleted {
					t.Errorf("the run is %s, want completed: %+v", x.Status, x.Steps)
				}
				if left >= 0 {
					t.Errorf("%d failures of the database are left, want none", left)
				}
			})
		}
	})
}

// opensLate opens connections once away returns nil.
type opensLate struct {
	*connections
	away func() error
}

func (o *opensLate) Open(ctx context.Context, use blueprint.ConnectionUse) (*blueprint.OpenConnection, error) {
	if err := o.away(); err != nil {
		return nil, err
	}
	return o.connections.Open(ctx, use)
}

// authorizesLate permits everything once it returns nil.
type authorizesLate func() error

func (a authorizesLate) Authorize(context.Context, blueprint.Authority, blueprint.Resource) error {
	return a()
}

// A credential of at least sixteen characters that a service echoes is replaced in
// values, not in keys, with a warning in the step and the log. Shorter ones may be words
// of the data and are passed on, as is everything in nodes without a connection.
func TestEchoedCredentials(t *testing.T) {
	const long = "credential-of-26-characters"
	for _, test := range []struct {
		name, secret, node string
		handed             string // to the next node
		masked             bool
	}{
		{"long", long, `leak {"connectionId": "x"}`, `{"` + long + `":true,"key":"***"}`, true},
		{"long, in an error", long, `leak {"connectionId": "x", "fails": true} | {"onError": "continue"}`, `{"error":{"code":"refused","message":"refused ***"}}`, true},
		{"short", "orders", `leak {"connectionId": "x"}`, `{"key":"orders","orders":true}`, false},
		{"short, in an error", "orders", `leak {"connectionId": "x", "fails": true} | {"onError": "continue"}`, `{"error":{"code":"refused","message":"refused orders"}}`, false},
		{"a node without a connection", long, `echo {"value": "` + long + `"}`, `"` + long + `"`, false},
	} {
		c := known()
		c.known["x"] = blueprint.OpenConnection{Type: blueprint.ConnectionHTTP, Config: map[string]any{"key": test.secret}, Secrets: []string{test.secret}}
		testWith(t, func(o *engine.Options) { o.Connections = c }, func(w *fixture) {
			h := w.start(w.define("first leak {\"connectionId\": \"x\"}\na " + test.node + "\nb pass"))
			x := w.wait(h)
			ending, err := h.Ending(w.Context())
			if got := encode(ending.Output); err != nil || got != test.handed {
				t.Errorf("%s: handed on %s, want %s (%v)", test.name, got, test.handed, err)
			}
			if strings.Contains(encode(x), test.secret) {
				t.Errorf("%s: the record shows %s, want no %q", test.name, encode(x), test.secret)
			}
			warned := 0
			for _, line := range x.Logs {
				if line.NodeID != nil && *line.NodeID == "a" && line.Level == "warn" && strings.Contains(line.Message, "credential") {
					warned++
				}
			}
			if got := step(x, "a"); got.Masked != test.masked || (warned == 1) != test.masked || step(x, "b").Masked {
				t.Errorf("%s: masked %v, %d warnings; want %v, %v and not Masked", test.name, got.Masked, warned, test.masked, test.masked)
			}
			if again := w.repeat(h.ID, "b"); step(again, "a").Masked != test.masked {
				t.Errorf("%s: the retry has forgotten it, want Masked %v", test.name, test.masked)
			}
		})
	}
}

func TestConnectionThatMayNotBeUsed(t *testing.T) {
	for _, test := range []struct {
		name    string
		options func(*engine.Options)
		message string
	}{
		{"none at all", func(*engine.Options) {}, "import the file and run it on a server"},
		{"unknown", func(o *engine.Options) { o.Connections = known() }, "no connection other"},
	} {
		testWith(t, test.options, func(w *fixture) {
			x := w.run(w.define(`a leak {"connectionId": "other"} | {"retry": {"maxAttempts": 3}}`))
			if x.Failure == nil || x.Failure.Code != "connection_unavailable" || !strings.Contains(x.Failure.Message, test.message) || x.Steps[0].Attempt != 1 {
				t.Errorf("%s: %+v, want not nil, Code connection_unavailable, %q in it and Attempt 1", test.name, x.Failure, test.message)
			}
		})
	}
}

// A run that needs a sign-in pauses, and continues after it.
func TestSignIn(t *testing.T) {
	c := known()
	c.asking["login"] = true
	testWith(t, func(o *engine.Options) { o.Connections = c }, func(w *fixture) {
		x := w.run(w.define("a pass\nb leak {\"connectionId\": \"login\"}"))
		w.expect(x, `paused: a=completed b=paused`)
		if a := x.AwaitingInput; a.Kind != blueprint.AwaitOAuth || a.URL != "https://login.example/x" || a.NodeID != "b" {
			t.Errorf("asks %+v, want Kind %v, URL https://login.example/x and NodeID b", a, blueprint.AwaitOAuth)
		}
		if err := w.SignedIn(w.Context(), x.ID, "b"); err != nil { // without a sign-in it asks again
			t.Fatal(err)
		}
		x = w.settle(x.ID)
		w.expect(x, `paused: a=completed b=paused`)
		if !x.Telemetry.RequiredLogin || !x.Telemetry.OAuthFlowsTriggered { // even if it never happens
			t.Errorf("telemetry of a run that asks for a sign-in: %+v", x.Telemetry)
		}
		w.reboot()
		c.asking["login"] = false
		if err := errors.Join(w.SignedIn(w.Context(), x.ID, "b"), w.SignedIn(w.Context(), x.ID, "b"), w.SignedIn(w.Context(), x.ID, "a"), w.SignedIn(w.Context(), "exec_none", "a")); err != nil {
			t.Fatal(err)
		}
		x = w.settle(x.ID)
		w.expect(x, `completed: a=completed b=completed -> {"***":true,"key":"***"}`)
		if !x.Telemetry.RequiredLogin || !x.Telemetry.OAuthFlowsTriggered {
			t.Errorf("telemetry %+v", x.Telemetry)
		}
	})
}

// MCP servers are counted by address, whatever their names.
func TestServersAreCountedByAddress(t *testing.T) {
	for _, test := range []struct {
		servers, names string
		count          int
	}{
		{`[]`, "", 0},
		{`["files https://a.example/mcp"]`, "files", 1},
		{`["files https://a.example/mcp", "files https://b.example/mcp"]`, "files", 2},
		{`["files https://a.example/mcp", "files https://a.example/mcp"]`, "files", 1},
		{`["files https://a.example/mcp", "shop https://a.example/mcp"]`, "files shop", 1},
	} {
		testWith(t, nil, func(w *fixture) {
			x := w.run(w.define(`a servers {"servers": ` + test.servers + "}\nb servers {\"servers\": " + test.servers + "}"))
			if got := x.Telemetry; got.MCPServerCount != test.count || strings.Join(got.MCPServerNames, " ") != test.names || got.UsedMCPServers != (test.count > 0) {
				t.Errorf("%s: %d of the names %v, want count %v and names %v", test.servers, got.MCPServerCount, got.MCPServerNames, test.count, test.names)
			}
			if got := x.Telemetry; got.ErrorSummary != "" || got.PrimaryAIProviderConnectionID != "" || got.RequiredLogin || got.OAuthFlowsTriggered {
				t.Errorf("%s: %+v, want ErrorSummary nothing, PrimaryAIProviderConnectionID nothing, not RequiredLogin and not OAuthFlowsTriggered", test.servers, got)
			}
		})
	}
}

func TestBudget(t *testing.T) {
	const lines = `
		a model {"connectionId": "ai1", "calls": 3, "tokens": 10}
		b model {"connectionId": "ai2", "calls": 2, "tokens": 20}`
	number := func(n int64) *int64 { return &n }
	for _, test := range []struct {
		name          string
		stored, given *blueprint.Budget
		want          string
		tokens        int64
	}{
		{"none", nil, nil, "completed completed", 70},
		{"enough", &blueprint.Budget{Tokens: number(71), Calls: number(5)}, nil, "completed completed", 70},
		{"tokens spent", &blueprint.Budget{Tokens: number(30)}, nil, "completed failed", 30},
		{"calls spent", nil, &blueprint.Budget{Calls: number(4)}, "completed failed", 50},
		{"the stricter counts", &blueprint.Budget{Calls: number(1)}, &blueprint.Budget{Calls: number(9), Tokens: number(5)}, "failed pending", 10},
		{"no call at all", nil, &blueprint.Budget{Tokens: number(0)}, "failed pending", 0},
	} {
		testWith(t, func(o *engine.Options) { o.Connections = known() }, func(w *fixture) {
			d := w.define(lines)
			d.Budget = test.stored
			r := request(d)
			r.Budget = test.given
			x := w.wait(w.startWith(r, engine.AtOnce))
			if got := fmt.Sprint(x.Steps[0].Status, " ", x.Steps[1].Status); got != test.want {
				t.Errorf("%s: %s, want %s", test.name, got, test.want)
			}
			if x.Telemetry.TotalTokensUsed != test.tokens || x.Failure != nil && x.Failure.Code != "budget_exceeded" {
				t.Errorf("%s: %d tokens, failure %+v; want tokens %v", test.name, x.Telemetry.TotalTokensUsed, x.Failure, test.tokens)
			}
			if test.name == "none" && (x.Telemetry.AIProvidersUsedCount != 2 || x.Telemetry.PrimaryAIProviderConnectionID != "ai2") {
				t.Errorf("telemetry %+v", x.Telemetry)
			}
		})
	}
}

// An exhausted budget can pause the run: no call is made twice, and the raised budget
// applies, also after a crash.
func TestBudgetThatPauses(t *testing.T) {
	testWith(t, func(o *engine.Options) { o.Connections = known() }, func(w *fixture) {
		r := request(w.define(`a model {"connectionId": "ai1", "calls": 4, "tokens": 10}`))
		two := int64(2)
		r.Budget = &blueprint.Budget{Calls: &two, OnBreach: blueprint.BreachPauses}
		x := w.wait(w.startWith(r, engine.AtOnce))
		if w.expect(x, `paused: a=paused`); x.AwaitingInput == nil {
			return
		}
		if x.AwaitingInput.Kind != blueprint.AwaitBudget || !strings.Contains(x.AwaitingInput.Prompt, "2 of 2") {
			t.Errorf("asks %+v, want Kind %v and \"2 of 2\" in it", x.AwaitingInput, blueprint.AwaitBudget)
		}
		for _, wrong := range []string{`null`, `{}`, `{"calls": 0}`, `{"calls": 1.5}`, `{"tokens": "9"}`} {
			w.code(w.answer(x.ID, "a", w.decode(wrong)), blueprint.CodeBadRequest)
		}
		w.reboot()
		w.answerOK(x.ID, "a", w.decode(`{"calls": 1}`))
		w.expect(w.settle(x.ID), `paused: a=paused`)
		w.answerOK(x.ID, "a", w.decode(`{"calls": 1, "tokens": 1}`))
		x = w.settle(x.ID)
		w.expect(x, `completed: a=completed -> 4`)
		if got := strings.Join(w.actions(), ", "); got != "call 0, call 1, call 2, call 3" || x.Telemetry.TotalTokensUsed != 40 {
			t.Errorf("made %s; %d tokens, want call 0, call 1, call 2, call 3 and 40", got, x.Telemetry.TotalTokensUsed)
		}
	})
}

// A sign-in that completes before the node asks for it is not requested again.
func TestSignInBeforeTheQuestion(t *testing.T) {
	c := known()
	c.asking["login"] = true
	testWith(t, func(o *engine.Options) { o.Connections = c }, func(w *fixture) {
		gate := w.hold("b")
		h := w.start(w.define("a act\nb leak {\"connectionId\": \"login\"}"))
		<-gate.came
		if err := w.SignedIn(w.Context(), h.ID, "b"); err != nil {
			t.Fatal(err)
		}
		c.asks = func() { c.asking["login"] = false } // once it has asked
		close(gate.open)
		w.expect(w.settle(h.ID), `completed: a=completed b=completed -> {"***":true,"key":"***"}`)
	})
}
