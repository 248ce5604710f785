package server

import "golang.org/x/sys/unix"

// physicalMemory returns the bytes of memory of the machine, 0 if unknown.
func physicalMemory() int64 {
	size, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(size)
}
