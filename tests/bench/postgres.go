package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"blueprintd/tests/process"
)

// maxProcesses is how many processes of a server on PostgreSQL -database measures.
const maxProcesses = 3

// arrangement is a server that -database measures: on a file, or some processes on
// PostgreSQL.
type arrangement struct {
	Name    string           `json:"name"`
	Results map[int][]result `json:"results"` // by connections
	servers []*server
	trigger string
}

// comparePostgreSQL measures row (c) on a file and on PostgreSQL, in turn, and writes a
// table with their ratios.
func comparePostgreSQL(ctx context.Context, o options) error {
	list, drop, err := o.arrangements(ctx)
	defer drop()
	if err != nil {
		return err
	}
	for round := range o.rounds {
		for _, connections := range o.connections {
			for _, a := range list {
				o.say("round %d of %d: %s, %d connections", round+1, o.rounds, a.Name, connections)
				if err := a.measure(ctx, &o, connections); err != nil {
					return fmt.Errorf("%s: %w", a.Name, err)
				}
			}
		}
	}
	return writePostgreSQL(&o, list)
}

// arrangements starts all servers. drop stops them and removes their databases.
func (o *options) arrangements(ctx context.Context) (list []*arrangement, drop func(), err error) {
	var names []string
	drop = func() {
		for _, a := range list {
			for _, s := range a.servers {
				s.Kill()
			}
		}
		for _, name := range names {
			if failed := process.Administer(context.WithoutCancel(ctx), o.database, "DROP DATABASE "+name+" WITH (FORCE)"); failed != nil {
				o.say("the database %s stays: %v", name, failed)
			}
		}
	}
	add := func(name string, processes int, args ...string) error {
		a := &arrangement{Name: name, Results: map[int][]result{}}
		list = append(list, a)
		for range processes {
			s := &server{binary: o.binary, folder: o.folder, storage: args}
			if err := s.start(ctx); err != nil {
				return err
			}
			a.servers = append(a.servers, s)
		}
		flows, err := storeFlows(ctx, a.servers[0].address)
		a.trigger = flows.wait
		return err
	}
	if err := add("a file", 1); err != nil {
		return list, drop, err
	}
	key := filepath.Join(o.folder, "postgresql.key")
	if err := runIn(ctx, o.folder, nil, o.binary, "master-key", "create", key); err != nil {
		return list, drop, err
	}
	for processes := 1; processes <= maxProcesses; processes++ {
		name := fmt.Sprintf("bench_%d_%d", now().UnixNano(), processes)
		if err := process.Administer(ctx, o.database, "CREATE DATABASE "+name); err != nil {
			return list, drop, err
		}
		names = append(names, name)
		what := "PostgreSQL, 1 process"
		if processes > 1 {
			what = fmt.Sprintf("PostgreSQL, %d processes", processes)
		}
		if err := add(what, processes, "--database", strings.TrimSuffix(o.database, "/")+"/"+name, "--master-key-file", key); err != nil {
			return list, drop, err
		}
	}
	return list, drop, nil
}

// measure divides the connections among the processes.
func (a *arrangement) measure(ctx context.Context, o *options, connections int) error {
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

func writePostgreSQL(o *options, list []*arrangement) error {
	machine := describeMachine(o.folder) // PostgreSQL is on the same machine: its load is not foreign
	var text strings.Builder
	fmt.Fprintln(&text, "| connections | database | per second | of the file | p50 ms | p99 ms | CPU µs for each, without PostgreSQL | peak MB of a process |")
	fmt.Fprintln(&text, "|--:|---|--:|--:|--:|--:|--:|--:|")
	for _, connections := range o.connections {
		file := 0.0
		for _, a := range list {
			results := a.Results[connections]
			if len(results) == 0 {
				continue
			}
			of := func(value func(result) float64) float64 {
				values := make([]float64, len(results))
				for i, r := range results {
					values[i] = value(r)
				}
				return median(values)
			}
			rate := of(result.rate)
			if file == 0 {
				file = rate
			}
			fmt.Fprintf(&text, "| %d | %s | %.0f | %.2f | %.2f | %.2f | %.0f | %.0f |\n", connections, a.Name, rate, rate/file,
				of(func(r result) float64 { return r.P50.Seconds() * 1000 }), of(func(r result) float64 { return r.P99.Seconds() * 1000 }),
				of(func(r result) float64 { return r.per(r.CPU.Seconds() * 1e6) }), of(func(r result) float64 { return float64(r.Peak) / 1e6 }))
		}
	}
	return publish(o, list, machine, "\n"+machine.text()+text.String()+"\n", postgresBegin, postgresEnd)
}
