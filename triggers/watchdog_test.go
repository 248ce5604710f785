package triggers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// stuck is a store that blocks calls of Binding until it is let go.
type stuck struct {
	*memory
	let chan struct{}
}

func (s stuck) Binding(ctx context.Context, id string) (*blueprint.Binding, error) {
	<-s.let
	return s.memory.Binding(ctx, id)
}

// missedEvents writes the trigger.missed events so far.
func missedEvents(m *memory) (list []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.events {
		e := &m.events[i]
		data := e.Data.(map[string]any)
		list = append(list, fmt.Sprintf("%s %s %v %v %v", e.OrganizationID, data["decision"], data["missed"], data["firstDueAt"], data["lastDueAt"]))
	}
	return list
}

// organize puts all blueprints into an organization.
func organize(m *memory, name string) {
	for id := range m.bindings {
		m.change(id, func(b *blueprint.Binding) {
			d := *b.Definition
			d.OrganizationID = name
			b.Definition = &d
		})
	}
}

// TestSchedulerHangs checks that the watchdog reports every schedule once while the disk
// never answers the scheduler (but answers other queries), and nothing afterwards.
func TestSchedulerHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		minutely := m.trigger(blueprint.TriggerScheduled, schedule("* * * * *"), time.Now())
		hourly := m.trigger(blueprint.TriggerScheduled, schedule("3 * * * *"), time.Now())
		organize(m, "org")
		due := time.Now().UTC().Add(time.Minute)
		store := stuck{m, make(chan struct{})}
		var log bytes.Buffer
		s := newService(m, clock.Real{}, logTo(&log), func(o *Options) { o.Store = store })
		stop := bring(t, s)

		pass(2*time.Minute + 50*time.Second)
		if stats := s.Stats(); stats.Overdue != 0 || stats.Missed != 0 {
			t.Errorf("a tick that is not two minutes late is overdue: %+v, want Overdue 0 and Missed 0", stats)
		}
		pass(40 * time.Second)
		wantOne := []OverdueSchedule{{minutely, blueprint.TimeOf(due)}}
		if stats, list := s.Stats(), s.Overdue(3); stats.Overdue != 1 || stats.Missed != 1 || !slices.Equal(list, wantOne) || stats.WatchError != "" {
			t.Errorf("after three minutes and a half: %+v, %v; want Overdue 1, Missed 1, %v and WatchError nothing", stats, list, wantOne)
		}
		pass(20 * time.Minute)
		if stats := s.Stats(); stats.Overdue != 2 || stats.Missed != 2 {
			t.Errorf("after 23 minutes: %+v, want two overdue and missed", stats)
		}
		if list := s.Overdue(3); len(list) != 2 || list[1].TriggerID != hourly || len(s.Overdue(1)) != 1 {
			t.Errorf("after 23 minutes: %v, want two, the second of %s, and one of them if asked for one", list, hourly)
		}
		hour := due.Add(2 * time.Minute)
		want := []string{
			fmt.Sprintf("org overdue 1 %s %s", instant(due), instant(due)), fmt.Sprintf("org overdue 1 %s %s", instant(hour), instant(hour)),
		}
		if got := missedEvents(m); !slices.Equal(got, want) || len(m.snapshot()) != 0 {
			t.Errorf("events %q, want %q; rows %v", got, want, m.snapshot())
		}
		if text := log.String(); strings.Count(text, "level=WARN") != 2 || strings.Count(text, "tick overdue") != 2 || !strings.Contains(text, minutely) || !strings.Contains(text, "hint=") {
			t.Errorf("log %s, want 2, 2, %q in it and \"hint=\" in it", text, minutely)
		}

		close(store.let)
		synctest.Wait()
		if stats := s.Stats(); stats.Overdue != 0 || stats.Missed != 23 { // all but that of this minute
			t.Errorf("afterwards: %+v, want Overdue 0 and Missed 23", stats)
		}
		if got := tally(m, minutely) + " " + tally(m, hourly); got != "c22s s" {
			t.Errorf("rows %s, want c22s s", got)
		}
		stop()
	})
}

// TestUnreadableScheduleIsOverdue: it does not fire, and that is not forgotten.
func TestUnreadableScheduleIsOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		bad := m.trigger(blueprint.TriggerScheduled, schedule("every day"), time.Now())
		m.trigger(blueprint.TriggerScheduled, schedule("* * * * *"), time.Now())
		organize(m, "org")
		s := newService(m, clock.Real{})
		stop := bring(t, s)
		defer stop()
		pass(2 * time.Hour)
		if stats, list := s.Stats(), s.Overdue(3); stats.Overdue != 1 || stats.Missed != 0 || !slices.Equal(list, []OverdueSchedule{{TriggerID: bad}}) {
			t.Errorf("%+v, %v; want Overdue 1, Missed 0 and %v", stats, list, []OverdueSchedule{{TriggerID: bad}})
		}
		if got := missedEvents(m); !slices.Equal(got, []string{"org overdue 0 <nil> <nil>"}) {
			t.Errorf("events %q, want %v", got, []string{"org overdue 0 <nil> <nil>"})
		}
		m.edit(bad, time.Now(), schedule("0 0 * * *"))
		pass(16 * time.Minute)
		if stats := s.Stats(); stats.Overdue != 0 {
			t.Errorf("once it can be read: %+v, want Overdue 0", stats)
		}
		m.edit(bad, time.Now(), schedule("never"))
		pass(16 * time.Minute)
		m.remove(bad)
		pass(16 * time.Minute)
		if stats := s.Stats(); stats.Overdue != 0 {
			t.Errorf("once it is deleted: %+v, want Overdue 0", stats)
		}
	})
}

// TestTickPutOff: the queue takes no runs for long. The scheduler looks as busy
// as ever, and the watchdog tells all the same.
func TestTickPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.trigger(blueprint.TriggerScheduled, schedule("0 * * * *", "catchUp", "latest"), time.Now())
		var room atomic.Bool
		m.refuseStart = func(*blueprint.StartRequest) error {
			if !room.Load() {
				return unavailable(time.Second)
			}
			return nil
		}
		s := newService(m, clock.Real{})
		stop := bring(t, s)
		defer stop()
		pass(time.Hour + 3*time.Minute)
		if stats := s.Stats(); stats.Overdue != 1 || stats.Missed != 1 {
			t.Errorf("%+v, want Overdue 1 and Missed 1", stats)
		}
		room.Store(true)
		pass(time.Minute)
		if stats := s.Stats(); stats.Overdue != 0 || stats.Missed != 1 {
			t.Errorf("afterwards: %+v, want Overdue 0 and Missed 1", stats)
		}
		first, second := missedEvents(m)[0], missedEvents(m)[1]
		if !strings.HasPrefix(first, " overdue 1") || !strings.HasPrefix(second, " late 1") {
			t.Errorf("events %s and %s, want \" overdue 1\" at the start and \" late 1\" at the start", first, second)
		}
	})
}

// TestWatchdogWithoutDisk: it says once that it cannot look, and when the disk
// is back it does.
func TestWatchdogWithoutDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.trigger(blueprint.TriggerScheduled, schedule("* * * * *"), time.Now())
		var log bytes.Buffer
		s := newService(m, clock.Real{}, logTo(&log))
		m.readError = unavailable(time.Second)
		stop := bring(t, s)
		defer stop()
		pass(10 * time.Minute)
		if stats := s.Stats(); stats.WatchError != "the queue is full" || stats.Watched != 0 || strings.Count(log.String(), "watchdog check failed") != 1 {
			t.Errorf("%+v\n%s", stats, log.String())
		}
		m.mu.Lock()
		m.readError = nil
		m.mu.Unlock()
		pass(time.Minute)
		if stats := s.Stats(); stats.WatchError != "" || stats.Watched == 0 || stats.Overdue != 0 || stats.Missed != 9 {
			t.Errorf("%+v, want WatchError nothing, Watched other than 0, Overdue 0 and Missed 9", stats)
		}
	})
}

// TestMachineSlept checks that after a suspend the scheduler has time to catch up before
// the watchdog raises an alarm.
func TestMachineSlept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := newMemory(), newMachine(begin)
		m.trigger(blueprint.TriggerScheduled, schedule("*/10 * * * *"), begin)
		s := newService(m, c)
		stop := bring(t, s)
		defer stop()
		for range 5 {
			pass(17 * time.Minute)
			c.step(5 * time.Hour)
			pass(45 * time.Second)
		}
		for _, event := range missedEvents(m) {
			if !strings.HasPrefix(event, " coalesced ") {
				t.Errorf("event %s, want \" coalesced \" at the start", event)
			}
		}
		if stats := s.Stats(); stats.Overdue != 0 || stats.Missed < 5*29 {
			t.Errorf("%+v, want Overdue 0 and Missed at least %v", stats, 5*29)
		}
	})
}

// TestManySilent: what is said at once is bounded, and all of it is said in the end.
func TestManySilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		for range maxEvents + 200 {
			m.trigger(blueprint.TriggerScheduled, schedule("0 * * * *"), time.Now())
		}
		store := stuck{m, make(chan struct{})}
		var log bytes.Buffer
		s := newService(m, clock.Real{}, logTo(&log), func(o *Options) { o.Store = store })
		stop := bring(t, s)
		pass(time.Hour + 10*time.Minute)
		if stats := s.Stats(); stats.Overdue != maxEvents+200 || stats.Missed != maxEvents+200 || len(missedEvents(m)) != maxEvents+200 {
			t.Errorf("%+v, %d events; want Overdue %v, Missed %v and %v", stats, len(missedEvents(m)), maxEvents+200, maxEvents+200, maxEvents+200)
		}
		if text := log.String(); strings.Count(text, "tick overdue") != maxLogged || strings.Count(text, "further ticks overdue") != 1 || !strings.Contains(text, fmt.Sprint("schedules=", maxEvents+200-maxLogged)) {
			t.Errorf("log %s, want %v, 1 and %q in it", text, maxLogged, fmt.Sprint("schedules=", maxEvents+200-maxLogged))
		}
		close(store.let)
		stop()
	})
}

// TestOutageIsToldOnce: of all ticks of an outage one event tells, whatever
// becomes of each, and also when the disk has no room for some time in between.
func TestOutageIsToldOnce(t *testing.T) {
	for name, c := range map[string]struct {
		fails    func(n int) error // the n-th of the first five starts, counted from 0
		decision string
		started  int64
	}{
		"all run":        {func(int) error { return nil }, missedLate, 5},
		"none runs":      {func(int) error { return &blueprint.ConcurrencyLimitError{Limit: 1, Running: 1} }, missedSkipped, 0},
		"all refused":    {func(int) error { return blueprint.Errorf(blueprint.CodeBadRequest, "it has no nodes") }, "refused", 0},
		"the third not":  {func(n int) error { return map[int]error{2: &blueprint.ConcurrencyLimitError{Limit: 1}}[n] }, missedLate, 4},
		"no room within": {func(n int) error { return map[int]error{2: unavailable(time.Second)}[n] }, missedLate, 5},
		"no room first":  {func(n int) error { return map[int]error{0: unavailable(time.Second)}[n] }, missedLate, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				disk, m := newMemory(), newMachine(begin.Add(5*time.Hour+30*time.Minute))
				id := disk.trigger(blueprint.TriggerScheduled, schedule("0 * * * *", "catchUp", "all"), begin)
				n := 0
				disk.refuseStart = func(*blueprint.StartRequest) error {
					if n++; n > 5 {
						return nil
					}
					return c.fails(n - 1)
				}
				s := newService(disk, m)
				stop := bring(t, s)
				pass(time.Minute)
				if s.Stats().Missed != 5 || s.Started() != c.started {
					t.Errorf("%d missed, %d started; want 5 and %v", s.Stats().Missed, s.Started(), c.started)
				}
				pass(time.Hour)
				stop()
				if len(disk.events) != 1 {
					t.Fatalf("%d events: %+v, want 1", len(disk.events), disk.events)
				}
				data := disk.events[0].Data.(map[string]any)
				want := []any{id, json.Number("5"), c.decision, instant(begin.Add(time.Hour)), instant(begin.Add(5 * time.Hour))}
				if diff := cmp.Diff(want, []any{data["triggerId"], data["missed"], data["decision"], data["firstDueAt"], data["lastDueAt"]}); diff != "" {
					t.Errorf("trigger, missed, decision, first and last (-want +got):\n%s", diff)
				}
			})
		})
	}
}
