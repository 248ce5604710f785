package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestSpans searches for more simultaneous runs than allowed. Times are those of the first
// and the last effect of each run.
func TestSpans(t *testing.T) {
	for name, c := range map[string]struct {
		spans [][2]int64
		want  string
	}{
		"one after the other":       {[][2]int64{{0, 10}, {11, 20}, {21, 30}}, ""},
		"two at once":               {[][2]int64{{0, 10}, {5, 20}, {11, 30}, {21, 40}}, ""},
		"three at once":             {[][2]int64{{0, 10}, {5, 20}, {9, 30}}, "I16"},
		"three over a long one":     {[][2]int64{{0, 100}, {5, 20}, {30, 40}}, ""},
		"a short one within others": {[][2]int64{{0, 100}, {5, 90}, {30, 40}}, "I16"},
	} {
		t.Run(name, func(t *testing.T) {
			b, spans := newBook("test", io.Discard), map[string]*span{}
			for i, one := range c.spans {
				id := fmt.Sprint("exec_", i)
				spans[id] = &span{id, one[0], one[1]}
			}
			if b.judgeSpans(spans); first(b) != c.want {
				t.Errorf("%v, want %q", b.violations, c.want)
			}
		})
	}
}

// TestListeners compares ends and changes with the events that were delivered.
func TestListeners(t *testing.T) {
	heard := func(event, of, value string) string { return event + " " + of + " " + value }
	done, failed, change := listens+ended+"completed", listens+ended+"failed", listens+updated
	for name, c := range map[string]struct {
		heard               []string // listener, the field of its event, and the value
		acknowledged, tried int
		want                string
	}{
		"each once":                  {[]string{heard(done, "of", "good"), heard(failed, "of", "bad"), heard(change, "version", "1.0.1")}, 1, 1, ""},
		"an end not received":        {[]string{heard(done, "of", "good")}, 0, 0, "I7"},
		"an end twice":               {[]string{heard(done, "of", "good"), heard(done, "of", "good"), heard(failed, "of", "bad")}, 0, 0, "I7"},
		"another end":                {[]string{heard(done, "of", "good"), heard(failed, "of", "bad"), heard(failed, "of", "good")}, 0, 0, "I7"},
		"an end of nothing":          {[]string{heard(done, "of", "good"), heard(failed, "of", "bad"), heard(done, "of", "none")}, 0, 0, "I7"},
		"a change not received":      {[]string{heard(done, "of", "good"), heard(failed, "of", "bad")}, 1, 1, "I7"},
		"a change that was not made": {[]string{heard(done, "of", "good"), heard(failed, "of", "bad"), heard(change, "version", "1.0.1")}, 0, 0, "I7"},
		"a change without answer":    {[]string{heard(done, "of", "good"), heard(failed, "of", "bad"), heard(change, "version", "1.0.1")}, 0, 1, ""},
		"a listener without a word":  {[]string{heard(done, "of", "good"), heard(failed, "of", "bad"), heard(done, "other", "x")}, 0, 0, "I7"},
	} {
		t.Run(name, func(t *testing.T) {
			b, shapes := newBook("test", io.Discard), map[string]*shape{}
			for _, one := range listenerShapes("http://ledger") {
				shapes[one.name] = one
			}
			b.knows("good", "logged", shapes[spoken]).status = "completed"
			b.knows("bad", "logged", shapes[spoken]).status = "failed"
			for i, line := range c.heard {
				parts := strings.Fields(line)
				r := b.knows(fmt.Sprint("exec_", i), "", shapes[parts[0]])
				r.done["before"] = finished{step: fmt.Sprintf(`{"output":{%q:%q}}`, parts[1], parts[2])}
			}
			if b.judgeListeners(func(string) bool { return true }, c.acknowledged, c.tried); first(b) != c.want {
				t.Errorf("%v, want %q", b.violations, c.want)
			}
		})
	}
}

// TestKeyring takes secrets that are certainly valid.
func TestKeyring(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for name, c := range map[string]struct {
		ring *keyring
		want string // numbers that may be taken
		gone int    // the latest that may no longer be valid; 0 = none
	}{
		"at first":        {&keyring{number: 1}, "1", 0},
		"replaced":        {&keyring{number: 3, before: 2}, "23", 1},
		"perhaps already": {&keyring{number: 3, before: 2, unsure: true}, "3", 2},
	} {
		t.Run(name, func(t *testing.T) {
			for range 50 {
				number, _, giveBack := c.ring.take(random)
				giveBack()
				if !strings.Contains(c.want, fmt.Sprint(number)) {
					t.Errorf("took %d, want %q in it", number, fmt.Sprint(number))
				}
			}
			if c.gone > 0 && !c.ring.isGone(c.gone) || c.ring.isGone(c.gone+1) {
				t.Errorf("gone %d", c.gone)
			}
		})
	}
}

// TestWrite writes letters that a mail server accepts unchanged.
func TestWrite(t *testing.T) {
	s := &sender{client: &client{random: rand.New(rand.NewPCG(1, 1))}, of: &source{address: "box@localhost"}}
	for n := range 20 {
		d := &delivery{id: fmt.Sprint("letter-", n)}
		s.write(d)
		text := string(d.body)
		if len(d.files) == 0 || !strings.HasSuffix(text, "\r\n") || strings.Count(text, "\n") != strings.Count(text, "\r\n") || !strings.Contains(text, "Message-ID: "+d.id+"\r\n") {
			t.Fatalf("%d files, %.200q", len(d.files), text)
		}
	}
}
