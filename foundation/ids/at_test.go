package ids

import (
	"testing"
	"time"
)

func TestAt(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	a, b := Seeded(7), Seeded(7)
	first := []string{a.At(at, "x").UUID(), a.At(at, "y").UUID(), a.At(at, "x").UUID(), a.At(at.Add(time.Millisecond), "x").UUID()}
	b.UUID()
	again := map[int]string{1: b.At(at, "y").UUID(), 0: b.At(at, "x").UUID(), 3: b.At(at.Add(time.Millisecond), "x").UUID(), 2: b.At(at, "x").UUID()}
	for i, id := range first {
		if again[i] != id {
			t.Errorf("%d: %s is not %s", i, again[i], id)
		}
		for j := range i {
			if first[j] == id {
				t.Errorf("%s came twice, want other than %v", id, id)
			}
		}
	}
	// What is long past is forgotten, and what is not is not.
	for i := range 100 {
		a.At(at.Add(time.Duration(i)*time.Minute), "z")
	}
	if n := len(a.uses.past) + len(a.uses.present); n > 4 {
		t.Errorf("%d counts are kept, want at most 4", n)
	}
	if chance := New(nil); chance.At(at, "x") != chance {
		t.Error("a source of chance has streams")
	}
}
