//go:build !unix

package terminal

import "os"

// terminalWidth returns 0 for an unknown width.
func terminalWidth(*os.File) int { return 0 }

func isTerminalDevice(f *os.File) bool { return IsTerminal(f) }
