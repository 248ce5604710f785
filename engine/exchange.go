package engine

import (
	"context"
	"fmt"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/secret"
)

// outbound returns the context of a node that may reach other services: it tells
// whose they are, and notes them when the run is recorded.
func (a *attempt) outbound(ctx context.Context) context.Context {
	r := a.run
	ctx = outbound.WithCaller(ctx, outbound.Caller{
		ExecutionID: r.id, BlueprintID: r.program.definition.BlueprintID, Address: a.address, NodeType: a.node.Type, Attempt: a.number, Secrets: &r.masker,
	})
	if r.begin.Record {
		ctx, a.tape = outbound.WithTape(ctx, r.engine.Clock.Now)
	}
	ctx, a.evidence = outbound.WithEvidence(ctx)
	return ctx
}

// maxEvidence bounds what the failed steps of one run keep of their exchanges, in
// bytes of JSON. Those of later steps are left out.
const maxEvidence = 4 << 20

// gather takes up the last exchange of a failed attempt: masking takes too long
// to be done under r.mu.
func (a *attempt) gather() { a.sent = a.evidence.Exchange(a.run.masker.Load()) }

// proof returns the last exchange of a failed attempt, nil when it sent nothing
// or the run has no room for it. r.mu is held.
func (a *attempt) proof() *blueprint.StepExchange {
	r, x := a.run, a.sent
	if x == nil || r.evidence+stepHeft(x) <= maxEvidence {
		return x
	}
	if !r.evidenceFull {
		r.evidenceFull = true
		a.note("warn", fmt.Sprintf("the failed steps of this run have kept %d MiB of requests and answers; those of later ones are left out", maxEvidence>>20), nil)
	}
	return nil
}

// stepHeft returns about how many bytes of JSON the exchange of a step takes.
func stepHeft(x *blueprint.StepExchange) int {
	if x == nil {
		return 0
	}
	whole := blueprint.Exchange{Request: blueprint.ExchangeRequest{URL: x.Request.URL, Headers: x.Request.Headers, Body: x.Request.Body}}
	if x.Response != nil {
		whole.Response = &blueprint.ExchangeResponse{Headers: x.Response.Headers, Body: x.Response.Body}
	}
	return heft(&whole)
}

// exchanges puts what was noted of the attempt into its entry, as far as there
// is room. r.mu is held.
func (a *attempt) exchanges(e *entry) {
	if a.tape == nil {
		return
	}
	r := a.run
	if r.tapeFull {
		return
	}
	list, full := a.tape.List()
	room := r.engine.Limits.Tape - r.taped
	for i := range list {
		if room -= heft(&list[i]); room < 0 {
			list, full = list[:i], true
			break
		}
	}
	e.Exchanges, e.Dropped = list, full
	if full {
		a.note("warn", fmt.Sprintf("the recording of this run is full at %d KiB or %d calls of a node; the rest is dropped", r.engine.Limits.Tape>>10, outbound.MaxTapedCalls), nil)
	}
}

// keep takes over the exchanges of an entry. The run's mu is held.
func (r *fold) keep(e *entry) {
	for i := range e.Exchanges {
		r.taped += heft(&e.Exchanges[i])
	}
	r.exchanges = append(r.exchanges, e.Exchanges...)
	r.tapeFull = r.tapeFull || e.Dropped
}

// heft returns about how many bytes of JSON an exchange takes.
func heft(x *blueprint.Exchange) int {
	size := 300 + len(x.Request.URL) + len(x.Error)
	for name, value := range x.Request.Headers {
		size += 6 + len(name) + len(value)
	}
	body, _ := weigh(x.Request.Body, tooHeavy)
	size += body
	if x.Response != nil {
		for name, value := range x.Response.Headers {
			size += 6 + len(name) + len(value)
		}
		body, _ = weigh(x.Response.Body, tooHeavy)
		size += body
	}
	return size
}

// recording returns the run without its exchanges.
func (s *stored) recording(row *blueprint.ExecutionRow) *blueprint.Recording {
	out := &blueprint.Recording{Execution: s.render(row), Recorded: s.Begin.Record, Trigger: s.Begin.Trigger, Map: s.Begin.Map}
	for i := range s.Steps {
		for _, used := range s.Steps[i].Uses {
			if !slices.ContainsFunc(out.Connections, func(c blueprint.UsedConnection) bool { return c.ID == used.Connection }) {
				out.Connections = append(out.Connections, blueprint.UsedConnection{ID: used.Connection, Type: used.Type})
			}
		}
		if at := &s.Steps[i]; at.Handle != "" {
			if out.Handles == nil {
				out.Handles = map[string]string{}
			}
			out.Handles[at.Node] = at.Handle
		}
	}
	return out
}

// reusedExchanges are those of steps that a retry keeps.
func (s *stored) reusedExchanges(kept []step) (list []blueprint.Exchange) {
	nodes := make(map[string]bool, len(kept))
	for i := range kept {
		nodes[kept[i].Node] = true
	}
	for _, x := range s.Exchanges {
		if nodes[x.NodeID] {
			list = append(list, x)
		}
	}
	return list
}

// maskedExchanges takes the secrets out of exchanges.
func maskedExchanges(m *secret.Masker, list []blueprint.Exchange) []blueprint.Exchange {
	list = slices.Clone(list)
	for i := range list {
		list[i] = m.Exchange(list[i])
	}
	return list
}
