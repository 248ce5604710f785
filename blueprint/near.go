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

// DidYouMean gives "; did you mean ...?" for the end of a message about a name
// that is not known, "" when none of the known is near.
func DidYouMean(name string, known []string) string {
	if meant := Nearest(name, known); meant != "" {
		return "; did you mean " + strconv.Quote(meant) + "?"
	}
	return ""
}
