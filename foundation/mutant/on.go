//go:build mutant

package mutant

import (
	"fmt"
	"os"
	"slices"
)

// Enabled reports whether this build has the tag.
const Enabled = true

// chosen is the bug of this process, "" for none.
var chosen = Bug(os.Getenv(Variable))

// init prints a warning, so that such a build is not used by mistake, and exits on an
// unknown bug, so that a misspelled one does not count as undetected.
func init() {
	known := slices.ContainsFunc(append(All(), OfCluster()...), func(d Description) bool { return d.Bug == chosen })
	switch {
	case chosen == "":
		fmt.Fprintf(os.Stderr, "!!! THIS BUILD CONTAINS DELIBERATE BUGS (-tags mutant). None is enabled. Never use it for real work.\n")
	case known:
		fmt.Fprintf(os.Stderr, "!!! THIS PROCESS HAS A DELIBERATE BUG: %s. IT LOSES DATA ON PURPOSE. Never use it for real work.\n", chosen)
	default:
		fmt.Fprintf(os.Stderr, "%s=%s: there is no such bug\nhint: choose one of these:", Variable, chosen)
		for _, d := range append(All(), OfCluster()...) {
			fmt.Fprintf(os.Stderr, " %s", d.Bug)
		}
		fmt.Fprintln(os.Stderr)
		os.Exit(2)
	}
}

// Is reports whether this process has the bug.
func Is(bug Bug) bool { return bug == chosen }
