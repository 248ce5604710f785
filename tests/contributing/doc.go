// Package contributing tests docs/contributing.md: it adds one of each thing that the
// page describes, in an overlay over the sources, builds the result and uses it.
package contributing
