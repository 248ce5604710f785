package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"blueprintd/tests/faultfs"
)

// phase is the life of one server, from its start to its end.
type phase struct {
	name       string
	operations int
	checkpoint int   // number of operations before it waits for a checkpoint; 0 = never
	killed     bool  // it ends by SIGKILL instead of SIGTERM, which is no point
	form       *form // the initial database; nil = that of the previous phase

	// Recorded by a run without faults.
	image  faultfs.Image // at the start
	book   *book         // at the start
	before int           // points of earlier phases
	points []faultfs.Point
}

func scenario() []*phase {
	return []*phase{
		{name: "first start", operations: 44},
		{name: "second start", operations: 64, checkpoint: 44},
		{name: "until a kill", operations: 46, killed: true},
		{name: "after a kill", operations: 48},
	}
}

// checkpointWait is longer than the interval of the store's checkpoints.
const checkpointWait = 260 * time.Millisecond

// bench is the place of one worker: a folder for mounting disks, one for remaining files,
// and its own address. A stopped server releases its port, and another worker's server may
// get it while clients still call.
type bench struct {
	binary string
	mount  string
	rest   string
	host   string
}

func newBench(binary, folder string, number int) (*bench, error) {
	b := &bench{binary, filepath.Join(folder, fmt.Sprintf("mount-%d", number)), filepath.Join(folder, fmt.Sprintf("left-%d", number)), fmt.Sprintf("127.0.0.%d", 1+number)}
	return b, errors.Join(os.MkdirAll(b.mount, 0o700), os.MkdirAll(b.rest, 0o700))
}

// play is one server on one disk.
type play struct {
	bench   *bench
	disk    *faultfs.Disk
	mounted *faultfs.Mounted
	server  *server
	book    *book
	player  *player
}

// begin mounts a disk and starts a server on it, which need not become ready.
func (b *bench) begin(d *faultfs.Disk, known *book) (*play, error) {
	p := &play{bench: b, disk: d, book: known}
	var err error
	if p.mounted, err = faultfs.Mount(b.mount, d); err != nil {
		return nil, err
	}
	if p.server, err = b.launch(b.mount, known.arguments()...); err != nil {
		return nil, errors.Join(err, p.mounted.Unmount())
	}
	return p, nil
}

// end removes what is left.
func (p *play) end() error {
	p.server.Kill()
	if p.player != nil {
		p.player.api.close()
	}
	return p.mounted.Unmount()
}

// enter waits for the server and creates the first player; it returns false if the server
// ended before it was ready.
func (p *play) enter(name string) bool {
	address, key := p.server.await(10 * time.Second)
	if address == "" {
		return false
	}
	if key != "" {
		p.book.places.key = key
		p.book.certain(thing{"blueprint", sampleTitle}, "there")
	}
	p.player = &player{name: name, api: newAPI(address, p.book.places.key), book: p.book}
	return true
}

// operate runs the operations of a phase while going returns true.
func (p *play) operate(ph *phase, going func() bool) {
	if ph.form == nil && p.book.places.main == "" && going() {
		p.player.settle()
	}
	for i := 0; i < ph.operations && going(); i++ {
		if i == ph.checkpoint && i > 0 {
			time.Sleep(checkpointWait)
		}
		p.player.next()
	}
}

// rehearse runs all phases without a fault and records the points of each and its initial
// state.
func rehearse(b *bench, phases []*phase) error {
	image, known, before := faultfs.Image{}, newBook(), 0
	for i, ph := range phases {
		if ph.form != nil {
			image, known = ph.form.image, ph.form.book()
		}
		ph.image, ph.book, ph.before, ph.points = image, known.clone(), before, nil
		d := faultfs.New(image)
		d.Fail(func(p faultfs.Point) faultfs.Decision {
			ph.points = append(ph.points, p)
			return faultfs.Decision{}
		})
		p, err := b.begin(d, known)
		if err != nil {
			return err
		}
		err = p.rehearse(ph, i)
		image = d.Now()
		if err = errors.Join(err, p.end()); err != nil {
			return fmt.Errorf("the %s, without a fault: %w", ph.name, err)
		}
		before += len(ph.points)
	}
	return nil
}

func (p *play) rehearse(ph *phase, number int) error {
	if !p.enter(phaseName(number)) {
		return fmt.Errorf("the server is not ready: %s", p.server.lastWords())
	}
	var failed error
	p.player.onAnswer = func(what string, a answer) {
		if !a.OK() && failed == nil {
			failed = fmt.Errorf("%s was answered %s", what, a)
		}
	}
	p.operate(ph, func() bool { return failed == nil })
	if failed != nil || ph.killed {
		p.server.Kill()
		return failed
	}
	return p.server.stop()
}

func phaseName(number int) string { return fmt.Sprintf("p%d", number+1) }
