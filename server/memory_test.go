package server

import (
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blueprintd/engine"
)

func TestMemoryLimitOfCgroups(t *testing.T) {
	for _, c := range []struct {
		name   string
		groups string
		limits map[string]string
		want   int64
	}{
		{"version 2", "0::/a/b\n", map[string]string{"a/b/memory.max": "1000\n"}, 1000},
		{"version 2, a limit above", "0::/a/b\n", map[string]string{"a/b/memory.max": "max\n", "a/memory.max": "2000\n"}, 2000},
		{"version 2, in a container", "0::/../host/scope\n", map[string]string{"memory.max": "3000\n"}, 3000},
		{"version 1", "5:cpu,cpuacct:/x\n4:memory:/x\n0::/\n", map[string]string{"memory/x/memory.limit_in_bytes": "4000\n", "x/memory.max": "1\n"}, 4000},
		{"version 1, in a container", "4:hugetlb,memory:/docker/abc\n", map[string]string{"memory/memory.limit_in_bytes": "5000\n"}, 5000},
		{"none", "0::/\n", map[string]string{"memory.max": "max\n"}, math.MaxInt64},
		{"no cgroups", "", nil, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			write := func(path, text string) {
				path = filepath.Join(root, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if c.groups != "" {
				write("proc/self/cgroup", c.groups)
			}
			for path, text := range c.limits {
				write("sys/fs/cgroup/"+path, text)
			}
			if got := cgroupLimit(root); got != c.want {
				t.Errorf("limit %d, want %d", got, c.want)
			}
		})
	}
}

func TestMemoryLimit(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	if got := MemoryLimit(123); got != 123 {
		t.Errorf("the limit is %d, want 123", got)
	}
	if got, physical := MemoryLimit(0), physicalMemory(); got <= 0 || physical > 0 && got > physical {
		t.Errorf("the limit is %d of %d", got, physical)
	}
	// The shares fit large and small machines.
	for _, limit := range []int64{128 << 20, 64 << 30} {
		s := sharesOf(limit)
		if s.Heap < limit/2 || s.Heap > limit || s.Arriving+s.Decoded+2*s.Inputs+s.Inputs/4+s.Answers > limit/4*3 {
			t.Errorf("%d bytes are divided as %+v, want Heap at least %v, Heap at most %v and at most %v", limit, s, limit/2, limit, limit/4*3)
		}
	}
}

// A server collects once when it becomes idle after work, and not while it works.
func TestIdleness(t *testing.T) {
	at := idleness{last: 1 << 20, collected: 1 << 20}
	for i, step := range []struct {
		what      string
		allocated uint64 // in this interval
		want      bool
	}{
		{"idle since the start", 1000, false},
		{"a little work", idleAllocation, false},
		{"idle after too little to collect", 1000, false},
		{"work", 10 * idleGarbage, false},
		{"work goes on", idleAllocation, false},
		{"idle", idleAllocation - 1, true},
		{"still idle", 1000, false},
		{"slow work, until there is enough", idleGarbage, false},
		{"idle again", 0, true},
	} {
		if got := at.due(at.last + step.allocated); got != step.want {
			t.Errorf("step %d, %s: %v, want %v", i+1, step.what, got, step.want)
		}
	}
}

// What a run and idle connections may take fits a small machine. A large one has no other limits
// than the defaults.
func TestSmallMachine(t *testing.T) {
	const small = 128 << 20
	l := runLimits(small)
	if l.Value > leastValue || l.Outputs > small/16 || l.Record > small/32 {
		t.Errorf("limits of a run %+v of %d bytes, want less", l, small)
	}
	if got, want := runLimits(4<<30), (engine.Limits{Value: 32 << 20, Outputs: 128 << 20, Record: 64 << 20, Tape: 16 << 20, Held: 512 << 20}); got != want {
		t.Errorf("limits of a run on a large machine: %+v, want %+v", got, want)
	}
	for _, c := range []struct {
		name         string
		chosen       int
		files, bytes int64
		want         int
		warning      string
	}{
		{"a large machine", DefaultMaxConnections, 1 << 20, 4 << 30, DefaultMaxConnections, ""},
		{"a small machine", DefaultMaxConnections, 1 << 20, small, 1024, ""},
		{"a small machine, chosen", 5000, 1 << 20, small, 1024, "memory limit"},
		{"a tiny machine", DefaultMaxConnections, 1 << 20, small / 4, 256, "memory limit"},
		{"few files", DefaultMaxConnections, 256, 4 << 30, 80, "open files"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log strings.Builder
			o := Options{Limits: Limits{MaxConnections: c.chosen}, Logger: slog.New(slog.NewTextHandler(&log, nil))}
			o.limitConnections(c.files, c.bytes)
			if o.MaxConnections != c.want || (log.String() == "") != (c.warning == "") || !strings.Contains(log.String(), c.warning) {
				t.Errorf("%d connections, log %q; want %d and %q", o.MaxConnections, log.String(), c.want, c.warning)
			}
		})
	}
}
