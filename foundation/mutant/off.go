//go:build !mutant

package mutant

// Enabled reports whether this build has the tag.
const Enabled = false

// Is reports false.
func Is(Bug) bool { return false }
