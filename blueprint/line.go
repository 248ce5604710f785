package blueprint

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsUnprintable tells of a character that does not belong in a name, which stands in
// a line with others: it controls a terminal, ends the line, turns the writing
// round, or is not seen at all. What joins letters and signs to one is none: the
// zero width joiner and non-joiner, and the tags of flags.
func IsUnprintable(r rune) bool {
	switch {
	case r == '\u200c', r == '\u200d', r >= 0xe0020 && r <= 0xe007f, unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// OneLine returns a text as it can be shown in a line, also on a terminal: blanks
// stand for line breaks and tabs, U+FFFD for other characters that IsUnprintable
// tells of.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return ' '
		case IsUnprintable(r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// Shorten returns text cut to most bytes at a character's end, with "…" behind what
// was cut.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return Prefix(text, most-len("…")) + "…"
}

// Prefix returns the first bytes of text, at most so many, up to a character's end.
func Prefix(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := max(most, 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// ShellWord writes a word as a shell reads it.
func ShellWord(word string) string {
	special := func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("@%+=:,./_-", r)
	}
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// IsOneLine reports whether a text is UTF-8 without line breaks and other control
// characters.
func IsOneLine(source string) bool {
	return utf8.ValidString(source) && !strings.ContainsFunc(source, func(c rune) bool { return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' })
}

// Counted says how many there are of something: "1 run", "2 runs".
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
