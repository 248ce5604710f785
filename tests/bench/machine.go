package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// machine describes the machine, the time and the program of a measurement.
type machine struct {
	Date      string  `json:"date"`
	Commit    string  `json:"commit"`
	Command   string  `json:"command"`
	Processor string  `json:"processor"`
	Cores     int     `json:"cores"`
	Memory    string  `json:"memory"`
	Kernel    string  `json:"kernel"`
	Disk      string  `json:"disk"` // the file system of the databases
	Go        string  `json:"go"`
	Load      string  `json:"loadBefore"`
	Foreign   float64 `json:"foreignPercent"` // of one core, used by other processes during the measurement; negative = not known
	Steal     float64 `json:"stealPercent"`   // of all cores, taken by the host
}

func describeMachine(folder string) machine {
	m := machine{
		Date: now().UTC().Format("2006-01-02 15:04 UTC"), Commit: commit(), Cores: runtime.NumCPU(), Go: runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
		Command: strings.Join(append([]string{"go run ./tests/bench"}, os.Args[1:]...), " "),
		Kernel:  firstLine("/proc/sys/kernel/osrelease"), Load: firstLine("/proc/loadavg"),
		Processor: field("/proc/cpuinfo", "model name"), Memory: field("/proc/meminfo", "MemTotal"), Disk: fileSystem(folder),
	}
	if kilobytes, err := strconv.ParseFloat(strings.TrimSuffix(m.Memory, " kB"), 64); err == nil {
		m.Memory = fmt.Sprintf("%.0f GiB", kilobytes/(1<<20))
	}
	return m
}

// commit returns the commit of the working directory, and whether files differ from it.
func commit() string {
	hash, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := string(bytes.TrimSpace(hash))
	if changes, err := exec.Command("git", "status", "--porcelain", "--", "*.go", "*.sql", "go.mod").Output(); err != nil || len(changes) > 0 {
		name += " with changes"
	}
	return name
}

func firstLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return line
}

// field returns the first value of a name in a file of "name : value" lines.
func field(path, name string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(data)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// fileSystem returns the type and device of a folder's file system.
func fileSystem(folder string) string {
	data, err := os.ReadFile("/proc/mounts")
	if err != nil {
		return "unknown"
	}
	best, name := -1, "unknown"
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		place := strings.TrimSuffix(f[1], "/") + "/"
		if strings.HasPrefix(folder+"/", place) && len(place) >= best {
			best, name = len(place), f[2]+" on "+f[0]
		}
	}
	return name
}

// watch is a reading of the load of the whole machine.
type watch struct {
	at           time.Time
	busy, stolen time.Duration
	ours         time.Duration // of this program and of its children that have ended
}

// watchMachine begins to watch.
func watchMachine() watch {
	w := watch{at: now(), ours: familyCPUTime()}
	line := strings.Fields(firstLine("/proc/stat"))
	for i, field := range line {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			continue
		}
		amount := time.Duration(n) * time.Second / ticksPerSecond
		switch i {
		case 1, 2, 3, 6, 7: // user, nice, system, interrupts
			w.busy += amount
		case 8:
			w.stolen += amount
		}
	}
	return w
}

// since returns the CPU that other processes used since the reading, in percent
// of one core, and the CPU that the host took away (steal), in percent of all
// cores. alive is the CPU time of children that are still running.
func (w watch) since(alive time.Duration) (foreign, steal float64) {
	end := watchMachine()
	passed := max(end.at.Sub(w.at), time.Millisecond)
	others := end.busy - w.busy - (end.ours - w.ours) - alive
	return max(0, 100*others.Seconds()/passed.Seconds()), 100 * (end.stolen - w.stolen).Seconds() / passed.Seconds() / float64(runtime.NumCPU())
}
