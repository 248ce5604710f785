package expression

import (
	"cmp"
	"encoding/json"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// number is a parsed number. Whole numbers within 64 bits are exact, however they
// were written; longer ones keep their digits in big and an approximation in float.
type number struct {
	whole   bool
	integer int64
	float   float64
	big     string
}

const (
	exactFloat      = 1 << 53 // largest range in which every whole number is a float64
	maxNumberLength = 100     // characters of a number with a fraction or exponent
)

// number converts a value; ok is false when it is not a number. A number that is
// too long or too large to compute with is a failure.
func (b *budget) number(value any) (n number, ok bool) {
	n, ok, failed := b.parse(value)
	if failed != nil {
		panic(failed)
	}
	return n, ok
}

// parse is number, but returns the failure.
func (b *budget) parse(value any) (n number, ok bool, failed *failure) {
	switch v := value.(type) {
	case int64:
		return wholeNumber(v), true, nil
	case float64:
		return floatNumber(v), true, nil
	case int:
		return wholeNumber(int64(v)), true, nil
	case json.Number:
		n, failed = b.parseNumber(string(v))
		return n, true, failed
	}
	return number{}, false, nil
}

func wholeNumber(i int64) number { return number{whole: true, integer: i, float: float64(i)} }

// parseNumber spends the steps for parsing first: decimals near the ends of the float
// range are slow to round.
func (b *budget) parseNumber(text string) (number, *failure) {
	if i, ok := shortInteger(text); ok {
		return wholeNumber(i), nil
	}
	b.work(parseCost(text) + len(text)/16)
	digits := strings.TrimPrefix(text, "-")
	if digits != "" && strings.Trim(digits, "0123456789") == "" {
		if len(digits) < 20 {
			if i, err := strconv.ParseInt(text, 10, 64); err == nil {
				return wholeNumber(i), nil
			}
		}
		f, _ := strconv.ParseFloat(text[:min(len(text), 400)], 64) // 400 digits are infinite already
		return number{big: text, float: f}, nil
	}
	if len(text) > maxNumberLength {
		return number{}, failf("a number of more than %d characters can only be passed on", maxNumberLength)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return number{}, failf("a number is too large to compute with")
	}
	return floatNumber(f), nil
}

// shortInteger parses the most common numbers faster than strconv.
func shortInteger(text string) (value int64, ok bool) {
	digits := strings.TrimPrefix(text, "-")
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for i := 0; i < len(digits); i++ {
		digit := digits[i] - '0'
		if digit > 9 {
			return 0, false
		}
		value = value*10 + int64(digit)
	}
	if len(digits) < len(text) {
		value = -value
	}
	return value, true
}

// parseCost estimates the steps to parse a decimal number: rounding is slow only
// for long texts and at the ends of the float range.
func parseCost(text string) int {
	mantissa, exponent, found := strings.Cut(strings.ToLower(text[:min(len(text), maxNumberLength)]), "e")
	switch {
	case found && len(exponent) > 3: // a sign and three digits, or three digits
		return 1000
	case len(mantissa) > 40:
		return 500
	case found || len(mantissa) > 20:
		return 32
	default:
		return 1
	}
}

// floatNumber treats 4.0 as 4.
func floatNumber(f float64) number {
	if f == math.Trunc(f) && math.Abs(f) <= exactFloat {
		return number{whole: true, integer: int64(f), float: f}
	}
	return number{float: f}
}

// formatFloat returns the shortest text that parses to f.
func formatFloat(f float64) string {
	if f == 0 {
		return "0" // never "-0"
	}
	format := byte('f')
	if size := math.Abs(f); size < 1e-6 || size >= 1e21 {
		format = 'e'
	}
	return strconv.FormatFloat(f, format, -1, 64)
}

// computed returns a float result, as a whole number where it is one.
func computed(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		panic(failf("the result is not a finite number"))
	}
	if n := floatNumber(f); n.whole {
		return n.integer
	}
	return f
}

// compareNumbers compares two numbers exactly by value.
func compareNumbers(a, b number) int {
	switch {
	case a.whole && b.whole:
		return cmp.Compare(a.integer, b.integer)
	case a.big != "" && b.big != "":
		return compareDigits(a.big, b.big)
	case a.whole && b.big == "":
		return compareMixed(a.integer, b.float)
	case b.whole && a.big == "":
		return -compareMixed(b.integer, a.float)
	default: // one of them is big: the floats differ
		return cmp.Compare(a.float, b.float)
	}
}

// compareDigits compares two whole numbers beyond 64 bits. JSON has no leading
// zeros, so the longer one is the larger.
func compareDigits(a, b string) int {
	negative := strings.HasPrefix(a, "-")
	if negative != strings.HasPrefix(b, "-") {
		if negative {
			return -1
		}
		return 1
	}
	order := cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	if negative {
		return -order
	}
	return order
}

// compareMixed compares a whole number and a float.
func compareMixed(i int64, f float64) int {
	if order := cmp.Compare(float64(i), f); order != 0 || f >= math.MaxInt64 {
		if order == 0 {
			return -1 // f is 2^63, which i cannot reach
		}
		return order
	}
	return cmp.Compare(i, int64(f))
}

// arithmetic computes one of + - * / % ** ^ over two numbers.
func (b *budget) arithmetic(operator string, left, right any) any {
	x, okLeft := b.number(left)
	y, okRight := b.number(right)
	switch {
	case !okLeft || !okRight:
		panic(failf("%s cannot take %s and %s", operator, KindOf(left), KindOf(right)))
	case x.big != "" || y.big != "":
		panic(failf("whole numbers beyond 64 bits can be passed on and compared, but not computed with"))
	}
	switch operator {
	case "+", "-", "*":
		if x.whole && y.whole {
			return wholeArithmetic(operator, x.integer, y.integer)
		}
	case "/", "%":
		if y.float == 0 {
			panic(failf("division by zero"))
		}
		if x.whole && y.whole && y.integer == -1 {
			if operator == "%" {
				return int64(0)
			}
			return wholeArithmetic("*", x.integer, -1)
		}
		if x.whole && y.whole && (operator == "%" || x.integer%y.integer == 0) {
			if operator == "%" {
				return x.integer % y.integer
			}
			return x.integer / y.integer
		}
		if operator == "%" {
			panic(failf("%% takes whole numbers"))
		}
	}
	switch operator {
	case "+":
		return computed(x.float + y.float)
	case "-":
		return computed(x.float - y.float)
	case "*":
		return computed(x.float * y.float)
	case "/":
		return computed(x.float / y.float)
	default:
		return computed(math.Pow(x.float, y.float))
	}
}

// wholeArithmetic computes + - * over 64 bits; overflow is a failure.
func wholeArithmetic(operator string, x, y int64) any {
	result, fits := int64(0), false
	switch operator {
	case "+":
		result = x + y
		fits = (result > x) == (y > 0)
	case "-":
		result = x - y
		fits = (result < x) == (y > 0)
	default:
		high, low := bits.Mul64(magnitude(x), magnitude(y))
		result = x * y
		fits = high == 0 && (low <= math.MaxInt64 || low == 1<<63 && (x < 0) != (y < 0))
	}
	if !fits {
		panic(failf("the result is a whole number beyond 64 bits"))
	}
	return result
}

func magnitude(i int64) uint64 {
	if i < 0 {
		return -uint64(i)
	}
	return uint64(i)
}
