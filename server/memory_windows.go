package server

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// physicalMemory returns the bytes of memory of the machine, 0 if unknown.
func physicalMemory() int64 {
	var status struct { // MEMORYSTATUSEX
		length, load                                           uint32
		totalPhysical, availablePhysical, totalPage, available uint64
		totalVirtual, availableVirtual, availableExtended      uint64
	}
	status.length = uint32(unsafe.Sizeof(status))
	if ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return 0
	}
	return int64(status.totalPhysical)
}
