//go:build !race

package script

// slow is explained in race_test.go.
const slow = false
