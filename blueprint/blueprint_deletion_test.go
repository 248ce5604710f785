package blueprint_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"blueprintd/blueprint"
)

// deletions is a store with one blueprint that has a run.
type deletions struct{}

func (deletions) DeleteBlueprint(_ context.Context, _ blueprint.Principal, id string) ([]string, error) {
	if id != "mine" {
		return nil, blueprint.Errorf(blueprint.CodeNotFound, "no blueprint")
	}
	return []string{"run"}, nil
}

// Delete deletes a blueprint, then cancels its runs, then stops its triggers, even if the
// caller's context ends.
func TestDeletion(t *testing.T) {
	for _, test := range []struct {
		id   string
		fail error
		want string
	}{
		{"mine", nil, "[cancel [run] changed] <nil>"},
		{"mine", errors.New("full"), "[cancel [run] changed] full"},
		{"other", nil, "[] no blueprint"},
	} {
		t.Run(test.want, func(t *testing.T) {
			ctx, hangUp := context.WithCancel(t.Context())
			did := []string{}
			err := blueprint.Deletion{
				Store: deletions{},
				CancelRuns: func(ctx context.Context, runs []string, reason string) error {
					hangUp()
					if ctx.Err() != nil || reason == "" {
						t.Errorf("cancelled with %v because %q, want nil and not empty", ctx.Err(), reason)
					}
					did = append(did, fmt.Sprint("cancel ", runs))
					return test.fail
				},
				TriggersChanged: func() { did = append(did, "changed") },
			}.Delete(ctx, blueprint.Principal{UserID: "u"}, test.id)
			hangUp()
			if got := fmt.Sprint(did, " ", err); got != test.want {
				t.Errorf("%s: %s, want %s", test.id, got, test.want)
			}
		})
	}
}
