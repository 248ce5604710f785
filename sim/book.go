package sim

import (
	"fmt"
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
	kindAsk     = "ask" // a person answers
	kindRespond = "respond"
	kindStop    = "stop"
)

// effects are what the types declare.
var effects = map[string]blueprint.Effect{
	kindPure: blueprint.EffectPure, kindAct: blueprint.EffectIdempotent, kindOnce: blueprint.EffectOnce, kindChoose: blueprint.EffectPure,
	kindWait: blueprint.EffectPure, kindAsk: blueprint.EffectPure, kindRespond: blueprint.EffectPure, kindStop: blueprint.EffectPure,
}

// book is a blueprint with what the world knows of it.
type book struct {
	definition *blueprint.Definition
	nodes      []blueprint.Node
	edges      []blueprint.Edge
	index      map[string]int
	failures   int // percent of the attempts that fail
	stops      bool
}

// sequential tells whether the nodes run one after the other.
func (b *book) sequential() bool { return len(b.edges) == 0 }

// effect gives what the oracle holds a node to.
func (b *book) effect(i int) blueprint.Effect {
	if b.nodes[i].Effect != "" {
		return b.nodes[i].Effect
	}
	return effects[b.nodes[i].Type]
}

// newBook draws a blueprint: a sequence or a graph of a few nodes. Edges lead
// from a node to a later one, so that the order of the map is one of the graph.
func newBook(r random, number, most int) *book {
	b := &book{index: map[string]int{}, failures: []int{0, 0, 5, 15, 30}[r.IntN(5)]}
	kinds := []string{
		kindPure, kindPure, kindPure, kindPure, kindAct, kindAct, kindAct, kindAct, kindOnce, kindOnce, kindChoose, kindChoose,
		kindWait, kindAsk, kindRespond, kindWait,
	}
	if r.chance(20) {
		kinds = append(kinds, kindStop)
	}
	for i := range r.between(1, most) {
		n := blueprint.Node{ID: fmt.Sprintf("n%d", i), Type: kinds[r.IntN(len(kinds))], Config: map[string]any{}, OnError: blueprint.OnErrorStop}
		n.Title = n.ID
		n.Disabled = r.chance(6)
		switch r.IntN(4) {
		case 0:
			n.OnError = blueprint.OnErrorContinue
		case 1:
			n.OnError = blueprint.OnErrorBranch
		}
		if r.chance(35) {
			n.Retry = &blueprint.Retry{MaxAttempts: r.between(1, 4), Delay: time.Duration(r.between(1, 20_000)) * time.Millisecond, Backoff: float64(r.between(1, 3))}
		}
		if works(n.Type) && r.chance(12) {
			n.Timeout = time.Duration(r.between(10_000, 60_000)) * time.Millisecond
		}
		if works(n.Type) && r.chance(10) {
			n.Effect = []blueprint.Effect{blueprint.EffectPure, blueprint.EffectIdempotent, blueprint.EffectOnce}[r.IntN(3)]
		}
		b.stops = b.stops || n.Type == kindStop && !n.Disabled
		b.index[n.ID] = i
		b.nodes = append(b.nodes, n)
	}
	if !r.chance(35) {
		b.join(r)
	}
	b.definition = &blueprint.Definition{
		BlueprintID: fmt.Sprintf("00000000-0000-4000-8000-%012d", number), OrganizationID: "organization", Title: "Simulated", Version: "1.0.0",
		Map: &blueprint.Map{Nodes: b.nodes, Edges: b.edges},
	}
	return b
}

// works tells whether a type does work that can fail or hang.
func works(kind string) bool { return kind == kindPure || kind == kindAct || kind == kindOnce }

func (b *book) join(r random) {
	for to := 1; to < len(b.nodes); to++ {
		if r.chance(12) {
			continue // one more start
		}
		for range r.between(1, 3) {
			from := r.IntN(to)
			edge := blueprint.Edge{Source: b.nodes[from].ID, Target: b.nodes[to].ID}
			switch {
			case b.nodes[from].Type == kindChoose && r.chance(70), b.nodes[from].Type == kindAsk && r.chance(40):
				edge.Handle = []string{"a", "b"}[r.IntN(2)]
			case b.nodes[from].OnError == blueprint.OnErrorBranch && r.chance(40):
				edge.Handle = blueprint.ErrorHandle
			}
			b.edges = append(b.edges, edge)
		}
	}
}

// catalogue gives the node types; work does what nodes do.
func catalogue(work *process) blueprint.Catalogue {
	out := blueprint.Catalogue{}
	for kind, effect := range effects {
		if kind == kindOnce && work.world.Flaw == FlawOnceTwice {
			effect = blueprint.EffectIdempotent
		}
		t := &blueprint.NodeType{Type: kind, Title: kind, Effect: effect, Run: work.run}
		if kind == kindAsk {
			t.Answer, t.Expired = work.answer, work.expired
		}
		out[kind] = t
	}
	return out
}
