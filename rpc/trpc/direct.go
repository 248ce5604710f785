package trpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/foundation/metrics"
)

// Call calls a query or a mutation as a request of the caller would: with the scopes of
// their key, the same checks of the input and the same audit entry, which names tool. It
// returns the result as plain JSON. An error is one that may be shown. It takes nothing
// from the rate limit: the request that it is part of did.
func (h *Handler) Call(ctx context.Context, caller *Caller, tool, name string, input map[string]any) (any, error) {
	r := &request{Request: caller.Request, id: caller.RequestID}
	c := &call{path: name, procedure: h.procedures[name]}
	if c.procedure == nil || c.procedure.Kind == KindSubscription {
		return nil, blueprint.Errorf(blueprint.CodeNotFound, `No procedure found on path "%s"`, name)
	}
	if refused := InScope(caller.Admission, c.procedure.Scope); refused != nil {
		return nil, refused
	}
	own := *caller
	own.Noted, own.Tool = Note{}, tool
	if input == nil {
		input = map[string]any{}
	}
	var result any
	watch := metrics.Begin()
	err := protect(func() error {
		given, err := blueprint.Plain(input)
		if err != nil {
			return err
		}
		value, err := c.procedure.call(ctx, &own, rawInput{value: given, present: true})
		if err == nil {
			result, err = blueprint.Plain(value)
		}
		return err
	})
	h.counts.durations.Observe(watch.Elapsed())
	if err != nil {
		c.failure = h.failure(r, name, err)
	}
	r.calls = []*call{c}
	h.counts.ended(r)
	if c.failure != nil {
		return nil, c.failure
	}
	return result, nil
}
