//go:build linux && (amd64 || arm64)

package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

const probeArgument = "sandbox-probe"

// probe acts as a compromised child: after lockDown it tries harmful system calls and
// reports the results.
func probe() {
	if len(os.Args) != 3 || os.Args[1] != probeArgument {
		return
	}
	runtime.GOMAXPROCS(1)
	startThreads(childThreads)
	if err := lockDown(1); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	results := map[string]string{}
	for name, try := range probes(os.Args[2]) {
		results[name] = fmt.Sprint(try())
	}
	json.NewEncoder(os.Stdout).Encode(results)
	os.Exit(0)
}

// probes lists what must not succeed. Errors alone count.
func probes(secret string) map[string]func() error {
	call := func(number uintptr, arguments ...uintptr) func() error {
		return func() error {
			var a [6]uintptr
			copy(a[:], arguments)
			if _, _, errno := unix.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
				return errno
			}
			return nil
		}
	}
	var room [64]byte
	some := uintptr(unsafe.Pointer(&room))
	parent := uintptr(os.Getppid())
	return map[string]func() error{
		"open":             func() error { _, err := unix.Open(secret, unix.O_RDONLY, 0); return err },
		"open for writing": func() error { _, err := unix.Open(secret+".new", unix.O_CREAT|unix.O_WRONLY, 0o600); return err },
		"environment": func() error {
			_, err := unix.Open(fmt.Sprintf("/proc/%d/environ", parent), unix.O_RDONLY, 0)
			return err
		},
		"openat2":          call(unix.SYS_OPENAT2, ^uintptr(99), some, some, 24),
		"open by handle":   call(unix.SYS_OPEN_BY_HANDLE_AT, ^uintptr(99), some, 0),
		"stat":             func() error { var s unix.Stat_t; return unix.Stat("/", &s) },
		"directory":        func() error { return unix.Chdir("/tmp") },
		"unlink":           func() error { return unix.Unlink(secret) },
		"rename":           func() error { return unix.Rename(secret, secret+".old") },
		"socket":           func() error { _, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); return err },
		"socket of a file": func() error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
		"socket pair":      func() error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
		"execute":          func() error { return unix.Exec("/bin/true", []string{"true"}, nil) },
		"execveat":         call(unix.SYS_EXECVEAT, 0, some, 0, 0, 0),
		"fork":             call(unix.SYS_CLONE, uintptr(unix.SIGCHLD)),
		"thread":           call(unix.SYS_CLONE, unix.CLONE_VM|unix.CLONE_THREAD|unix.CLONE_SIGHAND),
		"clone3":           call(unix.SYS_CLONE3, some, 64),
		"ptrace":           call(unix.SYS_PTRACE, unix.PTRACE_ATTACH, parent),
		"read its memory":  call(unix.SYS_PROCESS_VM_READV, parent, some, 1, some, 1, 0),
		"write its memory": call(unix.SYS_PROCESS_VM_WRITEV, parent, some, 1, some, 1, 0),
		"kill":             func() error { return unix.Kill(int(parent), 0) },
		"kill a thread":    call(unix.SYS_TGKILL, parent, parent, 0),
		"its descriptors":  call(unix.SYS_PIDFD_GETFD, 0, 0, 0),
		"pidfd":            call(unix.SYS_PIDFD_OPEN, parent, 0),
		"raise a limit":    call(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, some, 0),
		"limit of another": call(unix.SYS_PRLIMIT64, parent, unix.RLIMIT_NOFILE, 0, some),
		"duplicate":        call(unix.SYS_DUP, 0),
		"pipe":             call(unix.SYS_PIPE2, some, 0),
		"memory file":      call(unix.SYS_MEMFD_CREATE, some, 0),
		"io_uring":         call(unix.SYS_IO_URING_SETUP, 8, some),
		"bpf":              call(unix.SYS_BPF, 0, some, 64),
		"perf":             call(unix.SYS_PERF_EVENT_OPEN, some, 0, ^uintptr(0), ^uintptr(0), 0),
		"userfaultfd":      call(unix.SYS_USERFAULTFD, 0),
		"keyring":          call(unix.SYS_KEYCTL, 0, 0),
		"namespace":        call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER),
		"mount":            call(unix.SYS_MOUNT, some, some, some, 0, 0),
		"root":             call(unix.SYS_CHROOT, some),
		"module":           call(unix.SYS_INIT_MODULE, some, 0, some),
		"user":             call(unix.SYS_SETUID, 0),
		"process control":  call(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 0),
		"another filter":   call(unix.SYS_SECCOMP, 1, 0, some),
		"terminal":         call(unix.SYS_IOCTL, 0, unix.TIOCSTI, some),
		"shared memory":    call(unix.SYS_SHMGET, 0, 4096, 0o1600),
		"executable memory": func() error {
			_, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE)
			return err
		},
		"made executable": func() error {
			page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ, unix.MAP_ANON|unix.MAP_PRIVATE)
			if err != nil {
				return nil
			}
			return unix.Mprotect(page, unix.PROT_READ|unix.PROT_EXEC)
		},
	}
}

// TestTakenOver shows what is left to one who has the whole child, not just a
// script in it. That a call is refused by the filter shows in the error, which
// is the same for root.
func TestTakenOver(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "master.key")
	if err := os.WriteFile(secret, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(os.Args[0], probeArgument, secret)
	command.Env = []string{}
	var out bytes.Buffer
	command.Stdout = &out
	f := make(forker)
	go f.run()
	err := f.start(command)
	if err == nil {
		err = command.Wait()
	}
	close(f)
	var results map[string]string
	if err != nil || json.Unmarshal(out.Bytes(), &results) != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if len(results) < 40 {
		t.Errorf("only %d attempts, want at least 40", len(results))
	}
	for name, result := range results {
		if result != unix.EPERM.Error() {
			t.Errorf("%s: %s", name, result)
		}
	}
}

// TestFromOutside looks at a child as the kernel shows it.
func TestFromOutside(t *testing.T) {
	t.Setenv("BLUEPRINTD_CANARY", "of the parent")
	inherited, err := syscall.Open("/etc/hostname", syscall.O_RDONLY, 0) // not closed on exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	p := running(t)
	if got := do(p, script("return 1")); got != "1" {
		t.Fatalf("%v, want 1", got)
	}
	child := p.idle[0]
	folder := fmt.Sprintf("/proc/%d/", child.cmd.Process.Pid)

	entries, err := os.ReadDir(folder + "fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		target, _ := os.Readlink(folder + "fd/" + entry.Name())
		switch {
		case entry.Name() <= "2" && strings.HasPrefix(target, "pipe:"):
		case target == "anon_inode:[eventpoll]", target == "anon_inode:[eventfd]", target == folder+"statm": // its own figures
		default:
			t.Errorf("descriptor %s is %s", entry.Name(), target)
		}
	}
	if environment := read(t, folder+"environ"); environment != "" {
		t.Errorf("the environment is %q, want nothing", environment)
	}
	if target, _ := os.Readlink(folder + "cwd"); target != "/" {
		t.Errorf("it works in %s, want /", target)
	}
	if group, err := syscall.Getpgid(child.cmd.Process.Pid); err != nil || group != child.cmd.Process.Pid {
		t.Errorf("its group is %d, %v; want %v", group, err, child.cmd.Process.Pid)
	}
	if score := read(t, folder+"oom_score_adj"); score != "1000\n" {
		t.Errorf("oom_score_adj is %s, want %v", score, "1000\n")
	}
	threads, err := os.ReadDir(folder + "task")
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		status := read(t, folder+"task/"+thread.Name()+"/status")
		for _, want := range []string{"NoNewPrivs:\t1\n", "Seccomp:\t2\n"} {
			if !strings.Contains(status, want) {
				t.Errorf("thread %s has not %q:\n%s", thread.Name(), want, status)
			}
		}
	}
	limits := read(t, folder+"limits")
	for _, want := range []string{"Max processes 0 0", "Max open files 0 0", "Max file size 0 0", "Max core file size 0 0", "Max cpu time 900 900"} {
		if !strings.Contains(strings.Join(strings.Fields(limits), " "), want) {
			t.Errorf("want %s:\n%s", want, limits)
		}
	}
	for _, line := range strings.Split(limits, "\n") {
		if (strings.HasPrefix(line, "Max address space") || strings.HasPrefix(line, "Max data size")) && strings.Contains(line, "unlimited") {
			t.Error(line)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
