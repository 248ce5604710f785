package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"blueprintd/clients/go/program"
	"blueprintd/tests/faultfs"
)

// faultCase is one case: a fault at one point.
type faultCase struct {
	number int // of the point, counted through all phases
	mode   string
	seed   uint64
	phase  *phase
	order  int // of the phase

	mu            sync.Mutex
	failedAt      faultfs.Point // where the fault happened; number 0 = nowhere
	failedTime    time.Time
	faultsStopped bool
	process       *program.Process
	killPending   bool // the fault came before the process id was known

	result result
}

// result is the outcome of a case.
type result struct {
	wrong    []string
	doubtful int
	ended    bool // the server ended by itself
	refused  int  // changes refused with 503
	log      string
}

func (c *faultCase) fail(format string, args ...any) {
	c.result.wrong = append(c.result.wrong, fmt.Sprintf(format, args...))
}

// fault decides what happens at a point. It is called under the lock of the disk.
func (c *faultCase) fault(p faultfs.Point) faultfs.Decision {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.faultsStopped:
		return faultfs.Decision{}
	case c.failedAt.Number > 0:
		if c.mode == "full" && p.Kind == faultfs.Write {
			return faultfs.Decision{Error: syscall.ENOSPC}
		}
		return faultfs.Decision{}
	case p.Number < c.number-c.phase.before || c.mode == "short" && p.Size < 2:
		return faultfs.Decision{}
	}
	c.failedAt, c.failedTime = p, now()
	switch c.mode {
	case "kill", "cut":
		c.kill()
		return faultfs.Decision{Freeze: true}
	case "kill-after":
		c.kill()
		return faultfs.Decision{FreezeAfter: true}
	case "eio":
		return faultfs.Decision{Error: syscall.EIO}
	case "enospc", "full":
		return faultfs.Decision{Error: syscall.ENOSPC}
	case "short":
		return faultfs.Decision{Short: p.Size / 2}
	}
	return faultfs.Decision{}
}

// kill kills the server, now or as soon as its process id is known. The caller holds
// c.mu.
func (c *faultCase) kill() {
	if c.process == nil {
		c.killPending = true
	} else {
		c.process.Signal(os.Kill)
	}
}

func (c *faultCase) setProcess(p *program.Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process = p; c.killPending {
		p.Signal(os.Kill)
	}
}

func (c *faultCase) faultPoint() (faultfs.Point, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failedAt, c.failedTime
}

func (c *faultCase) stopFaults() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faultsStopped = true
}

func (c *faultCase) kills() bool {
	return c.mode == "kill" || c.mode == "kill-after" || c.mode == "cut"
}

// operationsAfterFault is the number of operations after a fault that leaves the server alive. The
// last of them must succeed.
const operationsAfterFault = 6

// run runs the phase up to the point, then the operations after the fault, and verifies the
// remaining files. An error is one of this program or of the machine.
func (c *faultCase) run(w *worker) error {
	known := c.phase.expected.clone()
	d := faultfs.New(c.phase.image)
	d.Fail(c.fault)
	p, err := w.start(d, known)
	if err != nil {
		return err
	}
	c.setProcess(p.server.Process)
	images := c.runPhase(p)
	c.result.log = p.server.logTail()
	if err := p.close(); err != nil {
		return err
	}
	if images == nil { // the cut is decided only after all writes have stopped
		images = c.remainingFiles(d)
	}
	for _, image := range images {
		if err := c.verify(w, image, known); err != nil {
			return err
		}
	}
	return nil
}

// remainingFiles returns the files that the next server finds.
func (c *faultCase) remainingFiles(d *faultfs.Disk) []faultfs.Image {
	random := rand.New(rand.NewPCG(c.seed, uint64(c.number)))
	failed, _ := c.faultPoint()
	switch {
	case c.mode == "cut":
		return []faultfs.Image{d.Cut(faultfs.Losses()[random.IntN(len(faultfs.Losses()))], random)}
	case c.kills():
		return []faultfs.Image{d.Now()}
	case failed.Kind == faultfs.Sync || failed.Kind == faultfs.SyncFolder:
		return []faultfs.Image{d.Now(), d.Cut(faultfs.LoseAll, random)}
	case c.number%2 == 0:
		return []faultfs.Image{d.Cut(faultfs.LoseAll, random)}
	}
	return []faultfs.Image{d.Now()}
}

// runPhase runs the phase until the server has ended. It returns the remaining files, or nil if
// they are to be taken at the end.
func (c *faultCase) runPhase(p *instance) []faultfs.Image {
	if p.waitReady(phaseName(c.order)) {
		c.operate(p)
	}
	if c.kills() {
		if failed, _ := c.faultPoint(); failed.Number > 0 {
			p.server.Gone(5 * time.Second)
			return nil
		}
	}
	c.stop(p)
	return nil
}

// operate runs the operations of the phase, and after a fault operationsAfterFault more.
func (c *faultCase) operate(p *instance) {
	left, last := operationsAfterFault, answer{}
	p.client.onResponse = func(what string, a answer) {
		last = a
		failed, _ := c.faultPoint()
		switch {
		case a.Err != nil || a.OK():
		case failed.Number == 0:
			c.fail("%s was answered %s before the fault", what, a)
		case a.Status != 503:
			c.fail("%s was answered %s", what, a)
		case a.RetryAfter == 0:
			c.fail("%s was answered 503 without Retry-After: %s", what, a)
		default:
			c.result.refused++
		}
	}
	p.operate(c.phase, func() bool {
		failed, _ := c.faultPoint()
		if failed.Number == 0 {
			return last.Err == nil
		}
		left--
		if c.mode == "full" && left == operationsAfterFault/2 {
			c.stopFaults()
		}
		return left > 0 && !c.kills() && last.Err == nil
	})
	c.stopFaults()
	if failed, _ := c.faultPoint(); failed.Number > 0 && !c.kills() && !last.OK() {
		c.recover(p)
	}
}

// recover waits until the server accepts changes again, or ends.
func (c *faultCase) recover(p *instance) {
	for end := now().Add(maxWait); now().Before(end); {
		var last answer
		p.client.onResponse = func(_ string, a answer) { last = a }
		p.client.createBlueprint(fmt.Sprintf("%s-%d", p.client.name, p.client.step))
		p.client.step++
		if last.OK() || p.server.Gone(50*time.Millisecond) {
			return
		}
	}
	c.fail("5 s after the fault it neither accepts changes nor has ended")
}

// stop stops a server, which may have ended by itself, and checks how it ends.
func (c *faultCase) stop(p *instance) {
	failed, at := c.faultPoint()
	// The journal of the copy that an upgrade makes is not needed: the copy is verified
	// and synced once it is complete.
	ofCopy := strings.HasSuffix(failed.Name, ".partial-journal")
	fatal := failed.Number > 0 && failed.Kind == faultfs.Sync && !ofCopy && !c.kills() && c.mode != "short"
	if fatal || p.client == nil {
		p.server.Gone(1500 * time.Millisecond)
	}
	if p.server.Running() {
		if fatal {
			c.fail("it continues after a failed sync: %s", failed)
		}
		if failed.Number > 0 && c.number%2 == 0 {
			p.server.Kill()
			return
		}
		already := failed.Number > 0
		err := p.server.stop()
		if failed, at = c.faultPoint(); failed.Number == 0 && err != nil {
			c.fail("it ended with %v at SIGTERM: %s", err, p.server.logTail())
		}
		// If the fault is in the shutdown, that may fail, but a failed sync must not pass
		// for a successful end.
		if already || c.kills() || c.mode == "short" {
			return
		}
		if failed.Kind != faultfs.Sync || failed.Number == 0 {
			return
		}
	}
	c.result.ended = true
	if late := p.server.EndedAt.Sub(at); late > time.Second {
		c.fail("it ended only %d ms after the fault", late.Milliseconds())
	}
	words := p.server.log.String()
	switch {
	case p.server.Err == nil:
		c.fail("it ended with exit code 0 after %s", failed)
	case !strings.Contains(words, "blueprintd: ") || !strings.Contains(words, "hint: "):
		c.fail("it ended without an error and a hint: %s", p.server.logTail())
	case strings.Contains(words, "panic:") || strings.Contains(words, "goroutine "):
		c.fail("it panicked: %s", p.server.logTail())
	}
}

// verify starts a server on the remaining files and compares its state.
func (c *faultCase) verify(w *worker, image faultfs.Image, known *expectations) error {
	folder := filepath.Join(w.leftDir, "data")
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	if err := image.Save(folder); err != nil {
		return err
	}
	wrong, doubtful, err := w.verify(folder, known)
	c.result.wrong = append(c.result.wrong, wrong...)
	c.result.doubtful = max(c.result.doubtful, doubtful)
	return err
}
