package store

import (
	"strings"
	"unicode"
)

// fold maps texts that differ only in letter case, by the simple case folding of
// Unicode, to the same text.
func fold(text string) string { return strings.Map(foldRune, text) }

// foldRune returns the smallest of the characters that differ only in case: K for k and
// for the Kelvin sign.
func foldRune(r rune) rune {
	if r < unicode.MaxASCII {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	smallest := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		smallest = min(smallest, next)
	}
	return smallest
}

// slug returns a name for addresses: letters and digits in lower case, joined by
// hyphens; never empty.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return "x"
	}
	return strings.Join(words, "-")
}
