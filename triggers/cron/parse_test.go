package cron

import (
	"errors"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"pgregory.net/rapid"
)

func mustParse(t rapid.TB, expression string) *Schedule {
	t.Helper()
	s, err := Parse(expression)
	if err != nil {
		t.Fatalf("Parse(%q): %v", expression, err)
	}
	return s
}

func TestParseAccepts(t *testing.T) {
	full := map[string]string{
		"* * * * *": "* * * * *",
		// Blanks.
		"  0 0 * * *":           "0 0 * * *",
		"0 0 * * * \t ":         "0 0 * * *",
		"0\t0 *  *\t \t*":       "0 0 * * *",
		"1,2,3 4-5 6/7 JAN mon": "1,2,3 4-5 6/7 JAN mon",
		// Macros.
		"@hourly":      "0 * * * *",
		"@daily":       "0 0 * * *",
		"@midnight":    "0 0 * * *",
		"@weekly":      "0 0 * * 0",
		"@monthly":     "0 0 1 * *",
		"@yearly":      "0 0 1 1 *",
		"@annually":    "0 0 1 1 *",
		"@Daily":       "0 0 * * *",
		" @WEEKLY\t":   "0 0 * * 0",
		"0 0 29 2 *":   "0 0 29 2 *",
		"0 0 29 2 */7": "0 0 29 2 */7",
		// Dates that come, since a weekday suits as well or another month does.
		"0 0 30 2 1":        "0 0 30 2 1",
		"0 0 31 4,6 SUN":    "0 0 31 4,6 SUN",
		"0 0 31 4,5 *":      "0 0 31 4,5 *",
		"0 0 30 2,4 */2":    "0 0 30 2,4 */2",
		"0 0 */31 2 *":      "0 0 */31 2 *",
		"0 0 29-31 2 *":     "0 0 29-31 2 *",
		"59 23 31 12 7":     "59 23 31 12 7",
		"00 00 01 01 00":    "00 00 01 01 00",
		"0 0 1,*/10 * *":    "0 0 1,*/10 * *",
		"0-59/60 0 * * 0-7": "0-59/60 0 * * 0-7",
	}
	for expression, text := range full {
		t.Run(expression, func(t *testing.T) {
			if got := mustParse(t, expression).String(); got != text {
				t.Errorf("Parse(%q).String() = %q, want %q", expression, got, text)
			}
		})
	}

	// One field at a time, with the values that it must hold.
	type set struct{ text, values string }
	each := map[string][]set{
		"%s 0 * * *": { // minute
			{"0", "0"}, {"59", "59"}, {"07", "7"}, {"00", "0"}, {"5,5,5", "5"}, {"0,30", "0 30"}, {"10-13", "10 11 12 13"}, {"7-7", "7"},
			{"*/15", "0 15 30 45"}, {"*/30", "0 30"}, {"*/60", "0"}, {"*/59", "0 59"}, {"*/05", "0 5 10 15 20 25 30 35 40 45 50 55"},
			{"0/20", "0 20 40"}, {"50/3", "50 53 56 59"}, {"59/60", "59"}, {"10-20/5", "10 15 20"}, {"10-20/15", "10"}, {"0-59/30", "0 30"},
			{"1,20-22,40/10", "1 20 21 22 40 50"}, {"5,*/30", "0 5 30"}, {"*/30,5", "0 5 30"}, {"*/1,5-6", all(0, 59)}, {"*", all(0, 59)},
		},
		"0 %s * * *": { // hour
			{"0", "0"}, {"23", "23"}, {"*/24", "0"}, {"22/1", "22 23"}, {"9-17/4", "9 13 17"}, {"*", all(0, 23)}, {"*/12,9", "0 9 12"},
		},
		"0 0 %s * *": { // day-of-month
			{"1", "1"}, {"31", "31"}, {"*/10", "1 11 21 31"}, {"*/31", "1"}, {"28-31", "28 29 30 31"}, {"30/1", "30 31"}, {"*", all(1, 31)},
		},
		"0 0 1 %s *": { // month
			{"1", "1"}, {"12", "12"}, {"JAN", "1"}, {"dec", "12"}, {"Feb-aPR", "2 3 4"}, {"*/12", "1"}, {"*/5", "1 6 11"}, {"OCT/1", "10 11 12"},
			{"JAN,mar-MAY,11", "1 3 4 5 11"}, {"2-SEP/3", "2 5 8"}, {"JUN-JUL", "6 7"}, {"AUG,NOV", "8 11"}, {"*", all(1, 12)},
		},
		"0 0 * * %s": { // weekday
			{"0", "0"}, {"7", "0"}, {"0,7", "0"}, {"SUN", "0"}, {"sat", "6"}, {"1-5", "1 2 3 4 5"}, {"MON-fri", "1 2 3 4 5"},
			{"FRI-SUN", "0 5 6"}, {"5-7", "0 5 6"}, {"fri-7", "0 5 6"}, {"6-sun", "0 6"}, {"0-7", all(0, 6)}, {"0-SUN", all(0, 6)}, {"SUN-7", all(0, 6)},
			{"SUN-SAT", all(0, 6)}, {"SUN-MON", "0 1"}, {"0-0", "0"}, {"1-7/3", "0 1 4"}, {"0-7/7", "0"}, {"1/2", "1 3 5"}, {"6/1", "6"}, {"0/2", "0 2 4 6"},
			{"SUN/3", "0 3 6"}, {"TUE/7", "2"}, {"*/7", "0"}, {"*/2", "0 2 4 6"}, {"WED,THU", "3 4"}, {"*", all(0, 6)}, {"5-7/2", "0 5"},
		},
	}
	for pattern, sets := range each {
		t.Run(pattern, func(t *testing.T) {
			for _, c := range sets {
				expression := strings.Replace(pattern, "%s", c.text, 1)
				s := mustParse(t, expression)
				words := map[string]uint64{"%s 0 * * *": s.minutes, "0 %s * * *": uint64(s.hours), "0 0 %s * *": uint64(s.days),
					"0 0 1 %s *": uint64(s.months), "0 0 * * %s": uint64(s.weekdays)}
				if got := values(words[pattern]); got != c.values {
					t.Errorf("%q holds %s, want %s", expression, got, c.values)
				}
			}
		})
	}
}

// all writes the numbers from low to high, values those whose bits are set.
func all(low, high int) string { return values(1<<(high+1) - 1<<low) }

func values(set uint64) string {
	var numbers []string
	for i := range 64 {
		if set>>i&1 == 1 {
			numbers = append(numbers, itoa(i))
		}
	}
	return strings.Join(numbers, " ")
}

func TestParseRefuses(t *testing.T) {
	cases := []struct{ expression, field, value, words string }{
		// The whole.
		{"", "expression", "", "is empty"},
		{" \t ", "expression", " \t ", "is empty"},
		{"*", "expression", "*", "has one field, needs 5"},
		{"0 0 * *", "expression", "0 0 * *", "has 4 fields, needs 5"},
		{"* * * * * *", "expression", "* * * * * *", "has six fields, needs 5: leave out seconds or year"},
		{"0 0 1 1 * 2027", "expression", "0 0 1 1 * 2027", "six fields"},
		{"0 0 0 1 1 * 2027", "expression", "0 0 0 1 1 * 2027", "7 fields"},
		{"0 0 * * * /bin/true", "expression", "0 0 * * * /bin/true", "six fields"},
		{"0 0 * * *\n", "expression", "0 0 * * *\n", "line break"},
		{"\n0 0 * * *", "expression", "\n0 0 * * *", "line break"},
		{"0 0\n* * *", "expression", "0 0\n* * *", "line break"},
		{"0 0 * * *\r", "expression", "0 0 * * *\r", "line break"},
		{"0\u00a00 * * *", "expression", "\u00a0", `the character "\u00a0"`},
		{"0 0 * * *\x00", "expression", "\x00", `the character "\x00"`},
		{"0 0 * * *\v", "expression", "\v", `the character "\v"`},
		{"0 0 * * \xff", "expression", "\xff", `the character "\xff"`},
		{"٣ 0 * * *", "expression", "٣", `the character "\u0663"`},
		{"0 0 * * ＊", "expression", "＊", `the character "\uff0a"`},
		{strings.Repeat("0,", 500) + "0 0 * * *", "expression", strings.Repeat("0,", 500) + "0 0 * * *", "at most 1000"},
		{"TZ=Europe/Berlin 0 0 * * *", "expression", "TZ=Europe/Berlin 0 0 * * *", "set it in timezone"},
		{"CRON_TZ=UTC 0 0 * * *", "expression", "CRON_TZ=UTC 0 0 * * *", "set it in timezone"},
		{"@reboot", "expression", "@reboot", "is not supported"},
		{"@REBOOT", "expression", "@REBOOT", "is not supported"},
		{"@every 5m", "expression", "@every 5m", "write a step"},
		{"@every", "expression", "@every", "is not known; use five fields or @hourly"},
		{"@always", "expression", "@always", "@always is not known"},
		{"@5minutes", "expression", "@5minutes", "is not known"},
		{"@everysecond", "expression", "@everysecond", "is not known"},
		{"@", "expression", "@", "is not known"},
		{"@daily @daily", "expression", "@daily @daily", "@daily must be the whole expression"},
		{"@daily 0 0 * *", "minute", "@daily", "@daily is not a number 0-59"},
		// Out of range.
		{"60 * * * *", "minute", "60", "60 is out of range 0-59"},
		{"* 24 * * *", "hour", "24", "24 is out of range 0-23"},
		{"* 25 * * *", "hour", "25", "25 is out of range 0-23"},
		{"* * 0 * *", "day-of-month", "0", "0 is out of range 1-31"},
		{"* * 32 * *", "day-of-month", "32", "32 is out of range 1-31"},
		{"* * * 0 *", "month", "0", "0 is out of range 1-12"},
		{"* * * 13 *", "month", "13", "13 is out of range 1-12"},
		{"* * * * 8", "weekday", "8", "8 is out of range 0-7"},
		{"0,99 * * * *", "minute", "99", "99 is out of range"},
		{"*/5,99 * * * *", "minute", "99", "99 is out of range"},
		{"0 0 * * 5,9", "weekday", "9", "9 is out of range"},
		{"10-60 * * * *", "minute", "60", "60 is out of range"},
		{"70/5 * * * *", "minute", "70", "70 is out of range"},
		{"* * 0/5 * *", "day-of-month", "0", "0 is out of range"},
		{"* * * 0/3 *", "month", "0", "0 is out of range"},
		{"* * * * 8/2", "weekday", "8", "8 is out of range"},
		{"100 * * * *", "minute", "100", "100 is out of range"},
		{"99999999999999999999 * * * *", "minute", "99999999999999999999", "is out of range"},
		{"005 * * * *", "minute", "005", "005 has more than two digits"},
		{"* * * * 000", "weekday", "000", "more than two digits"},
		// Steps.
		{"*/0 * * * *", "minute", "*/0", "a step of 0"},
		{"*/00 * * * *", "minute", "*/00", "a step of 0"},
		{"5/0 * * * *", "minute", "5/0", "a step of 0"},
		{"1-5/0 * * * *", "minute", "1-5/0", "a step of 0"},
		{"*/61 * * * *", "minute", "*/61", "the step 61 is wider than the field, which has 60 values"},
		{"*/100 * * * *", "minute", "*/100", "wider"},
		{"* */25 * * *", "hour", "*/25", "has 24 values"},
		{"* * */32 * *", "day-of-month", "*/32", "has 31 values"},
		{"* * 1-2/32 * *", "day-of-month", "1-2/32", "has 31 values"},
		{"* * * */13 *", "month", "*/13", "has 12 values"},
		{"* * * * */8", "weekday", "*/8", "has 7 values"},
		{"* * * * 0-7/8", "weekday", "0-7/8", "has 7 values"},
		{"*/005 * * * *", "minute", "*/005", "more than two digits"},
		{"*/ * * * *", "minute", "*/", "lacks a number"},
		{"/5 * * * *", "minute", "", "a value is missing"},
		{"1/2/3 * * * *", "minute", "1/2/3", "more than one step"},
		{"*//2 * * * *", "minute", "*//2", "more than one step"},
		{"*/x * * * *", "minute", "*/x", "the step x is not a number"},
		{"*/-5 * * * *", "minute", "*/-5", "the step -5 is not a number"},
		{"*/+5 * * * *", "minute", "*/+5", "the step +5 is not a number"},
		{"*/5-10 * * * *", "minute", "*/5-10", "is not a number"},
		{"*/1.5 * * * *", "minute", "*/1.5", "is not a number"},
		{"0 0 * * MON/TUE", "weekday", "MON/TUE", "is not a number"},
		{"* * * * 7/2", "weekday", "7/2", "7 cannot begin a step; write 0/2"},
		{"* * * * 7/7", "weekday", "7/7", "write 0/7"},
		// Lists.
		{"*,5 * * * *", "minute", "*", "a bare * in a list"},
		{"5,* * * * *", "minute", "*", "a bare * in a list"},
		{"*,* * * * *", "minute", "*", "a bare * in a list"},
		{"0 0 5 * *,1", "weekday", "*", "a bare * in a list"},
		{", * * * *", "minute", "", "empty"},
		{"1,,2 * * * *", "minute", "", "empty"},
		{"1, * * * *", "minute", "", "empty"},
		{",1 * * * *", "minute", "", "empty"},
		{"1;2 * * * *", "minute", "1;2", "is not a number"},
		// Ranges.
		{"10-5 * * * *", "minute", "10-5", "10-5 runs backwards; write 10-59,0-5"},
		{"* 22-2 * * *", "hour", "22-2", "write 22-23,0-2"},
		{"* 22-0/2 * * *", "hour", "22-0", "write 22-23,0"},
		{"* * * NOV-FEB *", "month", "NOV-FEB", "write 11-12,1-2"},
		{"* * * * FRI-MON", "weekday", "FRI-MON", "write 5-6,0-1"},
		{"* * * * SAT-0", "weekday", "SAT-0", "write 6-7"},
		{"* * * * 6-0", "weekday", "6-0", "write 6-7"},
		{"* * * * 7-3", "weekday", "7-3", "7 cannot begin a range"},
		{"* * * * 7-7", "weekday", "7-7", "7 cannot begin a range"},
		{"* * * * 7-SUN", "weekday", "7-SUN", "7 cannot begin a range"},
		{"* * * * sun-SUN", "weekday", "sun-SUN", "one day or seven"},
		{"1-2-3 * * * *", "minute", "1-2-3", "more than two ends"},
		{"1-5-9/2 * * * *", "minute", "1-5-9", "more than two ends"},
		{"1--3 * * * *", "minute", "1--3", "more than two ends"},
		{"1- * * * *", "minute", "1-", "two ends"},
		{"-5 * * * *", "minute", "-5", "two ends"},
		{"- * * * *", "minute", "-", "two ends"},
		{"1-/2 * * * *", "minute", "1-", "two ends"},
		{"*-5 * * * *", "minute", "*", "* must be alone or before a step"},
		{"5-* * * * *", "minute", "*", "* must be alone or before a step"},
		// Words.
		{"a * * * *", "minute", "a", "a is not a number 0-59"},
		{"+5 * * * *", "minute", "+5", "+5 has a sign; write 5"},
		{"0x5 * * * *", "minute", "0x5", "is not a number"},
		{"1.5 * * * *", "minute", "1.5", "is not a number"},
		{"5m * * * *", "minute", "5m", "is not a number"},
		{"H * * * *", "minute", "H", "is not a number"},
		{"** * * * *", "minute", "**", "* must be alone"},
		{"*5 * * * *", "minute", "*5", "* must be alone"},
		{"5* * * * *", "minute", "5*", "* must be alone"},
		{"\" * * * *", "minute", "\"", `"\"" is not a number`},
		{strings.Repeat("a", 99) + " * * * *", "minute", strings.Repeat("a", 99), strings.Repeat("a", 40) + "... is not a number"},
		{"SUN * * * *", "minute", "SUN", "SUN is a weekday and belongs in field 5"},
		{"* JAN * * *", "hour", "JAN", "JAN is a month and belongs in field 4"},
		{"* * * MON *", "month", "MON", "MON is a weekday and belongs in field 5"},
		{"* * * * jan", "weekday", "jan", "jan is a month and belongs in field 4"},
		{"* * MON-FRI * *", "day-of-month", "MON", "belongs in field 5"},
		{"* * * 1JAN *", "month", "1JAN", "is not a number 1-12 or a name JAN-DEC"},
		{"* * * JANFEB *", "month", "JANFEB", "write JAN"},
		{"* * * January *", "month", "January", "January is not known; write JAN"},
		{"* * * * Monday", "weekday", "Monday", "write MON"},
		{"* * * * MONTUE", "weekday", "MONTUE", "write MON"},
		{"* * * * M", "weekday", "M", "is not a number 0-7 or a name SUN-SAT"},
		// Other dialects.
		{"0 0 ? * 1", "day-of-month", "?", "? is not known; write *"},
		{"0 0 1 * ?", "weekday", "?", "write *"},
		{"0 0 L * *", "day-of-month", "L", "(last day) is not supported"},
		{"0 0 l * *", "day-of-month", "l", "(last day) is not supported"},
		{"0 0 L-3 * *", "day-of-month", "L", "(last day) is not supported"},
		{"0 0 * * 5L", "weekday", "5L", "(last day) is not supported"},
		{"0 0 15W * *", "day-of-month", "15W", "with W"},
		{"0 0 LW * *", "day-of-month", "LW", "with W"},
		{"0 0 * * 5#3", "weekday", "5#3", "with #"},
		{"0 0 * * MON#1", "weekday", "MON#1", "with #"},
		// Dates that never come.
		{"0 0 30 2 *", "day-of-month", "30", "the date never comes: month 2 has no day 30"},
		{"0 0 30-31 FEB *", "day-of-month", "30-31", "month FEB has no day 30-31"},
		{"0 0 31 4,6 *", "day-of-month", "31", "never comes"},
		{"0 0 31 2,4,6,9,11 *", "day-of-month", "31", "never comes"},
		{"0 0 30 2 */2", "day-of-month", "30", "never comes"},
		{"0 0 30/1 2 */7", "day-of-month", "30/1", "never comes"},
	}
	for _, c := range cases {
		t.Run(c.field+": "+c.words, func(t *testing.T) {
			s, err := Parse(c.expression)
			var refusal *ParseError
			if !errors.As(err, &refusal) || s != nil {
				t.Errorf("Parse(%q) = %v, %v; want a *ParseError", c.expression, s, err)
				return
			}
			if refusal.Field != c.field || refusal.Value != c.value || !strings.Contains(refusal.Message, c.words) {
				t.Errorf("Parse(%q): field %q, value %q, message %q; want %q, %q, %q",
					c.expression, refusal.Field, refusal.Value, refusal.Message, c.field, c.value, c.words)
			}
			text := c.field + ": " + refusal.Message
			if c.field == "expression" {
				text = refusal.Message
			}
			if err.Error() != text {
				t.Errorf("Parse(%q): error %q, want %v", c.expression, err, text)
			}
		})
	}
}

// FuzzParse: nothing panics; what is accepted reads back from its own text, is
// due some day, agrees with the second reading of the fields, and a refusal
// fits on a few printable lines.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"* * * * *", "*/5 0,12 1-15/2 JAN-mar 5-7", "@weekly", "@reboot", "0 0 29 2 */7", "0 0 31 4,6 *", "70/5 * * * *",
		"0 0 L * 5#3", "* * * * * *", "0 0 * * 7/2", "*,5 * * * *", "\t0 0 * * SUN-SUN ", "0 0 1 * FRI-SUN", "1JAN - , / *", "0 22-2 * * *", "\xff\x00\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		s, err := Parse(expression)
		if err != nil {
			var refusal *ParseError
			if !errors.As(err, &refusal) || len(err.Error()) > 300 || strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Fatalf("Parse(%q): %q", expression, err)
			}
			return
		}
		again := mustParse(t, s.String())
		if *again != *s {
			t.Fatalf("%q reads back from %q as %+v, was %+v; want %v", expression, s, again, s, *s)
		}
		next, ok := s.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), nil)
		if !ok || !s.Due(next, nil) {
			t.Fatalf("%q: Next = %v, %v", expression, next, ok)
		}
		if o := newOracle(s.String()); !o.suits(next) {
			t.Fatalf("%q: Next = %v, which the oracle does not find due", expression, next)
		}
	})
}
