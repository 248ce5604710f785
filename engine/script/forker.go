package script

import (
	"os/exec"
	"runtime"
)

// forker starts the children of a pool, all from one thread. The system takes
// the thread that started a process for its parent, and ends the process with
// it; and what that thread has given up its children do not have from their
// first instruction, on all their threads.
type forker chan forking

type forking struct {
	cmd  *exec.Cmd
	done chan error
}

// run starts what it is asked to until f closes.
func (f forker) run() {
	// It is never unlocked: the thread is of no use to others, and ends with this
	// goroutine.
	runtime.LockOSThread()
	problem := shedRights()
	for job := range f {
		if problem != nil {
			job.done <- problem
			continue
		}
		job.done <- job.cmd.Start()
	}
}

// start is cmd.Start.
func (f forker) start(cmd *exec.Cmd) error {
	done := make(chan error, 1)
	f <- forking{cmd, done}
	return <-done
}
