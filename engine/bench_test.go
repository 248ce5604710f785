package engine_test

import (
	"context"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/secret"
)

// discarding is a journal that stores nothing, so that a benchmark measures the engine
// alone.
type discarding struct{ *journal }

func (discarding) Commit(context.Context, *blueprint.JournalCommit) error { return nil }

// BenchmarkThreeNodes runs three nodes from start to result, one run at a time and many
// in parallel.
func BenchmarkThreeNodes(b *testing.B) {
	for _, bench := range []struct {
		name, lines string
		limited     bool // they are of a trigger with a limit
	}{
		{"pure", `
			a set {"values": {"name": "{{inputData.n}}"}}
			b echo {"value": {"text": "hello {{name}}"}}
			c pass`, false},
		{"pure of a concurrency group", `
			a set {"values": {"name": "{{inputData.n}}"}}
			b echo {"value": {"text": "hello {{name}}"}}
			c pass`, true},
		{"effects", `
			a set {"values": {"name": "{{inputData.n}}"}}
			b act {"text": "hello {{name}}"}
			c act`, false},
	} {
		b.Run(bench.name, func(b *testing.B) {
			w := newFixture(b, newJournal(), &lab{tries: map[string]int{}, running: map[string]int{}}, secret.NewKey(), func(o *engine.Options) {
				o.Journal = discarding{o.Journal.(*journal)}
			})
			defer w.stop()
			d := w.define(bench.lines)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					ask := request
					if bench.limited {
						ask = limited
					}
					h, err := w.Start(ask(d), engine.AtEnd)
					if err != nil {
						b.Error(err)
						return
					}
					if _, err := h.Wait(context.Background()); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// limited returns a request for a run of a trigger whose limit is not reached.
func limited(d *blueprint.Definition) *blueprint.StartRequest {
	return fired(d, 1000, blueprint.LimitQueue)
}

// BenchmarkView reads the record of a finished run of three nodes, and encodes what a client
// gets.
func BenchmarkView(b *testing.B) {
	w := newFixture(b, newJournal(), &lab{tries: map[string]int{}, running: map[string]int{}}, secret.NewKey(), nil)
	defer w.stop()
	x := w.run(w.define(`
		a set {"values": {"name": "{{inputData.n}}"}}
		b echo {"value": {"text": "hello {{name}}"}}
		c pass`))
	stored := w.journal.stored(x.ID)
	b.Run("view", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if _, err := w.View(b.Context(), stored); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if _, err := blueprint.Encode(&x.ExecutionStatus); err != nil {
				b.Fatal(err)
			}
		}
	})
}
