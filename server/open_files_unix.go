//go:build unix

package server

import (
	"math"

	"golang.org/x/sys/unix"
)

// openFiles returns how many files the process may have open; the runtime has raised it to the
// hard limit.
func openFiles() int64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt64
	}
	return int64(min(uint64(limit.Cur), math.MaxInt64))
}
