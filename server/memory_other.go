//go:build !linux && !darwin && !windows

package server

// physicalMemory returns 0: it is not known how to ask this system.
func physicalMemory() int64 { return 0 }
