package server

import "golang.org/x/sys/unix"

// physicalMemory returns how many bytes of memory the machine has, 0 when the
// system does not say.
func physicalMemory() int64 {
	size, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(size)
}
