//go:build linux && (amd64 || arm64)

package script

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data.
const (
	offsetCall         = 0
	offsetArchitecture = 4
	offsetArguments    = 16
)

const (
	allow  = unix.SECCOMP_RET_ALLOW
	refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	kill   = unix.SECCOMP_RET_KILL_PROCESS
)

// calls are the system calls of a Go program that only computes: locks, memory, clocks,
// timers, its own signals, exit, and I/O on open descriptors. All others fail with
// EPERM, which the runtime tolerates where it can do without.
var calls = append([]uint32{
	unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_RESTART_SYSCALL,
	unix.SYS_READ, unix.SYS_PREAD64, unix.SYS_WRITE, unix.SYS_WRITEV, unix.SYS_EPOLL_PWAIT,
	unix.SYS_MUNMAP, unix.SYS_MADVISE, unix.SYS_BRK,
	unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_GETRUSAGE, unix.SYS_GETRANDOM,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK,
	unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
	unix.SYS_RSEQ, unix.SYS_SET_ROBUST_LIST, // of a starting thread of a C library
}, callsHere...)

// restriction allows a call only with some values of one argument.
type restriction struct {
	call     uint32
	argument int    // index
	is       uint32 // the required value, or
	without  uint32 // the forbidden bits
}

func restrictions() []restriction {
	self := uint32(os.Getpid())
	return []restriction{
		{call: unix.SYS_MMAP, argument: 2, without: unix.PROT_EXEC},
		{call: unix.SYS_MPROTECT, argument: 2, without: unix.PROT_EXEC},
		{call: unix.SYS_TGKILL, argument: 0, is: self},
	}
}

func program() []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	jump := func(test uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, Jt: yes, Jf: no, K: k}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }

	filter := []unix.SockFilter{
		load(offsetArchitecture), jump(unix.BPF_JEQ, architecture, 1, 0), answer(kill),
		load(offsetCall), jump(unix.BPF_JGE, beyondCalls, 0, 1), answer(kill),
	}
	for _, call := range calls {
		filter = append(filter, jump(unix.BPF_JEQ, call, 0, 1), answer(allow))
	}
	for _, r := range restrictions() {
		rule := []unix.SockFilter{load(offsetArguments + 8*uint32(r.argument))} // the lower half is enough for these arguments
		if r.without != 0 {
			rule = append(rule, jump(unix.BPF_JSET, r.without, 1, 0), answer(allow), answer(refuse))
		} else {
			rule = append(rule, jump(unix.BPF_JEQ, r.is, 0, 1), answer(allow), answer(refuse))
		}
		filter = append(filter, jump(unix.BPF_JEQ, r.call, 0, uint8(len(rule))))
		filter = append(filter, rule...)
	}
	return append(filter, answer(refuse))
}

// systemProtectionGap is what this system lacks to confine scripts.
const systemProtectionGap = ""

// filterCalls makes the kernel refuse every other system call of this process for good.
func filterCalls() error {
	filter := program()
	code := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	odd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&code)))
	switch {
	case errno != 0:
		return fmt.Errorf("seccomp: %w (a service manager or a container may have to allow this call)", errno)
	case odd != 0:
		return fmt.Errorf("thread %d cannot be filtered", odd)
	}
	return nil
}
