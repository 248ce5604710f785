package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// echoNetwork is a network that responds with the body of the request.
type echoNetwork struct{}

func (echoNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 500, Header: http.Header{}, Body: r.Body}, nil
}

func (echoNetwork) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, net.ErrClosed
}

// lab observes and controls the nodes of a test. One lab may serve several engines in
// turn, as external services survive a crash.
type lab struct {
	mu      sync.Mutex
	begun   []string              // "address" of every node, in the order in which they began
	acts    []string              // idempotency keys of side effects that took place
	tries   map[string]int        // by address
	gates   map[string]*chanMutex // by address
	running map[string]int        // nodes at work now, by execution
	peak    int                   // most nodes of one run at work at once
}

// gate holds a node back: it tells that it has come, and goes on when it is let.
type chanMutex struct {
	came chan string // attempt numbers
	open chan struct{}
}

func newLab() *lab {
	return &lab{tries: map[string]int{}, gates: map[string]*chanMutex{}, running: map[string]int{}}
}

// hold puts a gate before the work of a node.
func (l *lab) hold(address string) *chanMutex {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := &chanMutex{came: make(chan string, 100), open: make(chan struct{})}
	l.gates[address] = g
	return g
}

func (l *lab) begunNodes() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.begun, " ")
}

func (l *lab) actions() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.acts)
}

// enter is called by every node when it begins; it waits at the node's gate.
func (l *lab) enter(ctx context.Context, task *blueprint.Task) error {
	l.mu.Lock()
	l.begun = append(l.begun, task.Address)
	l.tries[task.Address]++
	l.running[task.ExecutionID]++
	l.peak = max(l.peak, l.running[task.ExecutionID])
	g := l.gates[task.Address]
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.running[task.ExecutionID]--
	}()
	if g == nil {
		return nil
	}
	g.came <- fmt.Sprint(task.Attempt)
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// catalogue returns the node types of tests.
func (l *lab) catalogue() blueprint.Catalogue {
	out := blueprint.Catalogue{}
	add := func(name string, effect blueprint.Effect, run func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error)) *blueprint.NodeType {
		kind := &blueprint.NodeType{Type: name, Title: name, Effect: effect, Run: func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
			at := ctx
			if name == "stubborn" { // it does not notice that it is cut off
				at = context.WithoutCancel(ctx)
			}
			if err := l.enter(at, task); err != nil {
				return blueprint.Result{}, err
			}
			return run(ctx, task)
		}}
		out[name] = kind
		return kind
	}
	// pass gives the input on; echo gives its value.
	add("pass", blueprint.EffectPure, func(context.Context, *blueprint.Task) (blueprint.Result, error) {
		return blueprint.Result{PassInput: true}, nil
	})
	add("quick", blueprint.EffectPure, func(context.Context, *blueprint.Task) (blueprint.Result, error) {
		return blueprint.Result{PassInput: true}, nil
	}).Quick = true
	add("stubborn", blueprint.EffectPure, func(context.Context, *blueprint.Task) (blueprint.Result, error) {
		return blueprint.Result{PassInput: true}, nil
	})
	add("echo", blueprint.EffectPure, func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
		return blueprint.Result{Output: task.Config["value"]}, nil
	})
	add("set", blueprint.EffectPure, func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
		values, _ := task.Config["values"].(map[string]any)
		return blueprint.Result{Output: values, Variables: values}, nil
	})
	add("eval", blueprint.EffectPure, func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
		value, err := task.Evaluate(task.Config["expression"].(string))
		return blueprint.Result{Output: value}, err
	}).Verbatim = func([]any) bool { return true }
	add("inputs", blueprint.EffectPure, func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
		out := []any{}
		for _, in := range task.Inputs {
			out = append(out, in.NodeID, in.Output)
		}
		return blueprint.Result{Output: out}, nil
	})
	add("choose", blueprint.EffectPure, func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
		return blueprint.Result{PassInput: true, Handle: text(task.Config["handle"])}, nil
	})
	add("log", blueprint.EffectPure, func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
		for range max(1, number(task.Config["times"])) {
			task.Log("info", text(task.Config["message"]), task.Config["data"])
		}
		return blueprint.Result{PassInput: true}, nil
	})
	add("stop", blueprint.EffectPure, func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
		return blueprint.Result{PassInput: true, Stop: &blueprint.Stop{Failed: task.Config["failed"] == true, Message: text(task.Config["message"])}}, nil
	})
	add("respond", blueprint.EffectPure, func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
		return blueprint.Result{PassInput: true, Respond: &blueprint.Response{Status: 200, Headers: map[string]string{"x-a": text(task.Config["header"])}, Body: task.Config["body"]}}, nil
	}).Quick = true
	add("wait", blueprint.EffectPure, func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
		return blueprint.Result{Wait: &blueprint.Wait{Until: task.Now.Add(milliseconds(task.Config["ms"]))}}, nil
	})
	add("crash", blueprint.EffectPure, func(context.Context, *blueprint.Task) (blueprint.Result, error) { panic("boom") })
	add("odd", blueprint.EffectPure, func(context.Context, *blueprint.Task) (blueprint.Result, error) {
		return blueprint.Result{Output: map[string]any{"odd": make(chan int)}}, nil
	})
	// act changes the outside; once does it without protection against doing it twice.
	act := func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.acts = append(l.acts, task.IdempotencyKey)
		return blueprint.Result{Output: map[string]any{"done": task.Address}, Calls: []blueprint.Call{{Host: text(task.Config["host"]), Status: 200}}, Tokens: 3}, nil
	}
	add("act", blueprint.EffectIdempotent, act)
	add("once", blueprint.EffectOnce, act)
	// fail fails config.times times, then gives what attempt it was.
	fail := func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if times, given := task.Config["times"]; given && l.tries[task.Address] > number(times) {
			return blueprint.Result{Output: blueprintNumber(task.Attempt)}, nil
		}
		return blueprint.Result{Calls: []blueprint.Call{{Host: "api", Status: 500}}, Tokens: 2}, &blueprint.Failure{
			Message: "failed: " + text(task.Config["message"]), Code: cmp.Or(text(task.Config["code"]), "test"), Permanent: task.Config["permanent"] == true,
			NotSent: task.Config["notSent"] == true, RetryAfter: milliseconds(task.Config["retryAfterMs"]),
		}
	}
	add("fail", blueprint.EffectPure, fail)
	add("fail-once", blueprint.EffectOnce, fail)
	add("fail-plain", blueprint.EffectPure, func(context.Context, *blueprint.Task) (blueprint.Result, error) {
		return blueprint.Result{}, errors.New("a plain error")
	})
	add("fail-refused", blueprint.EffectPure, func(context.Context, *blueprint.Task) (blueprint.Result, error) {
		return blueprint.Result{}, &blueprint.Error{Code: blueprint.CodeForbidden, Message: "not yours", Err: errors.New("internal detail")}
	})
	// hang works until it is cut off, and does not say why it ended.
	add("hang", blueprint.EffectPure, func(ctx context.Context, _ *blueprint.Task) (blueprint.Result, error) {
		<-ctx.Done()
		return blueprint.Result{}, fmt.Errorf("call: %w", ctx.Err())
	})
	// leak opens a connection, sends its credentials and hands on what it holds.
	add("leak", blueprint.EffectPure, func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
		open, err := task.Connect(ctx, text(task.Config["connectionId"]))
		if err != nil {
			return blueprint.Result{}, err
		}
		open.Sent()
		if task.Config["fails"] == true {
			return blueprint.Result{}, &blueprint.Failure{Code: "refused", Message: "refused " + open.Secrets[0]}
		}
		return blueprint.Result{Output: map[string]any{"key": open.Config["key"], open.Secrets[0]: true}, MCPServers: []blueprint.MCPServer{{Name: "server " + open.Secrets[0]}}}, nil
	})
	// servers asks MCP servers, each given as "name address".
	add("servers", blueprint.EffectOnce, func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
		var result blueprint.Result
		servers, _ := task.Config["servers"].([]any)
		for _, one := range servers {
			name, address, _ := strings.Cut(text(one), " ")
			result.MCPServers = append(result.MCPServers, blueprint.MCPServer{Name: name, Address: address})
		}
		return result, nil
	})
	// reach sends config.body to a service that answers with it, and fails.
	add("reach", blueprint.EffectIdempotent, func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
		if task.Config["send"] != false {
			request, err := http.NewRequestWithContext(ctx, "POST", "https://api.example.com/", strings.NewReader(text(task.Config["body"])))
			if err != nil {
				return blueprint.Result{}, err
			}
			response, err := outbound.New(outbound.Options{Network: echoNetwork{}}).Do(request)
			if err != nil {
				return blueprint.Result{}, err
			}
			outbound.Drain(response.Body)
		}
		if task.Attempt <= number(task.Config["times"]) {
			return blueprint.Result{}, &blueprint.Failure{Message: "refused", Code: "test"}
		}
		return blueprint.Result{Output: "taken"}, nil
	})
	// model makes config.calls calls, of which each takes config.tokens; its
	// state counts those made before a pause.
	add("model", blueprint.EffectOnce, func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
		if id := text(task.Config["connectionId"]); id != "" {
			if _, err := task.Connect(context.Background(), id); err != nil {
				return blueprint.Result{}, err
			}
		}
		made := number(task.State)
		for ; made < max(1, number(task.Config["calls"])); made++ {
			if err := task.Budget(ctx, int64(number(task.Config["tokens"]))); err != nil {
				var pause *blueprint.Pause
				if errors.As(err, &pause) {
					pause.State = blueprintNumber(made)
				}
				return blueprint.Result{}, err
			}
			l.mu.Lock()
			l.acts = append(l.acts, fmt.Sprint("call ", made))
			l.mu.Unlock()
			task.Spend(int64(number(task.Config["tokens"])))
		}
		return blueprint.Result{Output: blueprintNumber(made)}, nil
	})
	// each goes over config.items, or over what the expression config.over gives.
	each := add("each", blueprint.EffectPure, func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
		list, _ := task.Config["items"].([]any)
		if source := text(task.Config["over"]); source != "" {
			value, err := task.Evaluate(source)
			if err != nil {
				return blueprint.Result{}, err
			}
			list = value.([]any)
		}
		return blueprint.Result{Each: &blueprint.Each{Items: list, Concurrency: number(task.Config["concurrency"])}}, nil
	})
	each.Verbatim = func(path []any) bool { return len(path) > 0 && path[0] == "nodes" }
	each.Body = func(config map[string]any) (map[string]any, []any) {
		return map[string]any{"nodes": config["nodes"], "edges": config["edges"]}, nil
	}
	add("skip", blueprint.EffectPure, func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
		result := blueprint.Result{PassInput: true}
		if value, err := task.Evaluate(text(task.Config["unless"])); err != nil || value != true {
			result.Stop = &blueprint.Stop{Item: true}
		}
		return result, nil
	}).Verbatim = func([]any) bool { return true }
	// call runs another blueprint with its input.
	add("call", blueprint.EffectPure, func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
		variables, _ := task.Config["variables"].(map[string]any)
		return blueprint.Result{Run: &blueprint.SubRun{BlueprintID: text(task.Config["blueprintId"]), Variables: variables, InputData: task.Input}}, nil
	})
	add("emit", blueprint.EffectIdempotent, func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
		started, err := task.Emit(ctx, "custom.x", task.Input)
		return blueprint.Result{Output: blueprintNumber(started)}, err
	})
	// scope gives all that code would see.
	add("scope", blueprint.EffectPure, func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
		s := task.Scope()
		denied := []any{}
		for _, name := range s.Denied {
			denied = append(denied, name)
		}
		return blueprint.Result{Output: map[string]any{"variables": s.Variables, "nodes": s.Nodes, "denied": denied}}, nil
	})
	ask := add("ask", blueprint.EffectPure, func(_ context.Context, task *blueprint.Task) (blueprint.Result, error) {
		kind := blueprint.AwaitHuman
		if task.Config["kind"] != nil {
			kind = blueprint.AwaitKind(text(task.Config["kind"]))
		}
		return blueprint.Result{Await: &blueprint.Await{Kind: kind, Prompt: text(task.Config["prompt"]), Expires: milliseconds(task.Config["expiresMs"])}}, nil
	})
	ask.Waits = "person"
	ask.Answer = func(task *blueprint.Task, answer any) (blueprint.Result, error) {
		switch answer {
		case "bad":
			return blueprint.Result{}, &blueprint.Error{Code: blueprint.CodeBadRequest, Message: "input: is bad", Issues: []blueprint.Issue{{Path: []any{"input"}, Message: "is bad"}}}
		case "fail":
			return blueprint.Result{}, &blueprint.Failure{Message: "rejected", Code: "rejected"}
		case "crash":
			panic("boom")
		}
		return blueprint.Result{Output: map[string]any{"answer": answer, "prompt": task.Config["prompt"], "input": task.Input}, Handle: text(task.Config["handle"])}, nil
	}
	ask.Expired = func(task *blueprint.Task) (blueprint.Result, error) {
		if task.Config["onExpire"] == "continue" {
			return blueprint.Result{Output: map[string]any{"expired": true}}, nil
		}
		return blueprint.Result{}, &blueprint.Failure{Message: "no answer in time", Code: "expired"}
	}
	return out
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

func number(value any) int {
	var n int
	fmt.Sscan(fmt.Sprint(value), &n)
	return n
}

func milliseconds(value any) time.Duration { return time.Duration(number(value)) * time.Millisecond }

func blueprintNumber(n int) any {
	value, _ := blueprint.Plain(n)
	return value
}
