package main

import (
	"fmt"
	"time"
)

// player calls the server sequentially and records the responses.
type player struct {
	name string // prefix of the names of all that it creates
	api  *api
	book *book
	step int

	blueprint, blueprintID string // the latest that it created
	trigger, triggerID     string
	key, keyID             string
	asks, asksID           string // a run that waits for a user

	// onAnswer, if set, is called with the response to each operation.
	onAnswer func(what string, a answer)
}

// order sends a change of a thing and records the response.
func (p *player) order(kind, name, state, what string, send func() answer) answer {
	a := send()
	p.book.record(thing{kind, name}, state, a)
	if p.onAnswer != nil {
		p.onAnswer(what, a)
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

// settle creates the objects that all players use.
func (p *player) settle() {
	make := func(name string, nodes []any) string {
		a := p.order("blueprint", name, name, "create "+name, func() answer {
			return p.api.mutate("blueprint.create", object{"title": name, "description": name, "blueprint_map": object{"nodes": nodes}})
		})
		return a.Text("id")
	}
	hook := func(name string, config object) string {
		config["label"] = name
		a := p.order("trigger", name, "active", "create "+name, func() answer {
			return p.api.mutate("blueprintTriggers.create", object{"blueprintId": p.book.places.main, "triggerType": "webhook", "config": config})
		})
		return a.Text("id")
	}
	at := &p.book.places
	at.main, at.human, at.slow = make("main", mainNodes), make("human", humanNodes), make("slow", slowNodes)
	if at.main != "" {
		at.waitingWebhook, at.promptWebhook = hook("waiting", object{"respond": "wait"}), hook("prompt", object{})
	}
}

// next runs one operation.
func (p *player) next() {
	name := fmt.Sprintf("%s-%d", p.name, p.step)
	operations[p.step%len(operations)](p, name)
	p.step++
}

// operations are the operations of players, which they repeat in this order.
var operations = []func(*player, string){
	(*player).createBlueprint,
	(*player).deliverAndWait,
	(*player).deliver,
	(*player).execute,
	(*player).start,
	(*player).ask,
	(*player).updateBlueprint,
	(*player).resume,
	(*player).createKey,
	(*player).ask,
	(*player).createTrigger,
	(*player).cancel,
	(*player).revokeKey,
	(*player).startSlow,
	(*player).deleteTrigger,
	(*player).deleteBlueprint,
}

func (p *player) createBlueprint(name string) {
	a := p.order("blueprint", name, "first", "blueprint.create", func() answer {
		return p.api.mutate("blueprint.create", object{"title": name, "description": "first", "blueprint_map": object{"nodes": mainNodes}})
	})
	p.blueprint, p.blueprintID = name, a.Text("id")
}

func (p *player) updateBlueprint(string) {
	if p.blueprintID == "" {
		return
	}
	p.order("blueprint", p.blueprint, "second", "blueprint.update", func() answer {
		return p.api.mutate("blueprint.update", object{"id": p.blueprintID, "description": "second", "blueprint_map": object{"nodes": slowNodes}})
	})
}

func (p *player) deleteBlueprint(string) {
	if p.blueprintID == "" {
		return
	}
	p.order("blueprint", p.blueprint, absent, "blueprint.delete", func() answer {
		return p.api.mutate("blueprint.delete", object{"id": p.blueprintID})
	})
	p.blueprintID = ""
}

const (
	completed = "completed"
	paused    = "paused"
	cancelled = "failed" // status of a cancelled run
)

func (p *player) deliverAndWait(name string) {
	if p.book.places.waitingWebhook == "" {
		return
	}
	p.order("run", name, completed, "a waiting delivery", func() answer {
		return p.api.deliver(p.book.places.waitingWebhook, object{"marker": name})
	})
}

func (p *player) deliver(name string) {
	if p.book.places.promptWebhook == "" {
		return
	}
	a := p.order("run", name, completed, "a delivery", func() answer {
		return p.api.deliver(p.book.places.promptWebhook, object{"marker": name})
	})
	p.follow(a.Text("executionId"), completed)
}

func (p *player) execute(name string) {
	if p.book.places.main == "" {
		return
	}
	p.order("run", name, completed, "blueprint.execute", func() answer {
		return p.api.mutate("blueprint.execute", object{"id": p.book.places.main, "inputData": object{"marker": name}})
	})
}

func (p *player) begin(name, blueprint string, nodes []any, state string) answer {
	if blueprint == "" {
		return answer{}
	}
	return p.order("run", name, state, "executeBlueprintWithLogging", func() answer {
		return p.api.mutate("execution.executeBlueprintWithLogging", object{"nodes": nodes, "options": object{"blueprintId": blueprint, "inputData": object{"marker": name}}})
	})
}

func (p *player) start(name string) {
	a := p.begin(name, p.book.places.main, mainNodes, completed)
	p.follow(a.Text("executionId"), completed)
}

// startSlow starts a run that waits while others continue.
func (p *player) startSlow(name string) { p.begin(name, p.book.places.slow, slowNodes, completed) }

func (p *player) ask(name string) {
	a := p.begin(name, p.book.places.human, humanNodes, paused)
	p.asks, p.asksID = name, a.Text("executionId")
	p.follow(p.asksID, paused)
}

// decide resumes or cancels the run that waits for a user, and waits for its end.
func (p *player) decide(state, procedure string, input object) {
	if p.asksID == "" {
		return
	}
	input["executionId"] = p.asksID
	p.order("run", p.asks, state, procedure, func() answer { return p.api.mutate(procedure, input) })
	p.follow(p.asksID, state)
	p.asksID = ""
}

func (p *player) resume(string) {
	p.decide(completed, "execution.resume", object{"nodeId": "ask", "input": object{"yes": true}})
}

func (p *player) cancel(string) { p.decide(cancelled, "execution.cancel", object{"reason": "sweep"}) }

// follow waits until a run is in a state, or can no longer be read. It keeps the order of
// writes the same in each run of the scenario.
func (p *player) follow(id, state string) {
	for end := now().Add(2 * time.Second); id != "" && now().Before(end); time.Sleep(time.Millisecond) {
		a := p.api.query("execution.getExecutionStatus", object{"executionId": id})
		if found := a.Text("status"); !a.OK() || found == state || found == completed || found == cancelled {
			return
		}
	}
}

func (p *player) createKey(name string) {
	a := p.order("key", name, "active", "apiKey.create", func() answer {
		return p.api.mutate("apiKey.create", object{"name": name})
	})
	p.key, p.keyID = name, a.Text("id")
}

func (p *player) revokeKey(string) {
	if p.keyID == "" {
		return
	}
	p.order("key", p.key, "revoked", "apiKey.revoke", func() answer {
		return p.api.mutate("apiKey.revoke", object{"id": p.keyID})
	})
	p.keyID = ""
}

func (p *player) createTrigger(name string) {
	if p.book.places.main == "" {
		return
	}
	a := p.order("trigger", name, "active", "blueprintTriggers.create", func() answer {
		return p.api.mutate("blueprintTriggers.create", object{"blueprintId": p.book.places.main, "triggerType": "api", "config": object{"label": name}})
	})
	p.trigger, p.triggerID = name, a.Text("id")
}

func (p *player) deleteTrigger(string) {
	if p.triggerID == "" || p.step%2 == 0 {
		return
	}
	p.order("trigger", p.trigger, absent, "blueprintTriggers.delete", func() answer {
		return p.api.mutate("blueprintTriggers.delete", object{"triggerId": p.triggerID})
	})
	p.triggerID = ""
}
