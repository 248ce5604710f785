package engine

import (
	"context"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// edit is the edited input of the node that a retry begins at.
type edit struct{ input any }

// Fork is Retry from a node that ran, with input in place of the input that it had then. Values
// that are masked where the run is shown, and come back masked at the same place, keep
// their original. If the node took the input data of the run, input becomes the input data,
// and all nodes run again; if it took an item of a for-each node, input becomes the
// item, and all nodes of the item run again.
//
// Errors: those of Retry; CodeForbidden when the data of the run belongs to another user,
// whose input the principal cannot see, when the input holds masked values of another user,
// which could be sent elsewhere, and when the principal cannot manage the blueprint and the
// node does not take the input data, because the nodes before it would be skipped;
// CodeBadRequest when the node did not run, a masked value came back elsewhere, or the input
// is too large.
func (e *Engine) Fork(ctx context.Context, stored *blueprint.StoredExecution, nodeID string, input any, principal blueprint.Principal, canManage bool) (*Handle, error) {
	return e.retry(ctx, stored, nodeID, &edit{input}, principal, canManage)
}

// edit applies an edited input of the node b.From to the beginning of a retry of s by b.UserID,
// and returns the nodes to begin at. shown is s as readers see it.
func (s *runRecord) edit(b *begin, edited *edit, shown *runRecord, limits Limits) (starts []string, edits map[string]any, err error) {
	at := s.step(b.From)
	if at == nil || at.Start == 0 {
		return nil, nil, blueprint.FieldErrorf("fromNodeId", "node %q did not run, so it has no input to edit", b.From)
	}
	if !b.CanManage && (len(at.From) > 0 || at.In != "") {
		return nil, nil, blueprint.Errorf(blueprint.CodeForbidden, "only a manager of the blueprint may edit the input of node %q, which skips the nodes before it; edit the input data of the run", at.Node)
	}
	u := unmasking{}
	seen, original := newValues(shown).inputOf(at).value, newValues(s).inputOf(at).value
	input := u.value(edited.input, seen, original)
	switch {
	case u.misplaced && !blueprint.Equal(seen, original): // otherwise it is the user's own text
		return nil, nil, blueprint.FieldErrorf("input", "contains a masked value (%s) that was changed or moved; leave it where it was, or replace it", secret.Mask)
	case u.restored && b.UserID != s.Begin.UserID:
		return nil, nil, blueprint.Errorf(blueprint.CodeForbidden, "input: contains masked values (%s) of another user; replace them, or retry the run with the same input", secret.Mask)
	}
	if _, err := jsonSize(input, limits.Value); err != nil {
		return nil, nil, blueprint.Errorf(blueprint.CodeBadRequest, "input: %s", err)
	}
	if _, object := input.(map[string]any); len(at.From) > 1 && !object {
		return nil, nil, blueprint.FieldErrorf("input", "must be an object, because node %q takes the outputs of several nodes by their ids", at.Node)
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

// unmasking puts original values in the place of masked ones.
type unmasking struct {
	restored  bool // a masked value was replaced by its original
	misplaced bool // a masked value is at another place than it was shown at, or was changed
}

// value returns an edited value with the original wherever it is what was shown instead. An
// element of a list keeps its original only if the whole element is unchanged, because lists
// are shortened and reordered.
func (u *unmasking) value(edited, shown, original any) any {
	if blueprint.Equal(edited, shown) {
		u.restored = u.restored || !blueprint.Equal(shown, original)
		return original
	}
	switch v := edited.(type) {
	case map[string]any:
		before, _ := shown.(map[string]any)
		truth, _ := original.(map[string]any)
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = u.value(member, before[name], truth[name])
		}
		return out
	case []any:
		before, _ := shown.([]any)
		truth, _ := original.([]any)
		out := make([]any, len(v))
		for i, member := range v {
			at := i
			if len(v) != len(before) || !blueprint.Equal(member, before[i]) {
				at = placeOf(member, before)
			}
			if at < 0 || at >= len(truth) {
				out[i] = u.value(member, nil, nil)
			} else {
				out[i] = u.value(member, before[at], truth[at])
			}
		}
		return out
	case string:
		u.misplaced = u.misplaced || strings.Contains(v, secret.Mask)
	}
	return edited
}

// placeOf returns the place of a value in a list that has it once, -1 otherwise.
func placeOf(value any, list []any) int {
	place := -1
	for i, one := range list {
		if !blueprint.Equal(value, one) {
			continue
		}
		if place >= 0 {
			return -1
		}
		place = i
	}
	return place
}
