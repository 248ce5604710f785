package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"blueprintd/clients/go/program"
	"blueprintd/tests/process"
)

// disturbance is what a fault did to a node, from when to when; to is zero while it lasts.
type disturbance struct {
	kind     string
	from, to time.Time
}

// node is one process of the server under test, by its name. It is started again after it
// has ended, as by a service manager.
type node struct {
	name string
	link *link
	log  string

	mu           sync.Mutex
	process      *program.Process
	second       *program.Process // under the same name, by mistake
	address      string           // "" until it is ready
	ready        bool             // as of the last look
	readySince   time.Time
	everReady    bool   // this process
	ending       string // why the harness ends the process; "" = it does not
	delay        time.Duration
	logOffset    int64
	disturbances []*disturbance
	sampled      time.Time // the healing for which the time to ready was measured
	fenced       bool      // it was reported as running on, of the watcher only
}

// disturb records the beginning of a fault. The caller ends it with its result.
func (n *node) disturb(kind string) func() {
	d := &disturbance{kind: kind, from: now()}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.disturbances = append(n.disturbances, d)
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		d.to = now()
	}
}

// disturbed returns whether a fault lasts, and when the last one ended.
func (n *node) disturbed() (lasts bool, last time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.disturbedLocked()
}

func (n *node) disturbedLocked() (lasts bool, last time.Time) {
	for _, d := range n.disturbances {
		if d.to.IsZero() {
			lasts = true
		} else if d.to.After(last) {
			last = d.to
		}
	}
	return lasts, last
}

// between reports whether a fault concerned the node at some time between two instants.
func (n *node) between(from, to time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, d := range n.disturbances {
		if !d.from.After(to) && (d.to.IsZero() || !d.to.Add(lateCalls).Before(from)) {
			return true
		}
	}
	return false
}

// lateCalls is how long after the end of a fault a call of before may still arrive.
const lateCalls = 250 * time.Millisecond

// readyAddress returns the address of a process that is ready; "" if it is not.
func (n *node) readyAddress() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.ready {
		return ""
	}
	return n.address
}

// healthySince returns since when no fault concerns the process, which is ready; zero if it
// is not.
func (n *node) healthySince() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	lasts, last := n.disturbedLocked()
	if lasts || !n.ready {
		return time.Time{}
	}
	if n.readySince.After(last) {
		return n.readySince
	}
	return last
}

// supervise runs the process of a node until ctx ends.
func (c *cluster) supervise(ctx context.Context, n *node) {
	for ctx.Err() == nil {
		if info, err := os.Stat(n.log); err == nil {
			n.logOffset = info.Size()
		}
		p, err := program.Start(program.Command{Path: c.binary, Args: c.arguments(n), Folder: c.folder, Log: n.log, Ready: program.ServerReady})
		if err != nil {
			c.fail(err)
			return
		}
		n.mu.Lock()
		n.process, n.address, n.ready, n.everReady, n.ending = p, "", false, false, ""
		n.mu.Unlock()
		started := now()
		go func() {
			if address, err := p.Address(ctx, time.Hour); err == nil {
				n.mu.Lock()
				defer n.mu.Unlock()
				if n.process == p {
					n.address = address
				}
			}
		}()
		select {
		case <-p.Ended():
		case <-ctx.Done():
			return
		}
		n.mu.Lock()
		ending, delay, everReady := n.ending, n.delay, n.everReady
		n.ready, n.address = false, ""
		n.mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		if ending == "" {
			end := n.disturb("ended by itself")
			c.checkExit(n, p, started, everReady)
			delay = 100 * time.Millisecond
			process.Pause(ctx, delay)
			end()
		} else {
			if ending == faultStop && p.Err != nil && everReady { // others may not have begun to handle signals
				c.checkExit(n, p, started, everReady)
			}
			process.Pause(ctx, delay)
		}
		n.mu.Lock()
		for _, d := range n.disturbances { // a kill ends with the start of the next process
			if d.to.IsZero() && (d.kind == faultKill || d.kind == faultStop) {
				d.to = now()
			}
		}
		n.mu.Unlock()
	}
}

// minSilence is how long the faults of a process last, at least, until it is declared dead:
// almost ten seconds without a beat.
const minSilence = 8 * time.Second

// longestFault returns how long the longest fault of the last minute has lasted. Faults
// with less than two seconds between them count as one.
func (n *node) longestFault() (longest time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var from, to time.Time
	for _, d := range n.disturbances {
		end := d.to
		if end.IsZero() {
			end = now()
		}
		if from.IsZero() || d.from.Sub(to) > 2*time.Second {
			from = d.from
		}
		if to = end; now().Sub(to) < time.Minute {
			longest = max(longest, to.Sub(from))
		}
	}
	return longest
}

// checkExit checks a process that has ended by itself: it was declared dead and ends with
// exit code 1, or it could not start while its database was away.
func (c *cluster) checkExit(n *node, p *program.Process, started time.Time, everReady bool) {
	said := n.logSince()
	switch {
	case p.Err != nil && p.Err.Error() == "exit status 1" && strings.Contains(said, "was declared dead"):
		c.count(func(s *summary) { s.DeclaredDead++ })
		if longest := n.longestFault(); longest < minSilence && !n.hadSecond() {
			c.violated("early", "", "process %s was declared dead, although its faults of the last minute took %.1f s at most", n.name, longest.Seconds())
		}
	case !everReady && (n.between(started, now()) || !c.database.up().Before(started)) && p.Err != nil && p.Err.Error() == "exit status 1":
		c.count(func(s *summary) { s.FailedStarts++ })
	default:
		c.violated("exit", "", "process %s ended by itself: %v, want exit status 1 after it was declared dead; the end of its log: %s", n.name, p.Err, tail(said, 800))
	}
}

// hadSecond reports whether a second process had the name in the last minute.
func (n *node) hadSecond() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.disturbances, func(d *disturbance) bool {
		return d.kind == faultSecond && (d.to.IsZero() || now().Sub(d.to) < time.Minute)
	})
}

// maxSecond is how long a second process under the name of another one may run. It ends the
// first one, which is started again and ends it.
const maxSecond = time.Minute

func (n *node) secondLog() string { return strings.TrimSuffix(n.log, ".log") + "-second.log" }

// startSecond starts a process under the name of one that runs, and waits until it ends.
func (c *cluster) startSecond(ctx context.Context, n *node) {
	defer n.disturb(faultSecond)()
	log := n.secondLog()
	before, _ := os.ReadFile(log)
	p, err := program.Start(program.Command{Path: c.binary, Args: c.arguments(n), Folder: c.folder, Log: log, Ready: program.ServerReady})
	if err != nil {
		c.fail(err)
		return
	}
	defer p.Kill()
	n.mu.Lock()
	n.second = p
	n.mu.Unlock()
	select {
	case <-ctx.Done():
		return
	case <-time.After(maxSecond):
		c.violated("fenced", "", "a second process %s runs on %s after its start", n.name, maxSecond)
		return
	case <-p.Ended():
	}
	said, _ := os.ReadFile(log)
	switch text := string(said[min(len(before), len(said)):]); {
	case p.Err != nil && p.Err.Error() == "exit status 1" && strings.Contains(text, "was declared dead"):
		c.count(func(s *summary) { s.DeclaredDead++ })
	case p.Err != nil && p.Err.Error() == "exit status 1" && !strings.Contains(text, "msg=serving") && !c.database.up().Before(p.Started):
		c.count(func(s *summary) { s.FailedStarts++ })
	default:
		c.violated("exit", "", "a second process %s ended by itself: %v, want exit status 1 after it was declared dead; the end of its log: %s", n.name, p.Err, tail(text, 800))
	}
}

func (n *node) logSince() string {
	data, _ := os.ReadFile(n.log)
	if int64(len(data)) < n.logOffset {
		return ""
	}
	return string(data[n.logOffset:])
}

func tail(text string, most int) string { return text[max(0, len(text)-most):] }

func (c *cluster) arguments(n *node) []string {
	return []string{
		"serve", "--addr", "127.0.0.1:0", "--database", c.database.url(n.link.address()), "--master-key-file", filepath.Join(c.folder, "key"), "--node-name", n.name,
		"--api-key", apiKey, "--rate-limit", "0", "--allow-net", "127.0.0.0/8", "--keep-executions", "all", "--keep-audit", "all", "--until-eof",
	}
}

// readyInterval is how often the harness asks whether a process is ready.
const readyInterval = 100 * time.Millisecond

// watchReady asks a node whether it is ready until ctx ends, and measures how long that
// takes after its faults.
func (c *cluster) watchReady(ctx context.Context, n *node) {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for process.Pause(ctx, readyInterval) {
		n.mu.Lock()
		p, address := n.process, n.address
		n.mu.Unlock()
		ready := false
		if address != "" {
			if response, err := client.Get(address + "/readyz"); err == nil {
				response.Body.Close()
				ready = response.StatusCode == http.StatusOK
			}
		}
		up := c.database.up()
		n.mu.Lock()
		if n.process == p {
			if ready && !n.ready {
				n.readySince = now()
			}
			n.ready, n.everReady = ready, n.everReady || ready
		}
		lasts, healed := n.disturbedLocked()
		if up.After(healed) {
			healed = up
		}
		if p != nil && p.Started.After(healed) {
			healed = p.Started
		}
		if lasts || up.IsZero() || !n.sampled.Before(healed) {
			n.mu.Unlock()
			continue
		}
		took := now().Sub(healed)
		if late := took > maxReadyAfter; ready || late {
			n.sampled = healed
			n.mu.Unlock()
			c.count(func(s *summary) { s.Ready.add(took) })
			if late {
				c.violated("ready", "", "process %s is not ready %.1f s after its faults, want %s at most", n.name, took.Seconds(), maxReadyAfter)
			}
			continue
		}
		n.mu.Unlock()
	}
}

// end has the process of a node ended by a signal, and started again after a delay.
func (n *node) end(kind string, by syscall.Signal, delay time.Duration) {
	n.disturb(kind)
	n.mu.Lock()
	n.ending, n.delay, n.ready = kind, delay, by == syscall.SIGTERM && n.ready
	p := n.process
	n.mu.Unlock()
	if p != nil {
		_ = p.Signal(by)
	}
}

func (n *node) signal(by syscall.Signal) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process == nil {
		return fmt.Errorf("process %s does not run", n.name)
	}
	return n.process.Signal(by)
}
