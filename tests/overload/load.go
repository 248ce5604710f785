package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// loadArgument makes this program generate load: it reads a job from its standard input,
// writes a line when all its connections are open, and a result once the job's time is over
// or its standard input ends.
const loadArgument = "put-under-load"

// job is the work of a load process.
type job struct {
	Kind        string        // see kinds
	Address     string        // host:port
	Paths       []string      // of webhooks; connections use them in rotation
	Connections int           // at once
	Requests    int           // total; 0 = unlimited
	Rate        float64       // requests a second in total, for kinds with a rate
	Size        int           // bytes of a body, for kinds that allow a choice
	Length      time.Duration // 0 = until told to end
	Seed        uint64
}

// result is what a load process measured.
type result struct {
	Counts map[string]int // number of each outcome
	P50    time.Duration
	P99    time.Duration
	Last   time.Duration // from the beginning to the last connection that the server closed
	IDs    []string      // acknowledged runs
}

// worker is a load process at work.
type worker struct {
	job
	ctx       context.Context
	mu        sync.Mutex
	result    result
	latencies []time.Duration
}

// kinds are the kinds of load: each opens its connections, calls up, and continues until
// the worker's ctx ends.
var kinds = map[string]func(w *worker, up func()) error{
	"steady": (*worker).steady, "crowd": (*worker).crowd, "senders": (*worker).slowSenders, "readers": (*worker).slowReaders,
	"bodies": (*worker).largeBodies, "flood": (*worker).flood, "limit": (*worker).beyondLimit, "stop": (*worker).untilStopped,
}

func serveLoad(in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w := &worker{ctx: ctx, result: result{Counts: map[string]int{}}}
	if err := json.Unmarshal(line, &w.job); err != nil {
		return err
	}
	if err := raiseFiles(uint64(w.Connections) + 100); err != nil {
		return err
	}
	go func() {
		io.Copy(io.Discard, lines)
		cancel()
	}()
	err = kinds[w.Kind](w, func() {
		fmt.Fprintln(out, "up")
		if w.Length > 0 {
			time.AfterFunc(w.Length, cancel)
		}
	})
	if err != nil {
		return err
	}
	w.mu.Lock() // the server may still block some of its goroutines
	defer w.mu.Unlock()
	slices.Sort(w.latencies)
	if n := len(w.latencies); n > 0 {
		w.result.P50, w.result.P99 = w.latencies[n/2], w.latencies[n*99/100]
	}
	return json.NewEncoder(out).Encode(w.result)
}

// count counts an event.
func (w *worker) count(what string) {
	w.mu.Lock()
	w.result.Counts[what]++
	w.mu.Unlock()
}

// open opens all connections in batches; a goroutine uses each. It returns once all are
// open, with a function that waits until all goroutines have ended.
func (w *worker) open(use func(i int, l *line)) (wait func(), err error) {
	errs := make(chan error, w.Connections)
	places := make(chan struct{}, 100)
	var all sync.WaitGroup
	for i := range w.Connections {
		all.Go(func() {
			places <- struct{}{}
			l, err := dial(w.ctx, w.Address)
			<-places
			if errs <- err; err != nil {
				return
			}
			defer l.Close()
			use(i, l)
		})
	}
	for range w.Connections {
		err = cmp.Or(err, <-errs)
	}
	return all.Wait, err
}

// load is a load process, seen from the main one.
type load struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errors bytes.Buffer
}

// begin starts a load and waits until its connections are open.
func begin(ctx context.Context, j job) (*load, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	l := &load{cmd: exec.CommandContext(ctx, self, loadArgument)}
	l.cmd.Stderr = &l.errors
	if l.in, err = l.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	l.out = bufio.NewReader(out)
	if err := l.cmd.Start(); err != nil {
		return nil, err
	}
	err = json.NewEncoder(l.in).Encode(j)
	if err == nil {
		_, err = l.out.ReadString('\n')
	}
	if err != nil {
		l.cmd.Wait()
		return nil, fmt.Errorf("the load %s: %w: %s", j.Kind, err, bytes.TrimSpace(l.errors.Bytes()))
	}
	return l, nil
}

// end stops the load and returns its result.
func (l *load) end() (*result, error) {
	l.in.Close()
	return l.wait()
}

// wait returns the result of a load that ends on its own.
func (l *load) wait() (*result, error) {
	r := &result{}
	err := json.NewDecoder(l.out).Decode(r)
	l.in.Close()
	if ended := l.cmd.Wait(); err != nil || ended != nil {
		return nil, fmt.Errorf("a load ended with %w: %s", cmp.Or(ended, err), bytes.TrimSpace(l.errors.Bytes()))
	}
	return r, nil
}

// perform does a whole job.
func perform(ctx context.Context, j job) (*result, error) {
	l, err := begin(ctx, j)
	if err != nil {
		return nil, err
	}
	return l.wait()
}

// now returns real time: the server is a real process.
func now() time.Time { return time.Now() }
