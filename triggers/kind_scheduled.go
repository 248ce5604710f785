package triggers

import (
	"errors"
	"fmt"
	"time"

	"blueprintd/blueprint"
	"blueprintd/triggers/cron"
	"encoding/json"
)

type scheduledConfig struct {
	Cron     cronText `key:"cron" required:"true" doc:"minute, hour, day of month, month, weekday: 0 9 * * 1-5; or @hourly, @daily, ..."`
	Timezone zoneName `key:"timezone" doc:"the IANA name of the time zone, such as Europe/Zurich; UTC when left out"`
	CatchUp  text     `key:"catchUp" enum:"latest|all|none" doc:"what becomes of ticks that were missed while the server was down; latest when left out"`
}

func scheduledKind() *Kind {
	return define(definition[scheduledConfig]{
		of:          blueprint.TriggerScheduled,
		description: "Fires when a cron expression is due.",
		neverFired:  "see that a server is running on this database, and when the next tick is due",
	})
}

// cronText is a cron expression.
type cronText string

func (cronText) check(c *checker, f *field) { c.cron(f.key) }

func (cronText) schema(*field) map[string]any {
	return map[string]any{"type": "string", "minLength": json.Number("1"), "examples": []any{"0 9 * * 1-5"}}
}

// zoneName is the name of a time zone.
type zoneName string

func (zoneName) check(c *checker, f *field) { c.zone(f.key) }

func (zoneName) schema(f *field) map[string]any { return text("").schema(f) }

// The rules for ticks that were missed.
const (
	catchUpLatest = "latest" // the last one runs and stands for all
	catchUpAll    = "all"    // each of them runs, up to maxCatchUp
	catchUpNone   = "none"   // they are left out
)

// maxExpression only keeps an expression small; the parser has its own limit
// and says so in better words.
const maxExpression = 10_000

// Timing is the config of a scheduled trigger.
type Timing struct {
	Expression string
	ZoneName   string
	CatchUp    string

	Schedule *cron.Schedule
	Zone     *time.Location
}

// ReadSchedule reads the config of a scheduled trigger.
func ReadSchedule(config map[string]any) (Timing, []blueprint.Issue) {
	c := &checker{config: config}
	t := Timing{CatchUp: catchUpLatest}
	t.Expression, t.Schedule = c.cron("cron")
	t.ZoneName, t.Zone = c.zone("timezone")
	if text, ok := c.text("catchUp", maxText); ok {
		c.choice("catchUp", catchUpLatest, catchUpAll, catchUpNone)
		t.CatchUp = text
	}
	return t, c.issues
}

// cron reads a cron expression, which must be given.
func (c *checker) cron(key string) (expression string, schedule *cron.Schedule) {
	c.required(key)
	expression, ok := c.text(key, maxExpression)
	if !ok {
		return expression, nil
	}
	schedule, err := cron.Parse(expression)
	if err != nil {
		c.refuse(err.Error(), key)
	}
	return expression, schedule
}

// zone reads the name of a time zone; absent is UTC.
func (c *checker) zone(key string) (name string, zone *time.Location) {
	name, ok := c.text(key, maxText)
	if !ok && c.config[key] != nil {
		return name, nil
	}
	zone, err := cron.LoadZone(name)
	if err != nil {
		c.refuse(zoneMessage(err), key)
	}
	return name, zone
}

// zoneMessage leaves out the field of a refused time zone, which the path of
// the issue names.
func zoneMessage(err error) string {
	var refused *cron.ParseError
	if errors.As(err, &refused) {
		return refused.Message
	}
	return err.Error()
}

// maxPreview is how many ticks a preview may show.
const maxPreview = 100

// Preview returns the next count instants, at most 100, at which an expression is
// due in a time zone ("" is UTC), written as ledger rows write theirs. Errors
// are CodeBadRequest, with issues whose paths are "cron", "timezone" and
// "count".
func (t *Service) Preview(expression, timezone string, count int) ([]string, error) {
	return preview(expression, timezone, count, t.Clock.Now())
}

func preview(expression, timezone string, count int, now time.Time) ([]string, error) {
	t, issues := ReadSchedule(map[string]any{"cron": expression, "timezone": timezone})
	if count < 1 || count > maxPreview {
		issues = append(issues, blueprint.Issue{Path: []any{"count"}, Message: "must be from 1 to 100"})
	}
	if len(issues) > 0 {
		return nil, blueprint.InvalidInput(issues)
	}
	ticks := make([]string, 0, count)
	for len(ticks) < count {
		next, ok := t.Schedule.Next(now, t.Zone)
		if !ok {
			break
		}
		ticks = append(ticks, blueprint.TimeOf(next).String())
		now = next
	}
	return ticks, nil
}

// maxCatchUp is how many missed ticks the rule "all" runs.
const maxCatchUp = 100

// onTime is how late a tick may be decided and still count as on time. It is
// less than the distance of two ticks, so at most one of several is.
const onTime = time.Minute

// step is one thing to do about the due ticks of a schedule; each is one
// commit, which moves the cursor to its last tick.
type step struct {
	// at is the tick that runs; zero when the step leaves out ticks only.
	at time.Time
	// missed is how many other ticks the run stands for.
	missed int
	// late says that the tick itself was missed, too.
	late bool
	// left are the ticks that get no run of their own, nil for none.
	left *lot
	// behind are the ticks of the steps behind it that were missed as well, nil
	// for none.
	behind *lot
}

// lot is several ticks in a row.
type lot struct {
	count       int
	first, last time.Time
}

func (l *lot) String() string {
	if l.count == 1 {
		return "the tick of " + instant(l.first) + " was missed"
	}
	return fmt.Sprintf("%d ticks from %s to %s were missed", l.count, instant(l.first), instant(l.last))
}

// because returns a reason about the ticks.
func (l *lot) because(code blueprint.ReasonCode) blueprint.Reason {
	return blueprint.NewReason(code, "count", l.count, "first", instant(l.first), "last", instant(l.last))
}

// and returns a lot and the one behind it as one; nil is none.
func (l *lot) and(behind *lot) *lot {
	switch {
	case l == nil:
		return behind
	case behind == nil:
		return l
	}
	return &lot{count: l.count + behind.count, first: l.first, last: behind.last}
}

// end is where the cursor stands once the step is done.
func (s *step) end() time.Time {
	if s.at.IsZero() {
		return s.left.last
	}
	return s.at
}

// stale reports whether the tick of a step that was on time is so no more.
func (s *step) stale(now time.Time) bool {
	return !s.at.IsZero() && !s.late && now.Sub(s.at) >= onTime
}

// due decides what becomes of every tick after a cursor, up to now. A tick was
// missed when the server was not up at that instant, or when it is too late by
// now; up is since when the server has been up.
//
// The decision depends on nothing but its arguments, so a server that stops
// between two steps goes on with the same ones.
func (t *Timing) due(cursor, now, up time.Time) []step {
	ticks, total := t.Schedule.Between(cursor, now, t.Zone, maxCatchUp+1)
	if total == 0 {
		return nil
	}
	last := ticks[len(ticks)-1]
	lastOnTime := !last.Before(up) && now.Sub(last) < onTime
	runs := 1
	switch t.CatchUp {
	case catchUpAll:
		runs = maxCatchUp
		if lastOnTime {
			runs++
		}
	case catchUpNone:
		if !lastOnTime {
			runs = 0
		}
	}
	ticks = ticks[max(0, len(ticks)-runs):]
	var left *lot
	if rest := total - len(ticks); rest > 0 {
		left = t.rest(cursor, now, rest)
	}
	var steps []step
	if t.CatchUp == catchUpNone && left != nil {
		// They are dropped for good; no run stands for them.
		steps = append(steps, step{left: left})
		left = nil
	}
	for i, at := range ticks {
		s := step{at: at, late: !(lastOnTime && i == len(ticks)-1)}
		if left != nil {
			s.missed, s.left, left = left.count, left, nil
		}
		steps = append(steps, s)
	}
	for i := len(steps) - 1; i > 0; i-- {
		steps[i-1].behind = steps[i].unmet(true).and(steps[i].behind)
	}
	return steps
}

// rest describes the first count ticks after a cursor.
func (t *Timing) rest(cursor, now time.Time, count int) *lot {
	first, _ := t.Schedule.Next(cursor, t.Zone)
	l := &lot{count: count, first: first, last: first}
	_, total := t.Schedule.Between(cursor, now, t.Zone, 0)
	if after := total - count; count > 1 {
		ticks, _ := t.Schedule.Between(cursor, now, t.Zone, after+1)
		l.last = ticks[0]
	}
	return l
}

// instant writes a tick as ledger rows and keys have it.
func instant(at time.Time) string { return blueprint.TimeOf(at).String() }
