//go:build !unix

package terminal

import "os"

// terminalWidth does not know how many columns a terminal has.
func terminalWidth(*os.File) int { return 0 }
