package blueprint

import (
	"strconv"
	"strings"
)

// Nearest gives the known name that is meant by another one, "" when none is: in
// any letter case up to two slips away, one for a name of five letters or fewer.
func Nearest(name string, known []string) string {
	best, least := "", 3
	for _, one := range known {
		most := 2
		if len(one) <= 5 {
			most = 1
		}
		if slips := Slips(strings.ToLower(name), strings.ToLower(one), most); slips <= most && slips < least {
			best, least = one, slips
		}
	}
	return best
}

// Slips counts the characters that are changed, missing, too many or swapped with
// their neighbour between two words; what is more than most may be any such
// number.
func Slips(a, b string, most int) int {
	from, to := []rune(a), []rune(b)
	if max(len(from)-len(to), len(to)-len(from)) > most {
		return most + 1
	}
	before, last, row := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(from); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(to); j++ {
			changed := last[j-1]
			if from[i-1] != to[j-1] {
				changed++
			}
			row[j] = min(changed, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(to)]
}

// DidYouMean gives "; did you mean ...?" for the end of a message about a name
// that is not known, "" when none of the known is near.
func DidYouMean(name string, known []string) string {
	if meant := Nearest(name, known); meant != "" {
		return "; did you mean " + strconv.Quote(meant) + "?"
	}
	return ""
}
