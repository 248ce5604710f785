//go:build race

package e2e

// seededDefault is how often seeded calls are made where the race detector makes
// everything slow: as often as one has to compare.
const seededDefault = 2
