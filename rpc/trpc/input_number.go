package trpc

import (
	"math"
	"strconv"
	"strings"
)

// maxSafeInteger is the largest integer that every JavaScript client can
// count to.
const maxSafeInteger = 1<<53 - 1

// parseInteger reads a JSON number as an integer, exactly: 1e2 and 100.0 are
// 100. whole is false for a fraction. What an int64 cannot hold comes back as
// its nearest end, which is beyond maxSafeInteger.
func parseInteger(number string) (value int64, whole bool) {
	if value, err := strconv.ParseInt(number, 10, 64); err == nil {
		return value, true
	}
	mantissa, exponentText, _ := strings.Cut(strings.ToLower(number), "e")
	digits, negative := strings.CutPrefix(mantissa, "-")
	before, after, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(before+after, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return 0, true
	}
	exponent := 0
	if exponentText != "" {
		parsed, err := strconv.Atoi(exponentText)
		if err != nil && strings.HasPrefix(exponentText, "-") {
			return 0, false
		}
		if err != nil {
			parsed = math.MaxInt32
		}
		exponent = min(max(parsed, math.MinInt32), math.MaxInt32)
	}
	zeros := exponent - len(after) + len(digits) - len(significant)
	if zeros < 0 {
		return 0, false
	}
	limit := int64(math.MaxInt64)
	if negative {
		limit = math.MinInt64
	}
	if len(significant)+zeros > 19 {
		return limit, true
	}
	text := significant + strings.Repeat("0", zeros)
	if negative {
		text = "-" + text
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return limit, true
	}
	return value, true
}
