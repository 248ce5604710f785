package blueprintdtest

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/clients/go/program"
)

// alive reports whether a process is running. A zombie is not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(after, "Z")
}

var thorough = flag.Bool("thorough", false, "start as many servers at once as make check does")

// TestManyServersLeaveNone starts many servers at once, stops them at once, and logs how
// long that took; then some one after the other.
func TestManyServersLeaveNone(t *testing.T) {
	path, err := program.Find("")
	if err != nil {
		t.Fatal(err)
	}
	crowd := make([]*Server, 20)
	if *thorough {
		crowd = make([]*Server, 100)
	}
	start := func(i int) {
		var err error
		if crowd[i], err = launch(path, (&settings{}).arguments()); err != nil {
			t.Error(err)
		}
	}
	stop := func(i int) {
		if crowd[i] == nil {
			return
		}
		if err := crowd[i].stop(); err != nil || alive(crowd[i].PID) {
			t.Errorf("process %d is still there: %v", crowd[i].PID, err)
		}
	}
	all := func(work func(int)) {
		var group sync.WaitGroup
		began := time.Now()
		took := make([]time.Duration, len(crowd))
		for i := range crowd {
			group.Go(func() { work(i); took[i] = time.Since(began) })
		}
		group.Wait()
		slices.Sort(took)
		t.Logf("%d at once: the median after %s, all after %s", len(took), took[len(took)/2], took[len(took)-1])
	}
	all(start)
	all(stop)
	var starts, stops []time.Duration
	for i := range 10 {
		began := time.Now()
		start(i)
		starts, began = append(starts, time.Since(began)), time.Now()
		stop(i)
		stops = append(stops, time.Since(began))
	}
	slices.Sort(starts)
	slices.Sort(stops)
	t.Logf("one alone: start %s to %s, median %s; stop %s to %s, median %s", starts[0], starts[9], starts[5], stops[0], stops[9], stops[5])
}

// TestKilledTestLeavesNone kills a process that has servers, and is still
// starting more, as kill -9 does.
func TestKilledTestLeavesNone(t *testing.T) {
	const told = "BLUEPRINTDTEST_TELL"
	if os.Getenv(told) != "" { // this is the one to be killed
		for {
			server := Start(t)
			fmt.Printf("pid %d\n", server.PID)
		}
	}
	test := exec.Command(os.Args[0], "-test.run=^TestKilledTestLeavesNone$")
	test.Env = append(os.Environ(), told+"=1")
	output, err := test.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := test.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if pid, found := strings.CutPrefix(lines.Text(), "pid "); found {
			n, err := strconv.Atoi(pid)
			if err != nil {
				t.Fatal(err)
			}
			if pids = append(pids, n); len(pids) == 10 {
				pids = append(pids, children(test.Process.Pid)...) // and the one that is not ready yet
				test.Process.Kill()
			}
		}
	}
	test.Wait()
	if len(pids) < 10 {
		t.Fatalf("%d servers were started, want at least 10", len(pids))
	}
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for slices.ContainsFunc(pids, alive) {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("these are left: %v", slices.DeleteFunc(pids, func(pid int) bool { return !alive(pid) }))
		}
	}
}

// children are the processes that a process has started.
func children(pid int) (found []int) {
	lists, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range lists {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		for _, word := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				found = append(found, n)
			}
		}
	}
	return found
}
