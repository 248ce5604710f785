//go:build unix

package command

import (
	"os"

	"golang.org/x/sys/unix"
)

// hasEnded reports whether a read of the file would return io.EOF at once. It does not block.
// If there is input, its first byte is discarded.
func hasEnded(file *os.File) bool {
	poll := []unix.PollFd{{Fd: int32(file.Fd()), Events: unix.POLLIN}}
	if count, err := unix.Poll(poll, 0); err != nil || count == 0 {
		return false
	}
	count, err := file.Read(make([]byte, 1))
	return count == 0 && err != nil
}
