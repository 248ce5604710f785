package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"blueprintd/clients/go/program"
	"blueprintd/tests/process"
)

// peer is another server with an equivalent of row c's flow behind an endpoint.
type peer struct {
	name    string // for -peers
	title   string // with its version, for tables
	folder  string // its folder in that of -peers-folder; it names the version, and the content of a program that is here
	flow    string // what a request does, for the row
	stores  string // what it stores of a request
	path    string // of the endpoint
	answer  string // what the response contains
	size    string // what is measured as its size on the disk, in its folder
	without string // what is not counted of it; "" = all is
	// install installs it into an empty folder.
	install func(ctx context.Context, folder string) error
	// prepare prepares an empty data folder; nil if the first start does it.
	prepare func(ctx context.Context, at place) error
	// beside are processes that it needs, started before it; nil = none.
	beside func(at place) []program.Command
	// command starts it.
	command func(at place) program.Command
}

// place is where a peer runs.
type place struct {
	installed string // folder of its program
	data      string // folder of its data
	host      string // 127.0.0.1:port, of the endpoint
	runSize   int    // bytes of content that one run of row c stores
	database  string // URL of its own database on PostgreSQL; "" = it has a file
	redis     string // 127.0.0.1:port, for a Redis of its own
}

// peers are the servers that -peers compares with. Each has a file of its own.
var peers = []peer{nodeRed, n8n, pocketBase, temporal}

func peerNames() string {
	var names []string
	for _, p := range peers {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// selectPeers returns the peers of a comma-separated list of names; "true", the value of a
// flag without one, selects all.
func selectPeers(names string) (list []peer, err error) {
	if names == "true" {
		return peers, nil
	}
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(peers, func(p peer) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%q is unknown: want names of %s", name, peerNames())
		}
		list = append(list, peers[i])
	}
	return list, nil
}

// installedMark is the file that says that an installation is complete.
const installedMark = "installed"

// installPeers installs the peers that are not in the folder yet. It returns those that are
// there afterwards, and for each other one a line with the reason.
func installPeers(ctx context.Context, o *options, wanted []peer, folder string) (list []*runningPeer, left []string, err error) {
	for _, p := range wanted {
		at := filepath.Join(folder, p.folder)
		if _, err := os.Stat(filepath.Join(at, installedMark)); err != nil {
			o.say("installing %s", p.title)
			if err := p.installInto(ctx, at); ctx.Err() != nil {
				return nil, nil, ctx.Err()
			} else if err != nil {
				reason := fmt.Sprintf("%s is left out: %v", p.title, err)
				o.say("%s", reason)
				line, _, _ := strings.Cut(reason, "\n")
				left = append(left, line)
				continue
			}
		}
		r := &runningPeer{peer: p, at: place{installed: at}}
		if r.Install, err = folderSize(filepath.Join(at, p.size)); err != nil {
			return nil, nil, err
		}
		if p.without != "" {
			other, err := folderSize(filepath.Join(at, p.without))
			if err != nil {
				return nil, nil, err
			}
			r.Install -= other
		}
		list = append(list, r)
	}
	return list, left, nil
}

// installInto installs the peer into a folder, which replaces an incomplete installation.
func (p *peer) installInto(ctx context.Context, folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := p.install(ctx, folder); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, installedMark), []byte(p.title+"\n"), 0o600)
}

// runIn runs a program in a folder, with settings, NAME=VALUE, besides the environment. The
// error has the end of its output.
func runIn(ctx context.Context, folder string, settings []string, name string, args ...string) error {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir, command.Env = folder, append(os.Environ(), settings...)
	out, err := command.CombinedOutput()
	if err == nil {
		return nil
	}
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s is not installed", name)
	}
	const most = 2000
	return fmt.Errorf("%s %s: %w\n%s", name, args[0], err, out[max(0, len(out)-most):])
}

// writeFiles writes files into a folder.
func writeFiles(folder string, files map[string]string) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// freeHost returns an address of loopback where nothing listens.
func freeHost() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// port returns the port of a host.
func port(host string) string { return host[strings.LastIndexByte(host, ':')+1:] }

// runningPeer is a peer on a free port, and its figures.
type runningPeer struct {
	peer
	at place
	*program.Process
	others []*program.Process // beside it
	up     time.Duration      // from its start to the first correct response
	quiet  time.Duration      // how long it must be idle to count as idle
	quick  bool
	// lengths are those of its measurements that are longer than asked for, by connections.
	lengths map[int]time.Duration
	// failures has a line for each measurement that failed.
	failures []string
	standing
}

func (r *runningPeer) log() string { return filepath.Join(r.at.data, r.name+".log") }

// start starts the peer on a free port and waits until it responds correctly. It first stops
// processes of it that still run.
func (r *runningPeer) start(ctx context.Context) (err error) {
	r.stop()
	if r.at.host, err = freeHost(); err != nil {
		return err
	}
	r.others = nil
	launch := func(command program.Command) (*program.Process, error) {
		command.Folder, command.Log, command.Env = r.at.data, r.log(), append(os.Environ(), command.Env...)
		return program.Start(command)
	}
	if r.beside != nil {
		if r.at.redis, err = freeHost(); err != nil {
			return err
		}
		for _, command := range r.beside(r.at) {
			other, err := launch(command)
			if err != nil {
				return fmt.Errorf("%s: %w", r.title, err)
			}
			r.others = append(r.others, other)
		}
	}
	if r.Process, err = launch(r.command(r.at)); err != nil {
		return fmt.Errorf("%s: %w", r.title, err)
	}
	for end := now().Add(5 * time.Minute); !r.answers(ctx); {
		if now().After(end) || !r.Running() || !process.Pause(ctx, time.Millisecond) {
			log, _ := os.ReadFile(r.log())
			return fmt.Errorf("%s does not answer: %w\n%s", r.title, cmp.Or(ctx.Err(), r.end(), errors.New("it is too late")), log[max(0, len(log)-2000):])
		}
	}
	r.up = now().Sub(r.Started)
	return nil
}

// complete reports whether all its processes run.
func (r *runningPeer) complete() bool {
	return !slices.ContainsFunc(r.processes(), func(p *program.Process) bool { return p == nil || !p.Running() })
}

// end returns how the process ended; nil if it runs.
func (r *runningPeer) end() error {
	if r.Running() {
		return nil
	}
	return cmp.Or(r.Err, errors.New("it ended"))
}

// stop ends the peer; one that does not end in time is killed.
func (r *runningPeer) stop() {
	for _, p := range slices.Backward(r.processes()) {
		if p != nil && p.Running() {
			_ = p.Stop(20 * time.Second) // its exit code says nothing about the measurement
		}
	}
}

// answers reports whether the endpoint responds correctly.
func (r *runningPeer) answers(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+r.at.host+r.path, strings.NewReader(payload()))
	if err != nil {
		return false
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return err == nil && response.StatusCode == http.StatusOK && strings.Contains(string(body), r.answer)
}

// measure loads the peer. If it fails, the result is empty and the reason is kept, so that
// the others are still measured.
func (r *runningPeer) measure(ctx context.Context, connections int, warmup, length time.Duration) (measured *result, err error) {
	if !r.complete() {
		err = r.start(ctx)
	}
	if err == nil {
		measured, err = r.load(ctx, connections, warmup, length)
	}
	if err == nil || ctx.Err() != nil {
		return measured, err
	}
	r.failures = append(r.failures, fmt.Sprintf("%s failed with %d connections: %s", r.title, connections, oneLine(err)))
	return &result{}, nil
}

// oneLine returns the beginning of an error as one line.
func oneLine(err error) string {
	return fmt.Sprintf("%.600s", strings.Join(strings.Fields(err.Error()), " "))
}

// longest is the longest measurement of a slow peer.
const longest = time.Minute

// longer returns how long to measure instead, if the connections have less than two responses
// each: their first ones come at about the same time, so that few of them show no rate.
func longer(length time.Duration, completed int64, connections int) time.Duration {
	if completed >= 2*int64(connections) {
		return length
	}
	return max(length, min(4*length, longest))
}

// load measures longer than asked for if the peer is slow, also in later rounds.
func (r *runningPeer) load(ctx context.Context, connections int, warmup, length time.Duration) (*result, error) {
	for {
		if known := r.lengths[connections]; known > length {
			length, warmup = known, known/4
		}
		measured, err := loadProcess(ctx, r.Pid(), loadJob{Beside: r.pids(), Address: r.at.host, Connections: connections, Warmup: warmup, Length: length, Answer: r.answer, Requests: [][]byte{postRequest(r.at.host, r.path, payload())}})
		if err == nil {
			_, err = r.settle(ctx, 5*time.Second)
		}
		if err != nil || r.quick || longer(length, measured.Completed, connections) == length {
			return measured, err
		}
		r.lengths[connections] = longer(length, measured.Completed, connections)
	}
}

// settle waits until its processes are idle, each for at most the given time, and returns
// their resident memory.
func (r *runningPeer) settle(ctx context.Context, most time.Duration) (resident int64, err error) {
	for _, p := range r.processes() {
		size, err := settled(ctx, p.Pid(), r.quiet, most)
		if err != nil {
			return 0, err
		}
		resident += size
	}
	return resident, nil
}

// processes returns those beside it and its own, in the order of their start.
func (r *runningPeer) processes() []*program.Process {
	return append(slices.Clone(r.others), r.Process)
}

// pids returns the ids of the processes beside it.
func (r *runningPeer) pids() (list []int) {
	for _, other := range r.others {
		list = append(list, other.Pid())
	}
	return list
}

// peerFigures compare the server with others.
type peerFigures struct {
	figures
	Peers []standing `json:"peers"`
	Left  []string   `json:"left,omitempty"` // what could not be installed or measured, and why
}

// standing holds the figures of one server besides its rates.
type standing struct {
	Name    string          `json:"name"`
	Stores  string          `json:"stores"`
	Idle    int64           `json:"idleBytes"`
	Loaded  int64           `json:"loadedBytes"` // maximum under load, with any number of connections
	Times   []time.Duration `json:"startsNs"`
	Install int64           `json:"installBytes"`
}

// comparePeers measures row c and the same flow on the peers in turn.
func comparePeers(ctx context.Context, o options) (err error) {
	p := &peerFigures{figures: figures{Machine: describeMachine(o.folder), Seconds: o.length.Seconds(), Rounds: o.rounds}}
	folder := o.folder
	if o.peersFolder != "" {
		if folder, err = filepath.Abs(o.peersFolder); err != nil {
			return err
		}
	}
	var others []*runningPeer
	if others, p.Left, err = installPeers(ctx, &o, o.peers, folder); err != nil {
		return err
	}
	ours := standing{Name: "blueprintd " + p.Machine.Commit, Stores: "every run, its steps and its firing, before it answers"}
	if ours.Install, err = folderSize(o.binary); err != nil {
		return err
	}
	watching := watchMachine()
	s := &stage{folder: o.folder, server: &server{binary: o.binary, folder: o.folder}, quiet: o.quiet()}
	defer s.close()
	if err := s.prepare(ctx, []string{"c"}); err != nil {
		return err
	}
	sample, _, err := templates(ctx, s.server.database(), s.flows.wait, s.folder)
	if err != nil {
		return err
	}
	if p.RunSize, err = contentSize(ctx, sample); err != nil {
		return err
	}
	defer func() {
		for _, other := range others {
			other.stop()
		}
	}()
	list := s.measurements([]string{"c"})
	for _, other := range others {
		if err := other.begin(ctx, &o, p.RunSize); err != nil {
			return err
		}
		list = append(list, measurement{other.name, other.flow, other.measure})
	}
	ours.Idle = s.server.idle
	if err := p.measure(ctx, &o, list, s.server.Pid()); err != nil {
		return err
	}
	ours.Loaded = p.loaded("c")
	alive, err := cpuTime(s.server.Pid())
	if err != nil {
		return err
	}
	for _, other := range others {
		p.Left = append(p.Left, other.failures...)
		other.Loaded = p.loaded(other.name)
		p.hold(p.Rows, "c", other.name)
		if used, err := cpuTime(other.Pid()); err == nil { // else it has ended
			alive += used
		}
	}
	p.Machine.Foreign, p.Machine.Steal = watching.since(alive)
	if err := s.server.stop(); err != nil {
		return err
	}
	for _, other := range others {
		other.stop()
	}
	for n := range o.starts {
		o.say("start %d of %d", n+1, o.starts)
		if err := s.server.start(ctx); err != nil {
			return err
		}
		ours.Times = append(ours.Times, s.server.up)
		if err := s.server.stop(); err != nil {
			return err
		}
		for _, other := range others {
			if err := other.start(ctx); err != nil {
				return err
			}
			other.Times = append(other.Times, other.up)
			other.stop()
		}
	}
	p.Peers = []standing{ours}
	for _, other := range others {
		p.Peers = append(p.Peers, other.standing)
	}
	return publish(&o, p, p.Machine, p.text(), peersBegin, peersEnd)
}

// begin starts the peer for the first time and waits until it is idle.
func (r *runningPeer) begin(ctx context.Context, o *options, runSize int) (err error) {
	o.say("starting %s", r.title)
	r.Name, r.Stores, r.quiet, r.at.runSize = r.title, r.stores, o.quiet(), runSize
	r.quick, r.lengths = o.quick, map[int]time.Duration{}
	if r.at.data, err = os.MkdirTemp(o.folder, r.name); err != nil {
		return err
	}
	if r.prepare != nil {
		if err := r.prepare(ctx, r.at); err != nil {
			return fmt.Errorf("%s: %w", r.title, err)
		}
	}
	if err := r.start(ctx); err != nil {
		return err
	}
	r.Idle, err = r.settle(ctx, 15*time.Second)
	return err
}

// loaded returns the largest memory in the results of a row.
func (p *peerFigures) loaded(name string) (most int64) {
	for _, row := range p.Rows {
		if row.Name == name {
			most = max(most, slices.Max(each(row.Results, func(r result) int64 { return r.Peak })))
		}
	}
	return most
}

// text returns the figures as tables in Markdown.
func (p *peerFigures) text() string {
	var b bytes.Buffer
	b.WriteString(p.figures.text())
	for _, line := range p.Left {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	b.WriteString("\n| server | what it stores | resident MB idle | loaded | start-up ms | installed MB |\n|---|---|--:|--:|--:|--:|\n")
	for _, peer := range p.Peers {
		fmt.Fprintf(&b, "| %s | %s | %.0f | %.0f | %s | %.0f |\n", peer.Name, peer.Stores, mega(peer.Idle), mega(peer.Loaded), spread(peer.Times, milliseconds), mega(peer.Install))
	}
	b.WriteString("\nA slow server is measured longer, for at most a minute, until each connection has two responses. Start-up is the time to the first correct response; the disk space of Node.js itself is not counted.\n")
	return b.String()
}

// folderSize adds up the files of a folder, or returns the size of a file.
func folderSize(folder string) (total int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
