package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory gives two sizes of a process in bytes: what is resident, and the most
// that was since it started or since ForgetPeak.
func Memory(pid int) (resident, peak int64, err error) {
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
	if resident == 0 {
		return 0, 0, fmt.Errorf("/proc/%d/status tells no size", pid)
	}
	return resident, peak, nil
}

// ForgetPeak makes the kernel forget the most memory that a process ever had.
// Where it refuses, peaks are those since the start.
func ForgetPeak(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}
