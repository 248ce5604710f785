package script

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// lockDown irrevocably drops every privilege with which a script could do harm.
func lockDown(size int64) error {
	// Killed first when the machine runs out of memory. Failure is harmless.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if err := checkNoCapabilities(); err != nil {
		return err
	}
	if err := closeInherited(); err != nil {
		return fmt.Errorf("closing descriptors: %w", err)
	}
	if err := openStatm(); err != nil {
		return err
	}
	space, data := mapped()
	if space == 0 || data == 0 {
		return errors.New("/proc/self/statm has another form")
	}
	for _, limit := range []struct {
		name     string
		resource int
		most     uint64
	}{
		{"address space", unix.RLIMIT_AS, uint64(space + maxMapped(size))},
		{"data", unix.RLIMIT_DATA, uint64(data + maxMapped(size))},
		{"processor time", unix.RLIMIT_CPU, uint64((2*maxChildTime + MaxTimeout) / time.Second)},
		{"core", unix.RLIMIT_CORE, 0},
		{"file size", unix.RLIMIT_FSIZE, 0},
		{"locked memory", unix.RLIMIT_MEMLOCK, 0},
		{"message queues", unix.RLIMIT_MSGQUEUE, 0},
		{"processes", unix.RLIMIT_NPROC, 0},
		{"files", unix.RLIMIT_NOFILE, 0},
	} {
		if err := lowerLimit(limit.resource, limit.most); err != nil {
			return fmt.Errorf("the limit of %s: %w", limit.name, err)
		}
	}
	if err := filterCalls(); err != nil {
		return fmt.Errorf("the filter of system calls: %w", err)
	}
	return nil
}

// lowerLimit sets a limit unless it is lower already.
func lowerLimit(resource int, most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	most = min(most, now.Max)
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most})
}

// closeInherited closes all descriptors but the standard streams and the two with which
// the runtime waits for timers, which are close-on-exec and so not inherited.
func closeInherited() error {
	time.AfterFunc(time.Hour, func() {}).Stop() // makes the runtime open them
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
			continue // the descriptor of the directory itself
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC != 0 && (target == "anon_inode:[eventpoll]" || target == "anon_inode:[eventfd]") {
			continue
		}
		unix.Close(fd)
	}
	return nil
}

// dropCapabilities makes programs started by the calling thread begin without
// capabilities, and unable to gain any. See capabilities(7).
func dropCapabilities() error {
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) // unknown to old kernels
	bounded := true
	for capability := uintptr(0); ; capability++ {
		held, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, capability, 0, 0, 0)
		if err != nil {
			break // end of the list
		}
		if held == 1 && unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0) != nil {
			bounded = false // not permitted without CAP_SETPCAP
		}
	}
	// Programs gain no capabilities that this thread lacks.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	header, sets, err := capabilities()
	if err != nil {
		return err
	}
	shed := sets
	for i := range shed {
		shed[i].Inheritable = 0
		if !bounded {
			shed[i].Permitted, shed[i].Effective = 0, 0
		}
		// Otherwise they last until exec: root may need them to open the program.
	}
	// Some service managers forbid this call where it is not needed.
	if shed != sets {
		if err := unix.Capset(&header, &shed[0]); err != nil {
			return fmt.Errorf("giving up capabilities: %w", err)
		}
	}
	return nil
}

func capabilities() (header unix.CapUserHeader, sets [2]unix.CapUserData, err error) {
	header.Version = unix.LINUX_CAPABILITY_VERSION_3
	if err = unix.Capget(&header, &sets[0]); err != nil {
		err = fmt.Errorf("reading capabilities: %w", err)
	}
	return header, sets, err
}

// checkNoCapabilities checks this thread; all threads began with the same capabilities.
func checkNoCapabilities() error {
	_, sets, err := capabilities()
	if err == nil && sets != [2]unix.CapUserData{} {
		err = fmt.Errorf("it has capabilities: %+v", sets)
	}
	return err
}
