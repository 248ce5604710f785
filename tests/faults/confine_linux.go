package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
)

// confinedTo is the variable with the folder of a sweep that runs in namespaces of its own.
const confinedTo = "SWEEP_CONFINED_TO"

// endSignals are the signals that end a sweep after the current cases.
var endSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// confine runs this program again as the first process of its own namespaces of processes
// and mounts, and returns its exit code. However it ends, even by SIGKILL, the
// kernel then kills its servers and takes its disks away.
func confine() int {
	folder, err := os.MkdirTemp("", "sweep")
	if err != nil {
		fmt.Fprintln(os.Stderr, "sweep:", err)
		return 1
	}
	defer os.Remove(folder) // its content disappeared with the mount
	runtime.LockOSThread()  // Pdeathsig is sent when the thread ends
	c := exec.Command("/proc/self/exe", os.Args[1:]...)
	c.Env = append(os.Environ(), confinedTo+"="+folder)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, endSignals...)
	if err := c.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "sweep: it needs Linux and the right to mount:", err)
		return 2
	}
	go func() {
		for s := range signals {
			_ = c.Process.Signal(s)
		}
	}()
	if err := c.Wait(); err != nil {
		if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.Exited() {
			return ended.ExitCode()
		}
		fmt.Fprintln(os.Stderr, "sweep:", err)
		return 1
	}
	return 0
}

// useMemory mounts a folder in memory: the remaining files of a disk are copied there for
// the next server, and the speed of that does not matter.
func useMemory(folder string) error {
	return os.NewSyscallError("mount", syscall.Mount("sweep", folder, "tmpfs", 0, "mode=0700"))
}
