package main

import (
	"context"
	"fmt"
	"strings"

	"blueprintd/tests/process"
)

// explain calls blueprintTriggers.explain for a firing.
func (c *client) explain(ctx context.Context, firing string) answer {
	a := c.api.Query(ctx, "blueprintTriggers.explain", object{"firingId": firing})
	if !c.succeeded(a, "explain") {
		return answer{}
	}
	c.history.count(func(n *counts) { n.Explained++ })
	c.history.checkTriggerSecrets("what explain says of firing "+firing, string(a.Body))
	return a
}

// checkTriggerSecrets reports a violation if a text contains the secret of a trigger.
func (h *history) checkTriggerSecrets(where, text string) {
	if at := strings.Index(text, triggerSecretPrefix); at >= 0 {
		h.violated("I13", "", "%s holds the secret of a trigger: %q", where, text[max(0, at-100):min(len(text), at+60)])
	}
}

// rows are the ledger rows of one trigger.
type rows struct {
	byID         map[string]any
	refused      map[string]int    // by key
	duplicates   map[string]int    // duplicates, by key
	first        map[string]string // firings that started a run, by key
	runs         map[string]bool   // whether a redelivery started it
	unidentified int               // refused rows whose key identifies nothing
}

func (c *client) rowsOf(ctx context.Context, trigger string, known map[string]*delivery) rows {
	r := rows{byID: map[string]any{}, refused: map[string]int{}, duplicates: map[string]int{}, first: map[string]string{}, runs: map[string]bool{}}
	for _, row := range c.firingRows(ctx, trigger) {
		id, _ := process.At(row, "id").(string)
		key, _ := process.At(row, "key").(string)
		key = strings.Trim(key, "<>")
		reason, _ := process.At(row, "reason").(string)
		c.history.checkTriggerSecrets("the row of firing "+id, reason)
		r.byID[id] = row
		switch process.At(row, "decision") {
		case "started":
			run, _ := process.At(row, "executionId").(string)
			r.runs[run] = process.At(row, "source") == "redelivery"
			if d := known[key]; !r.runs[run] && (d == nil || d.wrongSignature || d.filtered) {
				c.history.violated("I7", run, "firing %s of trigger %s started it under the key %s, which was not sent or must not start a run", id, trigger, key)
			} else if !r.runs[run] {
				r.first[key] = id
			}
		case "duplicate":
			r.duplicates[key]++
		case "refused":
			if r.refused[key]++; known[key] == nil {
				r.unidentified++
			}
		}
	}
	return r
}

// checkLedger compares the ledger of a source with the deliveries and their
// responses: each response has a row with what was received, and exactly the valid
// deliveries have a run. All deliveries must have been answered.
func (c *client) checkLedger(ctx context.Context, s *source) rows {
	known, refused := map[string]*delivery{}, 0
	var all []*delivery
	for _, d := range c.history.deliveries {
		if d.source == s {
			known[strings.Trim(d.id, "<>")] = d
			all = append(all, d)
			refused += d.refused
		}
	}
	r := c.rowsOf(ctx, s.trigger, known)
	if s.bodyHasID() && r.unidentified < refused {
		c.history.violated("I15", "", "%d deliveries to %s were answered 401, but its ledger has %d such rows", refused, s.shape.name, r.unidentified)
	}
	for _, d := range all {
		key := strings.Trim(d.id, "<>")
		if !s.bodyHasID() && r.refused[key] < d.refused {
			c.history.violated("I15", "", "delivery %s to %s was answered 401 %d times, but the ledger has %d such rows", d.id, s.shape.name, d.refused, r.refused[key])
		}
		if r.duplicates[key] < d.repeats {
			c.history.violated("I15", d.execution, "delivery %s to %s was answered as a duplicate %d times, but the ledger has %d such rows", d.id, s.shape.name, d.repeats, r.duplicates[key])
		}
		if s.path == "" && d.accepted > 0 { // the response to an email contains no firing
			d.firing, d.repeats = r.first[key], d.accepted-1
			d.execution, _ = process.At(r.byID[d.firing], "executionId").(string)
		}
		for _, id := range d.skippedFirings {
			c.checkRow(ctx, d, r.byID[id], id, "skipped")
		}
		if d.execution != "" {
			c.checkRow(ctx, d, r.byID[d.firing], d.firing, "started")
		}
	}
	for _, run := range c.history.all() {
		if _, started := r.runs[run.id]; run.shape == s.shape && run.retryOf == "" && !started {
			c.history.violated("I7", run.id, "no firing of %s started it", s.shape.name)
		}
	}
	return r
}

// bodyHasID reports whether the body contains the id of the delivery. The body is not read
// if the signature is wrong.
func (s *source) bodyHasID() bool { return s.kind == "slack" || s.config["preset"] == "stripe" }

// checkRow checks the ledger row of a delivery and what explain returns for it.
func (c *client) checkRow(ctx context.Context, d *delivery, row any, id, decision string) {
	if process.At(row, "decision") != decision || process.At(row, "key") == id {
		c.history.violated("I15", d.execution, "delivery %s to %s was answered with firing %s, %s, and its row is %v", d.id, d.shape.name, id, decision, row)
		return
	}
	if hashOf(id)%explainInterval != 0 {
		return
	}
	a := c.explain(ctx, id)
	if size := process.At(a.Value, "delivery", "size"); a.Value != nil && size != float64(len(d.body)) {
		c.history.violated("I15", d.execution, "delivery %s to %s had %d bytes, and explain says of firing %s: %s", d.id, d.shape.name, len(d.body), id, shorten(fmt.Sprint(process.At(a.Value, "delivery"))))
	}
}

// explainInterval is the interval of rows that are checked closely.
const explainInterval = 3
