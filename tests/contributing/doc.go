// Package contributing tests docs/contributing.md: it adds one of each thing that the
// page describes to a copy of the sources, builds the copy and uses what was added.
package contributing
