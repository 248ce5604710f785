package triggers

import (
	"fmt"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// The bytes of mail that a trigger took are forgotten once they are paid back.
func TestMailBudgetsAreForgotten(t *testing.T) {
	v := clock.NewVirtual(begin)
	var budget mailBudget
	take := func(id string, bytes int) {
		t.Helper()
		a := &activation{firing: &blueprint.Firing{TriggerID: id, Delivery: &blueprint.Delivery{Body: make([]byte, bytes)}}, input: map[string]any{}}
		if _, ok := budget.take(a, v.Now()); !ok {
			t.Fatalf("the first mail of %s is not taken", id)
		}
	}
	for i := range 500 {
		take(fmt.Sprint("trigger ", i), 1000)
	}
	take("busy", 10*mailRate)
	if n := len(budget.taken); n != 501 {
		t.Errorf("%d are known", n)
	}
	if err := v.Advance(t.Context(), begin.Add(mailSpan+time.Second)); err != nil {
		t.Fatal(err)
	}
	take("another", 1000)
	if n := len(budget.taken); n != 2 || budget.taken["busy"].bytes < 8*mailRate {
		t.Errorf("later %d are known, and the busy one took %v", n, budget.taken["busy"])
	}
}
