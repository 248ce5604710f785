package cron

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"hash/crc32"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// "make oracle" names a Python that has croniter.
var python = flag.String("croniter", "", "compare with croniter, in this Python")

// question is what testdata/croniter_ticks.py reads, and the others what it
// writes; see there.
type question struct {
	From        int64        `json:"from"`
	To          int64        `json:"to"`
	Most        int          `json:"most"`
	Zones       []string     `json:"zones"`
	Expressions []expression `json:"expressions"`
	List        bool         `json:"list"`
}

type expression struct {
	Text  string `json:"text"`
	Fixed bool   `json:"fixed"`
}

type reading struct {
	Differs string `json:"differs"`
	Until   int64  `json:"until"`
}

type due struct {
	Windows [][2]int64 `json:"windows"`
	Ticks   [][]int64  `json:"ticks"`
}

// ask runs the script.
func (q *question) ask(t testing.TB) (readings []reading, zones []due) {
	t.Helper()
	input, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(*python, "testdata/croniter_ticks.py")
	command.Stdin = bytes.NewReader(input)
	var complaint strings.Builder
	command.Stderr = &complaint
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, complaint.String())
	}
	readings, zones = make([]reading, len(q.Expressions)), make([]due, len(q.Zones))
	decoder := json.NewDecoder(bytes.NewReader(output))
	for i := range readings {
		err = decoder.Decode(&readings[i])
	}
	for i := 0; err == nil && i < len(zones); i++ {
		err = decoder.Decode(&zones[i])
	}
	if err != nil {
		t.Fatal(err)
	}
	return readings, zones
}

func newQuestion(t testing.TB, from, to time.Time, expressions []string) *question {
	q := &question{From: minuteOf(from), To: minuteOf(to), Most: 360_000}
	for _, text := range expressions {
		s := mustParse(t, text)
		q.Expressions = append(q.Expressions, expression{s.String(), s.fixed})
	}
	return q
}

// figures count what was compared.
type figures struct {
	mu                         sync.Mutex
	byCroniter, byWalk         int // ticks
	differing                  map[string]int
	inWindows, windows, differ int
}

// TestCroniter compares everything that is due in ten years, in all zones, with
// croniter, an independent implementation in Python that reads the zones itself. Where
// croniter's rules differ on purpose, a walk through all minutes is the reference.
func TestCroniter(t *testing.T) {
	if *python == "" {
		return // make oracle
	}
	q := newQuestion(t, decadeBegins, decadeEnds, decade)
	q.Zones = zoneNames()
	readings, zones := q.ask(t)
	f := &figures{differing: map[string]int{}}
	t.Run("zones", func(t *testing.T) {
		for i, name := range q.Zones {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				q.compare(t, f, name, readings, &zones[i])
			})
		}
	})
	for i, r := range readings {
		if r.Until < q.To {
			t.Logf("%q is compared until %s", q.Expressions[i].Text, instant(r.Until).Format(time.DateOnly))
		}
	}
	f.report(t, len(q.Zones), readings, q)
}

// TestCroniterRandom compares expressions by chance, in UTC.
func TestCroniterRandom(t *testing.T) {
	if *python == "" {
		return // make oracle
	}
	draw := rapid.Custom(func(t *rapid.T) string { return drawExpression(t, rapid.Bool().Draw(t, "near")) })
	var texts []string
	for seed := range 300 {
		texts = append(texts, draw.Example(seed))
	}
	q := newQuestion(t, decadeBegins, decadeEnds, texts)
	q.Zones, q.Most = []string{"UTC"}, 5_000
	readings, zones := q.ask(t)
	f := &figures{differing: map[string]int{}}
	q.compare(t, f, "UTC", readings, &zones[0])
	f.report(t, 1, readings, q)
}

// compare compares all expressions in one zone.
func (q *question) compare(t *testing.T, f *figures, name string, readings []reading, theirs *due) {
	zone := mustZone(t, name)
	var w *walk
	f.mu.Lock()
	f.windows += len(theirs.Windows)
	f.mu.Unlock()
	for i := range q.Expressions {
		text, r := q.Expressions[i].Text, readings[i]
		s := mustParse(t, text)
		window := func(at time.Time) bool {
			return q.Expressions[i].Fixed && slices.ContainsFunc(theirs.Windows, func(w [2]int64) bool { return minuteOf(at) >= w[0] && minuteOf(at) < w[1] })
		}
		if r.Differs != "" || q.Expressions[i].Fixed && len(theirs.Windows) > 0 {
			if w == nil {
				w = newWalk(zone, instant(q.From), instant(q.To))
			}
			ticks := w.all(t, text)
			f.mu.Lock()
			if f.byWalk += len(ticks); r.Differs != "" {
				f.differing[text] += len(ticks)
			} else {
				for _, at := range ticks {
					if window(w.at(at)) {
						f.inWindows++
					}
				}
			}
			f.mu.Unlock()
		}
		if r.Differs != "" {
			continue
		}
		from, until := instant(q.From-1), instant(r.Until-1)
		_, total := s.Between(from, until, zone, 0)
		ours, _ := s.Between(from, until, zone, total)
		if q.Expressions[i].Fixed {
			ours = slices.DeleteFunc(ours, window)
		}
		bytes := make([]byte, 0, 4*len(ours))
		for _, at := range ours {
			bytes = binary.LittleEndian.AppendUint32(bytes, uint32(minuteOf(at)))
		}
		f.mu.Lock()
		f.byCroniter += len(ours)
		f.mu.Unlock()
		if want := theirs.Ticks[i]; int64(len(ours)) != want[0] || int64(crc32.ChecksumIEEE(bytes)) != want[1] {
			f.mu.Lock()
			f.differ++
			f.mu.Unlock()
			t.Errorf("%q in %s: %d ticks, croniter has %d", text, name, len(ours), want[0])
			q.show(t, i, name, ours)
		}
	}
}

// show tells where one expression differs first.
func (q *question) show(t *testing.T, i int, zone string, ours []time.Time) {
	again := question{From: q.From, To: q.To, Most: q.Most, Zones: []string{zone}, Expressions: q.Expressions[i : i+1], List: true}
	_, zones := again.ask(t)
	theirs := zones[0].Ticks[0]
	for at := range max(len(ours), len(theirs)) {
		switch {
		case at >= len(theirs):
			t.Errorf("  %v is due here alone", ours[at])
		case at >= len(ours):
			t.Errorf("  %v is due there alone", instant(theirs[at]))
		case minuteOf(ours[at]) != theirs[at]:
			t.Errorf("  due here at %v, there at %v", ours[at], instant(theirs[at]))
		default:
			continue
		}
		return
	}
}

// report says what was compared.
func (f *figures) report(t *testing.T, zones int, readings []reading, q *question) {
	t.Logf("%d zones, %d expressions, from %s to %s", zones, len(readings), instant(q.From).Format(time.DateOnly), instant(q.To).Format(time.DateOnly))
	t.Logf("%d ticks compared with croniter: %d times an expression in a zone differs", f.byCroniter, f.differ)
	t.Logf("%d ticks compared with the walk through all minutes; of these %d lie around %d changes of clocks, where croniter has rules of its own", f.byWalk, f.inWindows, f.windows)
	for i, r := range readings {
		if r.Differs != "" && zones > 1 {
			t.Logf("%q is read in another way by croniter (%s): %d ticks compared with the walk alone", q.Expressions[i].Text, r.Differs, f.differing[q.Expressions[i].Text])
		}
	}
	others := 0
	for _, r := range readings {
		if r.Differs != "" {
			others++
		}
	}
	t.Logf("%d of %d expressions are read in another way by croniter", others, len(readings))
}
