package server

import (
	"math"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"blueprintd/foundation/fileio"
)

// memoryShares divides the memory that the server may use among what clients
// can fill. The rest is for the database's pages, scripts, answers and garbage.
type memoryShares struct {
	Heap     int64 // the collector's goal
	Arriving int64 // request bodies as they are read
	Decoded  int64 // request bodies that have arrived, as JSON values
	Inputs   int64 // inputs of runs at work
	Answers  int64 // large answers that their readers have not fetched
}

// sharesOf divides limit bytes.
func sharesOf(limit int64) memoryShares {
	return memoryShares{Heap: limit / 4 * 3, Arriving: limit / 16, Decoded: limit / 4, Inputs: limit / 8, Answers: min(mostAnswers, limit/8)}
}

// mostAnswers is how many bytes of large answers wait for their readers, however
// much memory there is.
const mostAnswers = 128 << 20

// MemoryLimit returns how many bytes of memory the server may use: what was
// chosen, else GOMEMLIMIT, else the limit of the cgroup or the memory of the
// machine, whichever is less.
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

// unknownMemory is assumed where the system does not say how much there is.
const unknownMemory = 1 << 30

// ownMemoryLimit returns the value of GOMEMLIMIT, which the runtime has read; 0
// when it is not set or off.
func ownMemoryLimit() int64 {
	if os.Getenv("GOMEMLIMIT") == "" {
		return 0
	}
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return limit
	}
	return 0
}

// LimitMemory sets the collector's goal: close to it, the collector works more
// often instead of letting garbage gather. GOMEMLIMIT is the operator's own
// goal and is left alone, unless --memory-limit is given too.
func LimitMemory(chosen int64) {
	if chosen > 0 || os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(sharesOf(MemoryLimit(chosen)).Heap)
	}
}

// cgroupLimit returns the least memory limit of the process's cgroup and those
// above it, version 1 or 2; math.MaxInt64 when there is none. The files are
// looked up below root.
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
		// In a container the path may be that of the host; its own group is then
		// the root of what is mounted.
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

// BallastSize is how much garbage may gather before it is collected, besides as
// much as is alive; ballastPiece is what it is made of.
const (
	BallastSize  = 32 << 20
	ballastPiece = 1 << 20
)

// Ballast makes the collector think that a small server is a larger one. With
// a few megabytes alive it would otherwise collect a hundred times a second
// under load and spend a fifth of the server's time on it. The memory is never
// touched, so it is an address range and no more; beside much that is alive it
// makes no difference. Whoever sets GOGC decides alone.
//
// It comes in pieces, for the runtime clears, and so touches, whatever begins in
// memory that was used before: that is at most one of them.
//
// The caller keeps it alive as long as it serves.
func Ballast() [][]byte {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	pieces := make([][]byte, BallastSize/ballastPiece)
	for i := range pieces {
		pieces[i] = make([]byte, ballastPiece)
	}
	return pieces
}

// manyRecovered is how many runs, taken up one by one at the start, leave so
// much garbage behind that it is worth giving back at once.
const manyRecovered = 1000

// tidyMemory gives back what recovery needed and nothing holds any more. Left
// to itself, the collector would come to it when as much again has gathered.
func (s *Server) tidyMemory() {
	if s.Engine.Stats().Recovered >= manyRecovered {
		debug.FreeOSMemory()
	}
}
