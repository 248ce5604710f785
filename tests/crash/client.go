package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"blueprintd/tests/process"
)

// client loads the server.
type client struct {
	name    int
	random  *rand.Rand
	api     *apiClient
	history *history
	shapes  []*shape
	sent    int
	// only observes runs that others start, such as those of schedules
	observesOnly bool
	connections  *connections // nil = there are none
}

// maxOpen is the number of open runs from which clients only observe runs.
const maxOpen = 150

// work loads the server until loaded ends. It then waits for pending requests, so
// that no unknown run begins afterwards.
func (c *client) work(ctx, loaded context.Context) {
	for process.Pause(loaded, time.Duration(5+c.random.IntN(40))*time.Millisecond) {
		if c.api.Address() == "" {
			continue
		}
		if c.observesOnly {
			c.list(ctx, 20)
		} else if len(c.history.openRuns()) < maxOpen && c.random.IntN(3) > 0 {
			c.start(ctx)
			continue
		}
		if c.random.IntN(8) == 0 && !c.observesOnly {
			c.list(ctx, 20) // runs started by others
		}
		if c.connections != nil && c.random.IntN(40) == 0 {
			c.connections.test(ctx, c, c.connections.all[c.random.IntN(len(c.connections.all))])
		}
		for _, r := range c.history.someOpen(c.random, 4) {
			c.act(ctx, r, false)
		}
		if r := c.history.randomClosed(c.random); r != nil {
			c.check(ctx, r)
		}
	}
}

// succeeded counts a response and reports whether it is a success.
func (c *client) succeeded(a answer, what string) bool {
	if a.Err == process.ErrDown {
		return false
	}
	c.history.count(func(n *counts) {
		n.Requests++
		if a.Err != nil {
			n.Lost++
		}
		if a.Status == 503 {
			n.Refused++
		}
	})
	c.history.checkSecrets("", "the answer to "+what, string(a.Body))
	if a.Err == nil && !a.OK() && a.Status != 503 && a.Status != 409 {
		c.history.violated("I10", "", "%s was refused: %s", what, a)
	}
	return a.OK()
}

// choose returns a random shape for which fits, by weight.
func (c *client) choose(fits func(*shape) bool) *shape {
	total := 0
	for _, s := range c.shapes {
		if fits(s) {
			total += s.weight
		}
	}
	n := c.random.IntN(total)
	for _, s := range c.shapes {
		if !fits(s) {
			continue
		}
		if n -= s.weight; n < 0 {
			return s
		}
	}
	return nil
}

func (c *client) input() object {
	return object{"wait": 50 + c.random.IntN(1450), "client": c.name, "n": c.sent}
}

// startable accepts all shapes that clients start through a trigger.
func startable(s *shape) bool { return len(s.modes) > 0 }

// start begins a run in one of the available ways.
func (c *client) start(ctx context.Context) {
	c.sent++
	switch dice := c.random.IntN(100); {
	case dice < 25:
		s := c.choose(startable)
		input := s.blueprintMap()
		input["options"] = object{"blueprintId": s.id, "inputData": c.input()}
		a := c.api.Mutate(ctx, "execution.executeBlueprintWithLogging", input)
		if c.succeeded(a, "executeBlueprintWithLogging") {
			c.history.addRun(a.Text("executionId"), "logged", s)
			c.history.count(func(n *counts) { n.Logged++ })
		}
	case dice < 35:
		c.execute(ctx)
	case dice < 42:
		s := c.choose(startable)
		least, _ := s.editions()
		a := c.api.Mutate(ctx, "blueprintTriggers.fire", object{"triggerId": s.api, "inputData": c.input()})
		if c.succeeded(a, "fire") {
			c.history.addRun(a.Text("executionId"), "fired", s).atLeast(least)
			c.history.count(func(n *counts) { n.Fired++ })
		}
	case dice < 52:
		c.deliverAgain(ctx)
	default:
		c.deliverNew(ctx)
	}
}

// execute runs a blueprint and waits for its end.
func (c *client) execute(ctx context.Context) {
	s := c.choose(func(s *shape) bool { return startable(s) && !s.asksUser })
	least, _ := s.editions()
	a := c.api.Mutate(ctx, "blueprint.execute", object{"id": s.id, "inputData": c.input()})
	if !c.succeeded(a, "blueprint.execute") {
		return
	}
	r := c.history.addRun(a.Text("executionId"), "executed", s)
	r.atLeast(least)
	c.history.count(func(n *counts) { n.Executed++ })
	r.mu.Lock()
	defer r.mu.Unlock()
	switch status := a.Text("result", "status"); {
	case status == "completed" && process.At(a.Value, "success") != true:
		c.history.violated("I5", r.id, "it was answered as completed without success: %s", a)
	case status == "completed" || status == "failed":
		r.acknowledgedEnd = status
	}
}

// deliverNew sends a new delivery, some with an id, and some of those twice concurrently.
func (c *client) deliverNew(ctx context.Context) {
	d := &delivery{input: c.input()}
	if c.random.IntN(5) == 0 {
		d.shape, d.mode = c.choose(startable), "api"
		d.trigger = d.shape.api
	} else {
		d.shape = c.choose(startable)
		d.mode = d.shape.modes[c.random.IntN(len(d.shape.modes))]
		d.trigger = d.shape.webhooks[d.mode]
	}
	if c.random.IntN(10) < 3 && d.mode != "wait" {
		c.deliver(ctx, d)
		return
	}
	d.id = fmt.Sprintf("delivery-%d-%d", c.name, c.sent)
	c.history.mu.Lock()
	c.history.deliveries[d.trigger+" "+d.id] = d
	c.history.keys = append(c.history.keys, d.trigger+" "+d.id)
	c.history.mu.Unlock()
	if c.random.IntN(8) > 0 {
		c.deliver(ctx, d)
		return
	}
	twin := make(chan struct{})
	go func() {
		defer close(twin)
		c.deliver(ctx, d)
	}()
	c.deliver(ctx, d)
	<-twin
}

// deliverAgain repeats an old delivery, often a recent one, whose first response may have been
// lost.
func (c *client) deliverAgain(ctx context.Context) {
	c.history.mu.Lock()
	keys := c.history.keys
	if c.random.IntN(2) == 0 {
		keys = keys[max(0, len(keys)-20):]
	}
	var d *delivery
	if len(keys) > 0 {
		d = c.history.deliveries[keys[c.random.IntN(len(keys))]]
	}
	c.history.mu.Unlock()
	switch {
	case d == nil:
	case d.mode == "api" && d.execution != "" && c.random.IntN(2) == 0:
		c.sendOtherBody(ctx, d)
	default:
		c.deliver(ctx, d)
	}
}

// sendOtherBody calls an api trigger with a used key and another body.
func (c *client) sendOtherBody(ctx context.Context, d *delivery) {
	a := c.api.Do(ctx, "POST", "/v1/triggers/"+d.trigger+"/fire", object{"other": c.sent}, "Authorization", "Bearer "+apiKey, "Idempotency-Key", d.id)
	if c.succeeded(a, "a call under a key that was used") {
		c.history.violated("I7", a.Text("executionId"), "key %s of trigger %s was used for %s, and was accepted with another body: %s", d.id, d.trigger, d.execution, a)
	} else if a.Status == 409 {
		c.history.mu.Lock()
		d.refused++
		c.history.mu.Unlock()
		c.history.count(func(n *counts) { n.Conflicts++ })
	}
}

// deliver posts a delivery.
func (c *client) deliver(ctx context.Context, d *delivery) {
	path, headers := "/webhooks/blueprint/"+d.trigger, []string{}
	if d.mode == "api" {
		path, headers = "/v1/triggers/"+d.trigger+"/fire", append(headers, "Authorization", "Bearer "+apiKey)
	}
	if d.id != "" {
		headers = append(headers, "Idempotency-Key", d.id)
	}
	a := c.api.Do(ctx, "POST", path, d.input, headers...)
	if d.mode == "wait" {
		c.deliveredAndWaited(d, a)
		return
	}
	if !c.succeeded(a, "a delivery to "+d.shape.name) {
		return
	}
	c.acknowledged(d, a, a.Text("executionId"))
}

// deliveredAndWaited reads the response of a webhook that responds at the end of its run.
func (c *client) deliveredAndWaited(d *delivery, a answer) {
	if a.Status == 500 { // a run that failed
		a.Status = 200
	}
	if !c.succeeded(a, "a waiting delivery to "+d.shape.name) {
		return
	}
	if id := a.Text("executionId"); id != "" { // a duplicate, a failure, or a run that continues
		c.acknowledged(d, a, id)
		return
	}
	id := a.Text("execution") // of a respond node
	if _, err := fmt.Sscanf(a.Text("text"), "%s done", &id); err != nil && id == "" {
		c.history.violated("I5", "", "a waiting delivery to %s was answered %s", d.shape.name, a)
		return
	}
	r := c.acknowledged(d, a, id)
	if d.shape.name != "respond" {
		r.mu.Lock()
		r.acknowledgedEnd = "completed"
		r.mu.Unlock()
	}
}

func (c *client) acknowledged(d *delivery, a answer, id string) *run {
	r := c.history.addRun(id, "delivered", d.shape)
	if d.id != "" {
		c.history.delivered(d, id, a.Text("firingId"))
	}
	c.history.count(func(n *counts) {
		if d.mode == "wait" {
			n.AnsweredAtEnd++
		} else {
			n.Delivered++
		}
	})
	if a.Status == 200 && d.mode != "wait" && (d.source == nil || d.source.kind != "slack") {
		c.history.count(func(n *counts) { n.Duplicates++ })
	}
	return r
}

const apiKey = "key-of-the-torturer"

type answer = process.Answer

// apiClient calls the server with the API key and records the changes in its log.
type apiClient struct {
	*process.Client
	changes *changeLog
}

// newAPIClient returns the API client that all clients share. It has no address
// until the server is up.
func newAPIClient() *apiClient {
	client := &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32, IdleConnTimeout: 5 * time.Second}}
	return &apiClient{process.NewClient("", apiKey, client), &changeLog{}}
}

// Mutate calls a mutation.
func (d *apiClient) Mutate(ctx context.Context, procedure string, input object) answer {
	sent := now()
	a := d.Client.Mutate(ctx, procedure, input)
	d.changes.record(byKey, sent, procedure, input, a)
	return a
}

// Create calls a procedure that creates something and returns its id.
func (d *apiClient) Create(ctx context.Context, procedure string, input object) (id string, err error) {
	a := d.Mutate(ctx, procedure, input)
	if id = a.Text("id"); !a.OK() || id == "" {
		return "", fmt.Errorf("%s: %s", procedure, a)
	}
	return id, nil
}

// Do makes a request. One that fires a trigger is a change, unless the response refers to
// an earlier run.
func (d *apiClient) Do(ctx context.Context, method, path string, body any, headers ...string) answer {
	sent := now()
	a := d.Client.Do(ctx, method, path, body, headers...)
	rest, fires := strings.CutSuffix(path, "/fire")
	if trigger, fires2 := strings.CutPrefix(rest, "/v1/triggers/"); fires && fires2 && !(a.OK() && a.Status != http.StatusAccepted) {
		logged := a
		logged.Value = nil // its line does not name the run
		d.changes.record(byKey, sent, "blueprintTriggers.fire", object{"triggerId": trigger}, logged)
	}
	return a
}

// now returns real time: the server is a real process with a real clock.
func now() time.Time { return time.Now() }
