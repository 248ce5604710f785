// Package clock is the source of time of the program: Real is the machine's clock,
// Virtual advances only on request, so that a test can simulate a month.
//
// Work in progress holds the clock (Hold). Real ignores holds; Virtual advances only
// while there are none.
package clock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Clock returns the time and runs functions at given times. Safe for concurrent use.
type Clock interface {
	// Now returns the time in UTC.
	Now() time.Time
	// At calls f once in its own goroutine when the clock reaches t, immediately if
	// it has. The call holds the clock until f returns.
	At(t time.Time, f func()) *Timer
	// Upkeep is At for background maintenance, which Virtual.Next ignores.
	Upkeep(t time.Time, f func()) *Timer
	// Hold keeps the clock from advancing until release is called.
	Hold() (release func())
}

// Timer is a call scheduled by At.
type Timer struct{ stop func() bool }

// Stop cancels the call and reports whether it had not started. A nil Timer is allowed.
func (t *Timer) Stop() bool { return t != nil && t.stop() }

// Real is the machine's clock.
type Real struct{}

// Now returns the machine's time.
func (Real) Now() time.Time { return time.Now().UTC() }

// Hold does nothing.
func (Real) Hold() (release func()) { return func() {} }

// recheck is how often a real timer compares the wall clock, so that it notices a
// clock step or a suspended machine.
const recheck = 30 * time.Second

// At follows the wall clock, not the monotonic one: a machine that was suspended
// past t calls f as soon as it resumes.
func (r Real) At(t time.Time, f func()) *Timer {
	t = t.Round(0) // drop the monotonic reading, so that Sub compares wall clocks
	var mu sync.Mutex
	var timer *time.Timer
	done := false // stopped, or f was called
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(r.sleep(t), func() {
		mu.Lock()
		due := !done && !time.Now().Round(0).Before(t)
		switch {
		case due:
			done = true
		case !done:
			timer.Reset(r.sleep(t))
		}
		mu.Unlock()
		if due {
			f()
		}
	})
	return &Timer{stop: func() bool {
		mu.Lock()
		defer mu.Unlock()
		timer.Stop()
		inTime := !done
		done = true
		return inTime
	}}
}

func (r Real) Upkeep(t time.Time, f func()) *Timer { return r.At(t, f) }

func (Real) sleep(until time.Time) time.Duration {
	return min(max(0, until.Sub(time.Now().Round(0))), recheck)
}

// Sleep waits in real time, and reports whether ctx did not end before.
func Sleep(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// last is the latest time that can be formatted.
var last = time.Date(9999, 12, 31, 23, 59, 59, int(999*time.Millisecond), time.UTC)

// Target returns the time to which a clock at now is to be moved, between now and the
// end of the year 9999. value is decoded JSON: {"by": "36h"}, a Go duration or days
// as in 7d, or {"to": RFC 3339}. Errors are for the caller and name the key.
func Target(value any, now time.Time) (time.Time, error) {
	object, ok := value.(map[string]any)
	by, to := object["by"], object["to"] // null counts as absent
	hasTo := to != nil
	known := 0
	for _, name := range []string{"by", "to"} {
		if _, given := object[name]; given {
			known++
		}
	}
	if !ok || (by != nil) == hasTo || len(object) > known {
		return time.Time{}, errors.New(`write {"by": "36h"} or {"to": "2030-01-01T00:00:00Z"}`)
	}
	key, target := "to", time.Time{}
	if hasTo {
		text, _ := to.(string)
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return time.Time{}, fmt.Errorf("to: %q is not an RFC 3339 time", shown(text))
		}
		if at.Before(now) {
			return time.Time{}, fmt.Errorf("to: the clock is at %s and cannot go backwards", now.UTC().Format("2006-01-02T15:04:05.000Z"))
		}
		target = at
	} else {
		text, isText := by.(string)
		if number, isNumber := by.(json.Number); isNumber {
			return time.Time{}, fmt.Errorf(`by: must be a text such as "%ss"`, shown(number.String()))
		} else if !isText {
			return time.Time{}, errors.New(`by: must be a text such as "3600s"`)
		}
		step, err := ParseDuration(text)
		if days, isDays := strings.CutSuffix(text, "d"); isDays && err != nil && days != "" && strings.Trim(days, "0123456789") == "" {
			return time.Time{}, fmt.Errorf("by: %q is too far; at most %dd at once", shown(text), maxDays)
		}
		if err != nil || step < 0 {
			return time.Time{}, fmt.Errorf(`by: %q is not a positive duration; write "36h", "90s" or "7d"`, shown(text))
		}
		key, target = "by", now.Add(step)
	}
	if target.After(last) {
		return time.Time{}, fmt.Errorf("%s: the clock ends with the year 9999", key)
	}
	return target, nil
}

// shown shortens user input for an error.
func shown(text string) string {
	const most = 60
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

const maxDays = 36_500

// ParseDuration reads a Go duration, or a whole number of days as in 7d.
func ParseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err == nil && n >= 0 && n <= maxDays {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	return time.ParseDuration(text)
}
