//go:build unix

package command

import (
	"os"

	"golang.org/x/sys/unix"
)

// hasEnded reports whether a file is at its end already. It does not wait, and discards a byte
// that is there.
func hasEnded(file *os.File) bool {
	poll := []unix.PollFd{{Fd: int32(file.Fd()), Events: unix.POLLIN}}
	if count, err := unix.Poll(poll, 0); err != nil || count == 0 {
		return false
	}
	count, err := file.Read(make([]byte, 1))
	return count == 0 && err != nil
}
