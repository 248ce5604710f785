package cron

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxLength is the maximum length of an expression in bytes; one that lists every value of
// every field is shorter.
const maxLength = 1000

// field describes one of the five fields.
type field struct {
	name      string
	low, high int
	last      int      // the end of * and a/n
	names     []string // names[i] stands for low+i
}

// Places of the fields in an expression.
const (
	minuteField = iota
	hourField
	dayField
	monthField
	weekdayField
)

var fields = [5]field{
	minuteField: {name: "minute", low: 0, high: 59, last: 59},
	hourField:   {name: "hour", low: 0, high: 23, last: 23},
	dayField:    {name: "day-of-month", low: 1, high: 31, last: 31},
	monthField: {name: "month", low: 1, high: 12, last: 12,
		names: strings.Fields("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")},
	weekdayField: {name: "weekday", low: 0, high: 7, last: 6,
		names: strings.Fields("SUN MON TUE WED THU FRI SAT")},
}

var macros = map[string]string{
	"@hourly":   "0 * * * *",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@weekly":   "0 0 * * 0",
	"@monthly":  "0 0 1 * *",
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
}

// Parse parses an expression; see the package comment. The error is a *ParseError.
func Parse(expression string) (*Schedule, error) {
	if err := refuseWhole(expression); err != nil {
		return nil, err
	}
	texts := strings.FieldsFunc(expression, isBlank)
	if len(texts) == 1 && strings.HasPrefix(texts[0], "@") {
		expanded, ok := macros[strings.ToLower(texts[0])]
		if !ok {
			return nil, refuseMacro(texts[0])
		}
		texts = strings.Fields(expanded)
	}
	if len(texts) != len(fields) {
		return nil, refuseCount(expression, texts)
	}

	var sets [len(fields)]uint64
	for i := range fields {
		set, err := fields[i].parse(texts[i])
		if err != nil {
			return nil, err
		}
		sets[i] = set
	}
	s := &Schedule{
		text:     strings.Join(texts, " "),
		minutes:  sets[minuteField],
		hours:    uint32(sets[hourField]),
		days:     uint32(sets[dayField]),
		months:   uint16(sets[monthField]),
		weekdays: uint8(sets[weekdayField]&0x7f | sets[weekdayField]>>7),
		both:     strings.HasPrefix(texts[dayField], "*") || strings.HasPrefix(texts[weekdayField], "*"),
		fixed:    !strings.Contains(texts[minuteField]+texts[hourField], "*"),
	}
	if s.never() {
		return nil, refuseNever(texts[dayField], texts[monthField])
	}
	return s, nil
}

// isBlank reports whether a character separates fields.
func isBlank(r rune) bool { return r == ' ' || r == '\t' }

// never reports whether no date can match the expression. Every day of a month falls on
// every weekday at some time, so only days and months that exclude each other have to be
// found; and if either day field is sufficient, some weekday always matches.
func (s *Schedule) never() bool {
	if !s.both {
		return false
	}
	for number, length := range longest {
		if s.months>>number&1 == 1 && s.days&(2<<length-2) != 0 {
			return false
		}
	}
	return true
}

// parse parses one field and returns its values, one bit each.
func (f *field) parse(text string) (uint64, error) {
	var set uint64
	for item := range strings.SplitSeq(text, ",") {
		if item == "*" && text != "*" {
			return 0, f.refuse(item, "a bare * in a list makes the other items redundant; write * alone or remove it")
		}
		low, high, step, err := f.parseItem(item)
		if err != nil {
			return 0, err
		}
		for value := low; value <= high; value += step {
			set |= 1 << value
		}
	}
	return set, nil
}

// parseItem parses one item of a list: every step-th value from low to high.
func (f *field) parseItem(item string) (low, high, step int, err error) {
	if item == "" {
		return 0, 0, 0, f.refuse(item, "an item of the list is empty; remove the extra comma")
	}
	base, stepText, stepped := strings.Cut(item, "/")
	step = 1
	if stepped {
		if step, err = f.parseStep(item, stepText); err != nil {
			return 0, 0, 0, err
		}
	}
	if base == "*" {
		return f.low, f.last, step, nil
	}
	if lowText, highText, isRange := strings.Cut(base, "-"); isRange {
		low, high, err = f.parseRange(base, lowText, highText)
		return low, high, step, err
	}
	if low, err = f.parseValue(base); err != nil {
		return 0, 0, 0, err
	}
	if !stepped {
		return low, low, step, nil
	}
	if low > f.last {
		return 0, 0, 0, f.refuse(item, "%d cannot begin a step; write 0/%d", low, step)
	}
	return low, f.last, step, nil
}

func (f *field) parseStep(item, text string) (int, error) {
	width := f.last - f.low + 1
	switch step, ok := number(text); {
	case text == "":
		return 0, f.refuse(item, "%s lacks a number after the /", show(item))
	case strings.Contains(text, "/"):
		return 0, f.refuse(item, "%s has more than one step", show(item))
	case !isDigits(text):
		return 0, f.refuse(item, "the step %s is not a number", show(text))
	case !ok && strings.HasPrefix(text, "0"):
		return 0, f.refuse(item, "the step %s has more than two digits", show(text))
	case !ok || step > width:
		return 0, f.refuse(item, "the step %s is wider than the field, which has %d values", show(text), width)
	case step == 0:
		return 0, f.refuse(item, "a step of 0 is not allowed; write 1 or more")
	default:
		return step, nil
	}
}

func (f *field) parseRange(text, lowText, highText string) (low, high int, err error) {
	if lowText == "" || highText == "" {
		return 0, 0, f.refuse(text, "%s is not a range; a range has two ends, as in %d-%d", show(text), f.low, f.last)
	}
	if low, err = f.parseValue(lowText); err != nil {
		return 0, 0, err
	}
	if strings.Contains(highText, "-") && isDigits(strings.ReplaceAll(highText, "-", "")) {
		return 0, 0, f.refuse(text, "%s has more than two ends", show(text))
	}
	if high, err = f.parseValue(highText); err != nil {
		return 0, 0, err
	}
	if f.high > f.last { // the weekday, where Sunday has two numbers
		namesSunday := strings.EqualFold(highText, f.names[0])
		switch {
		case low > f.last:
			return 0, 0, f.refuse(text, "%d cannot begin a range; Sunday is 0 there", low)
		case namesSunday && strings.EqualFold(lowText, highText):
			return 0, 0, f.refuse(text, "%s could be one day or seven; write SUN or *", show(text))
		case namesSunday:
			high = f.high
		case high == 0 && low > 0:
			return 0, 0, f.refuse(text, "%s runs backwards; write %d-7, since Sunday ends a range as 7", show(text), low)
		}
	}
	if low > high {
		return 0, 0, f.refuse(text, "%s runs backwards; write %s,%s", show(text), span(low, f.last), span(f.low, high))
	}
	return low, high, nil
}

// parseValue reads a number or a name.
func (f *field) parseValue(text string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(name, text) {
			return f.low + i, nil
		}
	}
	if !isDigits(text) {
		return 0, f.refuseWord(text)
	}
	value, ok := number(text)
	if !ok && strings.HasPrefix(text, "0") {
		return 0, f.refuse(text, "%s has more than two digits", show(text))
	}
	if !ok || value < f.low || value > f.high {
		return 0, f.refuse(text, "%s is out of range %d-%d", show(text), f.low, f.high)
	}
	return value, nil
}

// isDigits reports whether a text is one or more digits.
func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// number reads one or two digits.
func number(text string) (int, bool) {
	if !isDigits(text) || len(text) > 2 {
		return 0, false
	}
	value, err := strconv.Atoi(text)
	return value, err == nil
}

// span formats a range, or a single value if low equals high.
func span(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return strconv.Itoa(low) + "-" + strconv.Itoa(high)
}

// ParseError describes why an expression or the name of a time zone was refused.
type ParseError struct {
	// Field is minute, hour, day-of-month, month, weekday, expression (if the error
	// concerns the whole expression) or timezone.
	Field string
	// Value is the invalid part of the input, as it was written.
	Value string
	// Message says what is wrong and, where possible, what to write instead. It quotes the
	// input shortened, with control characters escaped.
	Message string
}

// Error returns the field and the message, as in "hour: 25 is out of range 0-23", or only
// the message if it concerns the whole expression.
func (e *ParseError) Error() string {
	if e.Field == whole {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// whole is the Field of errors that concern the whole expression.
const whole = "expression"

// order names the five fields, for messages.
const order = "minute, hour, day-of-month, month, weekday"

func (f *field) refuse(value, format string, args ...any) *ParseError {
	return &ParseError{f.name, value, fmt.Sprintf(format, args...)}
}

func refuseExpression(value, format string, args ...any) *ParseError {
	return &ParseError{whole, value, fmt.Sprintf(format, args...)}
}

// refuseWhole checks an expression before it is split.
func refuseWhole(expression string) error {
	if len(expression) > maxLength {
		return refuseExpression(expression, "has %d bytes; at most %d are read", len(expression), maxLength)
	}
	for i, r := range expression {
		switch {
		case r == '\n' || r == '\r':
			return refuseExpression(expression, "has a line break; write it on one line")
		case r != '\t' && (r < ' ' || r > '~'):
			_, width := utf8.DecodeRuneInString(expression[i:])
			character := expression[i : i+width]
			return refuseExpression(character, "has the character %s; write plain letters, digits, blanks and tabs", strconv.QuoteToASCII(character))
		}
	}
	upper := strings.ToUpper(strings.TrimLeft(expression, " \t"))
	if strings.HasPrefix(upper, "TZ=") || strings.HasPrefix(upper, "CRON_TZ=") {
		return refuseExpression(expression, "a time zone is not allowed here; set it in timezone")
	}
	return nil
}

func refuseMacro(macro string) error {
	const known = "use five fields or @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually"
	if strings.EqualFold(macro, "@reboot") {
		return refuseExpression(macro, "@reboot is not supported: it does not name a time; %s", known)
	}
	return refuseExpression(macro, "%s is not known; %s", show(macro), known)
}

func refuseCount(expression string, texts []string) error {
	switch count := len(texts); {
	case count == 0:
		return refuseExpression(expression, "is empty, needs 5 fields: %s", order)
	case strings.EqualFold(texts[0], "@every"):
		return refuseExpression(expression, "@every is not known; write a step, as in */5 * * * * for every five minutes")
	case strings.HasPrefix(texts[0], "@"):
		return refuseExpression(expression, "%s must be the whole expression", show(texts[0]))
	case count == 6:
		return refuseExpression(expression, "has six fields, needs 5: leave out seconds or year, so that there are %s", order)
	case count > 6:
		return refuseExpression(expression, "has %d fields, needs 5: leave out seconds, year, command or comment, so that there are %s", count, order)
	default:
		return refuseExpression(expression, "has %s, needs 5: %s", plural(count, "field"), order)
	}
}

func refuseNever(days, months string) error {
	f := &fields[dayField]
	if months == "*" {
		return f.refuse(days, "the date never comes: no month has day %s", show(days))
	}
	return f.refuse(days, "the date never comes: month %s has no day %s", show(months), show(days))
}

// refuseWord returns the error for a value that is no number and no name of the field.
func (f *field) refuseWord(text string) error {
	upper := strings.ToUpper(text)
	for i := range fields {
		other := &fields[i]
		for _, name := range other.names {
			switch {
			case upper == name:
				return f.refuse(text, "%s is a %s and belongs in field %d, not here", show(text), other.name, i+1)
			case other == f && len(upper) > len(name) && strings.HasPrefix(upper, name) && isLetters(upper):
				return f.refuse(text, "%s is not known; write %s", show(text), name)
			}
		}
	}
	switch {
	case text == "":
		return f.refuse(text, "a value is missing before the /")
	case strings.Contains(text, "?"):
		return f.refuse(text, "? is not known; write *")
	case strings.Contains(text, "#"):
		return f.refuse(text, "%s names one weekday of a month with #, which is not supported; run on each such weekday and test the date in the blueprint", show(text))
	case strings.Contains(text, "*"):
		return f.refuse(text, "%s is not known; * must be alone or before a step, as in */5", show(text))
	case isDigits(strings.TrimLeft(text, "+")):
		return f.refuse(text, "%s has a sign; write %s", show(text), show(strings.TrimLeft(text, "+")))
	case strings.Trim(upper, "0123456789LW") == "" && strings.Contains(upper, "W"):
		return f.refuse(text, "%s names the nearest working day with W, which is not supported; run on 1-5 and test the date in the blueprint", show(text))
	case strings.Trim(upper, "0123456789L") == "":
		return f.refuse(text, "`%s` (last day) is not supported; run on the first of the month, or on 28-31 and test the date in the blueprint", show(text))
	case f.names != nil:
		return f.refuse(text, "%s is not a number %d-%d or a name %s-%s", show(text), f.low, f.high, f.names[0], f.names[len(f.names)-1])
	default:
		return f.refuse(text, "%s is not a number %d-%d", show(text), f.low, f.high)
	}
}

func isLetters(text string) bool {
	return strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

func plural(count int, word string) string {
	if count == 1 {
		return "one " + word
	}
	return strconv.Itoa(count) + " " + word + "s"
}

// show quotes a part of the input for a message: unchanged if it is short and plain,
// otherwise shortened and in quotation marks.
func show(text string) string {
	const longest = 40
	shown := text
	if len(shown) > longest {
		shown = strings.ToValidUTF8(shown[:longest], "") + "..."
	}
	for _, r := range shown {
		if r <= ' ' || r > '~' || r == '"' || r == '\\' {
			return strconv.QuoteToASCII(shown)
		}
	}
	return shown
}
