package script

import (
	"context"
	"testing"
)

// BenchmarkScript is a tiny script in a child that waits.
func BenchmarkScript(b *testing.B) {
	p := running(b)
	s := script("return {n: input.n + 1}")
	s.Values.Input = map[string]any{"n": 1}
	do(p, s)
	for b.Loop() {
		if _, err := p.Do(context.Background(), s); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScripts is the same from many at once.
func BenchmarkScripts(b *testing.B) {
	p := running(b)
	s := script("return 1")
	b.SetParallelism(p.slots)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := p.Do(context.Background(), s); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkFirstScript is one that needs a new child.
func BenchmarkFirstScript(b *testing.B) {
	p := running(b)
	for b.Loop() {
		if _, err := p.Do(context.Background(), script("return 1")); err != nil {
			b.Fatal(err)
		}
		p.expireIdle(p.idle[0])
	}
}
