package engine

import (
	"context"

	"blueprintd/blueprint"
)

// edit is the edited input of the node that a retry begins at.
type edit struct{ input any }

// Fork is Retry from a node that ran, with input in place of the input that it had then. Values
// that are masked where the run is shown, and come back masked at the same place, keep
// their original. If the node took the input data of the run, input becomes the input data,
// and all nodes run again; if it took an item of a for-each node, input becomes the
// item, and all nodes of the item run again.
//
// Errors: those of Retry, CodeForbidden when the data of the run belongs to another user,
// whose input the principal cannot see, CodeBadRequest when the node did not run or the
// input is too large.
func (e *Engine) Fork(ctx context.Context, stored *blueprint.StoredExecution, nodeID string, input any, principal blueprint.Principal, canManage bool) (*Handle, error) {
	return e.retry(ctx, stored, nodeID, &edit{input}, principal, canManage)
}

// edit applies an edited input of the node b.From to the beginning of a retry, and returns the
// nodes to begin at. shown is s as readers see it.
func (s *runRecord) edit(b *begin, edited *edit, shown *runRecord, limits Limits) (starts []string, edits map[string]any, err error) {
	at := s.step(b.From)
	if at == nil || at.Start == 0 {
		return nil, nil, blueprint.Errorf(blueprint.CodeBadRequest, "fromNodeId: node %q did not run, so it has no input to edit", b.From)
	}
	input := unmask(edited.input, newValues(shown).inputOf(at).value, newValues(s).inputOf(at).value)
	if _, err := jsonSize(input, limits.Value); err != nil {
		return nil, nil, blueprint.Errorf(blueprint.CodeBadRequest, "input: %s", err)
	}
	if _, object := input.(map[string]any); len(at.From) > 1 && !object {
		return nil, nil, blueprint.Errorf(blueprint.CodeBadRequest, "input: must be an object, because node %q takes the outputs of several nodes by their ids", at.Node)
	}
	b.Edited = true
	if len(at.From) > 0 {
		return []string{at.Node}, map[string]any{at.Node: input}, nil
	}
	// Its siblings take the same value.
	for i := range s.Steps {
		if beside := &s.Steps[i]; beside.In == at.In && beside.Start != 0 && len(beside.From) == 0 {
			starts = append(starts, beside.Node)
		}
	}
	if at.In == "" {
		b.InputData = input
		return starts, nil, nil
	}
	return starts, map[string]any{at.In: input}, nil
}

// unmask returns an edited value with the original wherever it is what was shown instead.
func unmask(edited, shown, original any) any {
	if blueprint.Equal(edited, shown) {
		return original
	}
	switch v := edited.(type) {
	case map[string]any:
		before, _ := shown.(map[string]any)
		truth, _ := original.(map[string]any)
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = member
			if was, ok := before[name]; ok {
				out[name] = unmask(member, was, truth[name])
			}
		}
		return out
	case []any:
		before, _ := shown.([]any)
		truth, _ := original.([]any)
		out := make([]any, len(v))
		for i, member := range v {
			out[i] = member
			if i < len(before) && i < len(truth) {
				out[i] = unmask(member, before[i], truth[i])
			}
		}
		return out
	}
	return edited
}
