package main

import (
	"context"
	"fmt"
	"time"
)

// figures are the results of one run of the benchmark.
type figures struct {
	Machine machine   `json:"machine"`
	Seconds float64   `json:"seconds"` // of one measurement
	Rounds  int       `json:"rounds"`
	RunSize int       `json:"runBytes"` // content that one run of row c leaves, as row b stores it
	Idle    int64     `json:"idleBytes"`
	Rows    []figure  `json:"rows"`
	Ratios  []ratio   `json:"ratios"`
	Starts  []starts  `json:"starts"`
	Waiting []waiting `json:"waiting"`
	Open    []idle    `json:"idleConnections"`
}

// figure is one row with one number of connections: a result for each round.
type figure struct {
	Name        string   `json:"name"`
	What        string   `json:"what"`
	Connections int      `json:"connections"`
	Results     []result `json:"results"`
}

// ratio compares a row with another of the same round.
type ratio struct {
	Name        string    `json:"name"`
	Connections int       `json:"connections"`
	Values      []float64 `json:"values"`
}

// compare measures all rows in turn, round by round, so that a slow phase of the machine
// affects all of them.
func compare(ctx context.Context, o options) error {
	f := &figures{Machine: describeMachine(o.folder), Seconds: o.length.Seconds(), Rounds: o.rounds}
	watching := watchMachine()
	s := &stage{folder: o.folder, server: &server{binary: o.binary, folder: o.folder}, quiet: o.quiet()}
	defer s.close()
	o.say("starting the server and all that it is compared with")
	if err := s.prepare(ctx, o.rows); err != nil {
		return err
	}
	f.Idle, f.RunSize = s.server.idle, s.runSize
	if err := f.measure(ctx, &o, s.measurements(o.rows), s.server.Pid()); err != nil {
		return err
	}
	for _, against := range []string{"b1", "b2", "a"} {
		f.hold(f.Rows, "c", against)
	}
	alive, err := cpuTime(s.server.Pid())
	if err != nil {
		return err
	}
	if s.echo != nil {
		echo, err := cpuTime(s.echo.Pid())
		if err != nil {
			return err
		}
		alive += echo
	}
	f.Machine.Foreign, f.Machine.Steal = watching.since(alive)
	if err := s.server.stop(); err != nil {
		return fmt.Errorf("the server ended badly: %w", err)
	}
	if o.starts > 0 {
		if f.Starts, err = measureStarts(ctx, &o); err != nil {
			return err
		}
	}
	if o.waiting > 0 {
		if f.Waiting, err = measureWaiting(ctx, &o); err != nil {
			return err
		}
	}
	if o.idle > 0 {
		if f.Open, err = measureIdle(ctx, &o); err != nil {
			return err
		}
	}
	return f.publish(&o)
}

// measure fills the rows. The server finishes its work between two rows.
func (f *figures) measure(ctx context.Context, o *options, list []measurement, server int) error {
	for _, connections := range o.connections {
		first := len(f.Rows)
		for _, m := range list {
			f.Rows = append(f.Rows, figure{Name: m.name, What: m.what, Connections: connections})
		}
		for round := range o.rounds {
			for i, m := range list {
				warmup := o.warmup
				if round > 0 {
					warmup /= 4
				}
				r, err := m.measure(ctx, connections, warmup, o.length)
				if err != nil {
					return fmt.Errorf("row %s with %d connections: %w", m.name, connections, err)
				}
				f.Rows[first+i].Results = append(f.Rows[first+i].Results, *r)
				o.say("%3d connections, round %d of %d: %-2s %8.0f/s", connections, round+1, o.rounds, m.name, r.rate())
				if _, err := settled(ctx, server, 0, 2*time.Second); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// hold compares two rows, round by round, for each number of connections that both have. It
// leaves out rounds in which the other row completed nothing.
func (f *figures) hold(rows []figure, name, against string) {
	for _, one := range rows {
		for _, other := range rows {
			if one.Name != name || other.Name != against || one.Connections != other.Connections {
				continue
			}
			found := ratio{Name: name + "/" + against, Connections: one.Connections}
			for i, r := range one.Results {
				if rate := other.Results[i].rate(); rate > 0 {
					found.Values = append(found.Values, r.rate()/rate)
				}
			}
			f.Ratios = append(f.Ratios, found)
		}
	}
}
