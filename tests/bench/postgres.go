package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"blueprintd/tests/process"
)

// maxProcesses is how many processes of a server on PostgreSQL -database measures.
const maxProcesses = 3

// databasePeers are measured beside a server on PostgreSQL, each on a database of its own there.
var databasePeers = []peer{
	riverQueue("river", "default settings"),
	riverQueue("river-eager", "each job completed at once", "eager"),
	n8nQueue,
	temporalOnPostgreSQL,
}

// databaseFigures holds the figures of a server on PostgreSQL, of one on a file, and of others.
type databaseFigures struct {
	Arrangements []*arrangement `json:"arrangements"`
	Failovers    *failovers     `json:"failovers,omitempty"`
	Left         []string       `json:"left,omitempty"` // what could not be installed or measured, and why
}

// arrangement is a server that -database measures: on a file, some processes on PostgreSQL, or
// a peer.
type arrangement struct {
	Name    string           `json:"name"`
	Results map[int][]result `json:"results"` // by connections; those of a failed measurement are empty
	servers []*server
	trigger string
	peer    *runningPeer
}

// databases creates databases on the PostgreSQL server, and drops them.
type databases struct {
	o     *options
	names []string
}

// add creates a database and returns its URL.
func (d *databases) add(ctx context.Context) (url string, err error) {
	name := fmt.Sprintf("bench_%d_%d", now().UnixNano(), len(d.names)+1)
	if err := process.Administer(ctx, d.o.database, "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	d.names = append(d.names, name)
	return strings.TrimSuffix(d.o.database, "/") + "/" + name, nil
}

func (d *databases) drop(ctx context.Context) {
	for _, name := range d.names {
		if err := process.Administer(context.WithoutCancel(ctx), d.o.database, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			d.o.say("the database %s stays: %v", name, err)
		}
	}
}

// comparePostgreSQL measures row (c) on a file, on PostgreSQL and with others, in turn, then
// fail-overs, and writes tables with their ratios.
func comparePostgreSQL(ctx context.Context, o options) error {
	machine, watching := describeMachine(o.folder), watchMachine()
	f := &databaseFigures{}
	d := &databases{o: &o}
	defer d.drop(ctx)
	key := filepath.Join(o.folder, "postgresql.key")
	if err := runIn(ctx, o.folder, nil, o.binary, "master-key", "create", key); err != nil {
		return err
	}
	if err := f.rates(ctx, &o, d, key); err != nil {
		return err
	}
	var failed error // of the fail-overs, after which the rates are still published
	if o.failovers > 0 {
		var url string
		if url, failed = d.add(ctx); failed == nil {
			f.Failovers, failed = measureFailovers(ctx, &o, []string{"--database", url, "--master-key-file", key})
		}
		if failed != nil {
			if ctx.Err() != nil {
				return failed
			}
			f.Left = append(f.Left, "fail-overs are left out: "+oneLine(failed))
		}
	}
	_, machine.Steal = watching.since(0)
	machine.Foreign = -1 // PostgreSQL and Redis cannot be distinguished from others
	return errors.Join(publish(&o, f, machine, f.text(&o, &machine), postgresBegin, postgresEnd), failed)
}

// rates measures all arrangements.
func (f *databaseFigures) rates(ctx context.Context, o *options, d *databases, key string) error {
	defer func() {
		for _, a := range f.Arrangements {
			for _, s := range a.servers {
				s.Kill()
			}
			if a.peer != nil {
				a.peer.stop()
			}
		}
	}()
	if err := f.start(ctx, o, d, key); err != nil {
		return err
	}
	if err := f.startPeers(ctx, o, d); err != nil {
		return err
	}
	for round := range o.rounds {
		for _, connections := range o.connections {
			for _, a := range f.Arrangements {
				o.say("round %d of %d: %s, %d connections", round+1, o.rounds, a.Name, connections)
				if err := a.measure(ctx, o, connections); err != nil {
					return fmt.Errorf("%s: %w", a.Name, err)
				}
			}
		}
	}
	for _, a := range f.Arrangements {
		if a.peer != nil {
			f.Left = append(f.Left, a.peer.failures...)
		}
	}
	return nil
}

// start starts the servers on a file and on PostgreSQL.
func (f *databaseFigures) start(ctx context.Context, o *options, d *databases, key string) error {
	add := func(name string, processes int, storage ...string) error {
		a := &arrangement{Name: name, Results: map[int][]result{}}
		f.Arrangements = append(f.Arrangements, a)
		for range processes {
			s := &server{binary: o.binary, folder: o.folder, storage: storage}
			if err := s.start(ctx); err != nil {
				return err
			}
			a.servers = append(a.servers, s)
		}
		flows, err := storeFlows(ctx, a.servers[0])
		a.trigger = flows.wait
		return err
	}
	if err := add(onFile, 1); err != nil {
		return err
	}
	for processes := 1; processes <= maxProcesses; processes++ {
		url, err := d.add(ctx)
		if err != nil {
			return err
		}
		name := oneProcess
		if processes > 1 {
			name = fmt.Sprintf("PostgreSQL, %d processes", processes)
		}
		if err := add(name, processes, "--database", url, "--master-key-file", key); err != nil {
			return err
		}
	}
	return nil
}

// Names of arrangements.
const (
	onFile     = "a file"
	oneProcess = "PostgreSQL, 1 process"
)

// startPeers installs and starts the peers. One that cannot be installed or does not start is
// left out.
func (f *databaseFigures) startPeers(ctx context.Context, o *options, d *databases) (err error) {
	folder := o.folder
	if o.peersFolder != "" {
		if folder, err = filepath.Abs(o.peersFolder); err != nil {
			return err
		}
	}
	for _, p := range databasePeers {
		list, left, err := installPeers(ctx, o, []peer{p}, folder)
		if err != nil {
			return err
		}
		f.Left = append(f.Left, left...)
		for _, r := range list {
			if r.at.database, err = d.add(ctx); err != nil {
				return err
			}
			if err := r.begin(ctx, o, 0); err != nil {
				r.stop()
				if ctx.Err() != nil {
					return err
				}
				o.say("%s is left out: %v", p.title, err)
				f.Left = append(f.Left, p.title+" is left out: "+oneLine(err))
				continue
			}
			f.Arrangements = append(f.Arrangements, &arrangement{Name: p.title, Results: map[int][]result{}, peer: r})
		}
	}
	return nil
}

// measure divides the connections among the processes.
func (a *arrangement) measure(ctx context.Context, o *options, connections int) error {
	if a.peer != nil {
		r, err := a.peer.measure(ctx, connections, o.warmup, o.length)
		if err == nil {
			a.Results[connections] = append(a.Results[connections], *r)
		}
		return err
	}
	if connections < len(a.servers) {
		return nil
	}
	parts := make([]*result, len(a.servers))
	group, running := errgroup.WithContext(ctx)
	for i, s := range a.servers {
		group.Go(func() (err error) {
			share := connections / len(a.servers)
			if i < connections%len(a.servers) {
				share++
			}
			request := postRequest(s.host(), "/webhooks/blueprint/"+a.trigger, payload())
			parts[i], err = loadProcess(running, s.Pid(), loadJob{Address: s.host(), Connections: share, Warmup: o.warmup, Length: o.length, Requests: [][]byte{request}, Answer: greeting})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	whole := *parts[0]
	for _, part := range parts[1:] {
		whole.Completed += part.Completed
		whole.Failed += part.Failed
		whole.CPU += part.CPU
		whole.P50, whole.P99, whole.Peak = max(whole.P50, part.P50), max(whole.P99, part.P99), max(whole.Peak, part.Peak)
	}
	if whole.Failed > 0 {
		return fmt.Errorf("%d requests failed: %s", whole.Failed, whole.Failure)
	}
	a.Results[connections] = append(a.Results[connections], whole)
	return nil
}

// databaseGoals are the minimum ratios of a process on PostgreSQL to others, for at least from
// connections: a single one waits for each commit. 0 = there is no goal.
var databaseGoals = []struct {
	by    string
	least float64
	from  int
}{
	{onFile, 0.6, 32},
	{databasePeers[0].title, 10, 1},
	{databasePeers[1].title, 10, 1},
	{n8nQueue.title, 20, 1},
	{temporalOnPostgreSQL.title, 0, 1},
}

// of returns the results of an arrangement by its name.
func (f *databaseFigures) of(name string, connections int) []result {
	for _, a := range f.Arrangements {
		if a.Name == name {
			return a.Results[connections]
		}
	}
	return nil
}

// ratios divides the rates of two arrangements, round by round.
func (f *databaseFigures) ratios(name, by string, connections int) (list []float64) {
	others := f.of(by, connections)
	for i, r := range f.of(name, connections) {
		if i < len(others) && others[i].Completed > 0 {
			list = append(list, r.rate()/others[i].rate())
		}
	}
	return list
}

// text returns the figures as tables in Markdown.
func (f *databaseFigures) text(o *options, m *machine) string {
	var b strings.Builder
	b.WriteString("\n" + m.text())
	fmt.Fprintf(&b, "Each figure is the median of %d rounds of %.3g s, the rows measured in turn.\n\n", o.rounds, o.length.Seconds())
	fmt.Fprintln(&b, "| connections | server | per second | of the file | p50 ms | p99 ms | CPU µs for each, without PostgreSQL | peak MB of a process |")
	fmt.Fprintln(&b, "|--:|---|--:|--:|--:|--:|--:|--:|")
	for _, connections := range o.connections {
		for _, a := range f.Arrangements {
			results := a.Results[connections]
			if len(results) == 0 {
				continue
			}
			of := func(value func(result) float64) float64 { return median(each(results, value)) }
			fmt.Fprintf(&b, "| %d | %s | %.0f | %.3f | %.2f | %.2f | %.0f | %.0f |\n", connections, a.Name, of(result.rate), median(f.ratios(a.Name, onFile, connections)),
				of(func(r result) float64 { return r.P50.Seconds() * 1000 }), of(func(r result) float64 { return r.P99.Seconds() * 1000 }),
				of(func(r result) float64 { return r.per(r.CPU.Seconds() * 1e6) }), of(func(r result) float64 { return mega(r.Peak) }))
		}
	}
	b.WriteString("\n| ratio of the rates | connections | median [lowest-highest] of the rounds | goal |\n|---|--:|--:|--:|\n")
	for _, goal := range databaseGoals {
		for _, connections := range o.connections {
			wanted := fmt.Sprintf("at least %g", goal.least)
			if connections < goal.from || goal.least == 0 {
				wanted = "-"
			}
			values := f.ratios(oneProcess, goal.by, connections)
			fmt.Fprintf(&b, "| %s / %s | %d | %s | %s |\n", oneProcess, goal.by, connections, spread(values, func(v float64) string { return fmt.Sprintf("%.2f", v) }), wanted)
		}
	}
	b.WriteByte('\n')
	if f.Failovers != nil {
		b.WriteString(f.Failovers.text() + "\n")
	}
	for _, line := range f.Left {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	return b.String()
}
