package simulation

import (
	"strconv"
	"strings"
)

// at is one attempt of one node. The node is named by its place: its address with the
// attempt of each for-each node that contains it, as in "loop[3]@2/inner". Attempts of a
// for-each node iterate over the same items, and the results of one say nothing about the
// next.
type at struct {
	place   string
	attempt int
}

// before returns the previous attempt.
func (a at) before() at { return at{a.place, a.attempt - 1} }

// cut splits an address after its first item: "loop", "[3]", "inner". Without an item, it
// returns only the node.
func cut(address string) (loop string, item int, inner string, within bool) {
	head, inner, within := strings.Cut(address, "]/")
	if !within {
		return address, 0, "", false
	}
	open := strings.LastIndexByte(head, '[')
	item, _ = strconv.Atoi(head[open+1:])
	return head[:open], item, inner, true
}

// placeOf returns the place of an address; round returns the attempt of a for-each node by
// its address.
func placeOf(address string, round func(loop string) int) string {
	place, prefix, rest := "", "", address
	for {
		loop, item, inner, within := cut(rest)
		if !within {
			return place + rest
		}
		number := strconv.Itoa(item)
		place += loop + "[" + number + "]@" + strconv.Itoa(round(prefix+loop)) + "/"
		prefix += loop + "[" + number + "]/"
		rest = inner
	}
}

// addressOf returns the address of a place.
func addressOf(place string) string {
	for {
		from := strings.IndexByte(place, '@')
		if from < 0 {
			return place
		}
		to := strings.IndexByte(place[from:], '/')
		place = place[:from] + place[from+to:]
	}
}

// containers returns the for-each nodes that contain an address, the outermost first.
func containers(address string) (loops []string) {
	for at := 0; ; {
		end := strings.Index(address[at:], "]/")
		if end < 0 {
			return loops
		}
		at += end + 2
		loops = append(loops, address[:strings.LastIndexByte(address[:at], '[')])
	}
}

// atItem returns the prefix of the addresses of an item's nodes.
func atItem(loop string, item int) string { return loop + "[" + strconv.Itoa(item) + "]/" }

// atRound returns the prefix of the places of an item's nodes.
func atRound(loop string, item, round int) string {
	return loop + "[" + strconv.Itoa(item) + "]@" + strconv.Itoa(round) + "/"
}
