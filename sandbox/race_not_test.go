//go:build !race

package sandbox

// slow is explained in race_test.go.
const slow = false
