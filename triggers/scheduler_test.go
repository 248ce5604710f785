package triggers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// start runs a service until stop is called or the test ends, and returns once
// it has decided everything that was due.
func start(t testing.TB, s *Service, advance func(to time.Time)) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	s.Changed() // holds the clock until the loop has read its schedules
	go func() { ended <- s.Run(ctx) }()
	advance(s.Clock.Now())
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// mover moves a virtual clock.
func mover(t testing.TB, v *clock.Virtual) func(to time.Time) {
	return func(to time.Time) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := v.Advance(ctx, to); err != nil {
			t.Fatal(err)
		}
	}
}

// tally writes the rows of a trigger: the decision's first letter, and for a
// lot how many.
func tally(m *memory, id string) string {
	text := ""
	for _, row := range m.snapshot() {
		if row.TriggerID != id {
			continue
		}
		text += string(row.Decision[0])
		if row.Decision == blueprint.DecisionCoalesced || row.Decision == blueprint.DecisionSkipped {
			text += fmt.Sprint(lotCount(row))
		}
	}
	return text
}

// lotCount reads from a row how many ticks it is about.
func lotCount(row blueprint.Firing) int {
	count := 1
	if !strings.HasPrefix(row.Reason, "the tick") {
		fmt.Sscanf(row.Reason, "%d ticks", &count)
	}
	return count
}

func schedule(expression string, more ...string) map[string]any {
	config := map[string]any{"cron": expression}
	for i := 0; i < len(more); i += 2 {
		config[more[i]] = more[i+1]
	}
	return config
}

func TestMonthOfTicks(t *testing.T) {
	m := newMemory()
	v := clock.NewVirtual(begin)
	s := newService(m, v)
	id := m.trigger(blueprint.TriggerScheduled, schedule("*/5 * * * *", "catchUp", "none"), begin)
	move := mover(t, v)
	start(t, s, move)
	move(begin.AddDate(0, 1, 0))
	want := 31 * 24 * 12
	if s.Started() != int64(want) {
		t.Fatalf("%d started, want %d", s.Started(), want)
	}
	for i, request := range m.runs() {
		at := begin.Add(time.Duration(i+1) * 5 * time.Minute)
		text := at.Format("2006-01-02T15:04:05.000Z")
		f, due := request.Firing, blueprint.TimeOf(at)
		if !blueprint.Equal(request.InputData, map[string]any{"scheduledAt": text, "firedAt": text, "missedCount": jsonNumber("0")}) {
			t.Fatalf("run %d: input %v, want it on time at %s", i, request.InputData, text)
		}
		if f.Key != text || f.DueAt != due || f.ReceivedAt != due || request.Cursor != due {
			t.Fatalf("run %d: %+v and cursor %v, want all of %s", i, f, request.Cursor, text)
		}
		if f.Reason != "on time" || f.Source != blueprint.SourceSchedule || request.Trigger.Type != blueprint.TriggerScheduled {
			t.Fatalf("run %d: %+v of %+v, want a schedule on time", i, f, request.Trigger)
		}
		if request.Coalesced != nil || m.patience[i] != soon {
			t.Fatalf("run %d: coalesced %+v, patience %v; want none and %v", i, request.Coalesced, m.patience[i], soon)
		}
	}
	if m.cursors[id] != blueprint.TimeOf(begin.AddDate(0, 1, 0)) {
		t.Errorf("cursor %s", m.cursors[id])
	}
}

func TestOutages(t *testing.T) {
	day := 24 * time.Hour
	cases := []struct {
		cron    string
		outage  time.Duration
		catchUp string
		want    string
	}{
		{"* * * * *", time.Minute, "latest", "s"},
		{"* * * * *", time.Minute, "all", "s"},
		{"* * * * *", time.Minute, "none", "s1"},
		{"* * * * *", time.Hour, "latest", "c59s"},
		{"* * * * *", time.Hour, "", "c59s"},
		{"*/5 * * * *", time.Hour, "all", strings.Repeat("s", 12)},
		{"* * * * *", time.Hour, "none", "s60"},
		{"* * * * *", 5 * time.Hour, "all", "c200" + strings.Repeat("s", 100)},
		{"0 * * * *", day, "latest", "c23s"},
		{"0 * * * *", day, "all", strings.Repeat("s", 24)},
		{"0 * * * *", day, "none", "s24"},
		{"* * * * *", 30 * day, "latest", "c43199s"},
		{"* * * * *", 30 * day, "all", "c43100" + strings.Repeat("s", 100)},
		{"* * * * *", 30 * day, "none", "s43200"},
		{"0 0 1 1 *", 30 * day, "latest", ""},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s %s %s", c.cron, c.outage, c.catchUp), func(t *testing.T) {
			m := newMemory()
			config := schedule(c.cron)
			if c.catchUp != "" {
				config["catchUp"] = c.catchUp
			}
			id := m.trigger(blueprint.TriggerScheduled, config, begin)
			now := begin.Add(c.outage + 30*time.Second)
			v := clock.NewVirtual(now)
			move := mover(t, v)
			stop := start(t, newService(m, v), move)
			if got := tally(m, id); got != c.want {
				t.Errorf("%s, %s, %q: %s, want %s", c.cron, c.outage, c.catchUp, got, c.want)
				return
			}
			runs := m.runs()
			for i, request := range runs {
				missed := 0
				if i == 0 {
					fmt.Sscanf(c.want, "c%d", &missed)
				}
				input := request.InputData.(map[string]any)
				if input["missedCount"] != jsonNumber(fmt.Sprint(missed)) || input["firedAt"] != blueprint.TimeOf(now).String() || input["scheduledAt"] != request.Firing.Key ||
					!strings.HasPrefix(request.Firing.Reason, "caught up ") {
					t.Errorf("%s, %s, %q: run %d: %v %+v", c.cron, c.outage, c.catchUp, i, input, request.Firing)
				}
			}
			for _, row := range m.snapshot() {
				if row.Decision != blueprint.DecisionStarted && (row.Source != blueprint.SourceSchedule || row.DueAt == 0 || row.Key != row.DueAt.String() || !strings.Contains(row.Reason, "missed")) {
					t.Errorf("row %+v", row)
				}
			}
			// From here on as if nothing had been; and another start finds nothing to do.
			before := len(m.snapshot())
			stop()
			move(now.Add(10 * time.Second))
			start(t, newService(m, v), move)
			if len(m.snapshot()) != before {
				t.Errorf("%s, %s, %q: a second start recorded %v; want length %v", c.cron, c.outage, c.catchUp, m.snapshot()[before:], before)
			}
			if c.cron == "* * * * *" {
				move(now.Add(30 * time.Second))
				if row := m.lastRow(t); row.Reason != "on time" || !row.DueAt.Time().Equal(now.Add(30*time.Second)) {
					t.Errorf("row %+v", row)
				}
			}
		})
	}
}

func TestDaylightSaving(t *testing.T) {
	from := time.Date(2026, 3, 27, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		cron string
		zone string
		want string
	}{
		{"30 2 * * *", "Europe/Berlin", "03-28T01:30 03-29T01:00 03-30T00:30 03-31T00:30"},
		{"*/30 2 * * *", "Europe/Berlin", "03-28T01:00 03-28T01:30 03-30T00:00 03-30T00:30 03-31T00:00 03-31T00:30"},
		{"0 0 * * *", "Africa/Cairo", "03-27T22:00 03-28T22:00 03-29T22:00 03-30T22:00"},
		{"0 12 * * *", "Pacific/Kiritimati", "03-27T22:00 03-28T22:00 03-29T22:00 03-30T22:00"},
	} {
		t.Run(c.cron, func(t *testing.T) {
			m := newMemory()
			v := clock.NewVirtual(from)
			m.trigger(blueprint.TriggerScheduled, schedule(c.cron, "timezone", c.zone), from)
			move := mover(t, v)
			start(t, newService(m, v), move)
			move(from.Add(4 * 24 * time.Hour))
			var got []string
			for _, request := range m.runs() {
				got = append(got, request.Firing.DueAt.Time().Format("01-02T15:04"))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s %s: %v, want %v", c.cron, c.zone, got, c.want)
			}
		})
	}
}

func TestChangesOfSchedules(t *testing.T) {
	m := newMemory()
	v := clock.NewVirtual(begin)
	s := newService(m, v)
	move := mover(t, v)
	start(t, s, move)
	at := func(minutes int) { move(begin.Add(time.Duration(minutes) * time.Minute)) }

	id := m.trigger(blueprint.TriggerScheduled, schedule("0 * * * *"), begin)
	s.Changed()
	at(60)
	if got := tally(m, id); got != "s" {
		t.Fatalf("made while running: %s, want s", got)
	}
	m.edit(id, v.Now(), schedule("*/10 * * * *"))
	s.Changed()
	at(90)
	if got := tally(m, id); got != "ssss" {
		t.Fatalf("edited: %s, want ssss", got)
	}
	// Inactive time is not caught up.
	m.change(id, func(b *blueprint.Binding) { b.Trigger.IsActive = false })
	s.Changed()
	at(24 * 60)
	m.change(id, func(b *blueprint.Binding) { b.Trigger.IsActive = true })
	m.edit(id, v.Now(), schedule("*/10 * * * *"))
	s.Changed()
	if at(24*60 + 5); tally(m, id) != "ssss" {
		t.Fatalf("switched on again: %s, want ssss", tally(m, id))
	}
	if at(24*60 + 10); tally(m, id) != "sssss" {
		t.Fatalf("ten minutes later: %s, want sssss", tally(m, id))
	}
	// A change that the loop was not told of is noticed before it fires.
	m.edit(id, v.Now(), schedule("15 * * * *"))
	at(24*60 + 25)
	if got := tally(m, id); got != "ssssss" || m.lastRow(t).DueAt.Time().Minute() != 15 {
		t.Fatalf("edited behind its back: %s %+v, want ssssss and Minute 15", got, m.lastRow(t))
	}
	m.change(id, func(b *blueprint.Binding) { b.Trigger.IsActive = false })
	at(25*60 + 30)
	if got := tally(m, id); got != "ssssss" {
		t.Fatalf("switched off behind its back: %s, want ssssss", got)
	}
	other := m.trigger(blueprint.TriggerScheduled, schedule("* * * * *"), v.Now())
	s.Changed()
	m.remove(other)
	at(25*60 + 40)
	if got := tally(m, other); got != "" {
		t.Fatalf("deleted: %s, want nothing", got)
	}
}

func TestLoopDoesNotSpinOnContradictions(t *testing.T) {
	// The list says that a schedule is active, the binding that it is not.
	m := newMemory()
	v := clock.NewVirtual(begin)
	id := m.trigger(blueprint.TriggerScheduled, schedule("* * * * *"), begin)
	contradiction := contradicting{m}
	s := newService(m, v, func(o *Options) { o.Store = contradiction })
	move := mover(t, v)
	start(t, s, move)
	move(begin.Add(3 * time.Minute))
	if got := tally(m, id); got != "" {
		t.Errorf("rows %s, want nothing", got)
	}
}

type contradicting struct{ *memory }

func (c contradicting) Binding(ctx context.Context, id string) (*blueprint.Binding, error) {
	b, err := c.memory.Binding(ctx, id)
	if err != nil {
		return nil, err
	}
	other := *b
	other.Trigger.IsActive = false
	return &other, nil
}

func TestCreatorLostAccess(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerScheduled, schedule("0 * * * *"), begin)
	m.change(id, func(b *blueprint.Binding) { b.CanManage = false })
	v := clock.NewVirtual(begin.Add(150 * time.Minute))
	move := mover(t, v)
	s := newService(m, v)
	start(t, s, move)
	move(begin.Add(180 * time.Minute))
	if got := tally(m, id); got != "s1rr" || len(m.runs()) != 0 || s.Started() != 0 {
		t.Errorf("rows %s, want s1rr, none and Started 0", got)
	}
	if row := m.lastRow(t); !strings.Contains(row.Reason, "no longer manage") || row.ExecutionID != nil || row.Key == row.ID {
		t.Errorf("row %+v, want \"no longer manage\" in it, ExecutionID nil and Key other than %v", row, row.ID)
	}
	m.change(id, func(b *blueprint.Binding) { b.CanManage = true })
	move(begin.Add(240 * time.Minute))
	if got := tally(m, id); got != "s1rrs" {
		t.Errorf("rows %s, want s1rrs", got)
	}
}

func TestTickThatCannotStart(t *testing.T) {
	t.Run("for good", func(t *testing.T) {
		for _, err := range []error{blueprint.Errorf(blueprint.CodeBadRequest, "no nodes to execute"), io.ErrUnexpectedEOF} {
			m := newMemory()
			id := m.trigger(blueprint.TriggerScheduled, schedule("0 * * * *"), begin)
			m.refuseStart = func(*blueprint.StartRequest) error { return err }
			v := clock.NewVirtual(begin)
			move := mover(t, v)
			start(t, newService(m, v), move)
			move(begin.Add(3 * time.Hour))
			if got := tally(m, id); got != "rrr" {
				t.Errorf("rows %s, want rrr", got)
			}
		}
	})
	for _, where := range []string{"queue", "disk"} {
		for _, catchUp := range []string{"latest", "all", "none"} {
			t.Run(where+" "+catchUp, func(t *testing.T) {
				m := newMemory()
				id := m.trigger(blueprint.TriggerScheduled, schedule("0 * * * *", "catchUp", catchUp), begin)
				v := clock.NewVirtual(begin)
				full := begin.Add(time.Hour + 20*time.Second) // until when
				fail := func() error {
					if v.Now().Before(full) {
						return unavailable(2 * time.Second)
					}
					return nil
				}
				if where == "queue" {
					m.refuseStart = func(*blueprint.StartRequest) error { return fail() }
				} else {
					m.refuse = func(*blueprint.Firing) error { return fail() }
				}
				move := mover(t, v)
				s := newService(m, v)
				start(t, s, move)
				move(begin.Add(90 * time.Minute))
				row := m.lastRow(t)
				if got := tally(m, id); got != "s" || row.Reason != "on time" || row.DueAt.Time() != begin.Add(time.Hour) || row.ReceivedAt.Time() != full {
					t.Fatalf("rows %s %+v", got, row)
				}
				// For longer than a tick stays on time, and over several ticks.
				full = begin.Add(4*time.Hour + 30*time.Minute)
				move(begin.Add(5 * time.Hour))
				want := map[string]string{"latest": "sc2ss", "all": "sssss", "none": "ss3s"}[catchUp]
				if where == "queue" && catchUp == "none" {
					want = "ss1s1s1s" // rows can be written meanwhile
				}
				if got := tally(m, id); got != want {
					t.Errorf("rows %s, want %s", got, want)
				}
			})
		}
	}
}

func TestTickRanBefore(t *testing.T) {
	// The cursor was lost, as with an old backup; the keys of what ran are there.
	m := newMemory()
	id := m.trigger(blueprint.TriggerScheduled, schedule("0 * * * *", "catchUp", "all"), begin)
	v := clock.NewVirtual(begin)
	move := mover(t, v)
	stop := start(t, newService(m, v), move)
	move(begin.Add(3 * time.Hour))
	stop()
	m.cursors[id] = blueprint.TimeOf(begin.Add(time.Hour))
	start(t, newService(m, v), move)
	move(begin.Add(4 * time.Hour))
	if got := tally(m, id); got != "sssdds" {
		t.Errorf("rows %s, want sssdds", got)
	}
	if m.cursors[id] != blueprint.TimeOf(begin.Add(4*time.Hour)) {
		t.Errorf("cursor %s", m.cursors[id])
	}
}

// crash fails every write from the nth on, as a killed process would.
func crash(m *memory, n int) {
	writes := 0
	m.refuse = func(*blueprint.Firing) error {
		if writes++; writes > n {
			return unavailable(10 * time.Second)
		}
		return nil
	}
}

func TestRestartsBetweenCommits(t *testing.T) {
	for _, catchUp := range []string{"latest", "all", "none"} {
		for _, crashAfter := range []int{0, 1, 2, 3, 5, 8} {
			m := newMemory()
			var all []string
			for _, expression := range []string{"*/15 * * * *", "0 * * * *", "7 3 * * *"} {
				all = append(all, m.trigger(blueprint.TriggerScheduled, schedule(expression, "catchUp", catchUp), begin))
			}
			v := clock.NewVirtual(begin)
			move := mover(t, v)
			now := begin
			for life := range 12 {
				m.mu.Lock()
				crash(m, crashAfter)
				m.mu.Unlock()
				stop := start(t, newService(m, v), move)
				now = now.Add(time.Duration(life*3+5) * time.Minute)
				move(now)
				stop()
				now = now.Add(time.Duration(life*61+1) * time.Minute)
				move(now)
			}
			m.mu.Lock()
			m.refuse = nil
			m.mu.Unlock()
			start(t, newService(m, v), move)
			for _, id := range all {
				checkLedger(t, m, id, begin, now)
			}
		}
	}
}

// checkLedger checks that the ledger has exactly one row for every tick.
func checkLedger(t *testing.T, m *memory, id string, from, to time.Time) {
	t.Helper()
	config := m.bindings[id].Trigger.Config
	tm := readTiming(t, config["cron"].(string), "", "all")
	ticks := ticksBetween(tm, from, to)
	covered := make([]int, len(ticks))
	index := func(at blueprint.Time) int {
		return slices.IndexFunc(ticks, func(tick time.Time) bool { return tick.Equal(at.Time()) })
	}
	for _, row := range m.snapshot() {
		if row.TriggerID != id {
			continue
		}
		last := index(row.DueAt)
		if last < 0 {
			t.Fatalf("row of no tick: %+v, want at least 0", row)
		}
		count := 1
		if row.Decision != blueprint.DecisionStarted {
			count = lotCount(row)
		}
		for i := last - count + 1; i <= last; i++ {
			covered[i]++
		}
	}
	for i, times := range covered {
		if times != 1 {
			t.Errorf("%s: the tick of %s is reported %d times, want 1", config["cron"], ticks[i], times)
		}
	}
}

func TestThousandSchedules(t *testing.T) {
	m := newMemory()
	counting := &countingClock{Virtual: clock.NewVirtual(begin)}
	s := newService(m, counting)
	for i := range 1000 {
		m.trigger(blueprint.TriggerScheduled, schedule(fmt.Sprintf("%d,%d * * * *", i%30, i%30+30)), begin)
	}
	move := mover(t, counting.Virtual)
	start(t, s, move)
	move(begin.Add(3 * time.Hour))
	if s.Started() != 6000 || len(m.snapshot()) != 6000 {
		t.Errorf("%d started, want 6000 and length 6000", s.Started())
	}
	// The first half-hour's ticks at begin itself were before the cursor.
	if counting.timers > 3*60+5 || counting.most > 1 {
		t.Errorf("%d timers, %d at a time; want at most %v and at most 1", counting.timers, counting.most, 3*60+5)
	}
	previous := blueprint.Time(0)
	for _, row := range m.snapshot() {
		if row.DueAt < previous || row.ReceivedAt != row.DueAt {
			t.Fatalf("out of order: %+v, want DueAt at least %v and ReceivedAt %v", row, previous, row.DueAt)
		}
		previous = row.DueAt
	}
}

// countingClock counts timers.
type countingClock struct {
	*clock.Virtual
	mu     sync.Mutex
	timers int
	open   int
	most   int
}

func (c *countingClock) At(at time.Time, f func()) *clock.Timer {
	c.mu.Lock()
	c.timers++
	c.open++
	c.most = max(c.most, c.open)
	c.mu.Unlock()
	return c.Virtual.At(at, func() {
		c.mu.Lock()
		c.open--
		c.mu.Unlock()
		f()
	})
}

// stepClock is a clock that is set in one step, either way, without a stop at
// what lies between. After it was set back, timers may call early.
type stepClock struct {
	inner *clock.Virtual // ahead of what the clock shows by behind
	mu    sync.Mutex
	shows time.Time
	back  time.Duration
}

func newStepClock(at time.Time) *stepClock {
	return &stepClock{inner: clock.NewVirtual(at), shows: at}
}

func (c *stepClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shows
}

func (c *stepClock) Hold() func() { return c.inner.Hold() }

func (c *stepClock) At(at time.Time, f func()) *clock.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inner.At(at.Add(c.back), f)
}

func (c *stepClock) Upkeep(at time.Time, f func()) *clock.Timer { return c.At(at, f) }

// set sets the clock and waits until all that follows is done.
func (c *stepClock) set(t testing.TB) func(to time.Time) {
	move := mover(t, c.inner)
	return func(to time.Time) {
		t.Helper()
		move(c.inner.Now()) // first drain pending work
		c.mu.Lock()
		if back := c.shows.Sub(to); back > 0 {
			c.back += back
		}
		c.shows = to
		inner := to.Add(c.back)
		c.mu.Unlock()
		move(inner)
	}
}

func TestClockSteps(t *testing.T) {
	minutes := func(n int) time.Time { return begin.Add(time.Duration(n) * time.Minute) }
	for _, c := range []struct {
		name    string
		catchUp string
		steps   []time.Time
		want    string
	}{
		{"no step", "none", []time.Time{minutes(60), minutes(120)}, "ss"},
		{"forward, latest", "latest", []time.Time{minutes(60), minutes(60*5 + 30)}, "sc3s"},
		{"forward, all", "all", []time.Time{minutes(60), minutes(60*5 + 30)}, "sssss"},
		{"forward, none", "none", []time.Time{minutes(60), minutes(60*5 + 30)}, "ss4"},
		{"forward to just after a tick, none", "none", []time.Time{minutes(60), minutes(60 * 5).Add(20 * time.Second)}, "ss4"},
		{"forward to just after a tick, latest", "latest", []time.Time{minutes(60), minutes(60 * 5).Add(20 * time.Second)}, "sc3s"},
		{"a little late, none", "none", []time.Time{minutes(60).Add(-5 * time.Second), minutes(60).Add(5 * time.Second)}, "s"},
		{"back over a tick", "latest", []time.Time{minutes(60), minutes(30), minutes(60), minutes(61), minutes(120)}, "ss"},
		{"back over several ticks", "all", []time.Time{minutes(60), minutes(120), minutes(180), minutes(10), minutes(60), minutes(120), minutes(180), minutes(240)}, "ssss"},
		{"back, none", "none", []time.Time{minutes(60), minutes(120), minutes(59), minutes(60), minutes(120), minutes(180)}, "sss"},
		{"to and fro", "latest", []time.Time{minutes(61), minutes(59), minutes(61), minutes(59), minutes(62), minutes(121), minutes(119), minutes(121)}, "ss"},
		{"a second back and again", "none", []time.Time{minutes(60), minutes(60).Add(-time.Second), minutes(60)}, "s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			id := m.trigger(blueprint.TriggerScheduled, schedule("0 * * * *", "catchUp", c.catchUp), begin)
			steps := newStepClock(begin)
			set := steps.set(t)
			s := newService(m, steps)
			start(t, s, set)
			for _, at := range c.steps {
				set(at)
				s.Changed() // so that the loop has seen where the clock stands
				set(at)
			}
			if got := tally(m, id); got != c.want {
				t.Errorf("rows %s, want %s: %+v", got, c.want, m.snapshot())
			}
			keys := map[string]bool{}
			for _, request := range m.runs() {
				if keys[request.Firing.Key] {
					t.Errorf("the tick %s ran twice", request.Firing.Key)
				}
				keys[request.Firing.Key] = true
			}
		})
	}
}

func TestCursorAheadIsSaid(t *testing.T) {
	m := newMemory()
	m.trigger(blueprint.TriggerScheduled, schedule("0 * * * *"), begin.Add(48*time.Hour))
	v := clock.NewVirtual(begin)
	var log bytes.Buffer
	stop := start(t, newService(m, v, logTo(&log)), mover(t, v))
	stop()
	if !strings.Contains(log.String(), "does not fire before its last tick") {
		t.Errorf("log %q, want \"does not fire before its last tick\" in it", log.String())
	}
}

func TestUnreadableScheduleIsSaid(t *testing.T) {
	m := newMemory()
	bad := m.trigger(blueprint.TriggerScheduled, schedule("every day"), begin)
	good := m.trigger(blueprint.TriggerScheduled, schedule("* * * * *"), begin)
	v := clock.NewVirtual(begin)
	var log bytes.Buffer
	move := mover(t, v)
	stop := start(t, newService(m, v, logTo(&log)), move)
	move(begin.Add(time.Minute))
	stop()
	if !strings.Contains(log.String(), bad) || tally(m, good) != "s" || tally(m, bad) != "" {
		t.Errorf("log %q, rows %v; want %q in it, s and nothing", log.String(), m.snapshot(), bad)
	}
}

func TestRunWithoutStore(t *testing.T) {
	m := newMemory()
	m.readError = io.ErrUnexpectedEOF
	v := clock.NewVirtual(begin)
	s := newService(m, v)
	s.Changed()
	if err := s.Run(t.Context()); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Run: %v, want %v", err, io.ErrUnexpectedEOF)
	}
	s.Changed() // the scheduler has stopped, so the clock is not held
	mover(t, v)(begin.Add(time.Hour))
}

// A disk that is away at the start is waited for.
func TestRunWaitsForStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		id := m.trigger(blueprint.TriggerScheduled, schedule("*/10 * * * *"), time.Now())
		m.readError = unavailable(time.Second)
		var log bytes.Buffer
		s := newService(m, clock.Real{}, logTo(&log))
		bring(t, s)() // it stops all the same
		stop := bring(t, s)
		pass(25*time.Minute + time.Second)
		m.mu.Lock()
		m.readError = nil
		m.mu.Unlock()
		pass(5 * time.Minute)
		if got := tally(m, id); got != "c1ss" || !strings.Contains(log.String(), "retrying") {
			t.Errorf("rows %s, log %s; want c1ss and \"retrying\" in it", got, log.String())
		}
		stop()
	})
}

// A tick that comes while the machine has just woken was not slept through.
func TestTickSoonAfterWaking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := newMemory(), newMachine(begin)
		id := m.trigger(blueprint.TriggerScheduled, schedule("*/10 * * * *", "catchUp", "none"), begin)
		stop := bring(t, newService(m, c))
		defer stop()
		pass(5*time.Minute + time.Second)
		c.step(2*time.Hour + 4*time.Minute + 55*time.Second) // it wakes 4 s before a tick, and looks at the clock after it
		pass(30 * time.Second)
		if got := tally(m, id); got != "s12s" || m.lastRow(t).Reason != "on time" {
			t.Errorf("rows %s, %+v; want s12s and Reason on time", got, m.lastRow(t))
		}
	})
}

// Where the clock was set back to before the server was started, what it shows
// is shown for the first time.
func TestClockBackBeforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := newMemory(), newMachine(begin)
		stop := bring(t, newService(m, c))
		defer stop()
		c.step(-3 * time.Hour)
		id := m.trigger(blueprint.TriggerScheduled, schedule("*/10 * * * *", "catchUp", "none"), c.Now())
		pass(time.Hour)
		if got := tally(m, id); got != "ssssss" || m.lastRow(t).Reason != "on time" || len(m.events) > 0 {
			t.Errorf("rows %s, events %v; want ssssss, Reason on time and none", got, m.events)
		}
	})
}

// A tick that was on time when it was decided, but for which the disk had no
// time until much later, was missed.
func TestTickHeldUp(t *testing.T) {
	for catchUp, want := range map[string]string{"latest": "c2s", "all": "sss", "none": "s3"} {
		t.Run(catchUp, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				id := m.trigger(blueprint.TriggerScheduled, schedule("*/10 * * * *", "catchUp", catchUp), time.Now())
				store := stuck{m, make(chan struct{})}
				stop := bring(t, newService(m, clock.Real{}, func(o *Options) { o.Store = store }))
				defer stop()
				pass(35 * time.Minute)
				close(store.let)
				synctest.Wait()
				if got := tally(m, id); got != want || m.lastRow(t).Reason == "on time" {
					t.Errorf("rows %s, want %s; %+v", got, want, m.lastRow(t))
				}
			})
		})
	}
}

func TestScheduleListUnreadableLater(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerScheduled, schedule("0 * * * *"), begin)
	v := clock.NewVirtual(begin)
	move := mover(t, v)
	s := newService(m, v)
	start(t, s, move)
	m.mu.Lock()
	m.readError = unavailable(time.Second)
	m.mu.Unlock()
	s.Changed()
	move(begin.Add(time.Hour - time.Second))
	m.mu.Lock()
	m.readError = nil
	m.mu.Unlock()
	move(begin.Add(time.Hour))
	if got := tally(m, id); got != "s" {
		t.Errorf("rows %s, want s", got)
	}
}

func TestRealClockStopsAtOnce(t *testing.T) {
	m := newMemory()
	m.trigger(blueprint.TriggerScheduled, schedule("0 0 1 1 *"), time.Now())
	ctx, cancel := context.WithCancel(t.Context())
	s := newService(m, clock.Real{})
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// On the real clock, in a bubble of its own time.
func TestRealClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		id := m.trigger(blueprint.TriggerScheduled, schedule("*/2 * * * *", "catchUp", "none"), time.Now())
		ctx, cancel := context.WithCancel(t.Context())
		s := newService(m, clock.Real{})
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		hour := time.NewTimer(time.Hour + time.Second)
		<-hour.C
		if got := tally(m, id); got != strings.Repeat("s", 30) || m.lastRow(t).Reason != "on time" {
			t.Errorf("rows %s, want %v and Reason on time", got, strings.Repeat("s", 30))
		}
		// Another process makes a schedule.
		other := m.trigger(blueprint.TriggerScheduled, schedule("* * * * *", "catchUp", "none"), time.Now())
		hour.Reset(5*time.Minute - 2*time.Second)
		<-hour.C
		if got := tally(m, other); got != "ssss" {
			t.Errorf("rows %s, want ssss", got)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A schedule that is switched off while the disk keeps the loop waiting for
// another one leaves no row any more.
func TestSwitchedOffInTheMiddle(t *testing.T) {
	m, v := newMemory(), clock.NewVirtual(begin.Add(10*time.Minute+30*time.Second))
	one := m.trigger(blueprint.TriggerScheduled, schedule("* * * * *", "catchUp", "none"), begin)
	other := m.trigger(blueprint.TriggerScheduled, schedule("* * * * *", "catchUp", "none"), begin)
	m.refuse = func(*blueprint.Firing) error { // m is locked
		off := *m.bindings[other]
		off.Trigger.IsActive = false
		m.bindings[other] = &off
		return nil
	}
	start(t, newService(m, v), mover(t, v))()
	if first, second := tally(m, one), tally(m, other); first != "s10" || second != "" {
		t.Errorf("%s and %s, want s10 and nothing", first, second)
	}
}
