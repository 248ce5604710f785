package simulation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"blueprintd/blueprint"
)

// The node types of the simulated catalogue.
const (
	kindPure    = "pure"   // no side effect
	kindAct     = "act"    // an idempotent side effect
	kindOnce    = "once"   // a side effect that must not happen twice
	kindChoose  = "choose" // takes one of two handles
	kindWait    = "wait"
	kindAsk     = "ask" // a user answers
	kindRespond = "respond"
	kindStop    = "stop"
	kindEach    = "each"  // iterates over items
	kindRun     = "run"   // runs another blueprint
	kindLink    = "link"  // opens a connection, which requires a sign-in
	kindModel   = "model" // calls a language model within the budget
)

// effects are the effects that the types declare.
var effects = map[string]blueprint.Effect{
	kindPure: blueprint.EffectPure, kindAct: blueprint.EffectIdempotent, kindOnce: blueprint.EffectOnce, kindChoose: blueprint.EffectPure,
	kindWait: blueprint.EffectPure, kindAsk: blueprint.EffectPure, kindRespond: blueprint.EffectPure, kindStop: blueprint.EffectPure,
	kindEach: blueprint.EffectPure, kindRun: blueprint.EffectPure, kindLink: blueprint.EffectIdempotent, kindModel: blueprint.EffectIdempotent,
}

// node is a node of a simulated blueprint with its simulated properties.
type node struct {
	blueprint.Node
	body   *graph // of a for-each node
	most   int    // maximum number of concurrent items
	varies bool   // a retry of the run iterates over other items
	runs   string // the blueprint that it runs
	calls  int    // number of calls to a language model
}

// effect returns the effect that the oracle requires of a node.
func (n *node) effect() blueprint.Effect {
	if n.Effect != "" {
		return n.Effect
	}
	return effects[n.Type]
}

// tries returns the maximum number of attempts of a node.
func (n *node) tries() int {
	if n.Retry == nil {
		return 1
	}
	return n.Retry.MaxAttempts
}

// graph holds the nodes and edges of a blueprint, or of the items of a for-each node.
type graph struct {
	nodes []node
	edges []blueprint.Edge
	index map[string]int
}

// sequential reports whether the nodes run in sequence.
func (g *graph) sequential() bool { return len(g.edges) == 0 }

// isSequentialThroughout reports whether at most one node runs at a time.
func (g *graph) isSequentialThroughout() bool {
	for i := range g.nodes {
		if n := &g.nodes[i]; n.body != nil && (n.most > 1 || !n.body.isSequentialThroughout()) {
			return false
		}
	}
	return g.sequential()
}

// find returns the node of an address, nil when there is none.
func (g *graph) find(address string) *node {
	for {
		loop, _, inner, within := cut(address)
		i, known := g.index[loop]
		switch {
		case !known, within && g.nodes[i].body == nil:
			return nil
		case !within:
			return &g.nodes[i]
		}
		g, address = g.nodes[i].body, inner
	}
}

// first reports whether a node has no predecessor in its graph.
func (g *graph) first(address string) bool {
	for {
		loop, _, inner, within := cut(address)
		if !within {
			return !slices.ContainsFunc(g.edges, func(e blueprint.Edge) bool { return e.Target == address }) && (!g.sequential() || g.index[address] == 0)
		}
		g, address = g.nodes[g.index[loop]].body, inner
	}
}

// has reports whether a node, or one within the nodes, satisfies a condition.
func (g *graph) has(such func(n *node) bool) bool {
	for i := range g.nodes {
		if n := &g.nodes[i]; such(n) || n.body != nil && n.body.has(such) {
			return true
		}
	}
	return false
}

// simBlueprint is a blueprint with its simulated properties.
type simBlueprint struct {
	*graph
	definition *blueprint.Definition
	failures   int // percent of the attempts that fail
}

// generator generates blueprints.
type generator struct {
	random
	kinds []string
	calls []string // the blueprints that may be called
}

// newBlueprint generates a blueprint: a sequence or a graph of a few nodes. Edges lead from a
// node to a later one, so that the order of the map is an order of the graph.
func newBlueprint(r random, number, most int, calls []string) *simBlueprint {
	b := &simBlueprint{failures: []int{0, 0, 5, 15, 30}[r.IntN(5)]}
	a := generator{random: r, calls: calls, kinds: []string{
		kindPure, kindPure, kindPure, kindPure, kindAct, kindAct, kindAct, kindAct, kindOnce, kindOnce, kindChoose, kindChoose,
		kindWait, kindAsk, kindRespond, kindWait,
	}}
	if r.chance(20) {
		a.kinds = append(a.kinds, kindStop)
	}
	if number < firstCallee && r.chance(25) {
		a.kinds = append(a.kinds, kindLink, kindModel, kindModel)
	}
	if len(calls) > 0 {
		a.kinds = append(a.kinds, kindRun, kindRun, kindRun)
	}
	nested := 0
	if r.chance(45) {
		nested = r.between(1, 2)
	}
	b.graph = a.graph(most, nested)
	b.define(number)
	if r.chance(60) {
		allowed := int64(r.IntN(5))
		b.definition.Budget = &blueprint.Budget{Calls: &allowed, OnBreach: blueprint.BreachPauses}
		if b.isSequentialThroughout() && r.chance(60) {
			b.definition.Budget.OnBreach = blueprint.BreachFails
		}
	}
	return b
}

// newRecursiveBlueprint generates a blueprint that runs itself and exceeds the maximum depth.
func newRecursiveBlueprint(r random, number int) *simBlueprint {
	b := &simBlueprint{graph: &graph{index: map[string]int{}}}
	for i := range r.between(1, 2) {
		n := node{Node: blueprint.Node{ID: fmt.Sprint("n", i), Type: kindPure, Title: "n", Config: map[string]any{}, OnError: blueprint.OnErrorStop}}
		b.index[n.ID] = i
		b.nodes = append(b.nodes, n)
	}
	last := &b.nodes[len(b.nodes)-1]
	last.Type, last.runs = kindRun, blueprintID(number)
	if r.chance(30) {
		last.OnError = blueprint.OnErrorContinue
	}
	b.define(number)
	return b
}

// firstCallee is the number of the first blueprint that others can run.
const firstCallee = 50

func blueprintID(number int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", number) }

func (b *simBlueprint) define(number int) {
	m := &blueprint.Map{Edges: b.edges}
	for i := range b.nodes {
		m.Nodes = append(m.Nodes, b.nodes[i].Node)
	}
	b.definition = &blueprint.Definition{BlueprintID: blueprintID(number), OrganizationID: "organization", Title: "Simulated", Version: "1.0.0", Map: m}
}

// graph generates a graph with for-each nodes nested to a depth.
func (a generator) graph(most, nested int) *graph {
	g := &graph{index: map[string]int{}}
	for i := range a.between(1, most) {
		kind := a.kinds[a.IntN(len(a.kinds))]
		if nested > 0 && a.chance(30) {
			kind = kindEach
		}
		n := a.node(i, kind)
		switch kind {
		case kindEach:
			n.body, n.most, n.varies = a.graph(3, nested-1), a.between(1, 3), a.chance(25)
			n.Config = n.body.toConfig()
		case kindRun:
			n.runs = a.calls[a.IntN(len(a.calls))]
		case kindModel:
			n.calls = a.between(1, 3)
		}
		g.index[n.ID] = i
		g.nodes = append(g.nodes, n)
	}
	if !a.chance(35) {
		a.join(g)
	}
	return g
}

func (a generator) node(i int, kind string) node {
	n := node{Node: blueprint.Node{ID: fmt.Sprintf("n%d", i), Type: kind, Config: map[string]any{}, OnError: blueprint.OnErrorStop}}
	n.Title = n.ID
	n.Disabled = a.chance(6)
	switch a.IntN(4) {
	case 0:
		n.OnError = blueprint.OnErrorContinue
	case 1:
		n.OnError = blueprint.OnErrorBranch
	}
	most := 4
	if kind == kindEach || kind == kindRun {
		most = 3
	}
	if a.chance(35) {
		n.Retry = &blueprint.Retry{MaxAttempts: a.between(1, most), Delay: time.Duration(a.between(1, 20_000)) * time.Millisecond, Backoff: float64(a.between(1, 3))}
	}
	if isWork(kind) && a.chance(12) {
		n.Timeout = time.Duration(a.between(10_000, 60_000)) * time.Millisecond
	}
	if (isWork(kind) || kind == kindEach || kind == kindRun) && a.chance(10) {
		n.Effect = []blueprint.Effect{blueprint.EffectPure, blueprint.EffectIdempotent, blueprint.EffectOnce}[a.IntN(3)]
	}
	return n
}

// isWork reports whether a type does work that can hang.
func isWork(kind string) bool { return kind == kindPure || kind == kindAct || kind == kindOnce }

func (a generator) join(g *graph) {
	for to := 1; to < len(g.nodes); to++ {
		if a.chance(12) {
			continue // one more first node
		}
		for range a.between(1, 3) {
			from := &g.nodes[a.IntN(to)]
			edge := blueprint.Edge{Source: from.ID, Target: g.nodes[to].ID}
			switch {
			case from.Type == kindChoose && a.chance(70), from.Type == kindAsk && a.chance(40):
				edge.Handle = []string{"a", "b"}[a.IntN(2)]
			case from.OnError == blueprint.OnErrorBranch && a.chance(40):
				edge.Handle = blueprint.ErrorHandle
			}
			g.edges = append(g.edges, edge)
		}
	}
}

// toConfig returns a graph as in the config of a for-each node.
func (g *graph) toConfig() map[string]any {
	number := func(n int) json.Number { return json.Number(strconv.Itoa(n)) }
	nodes, edges := []any{}, []any{}
	for i := range g.nodes {
		n := &g.nodes[i]
		out := map[string]any{"id": n.ID, "type": n.Type, "title": n.Title, "config": n.Config, "onError": string(n.OnError), "disabled": n.Disabled}
		if n.Retry != nil {
			out["retry"] = map[string]any{
				"maxAttempts": number(n.Retry.MaxAttempts), "delayMs": number(int(n.Retry.Delay.Milliseconds())), "backoff": number(int(n.Retry.Backoff)),
			}
		}
		if n.Timeout > 0 {
			out["timeoutMs"] = number(int(n.Timeout.Milliseconds()))
		}
		if n.Effect != "" {
			out["effect"] = string(n.Effect)
		}
		nodes = append(nodes, out)
	}
	for _, e := range g.edges {
		out := map[string]any{"source": e.Source, "target": e.Target}
		if e.Handle != "" {
			out["sourceHandle"] = e.Handle
		}
		edges = append(edges, out)
	}
	return map[string]any{"nodes": nodes, "edges": edges}
}

// catalogue returns the node types; work runs a node.
func catalogue(work *process) blueprint.Catalogue {
	out := blueprint.Catalogue{}
	for kind, effect := range effects {
		if kind == kindOnce && work.world.Flaw == FlawOnceTwice {
			effect = blueprint.EffectIdempotent
		}
		t := &blueprint.NodeType{Type: kind, Title: kind, Effect: effect, Run: work.run}
		switch kind {
		case kindAsk:
			t.Answer, t.Expired = work.answer, work.expired
		case kindEach:
			t.Verbatim = func([]any) bool { return true }
			t.Body = func(config map[string]any) (map[string]any, []any) { return config, nil }
		}
		out[kind] = t
	}
	return out
}
