package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"blueprintd/tests/process"
)

// at returns an instant in milliseconds after the start of the tests.
func at(ms int) time.Time {
	return time.Unix(1_900_000_000, 0).Add(time.Duration(ms) * time.Millisecond)
}

// TestCheckLines compares lines with changes. A server was killed at 100 ms and stopped at
// 300 ms; the next was ready 50 ms later.
func TestCheckLines(t *testing.T) {
	ok := func(action, target, run string, ms int) *change {
		return &change{byKey, action, target, run, at(ms - 1), at(ms), true}
	}
	lost := func(action, target string) *change { return &change{byKey, action, target, "", at(49), at(50), false} }
	says := func(action, kind, target, run string) line {
		detail := object{}
		if run != "" {
			detail["executionId"] = run
		}
		return line{"l", "a", action, kind, target, "api", detail}
	}
	update, cancel, fire := "blueprint.update", "execution.cancel", "blueprintTriggers.fire"
	cases := []struct {
		name    string
		changes []*change
		lines   []line
		want    string // part of the violation
		missed  int
	}{
		{"as acknowledged", []*change{ok(update, "b", "", 10), ok(cancel, "e", "", 10)}, []line{says(update, "blueprint", "b", ""), says(cancel, "execution", "e", "")}, "", 0},
		{"none of a change", []*change{ok(update, "b", "", 95)}, nil, "has 0 lines", 0},
		{"one of two", []*change{ok(update, "b", "", 10), ok(update, "b", "", 20)}, []line{says(update, "blueprint", "b", "")}, "2 times", 0},
		{"two of one", []*change{ok(update, "b", "", 10)}, []line{says(update, "blueprint", "b", ""), says(update, "blueprint", "b", "")}, "2 lines", 0},
		{"another action", []*change{ok(update, "b", "", 10)}, []line{says("blueprint.delete", "blueprint", "b", "")}, "lines for blueprint.delete", 0},
		{"another kind", []*change{ok(update, "b", "", 10)}, []line{says(update, "trigger", "b", "")}, "of trigger b", 0},
		{"another way", []*change{{bySession, update, "b", "", at(9), at(10), true}}, []line{says(update, "blueprint", "b", "")}, "(api)", 0},
		{"another run", []*change{ok(fire, "t", "e", 10)}, []line{says(fire, "trigger", "t", "f")}, "blueprintTriggers.fire", 1},
		{"of no request", nil, []line{says(update, "blueprint", "b", "")}, "0 were acknowledged", 0},
		{"unacknowledged, with a line", []*change{lost(update, "b")}, []line{says(update, "blueprint", "b", "")}, "", 0},
		{"unacknowledged, without one", []*change{lost(update, "b"), lost("blueprint.create", "")}, nil, "", 0},
		{"unacknowledged, of what it made", []*change{lost("blueprint.create", "")}, []line{says("blueprint.create", "blueprint", "b", "")}, "", 0},
		{"unacknowledged, twice", []*change{lost("blueprint.create", "")}, []line{says("blueprint.create", "blueprint", "b", ""), says("blueprint.create", "blueprint", "c", "")}, "0 were acknowledged", 0},
		{"unacknowledged, of the run it started", []*change{lost(fire, "t")}, []line{says(fire, "trigger", "t", "e")}, "", 0},
		{"unacknowledged change", []*change{ok("session.create", "", "", 10)}, nil, "1 acknowledged session.create (api) have no line", 0},
		{"unacknowledged change with a line", []*change{ok("session.create", "", "", 10)}, []line{says("session.create", "session", "s", "")}, "", 0},
		{"a late one right before a kill", []*change{ok(cancel, "e", "", 91)}, nil, "", 1},
		{"a late one, answered while it was killed", []*change{ok(cancel, "e", "", 101)}, nil, "", 1},
		{"a late one long before a kill", []*change{ok(cancel, "e", "", -901)}, nil, "1.001s before a kill, and 0 changes", 0},
		{"a late one, and later ones that are there", []*change{ok(cancel, "e", "", 50), ok(update, "b", "", 80)}, []line{says(update, "blueprint", "b", "")}, "50ms before a kill, and 1 changes", 0},
		{"a late one after a kill", []*change{ok(cancel, "e", "", 151)}, nil, "requested stop", 0},
		{"a late one before a requested stop", []*change{ok(cancel, "e", "", 295)}, nil, "requested stop", 0},
		{"a late one at the end of all", []*change{ok(cancel, "e", "", 400)}, nil, "no process ended since", 0},
		{"moves of the clock, the last of them right before a kill", []*change{ok("clock.advance", ofServer, "", 10), ok("clock.advance", ofServer, "", 91), ok("clock.advance", ofServer, "", 93)}, []line{says("clock.advance", ofServer, ofServer, "")}, "", 2},
		{"a move of the clock long before a kill", []*change{ok("clock.advance", ofServer, "", 20), ok(update, "b", "", 80)}, []line{says(update, "blueprint", "b", "")}, "clock.advance", 0},
		{"one excuse for two", []*change{ok(cancel, "e", "", 50), ok(cancel, "e", "", 95)}, nil, "2 times", 1},
		{"a refused sign-in that was none", nil, []line{{"l", "a", "session.create", "user", "u", "dashboard", object{"outcome": "failed"}}}, "refused", 0},
		{"an unknown user", nil, []line{{"l", "x", update, "blueprint", "b", "api", nil}}, "does not exist", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newHistory("test", io.Discard)
			b.outages = []outage{{from: at(100), to: at(150)}, {from: at(300), to: at(350), asked: true}}
			b.checkLines(&changeLog{all: c.changes}, c.lines, map[string]string{"": "", "a": "admin"})
			if first(b) != map[bool]string{true: "I17"}[c.want != ""] || c.want != "" && !strings.Contains(b.violations[0].Text, c.want) || b.counts.LinesMissed != c.missed {
				t.Errorf("violations %v, %d missed; want %q and %d", b.violations, b.counts.LinesMissed, c.want, c.missed)
			}
		})
	}
}

// TestRecordChange records responses.
func TestRecordChange(t *testing.T) {
	made := answer{Status: 200, Value: object{"id": "b", "executionId": "e"}}
	for _, c := range []struct {
		name, action, want string
		a                  answer
	}{
		{"named in the answer", "blueprint.create", "b", made},
		{"named in the input", "blueprint.update", "x", made},
		{"a run", "blueprintTriggers.fire", "x e", made},
		{"no answer", "blueprint.create", " unacknowledged", answer{Err: io.EOF}},
		{"busy", "blueprint.update", "x unacknowledged", answer{Status: 503}},
		{"refused", "blueprint.create", "none", answer{Status: 409}},
		{"not sent", "blueprint.create", "none", answer{Err: process.ErrDown}},
		{"unknown", "blueprint.paint", "none", made},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &changeLog{}
			got := "none"
			if d := m.record(byKey, now(), c.action, object{"id": "x", "triggerId": "x"}, c.a); d != nil {
				if got = strings.TrimSuffix(d.target+" "+d.run, " "); !d.acknowledged {
					got += " unacknowledged"
				}
			}
			if got != c.want || (len(m.unknown) == 1) != (c.name == "unknown") {
				t.Errorf("%q %v, want %q", got, m.unknown, c.want)
			}
		})
	}
}

// TestLines reads an audit log of 150 lines that may repeat or have a wrong total.
func TestLines(t *testing.T) {
	for _, c := range []struct {
		name              string
		total, step, want int
		status            int
	}{
		{"whole", 150, 1, 0, 200}, {"miscounted", 151, 1, 1, 200}, {"twice", 150, 0, 1, 200}, {"refused", 150, 1, 1, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newHistory("test", io.Discard)
			lines := b.lines(func(input object) answer {
				offset := input["offset"].(int)
				var entries []any
				for i := offset; i < min(150, offset+100); i++ {
					entries = append(entries, object{"id": strings.Repeat("x", 1+i*c.step%150)})
				}
				return answer{Status: c.status, Value: object{"entries": entries, "total": float64(c.total)}}
			}, "")
			if (len(b.violations) > 0) != (c.want > 0) || c.status == http.StatusOK && len(lines) != 150 {
				t.Errorf("%d lines, violations %v; want %v", len(lines), b.violations, c.want)
			}
		})
	}
}

// TestCheckContent compares lines, newest first, with a database.
func TestCheckContent(t *testing.T) {
	made := line{action: "blueprint.create", kind: "blueprint", target: "b"}
	version := func(v string) line {
		return line{action: "blueprint.update", kind: "blueprint", target: "b", detail: object{"version": v}}
	}
	connection := func(action, name, before string) line {
		detail := object{"name": name}
		if before != "" {
			detail["nameBefore"] = before
		}
		return line{action: "connection." + action, kind: "connection", target: "c", detail: detail}
	}
	active := func(is, was bool) line {
		return line{action: "blueprintTriggers.update", kind: "trigger", target: "t", detail: object{"isActive": is, "isActiveBefore": was}}
	}
	born := line{action: "blueprintTriggers.create", kind: "trigger", target: "t"}
	ended := line{action: "blueprint.delete", kind: "blueprint", target: "b"}
	run := line{action: "execution.cancel", kind: "execution", target: "e"}
	type of = map[string]map[string]bool
	there := of{"blueprint": {"b": true}}
	connected := content{exists: of{"connection": {"c": true}}, names: map[string]string{"c": "two"}}
	triggered := content{exists: of{"trigger": {"t": true}}, active: map[string]bool{"t": false}}
	cases := []struct {
		name   string
		lines  []line
		stored content
		sure   string // an acknowledged execution
		want   bool
	}{
		{"made", []line{made}, content{exists: there}, "", false},
		{"made without a line", nil, content{exists: there}, "", true},
		{"made with two", []line{made, made}, content{exists: there}, "", true},
		{"a line of what is not there", []line{made}, content{}, "", true},
		{"changed", []line{version("1.1"), made}, content{exists: there, versions: of{"b": {"1.1": true}}}, "", false},
		{"changed without a line", []line{made}, content{exists: there, versions: of{"b": {"1.1": true}}}, "", true},
		{"a line of no change", []line{version("1.1"), made}, content{exists: there}, "", true},
		{"changed once with two lines", []line{version("1.1"), version("1.1"), made}, content{exists: there, versions: of{"b": {"1.1": true}}}, "", true},
		{"deleted", []line{ended, made}, content{exists: of{"blueprint": {"b": false}}}, "", false},
		{"deleted without a line", []line{made}, content{exists: of{"blueprint": {"b": false}}}, "", true},
		{"a line of no deletion", []line{ended, made}, content{exists: there}, "", true},
		{"renamed", []line{connection("update", "two", "one"), connection("create", "one", "")}, connected, "", false},
		{"renamed without a line", []line{connection("create", "one", "")}, connected, "", true},
		{"renamed in between without a line", []line{connection("update", "two", "half"), connection("create", "one", "")}, connected, "", true},
		{"a line of no renaming", []line{connection("update", "three", "two"), connection("create", "two", "")}, connected, "", true},
		{"a connection that is gone", []line{connection("delete", "one", ""), connection("create", "one", "")}, content{}, "", false},
		{"gone without a line", []line{connection("create", "one", "")}, content{}, "", true},
		{"switched", []line{active(false, true), born}, triggered, "", false},
		{"switched without a line", []line{active(true, false), born}, triggered, "", true},
		{"a run that is not there", []line{run}, content{}, "", true},
		{"one that was acknowledged", []line{run}, content{}, "e", false}, // I1 covers it
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newHistory("test", io.Discard)
			m := &changeLog{}
			if c.sure != "" {
				m.all = append(m.all, &change{action: "execution.cancel", target: c.sure, acknowledged: true})
			}
			if b.checkContent(m, c.lines, c.stored); (first(b) == "I17") != c.want {
				t.Errorf("violations %v, want %v", b.violations, c.want)
			}
		})
	}
}
