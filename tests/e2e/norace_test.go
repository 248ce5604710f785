//go:build !race

package e2e

// seededDefault is how often seeded calls are made: with as many different numbers of
// processors.
const seededDefault = 3
