package main

import (
	"fmt"
	"io"
	"testing"
)

// observedRun returns a run as observed, with steps "address type output".
func observedRun(b *history, id, status, parent string, steps ...[3]string) *run {
	r := b.addRun(id, "fired", nil)
	r.status = status
	b.setOrigin(r, parent, "")
	for _, s := range steps {
		r.done[s[0]] = finished{step: fmt.Sprintf(`{"nodeType":%q,"output":%s}`, s[1], s[2])}
	}
	return r
}

// TestCheckSubRuns checks sub-runs. The first run starts runs from two places.
func TestCheckSubRuns(t *testing.T) {
	gave := func(address, id string) [3]string {
		return [3]string{address, "blueprint", `{"text":"` + id + ` done"}`}
	}
	says := func(at string) [3]string { return [3]string{"before", "set", `{"at":"` + at + `"}`} }
	cases := []struct {
		name string
		make func(b *history)
		want string
	}{
		{"two", func(b *history) {
			observedRun(b, "p", "completed", "", gave("run", "c"), gave("each[1]/run", "d"))
			observedRun(b, "c", "completed", "p", says("run"))
			observedRun(b, "d", "completed", "p", says("each[1]/run"))
		}, ""},
		{"one was cancelled with it", func(b *history) { observedRun(b, "p", "failed", ""); observedRun(b, "c", "failed", "p", says("run")) }, ""},
		{"one was cancelled before it began", func(b *history) { observedRun(b, "p", "failed", ""); observedRun(b, "c", "failed", "p") }, ""},
		{"taken up again", func(b *history) { observedRun(b, "q", "completed", "", gave("run", "c")).retryOf = "p" }, ""},
		{"started twice", func(b *history) {
			observedRun(b, "p", "completed", "", gave("run", "c"))
			observedRun(b, "c", "completed", "p", says("run"))
			observedRun(b, "d", "failed", "p", says("run"))
		}, "I14"},
		{"never ends", func(b *history) { observedRun(b, "p", "failed", ""); observedRun(b, "c", "running", "p", says("run")) }, "I14"},
		{"outlived", func(b *history) {
			observedRun(b, "p", "running", "")
			observedRun(b, "c", "completed", "p", says("run"))
		}, "I14"},
		{"of no parent", func(b *history) { observedRun(b, "c", "completed", "p", says("run")) }, "I14"},
		{"of another", func(b *history) {
			observedRun(b, "p", "completed", "", gave("run", "c"))
			observedRun(b, "q", "completed", "")
			observedRun(b, "c", "completed", "q", says("run"))
		}, "I14"},
		{"of another step", func(b *history) {
			observedRun(b, "p", "completed", "", gave("run", "c"))
			observedRun(b, "c", "completed", "p", says("other"))
		}, "I14"},
		{"shared", func(b *history) {
			observedRun(b, "p", "completed", "", gave("run", "c"), gave("other", "c"))
			observedRun(b, "c", "completed", "p")
		}, "I14"},
		{"a failed one is passed off", func(b *history) {
			observedRun(b, "p", "completed", "", gave("run", "c"))
			observedRun(b, "c", "failed", "p", says("run"))
		}, "I14"},
		{"made up", func(b *history) { observedRun(b, "p", "completed", "", gave("run", "c")) }, "I14"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newHistory("test", io.Discard)
			c.make(b)
			if b.checkSubRuns(); first(b) != c.want {
				t.Errorf("violations %v, want %q", b.violations, c.want)
			}
		})
	}
}

func TestCheckEvents(t *testing.T) {
	published := func(n string) [3]string { return [3]string{"each[0]/emit", "emit-event", `{"delivered":` + n + `}`} }
	cases := []struct {
		name, delivered string
		heard           map[string]string
		want            string
	}{
		{"heard", "1", map[string]string{"p/each[0]/emit": "l"}, ""},
		{"received, and the step was cut off", "", map[string]string{"p/each[0]/emit": "l"}, ""},
		{"not received", "1", nil, "I7"},
		{"no subscriber, it says", "0", map[string]string{"p/each[0]/emit": "l"}, "I7"},
		{"two subscribers, it says", "2", map[string]string{"p/each[0]/emit": "l"}, "I7"},
		{"published by no run", "", map[string]string{"q/emit": "l"}, "I7"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newHistory("test", io.Discard)
			r := observedRun(b, "p", "completed", "")
			if c.delivered != "" {
				r.done["each[0]/emit"] = finished{step: fmt.Sprintf(`{"nodeType":"emit-event","output":%s}`, published(c.delivered)[2])}
			}
			if b.checkEvents(c.heard); first(b) != c.want {
				t.Errorf("violations %v, want %q", b.violations, c.want)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct{ address, pattern, around, beside string }{
		{"call", "call", "", "z"},
		{"each[3]/call", "each/call", "each", "each[3]/z"},
		{"each[{{index}}]/call", "each/call", "each", "each[{{index}}]/z"},
		{"a[1]/b[22]/c", "a/b/c", "a[1]/b", "a[1]/b[22]/z"},
	} {
		t.Run(c.address, func(t *testing.T) {
			if got := [3]string{pattern(c.address), containerOf(c.address), siblingOf(c.address, "a/b/z")}; got != [3]string{c.pattern, c.around, c.beside} {
				t.Errorf("%q, want %v", got, [3]string{c.pattern, c.around, c.beside})
			}
		})
	}
}
