//go:build unix

package main

import (
	"fmt"
	"syscall"
)

// raiseFiles raises the limit of open files of this process to at least wanted.
func raiseFiles(wanted uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if uint64(limit.Max) < wanted {
		return fmt.Errorf("only %d files may be open, and %d are needed: raise the limit (ulimit -Hn) or take fewer -connections", limit.Max, wanted)
	}
	limit.Cur = limit.Max
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
}
