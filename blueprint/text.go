package blueprint

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hbollon/go-edlib"
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

// Nearest returns the known name that another one is a misspelling of, or "": one
// that differs, in any letter case, in at most two characters that are changed,
// missing, superfluous or swapped; in one, for a name of at most five letters.
func Nearest(name string, known []string) string {
	best, least := "", 3
	for _, one := range known {
		most := 2
		if len(one) <= 5 {
			most = 1
		}
		wrong, right := strings.ToLower(name), strings.ToLower(one)
		if longer := utf8.RuneCountInString(wrong) - utf8.RuneCountInString(right); max(longer, -longer) > most {
			continue // which costs nothing to see
		}
		if slips := edlib.OSADamerauLevenshteinDistance(wrong, right); slips <= most && slips < least {
			best, least = one, slips
		}
	}
	return best
}

// DidYouMean returns "; did you mean ...?" for the end of a message about a name
// that is not known, "" when none of the known is near.
func DidYouMean(name string, known []string) string {
	if meant := Nearest(name, known); meant != "" {
		return "; did you mean " + strconv.Quote(meant) + "?"
	}
	return ""
}

// MaxToolName is the maximum length of a tool name on /mcp, in bytes.
const MaxToolName = 64

// shortOwner is how many characters of an owner's id stand in a tool name.
const shortOwner = 8

// ToolName returns the name on /mcp of an api trigger without the number that a
// second tool of that name gets: the slug of its label, or of its blueprint's
// title without one. ownerID is "" for one's own trigger and the trigger's creator
// for another user's, which is part of the name then.
func ToolName(label, title, ownerID string) string {
	suffix := ""
	if ownerID != "" {
		suffix = "_by_" + ownerID[:min(len(ownerID), shortOwner)]
	}
	for _, text := range []string{label, title, "blueprint"} {
		if name := Slug(text); name != "" {
			return strings.TrimRight(name[:min(len(name), MaxToolName-len(suffix))], "-") + suffix
		}
	}
	return ""
}

// Slug reduces a text to characters that names of files and tools may have: lower-case
// ASCII letters, digits, and hyphens between words. It may be "".
func Slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
	return strings.Join(words, "-")
}

// Tool is an api trigger as the list of tools shows it to one user.
type Tool struct {
	TriggerID string `json:"triggerId"`
	Name      string `json:"name"` // of one that is not enabled: the name that enabling it would give
	OwnerID   string `json:"ownerId"`
	Enabled   bool   `json:"enabled"`
}
