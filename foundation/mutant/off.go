//go:build !mutant

package mutant

// Enabled reports whether this build can have bugs.
const Enabled = false

// Is reports whether this process has the bug: never, in this build.
func Is(Bug) bool { return false }
