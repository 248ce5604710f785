package simulation

import (
	"strconv"
	"strings"
)

// at is one attempt of one node. The node is named by its place: its address,
// and for each for-each node in which it stands also which attempt of that it
// belongs to, as in "loop[3]@2/inner". For the attempts of a for-each node go
// over the same items, and what a node did in one of them says nothing of the
// next.
type at struct {
	place   string
	attempt int
}

// before returns the attempt before this one.
func (a at) before() at { return at{a.place, a.attempt - 1} }

// cut splits an address behind its first item: "loop", "[3]", "inner". Without
// an item the node is all there is.
func cut(address string) (loop string, item int, inner string, within bool) {
	head, inner, within := strings.Cut(address, "]/")
	if !within {
		return address, 0, "", false
	}
	open := strings.LastIndexByte(head, '[')
	item, _ = strconv.Atoi(head[open+1:])
	return head[:open], item, inner, true
}

// placed returns the place of an address; round tells at which attempt a for-each
// node is, by its address.
func placed(address string, round func(loop string) int) string {
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

// holders returns the for-each nodes in which an address stands, the outermost first.
func holders(address string) (loops []string) {
	for at := 0; ; {
		end := strings.Index(address[at:], "]/")
		if end < 0 {
			return loops
		}
		at += end + 2
		loops = append(loops, address[:strings.LastIndexByte(address[:at], '[')])
	}
}

// atItem returns the beginning of the addresses of an item's nodes.
func atItem(loop string, item int) string { return loop + "[" + strconv.Itoa(item) + "]/" }

// atRound returns the beginning of the places of an item's nodes.
func atRound(loop string, item, round int) string {
	return loop + "[" + strconv.Itoa(item) + "]@" + strconv.Itoa(round) + "/"
}
