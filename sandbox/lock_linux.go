package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// lockDown gives up everything that a script could do harm with. Nothing of it
// can be taken back.
func lockDown(size int64) error {
	// The first to be ended when the machine has no memory left. Where this
	// cannot be said, the script is no more dangerous.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	space, data, err := mapped()
	if err != nil {
		return err
	}
	if err := closeInherited(); err != nil {
		return fmt.Errorf("closing descriptors: %w", err)
	}
	room := uint64(size)*roomOfSize + roomOfRuntime
	for _, limit := range []struct {
		name     string
		resource int
		most     uint64
	}{
		{"address space", unix.RLIMIT_AS, space + room},
		{"data", unix.RLIMIT_DATA, data + room},
		{"processor time", unix.RLIMIT_CPU, uint64((2*maxChildTime + MaxTimeout) / time.Second)},
		{"core", unix.RLIMIT_CORE, 0},
		{"file size", unix.RLIMIT_FSIZE, 0},
		{"locked memory", unix.RLIMIT_MEMLOCK, 0},
		{"message queues", unix.RLIMIT_MSGQUEUE, 0},
		{"processes", unix.RLIMIT_NPROC, 0},
		{"files", unix.RLIMIT_NOFILE, 0},
	} {
		if err := lower(limit.resource, limit.most); err != nil {
			return fmt.Errorf("the limit of %s: %w", limit.name, err)
		}
	}
	if err := filterCalls(); err != nil {
		return fmt.Errorf("the filter of system calls: %w", err)
	}
	return nil
}

const (
	// roomOfSize is how much address space a child may take for each unit of its
	// size: the values, what is being copied, and what the allocator keeps.
	roomOfSize = 3 * DefaultMemory
	// roomOfRuntime is for its stack, and for a frame that it reads.
	roomOfRuntime = maxGoStack + 64<<20
)

// lower sets a limit unless it is lower already.
func lower(resource int, most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	most = min(most, now.Max)
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most})
}

// closeInherited closes every descriptor but the standard streams and the two
// with which the runtime waits for timers. Those it has opened itself, so they
// would not have come through the start of a program; what was inherited has.
func closeInherited() error {
	time.AfterFunc(time.Hour, func() {}).Stop() // so that it has them by now
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd < 3 {
			continue
		}
		target, err := os.Readlink("/proc/self/fd/" + entry.Name())
		if err != nil {
			continue // that of the folder itself
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC != 0 && (target == "anon_inode:[eventpoll]" || target == "anon_inode:[eventfd]") {
			continue
		}
		unix.Close(fd)
	}
	return nil
}

// mapped gives how much address space and data this process has, in bytes.
func mapped() (space, data uint64, err error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 6 {
		return 0, 0, errors.New("/proc/self/statm has another form")
	}
	space, err = strconv.ParseUint(fields[0], 10, 64)
	if err == nil {
		data, err = strconv.ParseUint(fields[5], 10, 64)
	}
	page := uint64(os.Getpagesize())
	return space * page, data * page, err
}
