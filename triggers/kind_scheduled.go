package triggers

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"blueprintd/blueprint"
	"blueprintd/triggers/cron"
)

type scheduledConfig struct {
	Cron     cronText `key:"cron" required:"true" doc:"minute, hour, day of month, month, weekday: 0 9 * * 1-5; or @hourly, @daily, ..."`
	Timezone zoneName `key:"timezone" doc:"the IANA name of the time zone, such as Europe/Zurich; by default UTC"`
	CatchUp  text     `key:"catchUp" enum:"latest|all|none" doc:"which ticks that were missed while the server was down run: the latest (the default), all or none"`
}

func scheduledKind() *Kind {
	return define[scheduledConfig](blueprint.TriggerScheduled, Kind{
		Title:       "Schedule",
		Description: "Starts runs by a cron expression, for example every morning or every ten minutes.",
		Input:       `inputData is {"scheduledAt", "firedAt", "missedCount"}.`,
		NeverFired:  "see that a server is running on this database, and when the next tick is due",
	})
}

type cronText string

func (cronText) check(c *checker, f *field) { c.cron(f.key) }

func (cronText) schema(*field) map[string]any {
	return map[string]any{"type": "string", "minLength": json.Number("1"), "examples": []any{"0 9 * * 1-5"}}
}

type zoneName string

func (zoneName) check(c *checker, f *field) { c.zone(f.key) }

// Values of config.catchUp, the rule for missed ticks.
const (
	catchUpLatest = "latest" // only the last one runs
	catchUpAll    = "all"    // each of the last maxCatchUp runs
	catchUpNone   = "none"   // none runs
)

// maxExpression bounds a config; the parser has a lower limit with a better message.
const maxExpression = 10_000

// Timing is the parsed config of a scheduled trigger.
type Timing struct {
	Expression string
	ZoneName   string
	CatchUp    string

	Schedule *cron.Schedule
	Zone     *time.Location
}

// ReadSchedule parses the config of a scheduled trigger.
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

// cron parses a required cron expression.
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

// zone parses the name of a time zone; the default is UTC.
func (c *checker) zone(key string) (name string, zone *time.Location) {
	name, ok := c.text(key, maxText)
	if !ok && c.config[key] != nil {
		return name, nil
	}
	zone, err := cron.LoadZone(name)
	var refused *cron.ParseError
	if errors.As(err, &refused) { // without the field, which the path of the issue names
		c.refuse(refused.Message, key)
	}
	return name, zone
}

const maxPreview = 100

// Preview returns the next count ticks, at most maxPreview, of an expression in a
// time zone ("" is UTC), formatted as in the ledger. Errors are CodeBadRequest, with
// issues under "cron", "timezone" and "count".
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

// maxCatchUp is the maximum number of missed ticks that run with catchUpAll.
const maxCatchUp = 100

// onTime is the maximum delay with which a decided tick counts as on time. Ticks are at
// least that far apart, so at most one of several is on time.
const onTime = time.Minute

// step is a decision about due ticks of a schedule. It is one transaction, which
// advances the cursor to its last tick.
type step struct {
	at      time.Time  // the tick that runs; zero = none
	missed  int        // number of other ticks that the run covers
	late    bool       // whether at itself was missed
	skipped *tickRange // ticks without a run of their own; nil = none
	later   *tickRange // missed ticks of the following steps; nil = none
}

// tickRange is a sequence of consecutive ticks.
type tickRange struct {
	count       int
	first, last time.Time
}

func (l *tickRange) String() string {
	if l.count == 1 {
		return "the tick of " + instant(l.first) + " was missed"
	}
	return fmt.Sprintf("%d ticks from %s to %s were missed", l.count, instant(l.first), instant(l.last))
}

func (l *tickRange) because(code blueprint.ReasonCode) blueprint.Reason {
	return blueprint.NewReason(code, "count", l.count, "first", instant(l.first), "last", instant(l.last))
}

// join returns the range of l and the following ticks. Both may be nil.
func (l *tickRange) join(next *tickRange) *tickRange {
	switch {
	case l == nil:
		return next
	case next == nil:
		return l
	}
	return &tickRange{count: l.count + next.count, first: l.first, last: next.last}
}

// end returns the cursor after the step.
func (s *step) end() time.Time {
	if s.at.IsZero() {
		return s.skipped.last
	}
	return s.at
}

// stale reports whether the tick was on time when it was decided, but is late now.
func (s *step) stale(now time.Time) bool {
	return !s.at.IsZero() && !s.late && now.Sub(s.at) >= onTime
}

// due decides about all ticks after a cursor up to now. A tick was missed if it is
// before up, when the server started, or too late by now. The steps depend only on
// the arguments, so that a restarted server continues with the same ones.
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
	var skipped *tickRange
	if rest := total - len(ticks); rest > 0 {
		skipped = t.firstTicks(cursor, now, rest)
	}
	var steps []step
	if t.CatchUp == catchUpNone && skipped != nil { // no run covers them
		steps = append(steps, step{skipped: skipped})
		skipped = nil
	}
	for i, at := range ticks {
		s := step{at: at, late: !(lastOnTime && i == len(ticks)-1)}
		if skipped != nil {
			s.missed, s.skipped, skipped = skipped.count, skipped, nil
		}
		steps = append(steps, s)
	}
	for i := len(steps) - 1; i > 0; i-- {
		steps[i-1].later = steps[i].unmet(true).join(steps[i].later)
	}
	return steps
}

// firstTicks returns the first count ticks after a cursor.
func (t *Timing) firstTicks(cursor, now time.Time, count int) *tickRange {
	first, _ := t.Schedule.Next(cursor, t.Zone)
	l := &tickRange{count: count, first: first, last: first}
	_, total := t.Schedule.Between(cursor, now, t.Zone, 0)
	if after := total - count; count > 1 {
		ticks, _ := t.Schedule.Between(cursor, now, t.Zone, after+1)
		l.last = ticks[0]
	}
	return l
}

// instant formats a tick as in ledger rows and keys.
func instant(at time.Time) string { return blueprint.TimeOf(at).String() }
