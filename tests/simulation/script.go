package simulation

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"blueprintd/blueprint"
)

// script determines what every node of a run does. It is a pure function of its key.
type script struct {
	blueprint *simBlueprint
	key       uint64
	sharedKey uint64 // the same for all runs of the blueprint
}

// ending is how an attempt of a node ends.
type ending uint8

const (
	done ending = iota
	passes
	fails
	panics
	hangs // until its time-out
	waits
	asks
	responds
	stops
	loops // over items
	calls // runs another blueprint
	links // opens a connection
)

// outcome is the result of an attempt.
type outcome struct {
	ending   ending
	output   any
	handle   string
	failure  *blueprint.Failure // of fails
	failed   bool               // of stops
	item     bool               // of stops: only the item ends
	wait     time.Duration      // of waits
	expires  time.Duration      // of asks
	stubborn bool               // it ignores its cancellation
	tokens   int64
	calls    []blueprint.Call
	items    []any // of loops
	asks     int   // calls to a language model
}

func (s script) roll(place, what string, attempt int) uint64 {
	return mix(s.key, place, what, strconv.Itoa(attempt))
}

func (s script) percent(place, what string, attempt int) int {
	return int(s.roll(place, what, attempt) % 100)
}

// node returns the node at a place.
func (s script) node(place string) *node { return s.blueprint.find(addressOf(place)) }

// outcome returns the result of an attempt of a node.
func (s script) outcome(place string, attempt int) outcome {
	n := s.node(place)
	roll := func(what string) uint64 { return s.roll(place, what, attempt) }
	percent := func(what string) int { return s.percent(place, what, attempt) }
	switch n.Type {
	case kindWait:
		return outcome{ending: waits, wait: time.Duration(1+roll("wait")%[]uint64{50, 5_000, 90_000}[roll("length")%3]) * time.Millisecond}
	case kindAsk:
		o := outcome{ending: asks}
		if percent("expires") < 40 {
			o.expires = time.Duration(1+roll("expiry")%60_000) * time.Millisecond
		}
		return o
	case kindRespond:
		return outcome{ending: responds}
	case kindStop:
		return outcome{ending: stops, failed: percent("stop") < 50, item: percent("item") < 50}
	case kindChoose:
		return outcome{ending: passes, handle: []string{"a", "b", "", "c"}[roll("handle")%4]}
	}
	o := outcome{stubborn: percent("stubborn") < 20, tokens: int64(roll("tokens") % 4), asks: n.calls}
	if n.Type == kindAct {
		o.calls = []blueprint.Call{{Host: "host" + strconv.Itoa(int(roll("host")%3)), Status: 200}}
	}
	switch {
	case n.Timeout > 0 && percent("hang") < 30:
		return outcome{ending: hangs}
	case percent("panic") < s.blueprint.failures/5:
		return outcome{ending: panics}
	case percent("fail") < s.blueprint.failures:
		o.ending = fails
		o.failure = &blueprint.Failure{
			Message: fmt.Sprintf("%s failed at attempt %d", place, attempt), Code: "simulated", Permanent: percent("permanent") < 20, NotSent: percent("sent") < 50,
		}
		if percent("after") < 20 {
			o.failure.RetryAfter = time.Duration(roll("after") % uint64(40*time.Second))
		}
	case n.Type == kindEach:
		o.ending, o.items = loops, s.items(place)
	case n.Type == kindRun:
		o.ending = calls
	case percent("pass") < 20:
		o.ending = passes
	default:
		o.output = map[string]any{"by": place, "attempt": json.Number(strconv.Itoa(attempt)), "roll": json.Number(strconv.Itoa(int(roll("output") % 1000)))}
	}
	if n.Type == kindLink && (o.ending == done || o.ending == passes) {
		o.ending, o.output = links, nil
	}
	return o
}

// maxItems is the maximum number of items of a for-each node.
const maxItems = 4

// items returns the items of a for-each node, the same at each attempt.
func (s script) items(place string) []any {
	key, n := s.sharedKey, s.node(place)
	if n.varies {
		key = s.key
	}
	address := addressOf(place)
	items := make([]any, mix(key, address, "items")%(maxItems+1))
	for i := range items {
		items[i] = map[string]any{"item": json.Number(strconv.Itoa(i)), "roll": json.Number(strconv.Itoa(int(mix(key, address, "item", strconv.Itoa(i)) % 1000)))}
	}
	return items
}

// answered returns the result of the only valid answer to a node, which equals that of a
// timeout, so that it does not matter which comes first.
func (s script) answered(place string) outcome {
	if s.percent(place, "rejected", 0) < s.blueprint.failures {
		return outcome{ending: fails, failure: &blueprint.Failure{Message: place + " was rejected", Code: "rejected"}}
	}
	return outcome{output: map[string]any{"answer": place}, handle: []string{"a", "b", ""}[s.roll(place, "answer", 0)%3]}
}

// decision returns the decision of a user about an attempt that may have taken effect.
func (s script) decision(a at) map[string]any {
	switch roll := s.percent(a.place, "decision", a.attempt); {
	case roll < 45:
		return map[string]any{"action": "retry"}
	case roll < 90:
		return map[string]any{"action": "mark-done", "output": map[string]any{"marked": a.place}}
	default:
		return map[string]any{"action": "abort"}
	}
}

// describe returns the outcome for the trace, before it takes effect.
func (o *outcome) describe() string {
	switch o.ending {
	case loops:
		return fmt.Sprintf(", %d items", len(o.items))
	case fails, panics:
		return ", fails"
	case stops:
		return fmt.Sprintf(", stops (failed: %v, only the item: %v)", o.failed, o.item)
	default:
		return ""
	}
}

// failureAt returns the failure of an attempt, nil for none.
func (o *outcome) failureAt(n *node) *blueprint.Failure {
	switch o.ending {
	case fails:
		return o.failure
	case panics:
		return &blueprint.Failure{Code: "internal", Message: "the node crashed; the server's log has the details"}
	case hangs:
		return &blueprint.Failure{Code: "timeout", Message: fmt.Sprintf("took longer than its timeoutMs of %d", n.Timeout.Milliseconds())}
	default:
		return nil
	}
}
