package cron

import (
	"strconv"
	"strings"
)

// maxLength bounds an expression, in bytes; one that lists every value of every
// field is shorter.
const maxLength = 1000

// field describes one of the five fields.
type field struct {
	name      string
	low, high int
	last      int      // where * and a/n end
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

// Parse reads an expression as the package comment describes it. The error is a
// *ParseError.
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

// never reports whether no date can suit the expression. Every day that some
// month has falls on every weekday sooner or later, so only days and months
// that miss each other are to be found; and where either day field is enough,
// there is always a weekday.
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

// parse reads one field and gives its values, a bit for each.
func (f *field) parse(text string) (uint64, error) {
	var set uint64
	for item := range strings.SplitSeq(text, ",") {
		if item == "*" && text != "*" {
			return 0, f.refuse(item, "a bare * in a list makes the rest of the list idle; write * alone or leave it out")
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

// parseItem reads one item of a list: from low to high, every step-th value.
func (f *field) parseItem(item string) (low, high, step int, err error) {
	if item == "" {
		return 0, 0, 0, f.refuse(item, "an item of the list is empty; look for a comma too many")
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
		return 0, f.refuse(item, "a step of 0 never moves on; write 1 or more")
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

// span writes a range, or the one value that it holds.
func span(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return strconv.Itoa(low) + "-" + strconv.Itoa(high)
}
