//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalWidth returns the number of columns of a terminal, 0 if it is unknown.
func terminalWidth(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

func isTerminalDevice(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}
