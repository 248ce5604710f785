package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"blueprintd/tests/process"
)

// ticksPerSecond is the unit of times in /proc, the same on every Linux that Go
// runs on.
const ticksPerSecond = 100

// cpuTime returns the CPU time of all threads of a process, in steps of 10 ms.
func cpuTime(pid int) (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name in parentheses may contain blanks; the state follows it.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat has an unknown form", pid)
	}
	var ticks int64
	for _, field := range fields[11:13] { // utime, stime
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// preciseCPU returns the CPU time of the threads that a process has, in nanoseconds.
func preciseCPU(pid int) (sum time.Duration, err error) {
	list, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	for _, name := range list {
		data, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the thread has ended
		}
		if err != nil {
			return 0, err
		}
		first, _, _ := strings.Cut(string(data), " ")
		n, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n)
	}
	return sum, nil
}

// rolledUp returns the resident memory of a process and its anonymous part, in bytes.
func rolledUp(pid int) (resident, anonymous int64, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		into := map[string]*int64{"Rss:": &resident, "Anonymous:": &anonymous}[fields[0]]
		if into == nil {
			continue
		}
		if *into, err = strconv.ParseInt(fields[1], 10, 64); err != nil {
			return 0, 0, err
		}
		*into <<= 10
	}
	return resident, anonymous, nil
}

// settled waits until a process is idle (for quiet, its resident memory has changed by less
// than a hundredth and it used almost no CPU) or until most has passed, and returns its
// resident memory. It does not ask for a garbage collection, because users do not either.
func settled(ctx context.Context, pid int, quiet, most time.Duration) (int64, error) {
	const step = 100 * time.Millisecond
	var size int64
	var used time.Duration
	since := now()
	for end := now().Add(most); ; {
		resident, _, err := process.Memory(pid)
		if err != nil {
			return 0, err
		}
		cpu, err := cpuTime(pid)
		if err != nil {
			return 0, err
		}
		if max(resident-size, size-resident) > size/100 || cpu-used > step/5 {
			size, since = resident, now()
		}
		used = cpu
		if now().Sub(since) >= quiet || now().After(end) {
			return resident, nil
		}
		if !process.Pause(ctx, step) {
			return 0, ctx.Err()
		}
	}
}
