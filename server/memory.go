package server

import (
	"context"
	"math"
	"os"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"blueprintd/engine"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/fileio"
)

// memoryShares divides the memory limit among what clients can fill. The rest is for the
// pages of the database, scripts and garbage.
type memoryShares struct {
	Heap     int64 // the collector's goal
	Arriving int64 // request bodies being read
	Decoded  int64 // request bodies as JSON values
	Inputs   int64 // inputs of running executions
	Answers  int64 // large answers that clients have not read
	Mail     int64 // mail being received
	Open     int64 // open connections
}

func sharesOf(limit int64) memoryShares {
	return memoryShares{Heap: limit / 4 * 3, Arriving: limit / 16, Decoded: limit / 4, Inputs: limit / 8, Answers: min(maxAnswers, limit/8), Mail: limit / 8, Open: limit / 4}
}

// maxAnswers bounds memoryShares.Answers.
const maxAnswers = 128 << 20

// runLimits returns the limits of a run that fit a memory limit. Values are encoded, encrypted
// and stored, so that a run takes several times as much memory as its values.
func runLimits(limit int64) engine.Limits {
	part := func(most, part int64) int { return int(min(most, limit/part)) }
	return engine.Limits{
		Value: max(part(32<<20, 32), leastValue), Outputs: part(128<<20, 16), Record: part(64<<20, 32), Tape: part(16<<20, 64),
		Held: int(min(sharesOf(limit).Inputs, math.MaxInt)),
	}
}

// leastValue fits a body of the default --max-body, which may be accepted.
const leastValue = 5 << 20

// MemoryLimit returns the number of bytes of memory that the server may use: chosen unless
// it is 0, then GOMEMLIMIT, then the lower of the cgroup's limit and physical memory.
func MemoryLimit(chosen int64) int64 {
	if chosen > 0 {
		return chosen
	}
	if own := ownMemoryLimit(); own > 0 {
		return own
	}
	limit := physicalMemory()
	if limit <= 0 {
		limit = unknownMemory
	}
	return min(limit, cgroupLimit("/"))
}

// unknownMemory is assumed if the physical memory is unknown.
const unknownMemory = 1 << 30

// ownMemoryLimit returns the value of GOMEMLIMIT; 0 if it is not set or off.
func ownMemoryLimit() int64 {
	if os.Getenv("GOMEMLIMIT") == "" {
		return 0
	}
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return limit
	}
	return 0
}

// LimitMemory sets the collector's goal. GOMEMLIMIT has precedence, unless chosen is set.
func LimitMemory(chosen int64) {
	if chosen > 0 || os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(sharesOf(MemoryLimit(chosen)).Heap)
	}
}

// cgroupLimit returns the lowest memory limit of the process's cgroup and its parents,
// version 1 or 2; math.MaxInt64 if there is none. The files are read below root.
func cgroupLimit(root string) int64 {
	limit := int64(math.MaxInt64)
	data, err := fileio.Read(path.Join(root, "proc/self/cgroup"), 64<<10)
	if err != nil {
		return limit
	}
	for line := range strings.Lines(string(data)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		if len(parts) != 3 {
			continue
		}
		folder, file := "sys/fs/cgroup", "memory.max"
		switch {
		case parts[1] == "":
		case slices.Contains(strings.Split(parts[1], ","), "memory"):
			folder, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		// In a container the path may be that of the host; the own group is then
		// the root of the mount.
		for at := path.Join("/", parts[2]); ; at = path.Dir(at) {
			if text, err := fileio.Read(path.Join(root, folder, at, file), 64); err == nil {
				if value, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && value > 0 {
					limit = min(limit, value)
				}
			}
			if at == "/" {
				break
			}
		}
	}
	return limit
}

// The ballast is allocated in pieces of ballastPiece bytes.
const (
	BallastSize  = 20 << 20
	ballastPiece = 1 << 20
)

// Collector tunes the garbage collector of a process that serves, which must keep it reachable.
type Collector struct {
	percent int // GOGC after Settle; 0 = the collector is left as it is
	ballast [][]byte
}

// startPercent is GOGC during the start. A heap of less than 8 MB is then not collected, which
// is enough for most servers.
const startPercent = 200

// NewCollector makes collections rare until Settle, so that the start is fast. If GOGC is set,
// neither does anything.
func NewCollector() *Collector {
	if os.Getenv("GOGC") != "" {
		return &Collector{}
	}
	return &Collector{percent: debug.SetGCPercent(startPercent)}
}

// Settle returns the garbage of the start to the operating system, and holds BallastSize bytes
// that raise the live heap as seen by the collector. With a few live megabytes it would
// otherwise run a hundred times a second under load and take a fifth of the CPU. The ballast is
// never touched, so it uses only address space. It is allocated in pieces because the runtime
// clears, and so touches, an allocation that begins in used memory: that is at most one of them.
func (c *Collector) Settle() {
	if c.percent == 0 {
		return
	}
	debug.SetGCPercent(-1) // FreeOSMemory collects
	c.ballast = make([][]byte, BallastSize/ballastPiece)
	for i := range c.ballast {
		c.ballast[i] = make([]byte, ballastPiece)
	}
	debug.FreeOSMemory()
	debug.SetGCPercent(c.percent)
}

// A server is idle if it has allocated less than idleAllocation bytes in an idleInterval.
// It then collects if it has allocated at least idleGarbage bytes since it last did.
const (
	idleInterval   = time.Second
	idleAllocation = 256 << 10
	idleGarbage    = 4 << 20
)

// Trim returns memory to the operating system whenever the server becomes idle, until ctx
// ends. The runtime would take minutes: it forces a collection every two, and then returns
// memory slowly.
func (c *Collector) Trim(ctx context.Context) {
	if c.percent == 0 {
		return
	}
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	allocated := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	begun := allocated()
	at := idleness{last: begun, collected: begun}
	for clock.Sleep(ctx, idleInterval) {
		if at.due(allocated()) {
			debug.FreeOSMemory()
		}
	}
}

// idleness tracks the bytes that a process has allocated since its start.
type idleness struct{ last, collected uint64 }

// due reports whether to collect now. Call it once in each idleInterval.
func (r *idleness) due(allocated uint64) bool {
	quiet := allocated-r.last < idleAllocation
	r.last = allocated
	if !quiet || allocated-r.collected < idleGarbage {
		return false
	}
	r.collected = allocated
	return true
}
