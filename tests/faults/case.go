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

// trial is one case: a fault at one point.
type trial struct {
	number int // of the point, counted through all phases
	mode   string
	seed   uint64
	phase  *phase
	order  int // of the phase

	mu      sync.Mutex
	struck  faultfs.Point // where the fault happened; number 0 = nowhere
	at      time.Time
	lifted  bool
	process *program.Process
	early   bool // the fault came before the process id was known

	result result
}

// result is the outcome of a trial.
type result struct {
	wrong    []string
	doubtful int
	ended    bool // the server ended by itself
	refused  int  // changes refused with 503
	log      string
}

func (t *trial) fail(format string, args ...any) {
	t.result.wrong = append(t.result.wrong, fmt.Sprintf(format, args...))
}

// fault decides what happens at a point. It is called under the lock of the disk.
func (t *trial) fault(p faultfs.Point) faultfs.Decision {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.lifted:
		return faultfs.Decision{}
	case t.struck.Number > 0:
		if t.mode == "full" && p.Kind == faultfs.Write {
			return faultfs.Decision{Error: syscall.ENOSPC}
		}
		return faultfs.Decision{}
	case p.Number < t.number-t.phase.before || t.mode == "short" && p.Size < 2:
		return faultfs.Decision{}
	}
	t.struck, t.at = p, now()
	switch t.mode {
	case "kill", "cut":
		t.strike()
		return faultfs.Decision{Freeze: true}
	case "kill-after":
		t.strike()
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

// strike kills the server, now or as soon as its process id is known. The caller holds
// t.mu.
func (t *trial) strike() {
	if t.process == nil {
		t.early = true
	} else {
		t.process.Signal(os.Kill)
	}
}

func (t *trial) know(p *program.Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.process = p; t.early {
		p.Signal(os.Kill)
	}
}

func (t *trial) hit() (faultfs.Point, time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.struck, t.at
}

func (t *trial) lift() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lifted = true
}

func (t *trial) deadly() bool {
	return t.mode == "kill" || t.mode == "kill-after" || t.mode == "cut"
}

// aftermath is the number of operations after a fault that leaves the server alive. The
// last of them must succeed.
const aftermath = 6

// run plays the phase up to the point and the aftermath, and judges the remaining files. An
// error is one of this program or of the machine.
func (t *trial) run(b *bench) error {
	known := t.phase.book.clone()
	d := faultfs.New(t.phase.image)
	d.Fail(t.fault)
	p, err := b.begin(d, known)
	if err != nil {
		return err
	}
	t.know(p.server.Process)
	images := t.play(p)
	t.result.log = p.server.lastWords()
	if err := p.end(); err != nil {
		return err
	}
	if images == nil { // the cut is decided only after all writes have stopped
		images = t.left(d)
	}
	for _, image := range images {
		if err := t.judge(b, image, known); err != nil {
			return err
		}
	}
	return nil
}

// left returns the files that the next server finds.
func (t *trial) left(d *faultfs.Disk) []faultfs.Image {
	random := rand.New(rand.NewPCG(t.seed, uint64(t.number)))
	struck, _ := t.hit()
	switch {
	case t.mode == "cut":
		return []faultfs.Image{d.Cut(faultfs.Losses()[random.IntN(len(faultfs.Losses()))], random)}
	case t.deadly():
		return []faultfs.Image{d.Now()}
	case struck.Kind == faultfs.Sync || struck.Kind == faultfs.SyncFolder:
		return []faultfs.Image{d.Now(), d.Cut(faultfs.LoseAll, random)}
	case t.number%2 == 0:
		return []faultfs.Image{d.Cut(faultfs.LoseAll, random)}
	}
	return []faultfs.Image{d.Now()}
}

// play runs the phase until the server has ended. It returns the remaining files, or nil if
// they are to be taken at the end.
func (t *trial) play(p *play) []faultfs.Image {
	if p.enter(phaseName(t.order)) {
		t.operate(p)
	}
	if t.deadly() {
		if struck, _ := t.hit(); struck.Number > 0 {
			p.server.Gone(5 * time.Second)
			return nil
		}
	}
	t.close(p)
	return nil
}

// operate runs the operations of the phase, and after a fault those of the aftermath.
func (t *trial) operate(p *play) {
	left, last := aftermath, answer{}
	p.player.onAnswer = func(what string, a answer) {
		last = a
		struck, _ := t.hit()
		switch {
		case a.Err != nil || a.OK():
		case struck.Number == 0:
			t.fail("%s was answered %s before anything went wrong", what, a)
		case a.Status != 503:
			t.fail("%s was answered %s", what, a)
		case a.RetryAfter == 0:
			t.fail("%s was answered 503 without Retry-After: %s", what, a)
		default:
			t.result.refused++
		}
	}
	p.operate(t.phase, func() bool {
		struck, _ := t.hit()
		if struck.Number == 0 {
			return last.Err == nil
		}
		left--
		if t.mode == "full" && left == aftermath/2 {
			t.lift()
		}
		return left > 0 && !t.deadly() && last.Err == nil
	})
	t.lift()
	if struck, _ := t.hit(); struck.Number > 0 && !t.deadly() && !last.OK() {
		t.recover(p)
	}
}

// recover waits until the server accepts changes again, or ends.
func (t *trial) recover(p *play) {
	for end := now().Add(patience); now().Before(end); {
		var last answer
		p.player.onAnswer = func(_ string, a answer) { last = a }
		p.player.createBlueprint(fmt.Sprintf("%s-%d", p.player.name, p.player.step))
		p.player.step++
		if last.OK() || p.server.Gone(50*time.Millisecond) {
			return
		}
	}
	t.fail("5 s after the fault it neither takes orders nor has ended")
}

// close stops a server, which may have ended by itself, and judges its end.
func (t *trial) close(p *play) {
	struck, at := t.hit()
	// The journal of the copy that an upgrade makes is not needed: the copy is verified
	// and synced once it is complete.
	ofCopy := strings.HasSuffix(struck.Name, ".partial-journal")
	fatal := struck.Number > 0 && struck.Kind == faultfs.Sync && !ofCopy && !t.deadly() && t.mode != "short"
	if fatal || p.player == nil {
		p.server.Gone(1500 * time.Millisecond)
	}
	if p.server.Running() {
		if fatal {
			t.fail("it continues after a failed sync: %s", struck)
		}
		if struck.Number > 0 && t.number%2 == 0 {
			p.server.Kill()
			return
		}
		already := struck.Number > 0
		err := p.server.stop()
		if struck, at = t.hit(); struck.Number == 0 && err != nil {
			t.fail("it ended with %v at SIGTERM: %s", err, p.server.lastWords())
		}
		// If the fault is in the shutdown, that may fail, but a failed sync must not pass
		// for a successful end.
		if already || t.deadly() || t.mode == "short" {
			return
		}
		if struck.Kind != faultfs.Sync || struck.Number == 0 {
			return
		}
	}
	t.result.ended = true
	if late := p.server.EndedAt.Sub(at); late > time.Second {
		t.fail("it ended %d ms after the fault", late.Milliseconds())
	}
	words := p.server.log.String()
	switch {
	case p.server.Err == nil:
		t.fail("it ended with exit code 0 after %s", struck)
	case !strings.Contains(words, "blueprintd: ") || !strings.Contains(words, "hint: "):
		t.fail("it ended without an error and a hint: %s", p.server.lastWords())
	case strings.Contains(words, "panic:") || strings.Contains(words, "goroutine "):
		t.fail("it panicked: %s", p.server.lastWords())
	}
}

// judge starts a server on the remaining files and compares its state.
func (t *trial) judge(b *bench, image faultfs.Image, known *book) error {
	folder := filepath.Join(b.rest, "data")
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	if err := image.Save(folder); err != nil {
		return err
	}
	wrong, doubtful, err := b.judge(folder, known)
	t.result.wrong = append(t.result.wrong, wrong...)
	t.result.doubtful = max(t.result.doubtful, doubtful)
	return err
}
