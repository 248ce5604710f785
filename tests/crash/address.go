package main

import (
	"regexp"
	"strings"
)

var itemNumber = regexp.MustCompile(`\[[^\]]*\]`)

// pattern returns the place of a node in its blueprint, "each/call", for its address in a
// run, "each[3]/call".
func pattern(address string) string { return itemNumber.ReplaceAllString(address, "") }

// siblingOf returns the address of another node in the graph of an address. Both places are
// patterns of the same graph.
func siblingOf(address, place string) string {
	return address[:strings.LastIndex(address, "/")+1] + idOf(place)
}

// containerOf returns the address of the for-each node whose item contains a node, "" for a node
// of the run's own graph.
func containerOf(address string) string {
	at := strings.LastIndex(address, "/")
	if at < 0 {
		return ""
	}
	return address[:strings.LastIndex(address[:at], "[")]
}

// addressIn returns the address in a key, which follows the id of the run.
func addressIn(key string) string {
	_, address, _ := strings.Cut(key, "/")
	return address
}

// idOf returns the id of the node of an address.
func idOf(address string) string { return address[strings.LastIndex(address, "/")+1:] }

// runOf returns the id of the run in a key.
func runOf(key string) string {
	id, _, _ := strings.Cut(key, "/")
	return id
}
