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
			b, spans := newHistory("test", io.Discard), map[string]*span{}
			for i, one := range c.spans {
				id := fmt.Sprint("exec_", i)
				spans[id] = &span{id, one[0], one[1]}
			}
			if b.checkSpans(spans); first(b) != c.want {
				t.Errorf("%v, want %q", b.violations, c.want)
			}
		})
	}
}

// TestListeners compares ends and changes with the events that were delivered.
func TestListeners(t *testing.T) {
	received := func(event, of, value string) string { return event + " " + of + " " + value }
	done, failed, change := listenerPrefix+executionEvents+"completed", listenerPrefix+executionEvents+"failed", listenerPrefix+blueprintUpdated
	for name, c := range map[string]struct {
		heard               []string // listener, the field of its event, and the value
		acknowledged, tried int
		want                string
	}{
		"each once":                  {[]string{received(done, "of", "good"), received(failed, "of", "bad"), received(change, "version", "1.0.1")}, 1, 1, ""},
		"an end not received":        {[]string{received(done, "of", "good")}, 0, 0, "I7"},
		"an end twice":               {[]string{received(done, "of", "good"), received(done, "of", "good"), received(failed, "of", "bad")}, 0, 0, "I7"},
		"another end":                {[]string{received(done, "of", "good"), received(failed, "of", "bad"), received(failed, "of", "good")}, 0, 0, "I7"},
		"an end of nothing":          {[]string{received(done, "of", "good"), received(failed, "of", "bad"), received(done, "of", "none")}, 0, 0, "I7"},
		"a change not received":      {[]string{received(done, "of", "good"), received(failed, "of", "bad")}, 1, 1, "I7"},
		"a change that was not made": {[]string{received(done, "of", "good"), received(failed, "of", "bad"), received(change, "version", "1.0.1")}, 0, 0, "I7"},
		"a change without answer":    {[]string{received(done, "of", "good"), received(failed, "of", "bad"), received(change, "version", "1.0.1")}, 0, 1, ""},
		"a listener without a word":  {[]string{received(done, "of", "good"), received(failed, "of", "bad"), received(done, "other", "x")}, 0, 0, "I7"},
	} {
		t.Run(name, func(t *testing.T) {
			b, shapes := newHistory("test", io.Discard), map[string]*shape{}
			for _, one := range listenerShapes("http://ledger") {
				shapes[one.name] = one
			}
			b.addRun("good", "logged", shapes[observed]).status = "completed"
			b.addRun("bad", "logged", shapes[observed]).status = "failed"
			for i, line := range c.heard {
				parts := strings.Fields(line)
				r := b.addRun(fmt.Sprint("exec_", i), "", shapes[parts[0]])
				r.done["before"] = finished{step: fmt.Sprintf(`{"output":{%q:%q}}`, parts[1], parts[2])}
			}
			if b.checkListeners(func(string) bool { return true }, c.acknowledged, c.tried); first(b) != c.want {
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
		"replaced":        {&keyring{number: 3, previous: 2}, "23", 1},
		"perhaps already": {&keyring{number: 3, previous: 2, pendingRotation: true}, "3", 2},
	} {
		t.Run(name, func(t *testing.T) {
			for range 50 {
				number, _, release := c.ring.acquire(random)
				release()
				if !strings.Contains(c.want, fmt.Sprint(number)) {
					t.Errorf("took %d, want %q in it", number, fmt.Sprint(number))
				}
			}
			if c.gone > 0 && !c.ring.isExpired(c.gone) || c.ring.isExpired(c.gone+1) {
				t.Errorf("gone %d", c.gone)
			}
		})
	}
}

// TestComposeEmail writes emails that a mail server accepts unchanged.
func TestComposeEmail(t *testing.T) {
	s := &sender{client: &client{random: rand.New(rand.NewPCG(1, 1))}, source: &source{address: "box@localhost"}}
	for n := range 20 {
		d := &delivery{id: fmt.Sprint("email-", n)}
		s.composeEmail(d)
		text := string(d.body)
		if len(d.files) == 0 || !strings.HasSuffix(text, "\r\n") || strings.Count(text, "\n") != strings.Count(text, "\r\n") || !strings.Contains(text, "Message-ID: "+d.id+"\r\n") {
			t.Fatalf("%d files, %.200q", len(d.files), text)
		}
	}
}
