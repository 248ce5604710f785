package ids

import "testing"

func TestASeedGivesTheSameIDs(t *testing.T) {
	one, other := Seeded(7), Seeded(7)
	if first := one.UUID(); first != other.UUID() || first == Seeded(8).UUID() {
		t.Error("a seed does not determine the IDs")
	}
	s := Seeded(7)
	first := s.Stream("run", "1").Token(20)
	s.UUID()
	if again := s.Stream("run", "1").Token(20); again != first {
		t.Errorf("a stream depends on other draws: %s, %s", first, again)
	}
	if s.Stream("a", "bc").UUID() == s.Stream("ab", "c").UUID() || s.Stream("a").Stream("b").UUID() == s.Stream("b").Stream("a").UUID() {
		t.Error("two names give one stream")
	}
	if chance := New(nil); chance.Stream("a") != chance || chance.IsSeeded() || !s.IsSeeded() {
		t.Error("a source of chance has streams")
	}
}
