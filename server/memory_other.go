//go:build !linux && !darwin && !windows

package server

// physicalMemory returns 0, for unknown.
func physicalMemory() int64 { return 0 }
