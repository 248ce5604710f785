package triggers

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
)

var (
	outages    = flag.Int("outages", 250, "how many random histories of a server and its clock happen")
	outageSeed = flag.Uint64("outage-seed", 1, "the first of them")
)

// life is a server whose machine sleeps, whose clock is set, which is stopped
// and started, and whose schedules are changed, at random; and the model of it.
type life struct {
	*rand.Rand
	t       *testing.T
	disk    *memory
	machine *machine
	all     []*modelled
	service *Service
	stop    func()    // nil while it is down
	up      time.Time // since when it has been up without a gap
	story   []string
}

func TestOutagesAtRandom(t *testing.T) {
	const shares = 8
	for share := range shares {
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			t.Parallel()
			for i := share; i < *outages/slowdown && !t.Failed(); i += shares {
				seed := *outageSeed + uint64(i)
				synctest.Test(t, func(t *testing.T) { live(t, seed) })
			}
		})
	}
}

func live(t *testing.T, seed uint64) {
	l := &life{Rand: rand.New(rand.NewPCG(seed, 0)), t: t, disk: newMemory()}
	places := []time.Time{
		time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC), time.Date(2026, 10, 24, 20, 0, 0, 0, time.UTC), time.Date(2026, 3, 8, 3, 0, 0, 0, time.UTC),
		time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC), time.Date(2026, 4, 4, 12, 0, 0, 0, time.UTC), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(l.IntN(300)) * 24 * time.Hour),
	}
	l.machine = newMachine(places[l.IntN(len(places))].Add(time.Duration(l.IntN(6*3600)) * time.Second))
	for range 1 + l.IntN(3) {
		l.create()
	}
	l.start()
	for range 4 + l.IntN(10) {
		l.happen()
	}
	l.halt()
	l.start()
	l.halt()
	for _, one := range l.all {
		one.compare(t, l.disk)
	}
	if t.Failed() {
		for _, line := range l.story {
			t.Log(line)
		}
		t.Fatalf("seed %d; -run OutagesAtRandom -outages 8 -outage-seed %d shows it again", seed, seed)
	}
}

func (l *life) tell(format string, args ...any) {
	l.story = append(l.story, instant(l.machine.Now())+" "+fmt.Sprintf(format, args...))
}

// stretch draws how long something lasts, between a minute and a day.
func (l *life) stretch() time.Duration {
	most := []time.Duration{2 * time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour}[l.IntN(4)]
	return time.Minute + time.Duration(l.Int64N(int64((most-time.Minute)/time.Second)+1))*time.Second
}

func (l *life) happen() {
	switch l.IntN(9) {
	case 0, 1, 2:
		l.live(time.Duration(1+l.IntN(1500)) * time.Second)
	case 3: // an outage
		l.halt()
		outage := l.stretch() * time.Duration(1+30*(l.IntN(8)/7))
		l.tell("down for %v", outage)
		for range l.IntN(2) { // the clock is set meanwhile
			ahead, back := l.stretch(), l.stretch()
			l.machine.step(ahead - back)
		}
		if l.IntN(4) == 0 {
			l.change()
		}
		pass(outage)
		l.start()
	case 4:
		l.back(l.stretch())
	case 5, 6:
		l.forward(l.stretch())
	default:
		l.change()
	}
}

// live lets the server work.
func (l *life) live(d time.Duration) {
	l.tell("works for %v", d)
	pass(d)
	l.expect()
}

// expect lets the model do what the server did while its clock ran evenly.
func (l *life) expect() {
	for _, one := range l.all {
		for next := one.next(); l.stop != nil && !next.After(l.machine.Now()); next = one.next() {
			one.look(next, l.up)
		}
	}
}

func (l *life) start() {
	l.up = l.machine.Now()
	l.tell("starts")
	l.service = newService(l.disk, l.machine)
	l.stop = bring(l.t, l.service)
	for _, one := range l.all {
		one.look(l.up, l.up)
	}
}

func (l *life) halt() {
	l.tell("stops")
	l.stop()
	l.stop = nil
}

// back sets the clock back. What is decided stays so, and the server is up in
// what is shown again.
func (l *life) back(by time.Duration) {
	l.tell("goes back by %v", by)
	l.machine.step(-by)
	l.notice()
	if now := l.machine.Now(); now.Before(l.up) {
		l.up = now
	}
}

// forward sets the clock forward, or lets the machine sleep, to an instant that
// is so long after any tick that it cannot count as met.
func (l *life) forward(by time.Duration) {
	to := l.machine.Now().Add(by)
	to = to.Truncate(time.Minute).Add(time.Duration(35+l.IntN(25)) * time.Second)
	by = to.Sub(l.machine.Now())
	if by < time.Minute {
		return
	}
	l.tell("goes forward by %v", by)
	rows := len(l.disk.snapshot())
	l.machine.step(by)
	l.up = to
	if l.IntN(2) == 0 {
		l.notice()
	} else {
		pass(30 * time.Second) // it notices by itself
	}
	// Its first row dates the moment it noticed; without one the moment does not matter.
	noticed := l.machine.Now()
	if after := l.disk.snapshot(); len(after) > rows {
		noticed = after[rows].ReceivedAt.Time()
	}
	for _, one := range l.all {
		one.look(noticed, l.up)
	}
	l.expect()
}

// notice makes the server look at the clock and the schedules.
func (l *life) notice() {
	if l.stop != nil {
		l.service.Changed()
		synctest.Wait()
	}
}

func (l *life) create() {
	one := modelledOn(l.disk, calendars[l.IntN(len(calendars))], []string{"latest", "all", "none"}[l.IntN(3)], l.machine.Now())
	l.tell("%s is made: %s %s %s", one.id, one.cron, one.zone, one.catchUp)
	l.all = append(l.all, one)
}

// change makes, changes or switches a schedule.
func (l *life) change() {
	defer l.notice()
	now, one := l.machine.Now(), l.all[l.IntN(len(l.all))]
	begin := func() {
		if now.After(one.cursor) {
			one.cursor = now
		}
	}
	switch l.IntN(4) {
	case 0:
		l.create()
	case 1:
		one.catchUp = []string{"latest", "all", "none"}[l.IntN(3)]
		l.tell("%s gets catchUp %s", one.id, one.catchUp)
		l.disk.change(one.id, func(b *blueprint.Binding) { b.Trigger.Config["catchUp"] = one.catchUp })
	case 2:
		one.off = !one.off
		l.tell("%s is switched off: %v", one.id, one.off)
		l.disk.change(one.id, func(b *blueprint.Binding) { b.Trigger.IsActive = !one.off })
		if !one.off {
			begin()
			l.disk.edit(one.id, now, l.disk.bindings[one.id].Trigger.Config)
		}
	default:
		if one.off {
			return
		}
		one.calendar = calendars[l.IntN(len(calendars))]
		l.tell("%s becomes %s %s", one.id, one.cron, one.zone)
		begin()
		l.disk.edit(one.id, now, schedule(one.cron, "timezone", one.zone, "catchUp", one.catchUp))
	}
}
