package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/secret"
)

// outbound returns the context of a node that may reach other services: it identifies
// the caller and records the exchanges if the run is recorded.
func (a *attempt) outbound(ctx context.Context) context.Context {
	r := a.run
	ctx = outbound.WithCaller(ctx, outbound.Caller{
		ExecutionID: r.id, BlueprintID: r.program.definition.BlueprintID, Address: a.address, NodeType: a.node.Type, Effect: a.node.effect, Attempt: a.number, Secrets: &r.masker,
	})
	if r.begin.Record {
		ctx, a.tape = outbound.WithTape(ctx, r.engine.Clock.Now)
	}
	ctx, a.evidence = outbound.WithEvidence(ctx)
	return ctx
}

// maxEvidence bounds the exchanges kept for failed steps of a run, in bytes of JSON. Later
// ones are dropped.
const maxEvidence = 4 << 20

// collectEvidence collects the last exchange of a failed attempt, redacted, which takes
// too long for r.mu.
func (a *attempt) collectEvidence() { a.exchange = a.evidence.Exchange(a.run.masker.Load()) }

// failureExchange returns the last exchange of a failed attempt, nil when nothing was
// sent or the run has no room for it. The caller holds r.mu.
func (a *attempt) failureExchange() *blueprint.StepExchange {
	r, x := a.run, a.exchange
	if x == nil || r.evidenceSize+stepExchangeSize(x) <= maxEvidence {
		return x
	}
	if !r.evidenceFull {
		r.evidenceFull = true
		a.logLocked("warn", fmt.Sprintf("failed steps of this run keep %d MiB of requests and responses; those of later steps are left out", maxEvidence>>20), nil)
	}
	return nil
}

// stepExchangeSize returns the approximate size of x in bytes of JSON.
func stepExchangeSize(x *blueprint.StepExchange) int {
	if x == nil {
		return 0
	}
	whole := blueprint.Exchange{Request: blueprint.ExchangeRequest{URL: x.Request.URL, Headers: x.Request.Headers, Body: x.Request.Body}}
	if x.Response != nil {
		whole.Response = &blueprint.ExchangeResponse{Headers: x.Response.Headers, Body: x.Response.Body}
	}
	return exchangeSize(&whole)
}

// addExchanges adds the exchanges of the attempt to its entry, within limits. r.mu is held.
func (a *attempt) addExchanges(e *entry) {
	if a.tape == nil {
		return
	}
	r := a.run
	if r.tapeFull {
		return
	}
	list, full := a.tape.List()
	room := r.engine.Limits.Tape - r.tapeSize
	for i := range list {
		if room -= exchangeSize(&list[i]); room < 0 {
			list, full = list[:i], true
			break
		}
	}
	d := e.change()
	d.Exchanges, d.Dropped = list, full
	if full {
		a.logLocked("warn", fmt.Sprintf("the recording of this run is full (%d KiB, or %d calls of a node); the rest is dropped", r.engine.Limits.Tape>>10, outbound.MaxTapedCalls), nil)
	}
}

func (r *fold) keepExchanges(e *entry) {
	d := e.read()
	for i := range d.Exchanges {
		r.tapeSize += exchangeSize(&d.Exchanges[i])
	}
	r.exchanges = append(r.exchanges, d.Exchanges...)
	r.tapeFull = r.tapeFull || d.Dropped
}

// exchangeSize returns the approximate size of x in bytes of JSON.
func exchangeSize(x *blueprint.Exchange) int {
	size := 300 + len(x.Request.URL) + len(x.Error)
	add := func(headers map[string]string, body any) {
		for name, value := range headers {
			size += 6 + len(name) + len(value)
		}
		bodySize, _ := jsonSize(body, maxSize)
		size += bodySize
	}
	add(x.Request.Headers, x.Request.Body)
	if x.Response != nil {
		add(x.Response.Headers, x.Response.Body)
	}
	return size
}

// recording returns the run without its exchanges.
func (s *runRecord) recording(row *blueprint.ExecutionRow) *blueprint.Recording {
	out := &blueprint.Recording{Execution: s.render(row), Recorded: s.Begin.Record, Trigger: s.Begin.Trigger, Map: s.Begin.Map, EditedNodes: slices.Sorted(maps.Keys(s.Begin.Edits))}
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

// reusedExchanges returns the exchanges of steps that a retry keeps.
func (s *runRecord) reusedExchanges(kept []step) (list []blueprint.Exchange) {
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

func maskedExchanges(m *secret.Masker, list []blueprint.Exchange) []blueprint.Exchange {
	list = slices.Clone(list)
	for i := range list {
		list[i] = m.Exchange(list[i])
	}
	return list
}
