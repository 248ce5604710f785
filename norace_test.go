//go:build !race

package main

// seededDefault is how often seeded calls are made: with as many different numbers of
// processors.
const seededDefault = 3
