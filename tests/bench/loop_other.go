//go:build !linux

package main

import (
	"errors"
	"time"
)

// loop is not implemented: figures from /proc are needed as well.
type loop struct{}

var errLinux = errors.New("bench measures on Linux only")

func newLoop(int) (*loop, error)                        { return nil, errLinux }
func (*loop) close()                                    {}
func (*loop) connect(string) (*connection, error)       { return nil, errLinux }
func (*loop) wait(time.Duration) ([]*connection, error) { return nil, errLinux }
func (*loop) write(*connection) error                   { return errLinux }
func (*loop) read(*connection) error                    { return errLinux }
func ownCPUTime() time.Duration                         { return 0 }
func familyCPUTime() time.Duration                      { return 0 }
