package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// peerFigures compare the server with another one.
type peerFigures struct {
	figures
	Peers []peer `json:"peers"`
}

// peer holds the figures of one server besides its rates.
type peer struct {
	Name    string          `json:"name"`
	Stores  string          `json:"stores"`
	Idle    int64           `json:"idleBytes"`
	Loaded  int64           `json:"loadedBytes"` // maximum under load, with any number of connections
	Times   []time.Duration `json:"startsNs"`
	Install int64           `json:"installBytes"`
}

// comparePeers measures row c and the same flow on Node-RED in turn.
func comparePeers(ctx context.Context, o options) error {
	p := &peerFigures{figures: figures{Machine: describeMachine(o.folder), Seconds: o.length.Seconds(), Rounds: o.rounds}}
	other := &nodeRed{folder: o.nodeRed}
	if other.folder == "" {
		o.say("installing Node-RED %s from npm", nodeRedVersion)
		other.folder = o.folder + "/node-red"
		if err := os.Mkdir(other.folder, 0o700); err != nil {
			return err
		}
		if err := installNodeRed(ctx, other.folder); err != nil {
			return err
		}
	}
	node, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil {
		return err
	}
	ours := peer{Name: "blueprintd " + p.Machine.Commit, Stores: "every run, its steps and its firing, before it answers"}
	theirs := peer{Name: "Node-RED " + nodeRedVersion + " on Node " + strings.TrimSpace(string(node)), Stores: "nothing"}
	for _, size := range []struct {
		into *int64
		path string
	}{{&ours.Install, o.binary}, {&theirs.Install, other.folder + "/node_modules"}} {
		if *size.into, err = folderSize(size.path); err != nil {
			return err
		}
	}
	watching := watchMachine()
	s := &stage{folder: o.folder, server: &server{binary: o.binary, folder: o.folder}, quiet: o.quiet()}
	defer s.close()
	if err := s.prepare(ctx, []string{"c"}); err != nil {
		return err
	}
	folder, err := os.MkdirTemp(o.folder, "peer")
	if err != nil {
		return err
	}
	if err := other.start(ctx, folder); err != nil {
		return err
	}
	defer func() { other.Kill() }()
	if theirs.Idle, err = settled(ctx, other.Pid(), s.quiet, 15*time.Second); err != nil {
		return err
	}
	ours.Idle = s.server.idle
	list := append(s.measurements([]string{"c"}), measurement{"node-red", "the same flow on Node-RED, which stores nothing", other.measure})
	if err := p.measure(ctx, &o, list, s.server.Pid()); err != nil {
		return err
	}
	for _, row := range p.Rows {
		into := &ours.Loaded
		if row.Name != "c" {
			into = &theirs.Loaded
		}
		for _, r := range row.Results {
			*into = max(*into, r.Peak)
		}
	}
	p.hold(p.Rows, "c", "node-red")
	var alive time.Duration
	for _, pid := range []int{s.server.Pid(), other.Pid()} {
		used, err := cpuTime(pid)
		if err != nil {
			return err
		}
		alive += used
	}
	p.Machine.Foreign, p.Machine.Steal = watching.since(alive)
	if err := s.server.stop(); err != nil {
		return err
	}
	other.Kill()
	for n := range o.starts {
		o.say("start %d of %d", n+1, o.starts)
		if err := s.server.start(ctx); err != nil {
			return err
		}
		ours.Times = append(ours.Times, s.server.up)
		if err := s.server.stop(); err != nil {
			return err
		}
		if err := other.start(ctx, folder); err != nil {
			return err
		}
		theirs.Times = append(theirs.Times, other.up)
		other.Kill()
	}
	p.Peers = []peer{ours, theirs}
	return publish(&o, p, p.Machine, p.text(), peersBegin, peersEnd)
}

// text returns the figures as tables in Markdown.
func (p *peerFigures) text() string {
	var b bytes.Buffer
	b.WriteString(p.figures.text())
	b.WriteString("\n| server | what is on the disk | resident MB idle | loaded | start-up ms | installed MB |\n|---|---|--:|--:|--:|--:|\n")
	for _, peer := range p.Peers {
		fmt.Fprintf(&b, "| %s | %s | %.0f | %.0f | %s | %.0f |\n", peer.Name, peer.Stores, mega(peer.Idle), mega(peer.Loaded), spread(peer.Times, milliseconds), mega(peer.Install))
	}
	b.WriteString("\nThe two do different work: Node-RED answers from memory and stores nothing about a run, so that a crash loses it; blueprintd answers once the run is on the disk. " +
		"Start-up is the time to the first correct response; the disk space of Node.js itself is not counted.\n")
	return b.String()
}
