// Package cron parses five-field cron expressions and computes when they are due, in any
// time zone. It uses no clock and starts nothing.
//
// # Expressions
//
// An expression consists of five fields separated by blanks or tabs:
//
//	minute 0-59   hour 0-23   day-of-month 1-31   month 1-12   weekday 0-7
//
// A field is a list of items separated by commas. An item is
//
//   - every value; alone in its field
//     */n        every n-th value, counted from the field's lowest
//     a          one value
//     a/n        every n-th value from a to the field's end
//     a-b        every value from a to b
//     a-b/n      every n-th value from a to b
//
// Numbers have one or two digits. JAN to DEC are allowed as months and SUN to SAT as
// weekdays, in any letter case. In the weekday field 0 and 7 are Sunday; 7 is allowed alone
// or at the end of a range, SUN at the end of a range is 7, and a/n ends at 6. The words
// @hourly @daily @midnight @weekly @monthly @yearly @annually replace a whole expression,
// in any letter case. Blanks and tabs around an expression are ignored; line breaks are
// refused.
//
// Two fields select the day. If both are restricted, a day that matches either one is
// selected. A field that begins with * does not restrict: then a day must match both, so "0
// 0 */2 * 1" is every Monday with an odd day of the month.
//
// Extensions of other programs are refused with the reason and, where possible, with a
// replacement: seconds and years, @reboot, L W # ?, a step of 0 or one wider than the
// field, values out of range, ranges that run backwards, a bare * within a list, and dates
// that never occur.
//
// # Daylight saving
//
// If minute and hour are both fixed, that is, neither contains a *, an expression names
// readings of the wall clock, and each reading of each calendar date fires once: at its
// first occurrence if the clock is set back over it, and at the first instant after the gap
// if the clock is set forward over it, even if the gap skips a whole date. Readings that
// fall on the same instant are one tick.
//
// Any other expression follows elapsed time: it fires in every real minute in which the
// wall clock matches it, twice in a repeated hour and not at all in a skipped one.
//
// # Limits
//
// Ticks are whole minutes of UTC. If an offset has seconds, as local mean times before the
// 1970s do, they are rounded down, so such a tick may be up to 59 seconds after the wall
// clock's own minute begins. Years run from 1 to 9999; Next searches 100 years ahead. Zones
// may be up to 24 hours from UTC. Schedules are immutable, and everything in this package
// is safe for concurrent use.
package cron
