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
	image    faultfs.Image // at the start
	expected *expectations // at the start
	before   int           // points of earlier phases
	points   []faultfs.Point
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

// worker is the working area of one worker: a folder for mounting disks, one for remaining files,
// and its own address. A stopped server releases its port, and another worker's server may
// get it while clients still call.
type worker struct {
	binary   string
	mountDir string
	leftDir  string
	host     string
}

func newWorker(binary, folder string, number int) (*worker, error) {
	w := &worker{binary, filepath.Join(folder, fmt.Sprintf("mount-%d", number)), filepath.Join(folder, fmt.Sprintf("left-%d", number)), fmt.Sprintf("127.0.0.%d", 1+number)}
	return w, errors.Join(os.MkdirAll(w.mountDir, 0o700), os.MkdirAll(w.leftDir, 0o700))
}

// instance is one server on one disk.
type instance struct {
	worker   *worker
	disk     *faultfs.Disk
	mounted  *faultfs.Mounted
	server   *server
	expected *expectations
	client   *client
}

// start mounts a disk and starts a server on it, which need not become ready.
func (w *worker) start(d *faultfs.Disk, known *expectations) (*instance, error) {
	p := &instance{worker: w, disk: d, expected: known}
	var err error
	if p.mounted, err = faultfs.Mount(w.mountDir, d); err != nil {
		return nil, err
	}
	if p.server, err = w.launch(w.mountDir, known.arguments()...); err != nil {
		return nil, errors.Join(err, p.mounted.Unmount())
	}
	return p, nil
}

// close removes what is left.
func (in *instance) close() error {
	in.server.Kill()
	if in.client != nil {
		in.client.api.close()
	}
	return in.mounted.Unmount()
}

// waitReady waits for the server and creates the first client; it returns false if the server
// ended before it was ready.
func (in *instance) waitReady(name string) bool {
	address, key := in.server.await(10 * time.Second)
	if address == "" {
		return false
	}
	if key != "" {
		in.expected.shared.key = key
		in.expected.certain(resource{"blueprint", sampleTitle}, "there")
	}
	in.client = &client{name: name, api: newAPI(address, in.expected.shared.key), expected: in.expected}
	return true
}

// operate runs the operations of a phase while going returns true.
func (in *instance) operate(ph *phase, going func() bool) {
	if ph.form == nil && in.expected.shared.main == "" && going() {
		in.client.createShared()
	}
	for i := 0; i < ph.operations && going(); i++ {
		if i == ph.checkpoint && i > 0 {
			time.Sleep(checkpointWait)
		}
		in.client.next()
	}
}

// rehearse runs all phases without a fault and records the points of each and its initial
// state.
func rehearse(w *worker, phases []*phase) error {
	image, known, before := faultfs.Image{}, newExpectations(), 0
	for i, ph := range phases {
		if ph.form != nil {
			image, known = ph.form.image, ph.form.expectations()
		}
		ph.image, ph.expected, ph.before, ph.points = image, known.clone(), before, nil
		d := faultfs.New(image)
		d.Fail(func(p faultfs.Point) faultfs.Decision {
			ph.points = append(ph.points, p)
			return faultfs.Decision{}
		})
		p, err := w.start(d, known)
		if err != nil {
			return err
		}
		err = p.rehearse(ph, i)
		image = d.Now()
		if err = errors.Join(err, p.close()); err != nil {
			return fmt.Errorf("the %s, without a fault: %w", ph.name, err)
		}
		before += len(ph.points)
	}
	return nil
}

func (in *instance) rehearse(ph *phase, number int) error {
	if !in.waitReady(phaseName(number)) {
		return fmt.Errorf("the server is not ready: %s", in.server.logTail())
	}
	var failed error
	in.client.onResponse = func(what string, a answer) {
		if !a.OK() && failed == nil {
			failed = fmt.Errorf("%s was answered %s", what, a)
		}
	}
	in.operate(ph, func() bool { return failed == nil })
	if failed != nil || ph.killed {
		in.server.Kill()
		return failed
	}
	return in.server.stop()
}

func phaseName(number int) string { return fmt.Sprintf("p%d", number+1) }
