//go:build !linux

package main

import (
	"errors"
	"time"
)

// loop exists only on Linux: it needs epoll, and the figures in /proc.
type loop struct{}

var errLinux = errors.New("bench measures on Linux only")

func newLoop(int) (*loop, error)                        { return nil, errLinux }
func (*loop) close()                                    {}
func (*loop) connect(string) (*connection, error)       { return nil, errLinux }
func (*loop) forget(*connection) error                  { return errLinux }
func (*loop) wait(time.Duration) ([]*connection, error) { return nil, errLinux }
func (*loop) write(*connection) error                   { return errLinux }
func (*loop) read(*connection) error                    { return errLinux }
func ownCPUTime() time.Duration                         { return 0 }
func familyCPUTime() time.Duration                      { return 0 }
