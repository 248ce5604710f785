package main

import (
	"fmt"
	"time"
)

// client calls the server sequentially and records the responses.
type client struct {
	name     string // prefix of the names of everything that it creates
	api      *api
	expected *expectations
	step     int

	blueprint, blueprintID string // the latest that it created
	trigger, triggerID     string
	key, keyID             string
	pausedRun, pausedRunID string // a run that waits for a user

	// onResponse, if set, is called with the response to each operation.
	onResponse func(what string, a answer)
}

// change sends a change of a resource and records the response.
func (p *client) change(kind, name, state, what string, send func() answer) answer {
	a := send()
	p.expected.record(resource{kind, name}, state, a)
	if p.onResponse != nil {
		p.onResponse(what, a)
	}
	return a
}

func templateNode() object {
	return object{"id": "after", "type": "template", "title": "after", "config": object{"text": "done {{inputData.marker}}"}}
}

func before(id, kind string, config object) []any {
	return []any{object{"id": id, "type": kind, "title": id, "config": config}, templateNode()}
}

var (
	mainNodes  = []any{templateNode()}
	humanNodes = before("ask", "human", object{"prompt": "Go on?"})
	slowNodes  = before("wait", "wait", object{"durationMs": 300})
)

// createShared creates the objects that all clients use.
func (p *client) createShared() {
	make := func(name string, nodes []any) string {
		a := p.change("blueprint", name, name, "create "+name, func() answer {
			return p.api.mutate("blueprint.create", object{"title": name, "description": name, "blueprint_map": object{"nodes": nodes}})
		})
		return a.Text("id")
	}
	hook := func(name string, config object) string {
		config["label"] = name
		a := p.change("trigger", name, "active", "create "+name, func() answer {
			return p.api.mutate("blueprintTriggers.create", object{"blueprintId": p.expected.shared.main, "triggerType": "webhook", "config": config})
		})
		return a.Text("id")
	}
	at := &p.expected.shared
	at.main, at.human, at.slow = make("main", mainNodes), make("human", humanNodes), make("slow", slowNodes)
	if at.main != "" {
		at.waitingWebhook, at.promptWebhook = hook("waiting", object{"respond": "wait"}), hook("prompt", object{})
	}
}

// next runs one operation.
func (p *client) next() {
	name := fmt.Sprintf("%s-%d", p.name, p.step)
	operations[p.step%len(operations)](p, name)
	p.step++
}

// operations are the operations of clients, which they repeat in this order.
var operations = []func(*client, string){
	(*client).createBlueprint,
	(*client).deliverAndWait,
	(*client).deliver,
	(*client).execute,
	(*client).start,
	(*client).ask,
	(*client).updateBlueprint,
	(*client).resume,
	(*client).createKey,
	(*client).ask,
	(*client).createTrigger,
	(*client).cancel,
	(*client).revokeKey,
	(*client).startSlow,
	(*client).deleteTrigger,
	(*client).deleteBlueprint,
}

func (p *client) createBlueprint(name string) {
	a := p.change("blueprint", name, "first", "blueprint.create", func() answer {
		return p.api.mutate("blueprint.create", object{"title": name, "description": "first", "blueprint_map": object{"nodes": mainNodes}})
	})
	p.blueprint, p.blueprintID = name, a.Text("id")
}

func (p *client) updateBlueprint(string) {
	if p.blueprintID == "" {
		return
	}
	p.change("blueprint", p.blueprint, "second", "blueprint.update", func() answer {
		return p.api.mutate("blueprint.update", object{"id": p.blueprintID, "description": "second", "blueprint_map": object{"nodes": slowNodes}})
	})
}

func (p *client) deleteBlueprint(string) {
	if p.blueprintID == "" {
		return
	}
	p.change("blueprint", p.blueprint, absent, "blueprint.delete", func() answer {
		return p.api.mutate("blueprint.delete", object{"id": p.blueprintID})
	})
	p.blueprintID = ""
}

const (
	completed = "completed"
	paused    = "paused"
	cancelled = "failed" // status of a cancelled run
)

func (p *client) deliverAndWait(name string) {
	if p.expected.shared.waitingWebhook == "" {
		return
	}
	p.change("run", name, completed, "a waiting delivery", func() answer {
		return p.api.deliver(p.expected.shared.waitingWebhook, object{"marker": name})
	})
}

func (p *client) deliver(name string) {
	if p.expected.shared.promptWebhook == "" {
		return
	}
	a := p.change("run", name, completed, "a delivery", func() answer {
		return p.api.deliver(p.expected.shared.promptWebhook, object{"marker": name})
	})
	p.follow(a.Text("executionId"), completed)
}

func (p *client) execute(name string) {
	if p.expected.shared.main == "" {
		return
	}
	p.change("run", name, completed, "blueprint.execute", func() answer {
		return p.api.mutate("blueprint.execute", object{"id": p.expected.shared.main, "inputData": object{"marker": name}})
	})
}

func (p *client) begin(name, blueprint string, nodes []any, state string) answer {
	if blueprint == "" {
		return answer{}
	}
	return p.change("run", name, state, "executeBlueprintWithLogging", func() answer {
		return p.api.mutate("execution.executeBlueprintWithLogging", object{"nodes": nodes, "options": object{"blueprintId": blueprint, "inputData": object{"marker": name}}})
	})
}

func (p *client) start(name string) {
	a := p.begin(name, p.expected.shared.main, mainNodes, completed)
	p.follow(a.Text("executionId"), completed)
}

// startSlow starts a run that waits while others continue.
func (p *client) startSlow(name string) { p.begin(name, p.expected.shared.slow, slowNodes, completed) }

func (p *client) ask(name string) {
	a := p.begin(name, p.expected.shared.human, humanNodes, paused)
	p.pausedRun, p.pausedRunID = name, a.Text("executionId")
	p.follow(p.pausedRunID, paused)
}

// decide resumes or cancels the run that waits for a user, and waits for its end.
func (p *client) decide(state, procedure string, input object) {
	if p.pausedRunID == "" {
		return
	}
	input["executionId"] = p.pausedRunID
	p.change("run", p.pausedRun, state, procedure, func() answer { return p.api.mutate(procedure, input) })
	p.follow(p.pausedRunID, state)
	p.pausedRunID = ""
}

func (p *client) resume(string) {
	p.decide(completed, "execution.resume", object{"nodeId": "ask", "input": object{"yes": true}})
}

func (p *client) cancel(string) { p.decide(cancelled, "execution.cancel", object{"reason": "sweep"}) }

// follow waits until a run is in a state, or can no longer be read. It keeps the order of
// writes the same in each run of the scenario.
func (p *client) follow(id, state string) {
	for end := now().Add(2 * time.Second); id != "" && now().Before(end); time.Sleep(time.Millisecond) {
		a := p.api.query("execution.getExecutionStatus", object{"executionId": id})
		if found := a.Text("status"); !a.OK() || found == state || found == completed || found == cancelled {
			return
		}
	}
}

func (p *client) createKey(name string) {
	a := p.change("key", name, "active", "apiKey.create", func() answer {
		return p.api.mutate("apiKey.create", object{"name": name})
	})
	p.key, p.keyID = name, a.Text("id")
}

func (p *client) revokeKey(string) {
	if p.keyID == "" {
		return
	}
	p.change("key", p.key, "revoked", "apiKey.revoke", func() answer {
		return p.api.mutate("apiKey.revoke", object{"id": p.keyID})
	})
	p.keyID = ""
}

func (p *client) createTrigger(name string) {
	if p.expected.shared.main == "" {
		return
	}
	a := p.change("trigger", name, "active", "blueprintTriggers.create", func() answer {
		return p.api.mutate("blueprintTriggers.create", object{"blueprintId": p.expected.shared.main, "triggerType": "api", "config": object{"label": name}})
	})
	p.trigger, p.triggerID = name, a.Text("id")
}

func (p *client) deleteTrigger(string) {
	if p.triggerID == "" || p.step%2 == 0 {
		return
	}
	p.change("trigger", p.trigger, absent, "blueprintTriggers.delete", func() answer {
		return p.api.mutate("blueprintTriggers.delete", object{"triggerId": p.triggerID})
	})
	p.triggerID = ""
}
