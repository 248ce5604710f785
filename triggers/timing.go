package triggers

import (
	"errors"
	"time"

	"blueprintd/blueprint"
	"blueprintd/triggers/cron"
)

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
	c.required("cron")
	var ok bool
	if t.Expression, ok = c.text("cron", maxExpression); ok {
		var err error
		if t.Schedule, err = cron.Parse(t.Expression); err != nil {
			c.refuse(err.Error(), "cron")
		}
	}
	if t.ZoneName, ok = c.text("timezone", maxText); ok || c.config["timezone"] == nil {
		var err error
		if t.Zone, err = cron.LoadZone(t.ZoneName); err != nil {
			c.refuse(zoneMessage(err), "timezone")
		}
	}
	if text, ok := c.text("catchUp", maxText); ok {
		c.choice("catchUp", catchUpLatest, catchUpAll, catchUpNone)
		t.CatchUp = text
	}
	return t, c.issues
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

// Preview gives the next count instants, at most 100, at which an expression is
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
