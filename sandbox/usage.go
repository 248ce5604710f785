//go:build linux || darwin

package sandbox

import (
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// peakMemory gives the most memory that this process ever had, in bytes.
func peakMemory() int64 {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return int64(usage.Maxrss) * unitOfPeak()
}

// peakOf gives the same of a process that has ended.
func peakOf(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return int64(usage.Maxrss) * unitOfPeak()
}

// unitOfPeak is in what the system counts: KiB on Linux, bytes on macOS.
func unitOfPeak() int64 {
	if runtime.GOOS == "darwin" {
		return 1
	}
	return 1 << 10
}

// processorTime gives how long this process has computed.
func processorTime() time.Duration {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// measuresMemory tells that peakMemory is known here.
const measuresMemory = true

// killedBySystem tells whether a process was killed, and not by its parent:
// for want of memory on the machine, or after all its processor time.
func killedBySystem(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
