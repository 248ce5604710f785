package triggers_test

import (
	"fmt"
	"maps"
	"testing"

	"blueprintd/blueprint"
)

// again runs all firings of one decision again.
func (s *server) again(hook blueprint.Trigger, decision blueprint.Decision, change func(*blueprint.RedeliverRequest)) *blueprint.RedeliverResult {
	s.t.Helper()
	request := &blueprint.RedeliverRequest{TriggerID: hook.ID, Filter: blueprint.FiringFilter{Decisions: []blueprint.Decision{decision}}, Limit: 1000}
	if change != nil {
		change(request)
	}
	result, err := s.triggers.RedeliverSeveral(s.t.Context(), s.user, request)
	if err != nil {
		s.t.Fatal(err)
	}
	return result
}

// Who follows next comes to each firing once, though all came in the same
// millisecond.
func TestRedeliverPages(t *testing.T) {
	s := serve(t, "", noon)
	hook := s.trigger(blueprint.TriggerWebhook, nil, "fail")
	for range 6 {
		s.hook(hook, `{}`)
	}
	s.advance(noon)
	ran, after, pages := map[string]int{}, "", 0
	for ; pages == 0 || after != ""; pages++ {
		r := s.again(hook, blueprint.DecisionStarted, func(r *blueprint.RedeliverRequest) { r.Again, r.Limit, r.After = true, 2, after })
		if r.Matched != 6-2*pages {
			t.Errorf("page %d: %d match, want %v", pages, r.Matched, 6-2*pages)
		}
		for _, f := range r.Firings {
			ran[f.Of]++
		}
		after = r.Next
	}
	for id, times := range ran {
		if times != 1 {
			t.Errorf("%s was run %d times, want 1", id, times)
		}
	}
	if len(ran) != 6 || pages != 3 {
		t.Errorf("%d pages: %v, want length 6 and 3", pages, ran)
	}
	_, err := s.triggers.RedeliverSeveral(t.Context(), s.user, &blueprint.RedeliverRequest{TriggerID: hook.ID, After: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Limit: 1})
	if blueprint.CodeOf(err) != blueprint.CodeBadRequest {
		t.Errorf("after an unknown one: %v, want %v", err, blueprint.CodeBadRequest)
	}
}

// A request that comes twice at once, as from a client that did not wait for the
// answer, runs nothing twice; what failed again may be run once more.
func TestRedeliverTwice(t *testing.T) {
	t.Parallel()
	s := serve(t, file(t), noon) // a file has several readers
	hook := s.trigger(blueprint.TriggerWebhook, nil, "fail")
	switched := func(on bool) {
		if _, err := s.store.UpdateTrigger(t.Context(), s.user, hook.ID, nil, &on); err != nil {
			t.Fatal(err)
		}
	}
	switched(false)
	for range 100 {
		s.hook(hook, `{}`)
	}
	switched(true)
	const both = 2
	results := make(chan string, both)
	for range both {
		go func() {
			r, err := s.triggers.RedeliverSeveral(t.Context(), s.user, &blueprint.RedeliverRequest{TriggerID: hook.ID, Filter: blueprint.FiringFilter{Decisions: []blueprint.Decision{blueprint.DecisionRefused}}, Limit: 1000})
			if err != nil {
				results <- string(blueprint.CodeOf(err))
				return
			}
			results <- fmt.Sprint(r.Redelivered)
		}()
	}
	got := map[string]int{<-results: 1}
	got[<-results]++
	if !maps.Equal(got, map[string]int{"100": 1, "CONFLICT": 1}) && !maps.Equal(got, map[string]int{"100": 1, "0": 1}) {
		t.Errorf("the two answers: %v", got)
	}
	s.advance(noon)
	if r := s.again(hook, blueprint.DecisionRefused, nil); r.Matched != 100 || r.Redelivered != 100 {
		t.Errorf("those that failed again: %d of %d, %+v; want 100 and 100", r.Redelivered, r.Matched, r.Refused[:1])
	}
}
