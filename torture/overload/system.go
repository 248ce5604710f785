package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// now is real time: what is under load is a real process.
func now() time.Time { return time.Now() }

// pause waits, or gives up when ctx ends and says false.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// memory gives two sizes of a process in bytes: what is resident, and the most
// that was since it started or since forgetPeak.
func memory(pid int) (resident, peak int64, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(data)) {
		name, rest, _ := strings.Cut(line, ":")
		into := map[string]*int64{"VmRSS": &resident, "VmHWM": &peak}[name]
		if into == nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		if err != nil {
			return 0, 0, err
		}
		*into = n << 10
	}
	return resident, peak, nil
}

// forgetPeak makes the kernel forget the most memory that a process ever had.
// Where it refuses, peaks are those since the start.
func forgetPeak(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// mebibytes shows a size.
func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", (n+1<<19)>>20) }
