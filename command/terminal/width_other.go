//go:build !unix

package terminal

import "os"

// terminalWidth returns 0 for an unknown width.
func terminalWidth(*os.File) int { return 0 }
