//go:build !mutant

package mutant

// Possible tells whether this build can have bugs.
const Possible = false

// Is reports whether this process has the bug: never, in this build.
func Is(Bug) bool { return false }
