package engine

import (
	"context"
	"maps"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/outbound"
	"blueprintd/secret"
)

// outbound gives the context of a node that may reach other services: it tells
// whose they are, and notes them when the run is recorded.
func (a *attempt) outbound(ctx context.Context) context.Context {
	r := a.run
	ctx = outbound.WithCaller(ctx, outbound.Caller{
		ExecutionID: r.id, BlueprintID: r.program.definition.BlueprintID, Address: a.address, NodeType: a.node.Type, Attempt: a.number,
	})
	if r.begin.Record {
		ctx, a.tape = outbound.WithTape(ctx, r.engine.Clock.Now)
	}
	return ctx
}

// exchanges gives what was noted of the attempt.
func (a *attempt) exchanges() []blueprint.Exchange {
	if a.tape == nil {
		return nil
	}
	return a.tape.List()
}

// Exchanges gives what a recorded run exchanged with other services, secrets
// masked, in the order in which its nodes settled, and tells whether it is
// recorded at all.
func (e *Engine) Exchanges(ctx context.Context, execution *blueprint.StoredExecution) (list []blueprint.Exchange, recorded bool, err error) {
	if execution.Row.Status.Terminal() {
		s, err := e.decodeRecord(execution, false)
		if err != nil {
			return nil, false, err
		}
		return s.Exchanges, s.Begin.Record, nil
	}
	stored, err := e.Journal.Load(ctx, execution.Row.ID)
	if err != nil {
		return nil, false, err
	}
	if stored.Row.Status.Terminal() {
		return e.Exchanges(ctx, stored)
	}
	r := e.newRun(stored.Row.ID)
	defer r.cancel(context.Canceled)
	if err := e.fold(ctx, r, stored); err != nil {
		return nil, false, err
	}
	return maskedExchanges(r.masker.Load(), r.exchanges), r.begin.Record, nil
}

// maskedExchanges takes the secrets out of exchanges.
func maskedExchanges(m *secret.Masker, list []blueprint.Exchange) []blueprint.Exchange {
	list = slices.Clone(list)
	for i := range list {
		x := &list[i]
		x.Request.URL, x.Request.Headers, x.Request.Body = m.Text(x.Request.URL), maskedHeaders(m, x.Request.Headers), m.Value(x.Request.Body)
		x.Error = m.Text(x.Error)
		if x.Response != nil {
			answer := *x.Response
			answer.Headers, answer.Body = maskedHeaders(m, answer.Headers), m.Value(answer.Body)
			x.Response = &answer
		}
	}
	return list
}

func maskedHeaders(m *secret.Masker, headers map[string]string) map[string]string {
	headers = maps.Clone(headers)
	for name, value := range headers {
		headers[name] = m.Text(value)
	}
	return headers
}
