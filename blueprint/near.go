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
		if slips := slipsBetween(strings.ToLower(name), strings.ToLower(one), most); slips <= most && slips < least {
			best, least = one, slips
		}
	}
	return best
}

// slipsBetween counts the letters that are changed, missing, too many or swapped
// with their neighbour between two words; what is more than most may be any such
// number.
func slipsBetween(a, b string, most int) int {
	if max(len(a)-len(b), len(b)-len(a)) > most {
		return most + 1
	}
	var before, last []int // the rows above the present one
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			changed := last[j-1]
			if a[i-1] != b[j-1] {
				changed++
			}
			row[j] = min(changed, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// DidYouMean gives "; did you mean ...?" for the end of a message about a name
// that is not known, "" when none of the known is near.
func DidYouMean(name string, known []string) string {
	if meant := Nearest(name, known); meant != "" {
		return "; did you mean " + strconv.Quote(meant) + "?"
	}
	return ""
}
