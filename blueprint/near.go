package blueprint

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hbollon/go-edlib"
)

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
