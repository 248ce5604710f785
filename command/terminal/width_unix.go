//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalWidth returns how many columns a terminal has, 0 when it does not tell.
func terminalWidth(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
