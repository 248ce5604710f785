package server

import "golang.org/x/sys/unix"

// physicalMemory returns how many bytes of memory the machine has, 0 when the
// system does not say.
func physicalMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}
