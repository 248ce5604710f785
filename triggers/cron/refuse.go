package cron

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseError describes why an expression or the name of a time zone was refused, for its
// author.
type ParseError struct {
	// Field is minute, hour, day-of-month, month, weekday, expression (for
	// what concerns it as a whole) or timezone.
	Field string
	// Value is the part of the input that is at fault, as it was written.
	Value string
	// Message says what is wrong with it and, where that helps, what to write
	// instead. It quotes the input shortened, with control characters escaped.
	Message string
}

// Error returns the field and the message, as in "hour: 25 is out of range 0-23",
// and the message alone where it concerns the whole.
func (e *ParseError) Error() string {
	if e.Field == whole {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// whole is the field of what concerns all of an expression.
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
		return refuseExpression(macro, "@reboot names no time, and starting the server is no reason to run; %s", known)
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
		return refuseExpression(expression, "%s stands alone", show(texts[0]))
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

// refuseWord returns the error for a value that is neither a number nor a name of the
// field.
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
		return f.refuse(text, "%s asks for one weekday of a month by #, which five fields cannot say; run on each and test the date in the blueprint", show(text))
	case strings.Contains(text, "*"):
		return f.refuse(text, "%s is not known; * stands alone or before a step, as in */5", show(text))
	case isDigits(strings.TrimLeft(text, "+")):
		return f.refuse(text, "%s has a sign; write %s", show(text), show(strings.TrimLeft(text, "+")))
	case strings.Trim(upper, "0123456789LW") == "" && strings.Contains(upper, "W"):
		return f.refuse(text, "%s asks for the nearest working day by W, which five fields cannot say; run on 1-5 and test the date in the blueprint", show(text))
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

// show quotes a piece of input for a message: as it is when it is short and
// plain, else shortened and in quotation marks.
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
