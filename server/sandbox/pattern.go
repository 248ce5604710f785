package sandbox

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// matching gives a short text that fits a regular expression; false when none is
// found.
func matching(pattern string) (text string, fits bool) {
	const most = 1000
	compiled, err := regexp.Compile(pattern)
	if err != nil || len(pattern) > most {
		return "", false
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var out strings.Builder
	write(&out, parsed)
	return out.String(), out.Len() <= maxLength && compiled.MatchString(out.String())
}

// write writes the least that a part of an expression takes.
func write(out *strings.Builder, part *syntax.Regexp) {
	if out.Len() > maxLength {
		return
	}
	times := 1
	switch part.Op {
	case syntax.OpLiteral:
		out.WriteString(string(part.Rune))
	case syntax.OpCharClass:
		out.WriteRune(plainest(part.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteByte('x')
	case syntax.OpStar, syntax.OpQuest:
		return
	case syntax.OpRepeat:
		times = part.Min
	case syntax.OpAlternate:
		write(out, part.Sub[0])
		return
	}
	for range times {
		for _, inner := range part.Sub {
			write(out, inner)
		}
	}
}

// plainest gives a letter or a digit of a class when it has one.
func plainest(ranges []rune) rune {
	for _, wanted := range "a0Ax1-_" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= wanted && wanted <= ranges[i+1] {
				return wanted
			}
		}
	}
	if len(ranges) == 0 {
		return 'x'
	}
	return ranges[0]
}
