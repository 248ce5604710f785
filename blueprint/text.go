package blueprint

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hbollon/go-edlib"
)

// IsUnprintable reports whether a character must not appear in a name: control
// characters, line ends, bidirectional overrides and invisible characters. The zero
// width joiner and non-joiner and the tags of flags are part of visible characters.
func IsUnprintable(r rune) bool {
	switch {
	case r == '\u200c', r == '\u200d', r >= 0xe0020 && r <= 0xe007f, unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// OneLine returns a text for display on one line, also of a terminal: line breaks and
// tabs become spaces, other characters of IsUnprintable U+FFFD.
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

// Shorten truncates text to at most most bytes between characters, ending in "…".
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return Prefix(text, most-len("…")) + "…"
}

// Prefix truncates text to at most most bytes between characters.
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

// ShellWord quotes a word for a POSIX shell if necessary.
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

// IsOneLine reports whether a text is UTF-8 without control characters and line separators.
func IsOneLine(source string) bool {
	return utf8.ValidString(source) && !strings.ContainsFunc(source, func(c rune) bool { return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' })
}

// Counted formats a number of things: "1 run", "2 runs".
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "s") {
		what += "e"
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Nearest returns the known name with the smallest edit distance, ignoring case, of at
// most two, or one for names of up to five letters and none for a single letter; ""
// without one.
func Nearest(name string, known []string) string {
	best, least := "", 3
	for _, one := range known {
		most := 2
		switch {
		case len(one) == 1:
			most = 0
		case len(one) <= 5:
			most = 1
		}
		wrong, right := strings.ToLower(name), strings.ToLower(one)
		if longer := utf8.RuneCountInString(wrong) - utf8.RuneCountInString(right); max(longer, -longer) > most {
			continue // cheaper than the distance
		}
		if slips := edlib.OSADamerauLevenshteinDistance(wrong, right); slips <= most && slips < least {
			best, least = one, slips
		}
	}
	return best
}

// DidYouMean returns "; did you mean ...?" for an unknown name, "" if Nearest finds none.
func DidYouMean(name string, known []string) string {
	if meant := Nearest(name, known); meant != "" {
		return "; did you mean " + strconv.Quote(meant) + "?"
	}
	return ""
}

// MaxToolName is the maximum length of a tool name on /mcp, in bytes.
const MaxToolName = 64

// shortOwner is how many characters of an owner's id a tool name contains.
const shortOwner = 8

// ToolName returns the name on /mcp of an api trigger, without the number that makes it
// unique: the slug of its label or else of its blueprint's title. ownerID is the
// creator of another user's trigger and part of the name; "" for one's own.
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

// Slug converts a text to lower-case ASCII words joined by hyphens. It may be "".
func Slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
	return strings.Join(words, "-")
}

// Tool is an api trigger in the list of tools of a user.
type Tool struct {
	TriggerID string `json:"triggerId"`
	Name      string `json:"name"` // of a disabled tool: the name if enabled
	OwnerID   string `json:"ownerId"`
	Enabled   bool   `json:"enabled"`
}
