package script

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// The thread that asked for a child may end while the child lives: that is not
// the end of its parent.
func TestChildrenOutliveThreads(t *testing.T) {
	p := running(t)
	ran, hold := make(chan int), make(chan struct{})
	defer close(hold)
	var ask func()
	ask = func() {
		runtime.LockOSThread() // and never unlocked, so the thread ends with this function
		if unix.Gettid() == os.Getpid() {
			go ask() // the main thread never ends, so this goes on another one
			<-hold
			return
		}
		do(p, script("return 1"))
		ran <- unix.Gettid()
	}
	go ask()
	thread := <-ran
	before := p.idle[0].cmd.Process.Pid
	for path := fmt.Sprintf("/proc/self/task/%d", thread); ; runtime.Gosched() {
		if _, err := os.Stat(path); err != nil {
			break
		}
	}
	if after := pid(t, p, "o"); after != before {
		t.Errorf("process %d is gone with the thread, and %d came", before, after)
	}
}

var rights = regexp.MustCompile(`(?m)^(Cap...|NoNewPrivs):\t(.*)$`)

// rightsOf returns the capabilities in a status file of /proc.
func rightsOf(t *testing.T, path string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, line := range rights.FindAllStringSubmatch(string(data), -1) {
		found[line[1]] = line[2]
	}
	return found
}

// A child has none of what its parent may do as root, and the parent all of it.
func TestCapabilities(t *testing.T) {
	const here = "/proc/thread-self/status"
	before := rightsOf(t, here)
	p := running(t)
	do(p, script("return 1"))
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.idle[0].cmd.Process.Pid))
	if err != nil || len(tasks) < childThreads {
		t.Fatalf("%d threads, %v; want at least %v", len(tasks), err, childThreads)
	}
	none := strings.Repeat("0", 16)
	var effective uint64
	fmt.Sscanf(before["CapEff"], "%x", &effective)
	for _, task := range tasks {
		child := rightsOf(t, fmt.Sprintf("/proc/%d/task/%s/status", p.idle[0].cmd.Process.Pid, task.Name()))
		for _, set := range []string{"CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd"} {
			if set == "CapBnd" && effective&(1<<unix.CAP_SETPCAP) == 0 {
				continue // without CAP_SETPCAP this bound cannot be lowered, and need not be
			}
			if child[set] != none {
				t.Errorf("thread %s has %s %s, want %v", task.Name(), set, child[set], none)
			}
		}
	}

	var threads sync.WaitGroup
	var all sync.WaitGroup
	all.Add(16)
	for range 16 {
		threads.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			all.Done()
			all.Wait() // so that each has a thread of its own, most of them new
			for name, value := range rightsOf(t, here) {
				if value != before[name] {
					t.Errorf("a thread of the parent has %s %s, not %s", name, value, before[name])
				}
			}
		})
	}
	threads.Wait()
}
