package main

import (
	"regexp"
	"strings"
)

var itemNumber = regexp.MustCompile(`\[[^\]]*\]`)

// pattern gives the place of a node in its blueprint, "each/call", of the
// address in a run, "each[3]/call".
func pattern(address string) string { return itemNumber.ReplaceAllString(address, "") }

// beside gives the address of another node in the same graph as the one of an
// address. Both places are patterns of the same graph.
func beside(address, place string) string {
	return address[:strings.LastIndex(address, "/")+1] + idOf(place)
}

// around gives the address of the for-each node in whose item a node stands, ""
// for a node of the run's own graph.
func around(address string) string {
	at := strings.LastIndex(address, "/")
	if at < 0 {
		return ""
	}
	return address[:strings.LastIndex(address[:at], "[")]
}

// after gives the address in a key, which is behind the id of the run.
func after(key string) string {
	_, address, _ := strings.Cut(key, "/")
	return address
}

// idOf gives the id of the node of an address.
func idOf(address string) string { return address[strings.LastIndex(address, "/")+1:] }

// before gives the id of the run in a key.
func before(key string) string {
	id, _, _ := strings.Cut(key, "/")
	return id
}
