package sim

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"blueprintd/blueprint"
)

// script says what every node of a run does. It is a pure function of its key.
type script struct {
	book *book
	key  uint64
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
)

// outcome is what comes of an attempt.
type outcome struct {
	ending   ending
	output   any
	handle   string
	failure  *blueprint.Failure // of fails
	failed   bool               // of stops
	wait     time.Duration      // of waits
	expires  time.Duration      // of asks
	stubborn bool               // it does not notice that it is cut off
	tokens   int64
	calls    []blueprint.Call
}

func (s script) roll(node, what string, attempt int) uint64 {
	return mix(s.key, node, what, strconv.Itoa(attempt))
}

func (s script) percent(node, what string, attempt int) int {
	return int(s.roll(node, what, attempt) % 100)
}

// outcome gives what an attempt of node i comes to.
func (s script) outcome(i, attempt int) outcome {
	n := &s.book.nodes[i]
	roll := func(what string) uint64 { return s.roll(n.ID, what, attempt) }
	percent := func(what string) int { return s.percent(n.ID, what, attempt) }
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
		return outcome{ending: stops, failed: percent("stop") < 50}
	case kindChoose:
		return outcome{ending: passes, handle: []string{"a", "b", "", "c"}[roll("handle")%4]}
	}
	o := outcome{stubborn: percent("stubborn") < 20, tokens: int64(roll("tokens") % 4)}
	if n.Type == kindAct {
		o.calls = []blueprint.Call{{Host: "host" + strconv.Itoa(int(roll("host")%3)), Status: 200}}
	}
	switch {
	case n.Timeout > 0 && percent("hang") < 30:
		return outcome{ending: hangs}
	case percent("panic") < s.book.failures/5:
		return outcome{ending: panics}
	case percent("fail") < s.book.failures:
		o.ending = fails
		o.failure = &blueprint.Failure{
			Message: fmt.Sprintf("%s failed at attempt %d", n.ID, attempt), Code: "simulated", Permanent: percent("permanent") < 20, NotSent: percent("sent") < 50,
		}
		if percent("after") < 20 {
			o.failure.RetryAfter = time.Duration(roll("after") % uint64(40*time.Second))
		}
	case percent("pass") < 20:
		o.ending = passes
	default:
		o.output = map[string]any{"by": n.ID, "attempt": json.Number(strconv.Itoa(attempt)), "roll": json.Number(strconv.Itoa(int(roll("output") % 1000)))}
	}
	return o
}

// answered gives what the one right answer to node i comes to, which is also
// what becomes of it when nobody answers in time: so it does not matter who is
// first.
func (s script) answered(i int) outcome {
	n := &s.book.nodes[i]
	if s.percent(n.ID, "rejected", 0) < s.book.failures {
		return outcome{ending: fails, failure: &blueprint.Failure{Message: n.ID + " was rejected", Code: "rejected"}}
	}
	return outcome{output: map[string]any{"answer": n.ID}, handle: []string{"a", "b", ""}[s.roll(n.ID, "answer", 0)%3]}
}

// decision gives what a person says of an attempt of which nobody knows whether
// it took effect.
func (s script) decision(i, attempt int) map[string]any {
	n := &s.book.nodes[i]
	switch roll := s.percent(n.ID, "decision", attempt); {
	case roll < 45:
		return map[string]any{"action": "retry"}
	case roll < 90:
		return map[string]any{"action": "mark-done", "output": map[string]any{"marked": n.ID}}
	default:
		return map[string]any{"action": "abort"}
	}
}
