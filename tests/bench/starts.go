package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"time"
)

// starts is the time from the start of the server to the first 200 of /readyz, on one kind
// of database.
type starts struct {
	What      string          `json:"what"`
	Times     []time.Duration `json:"timesNs"`
	CPU       []time.Duration `json:"cpuNs"`          // of its threads at the first 200
	RSS       int64           `json:"residentBytes"`  // at the first 200, the median
	Anonymous int64           `json:"anonymousBytes"` // the part of it that is not the program's file
	Size      int64           `json:"databaseBytes"`
}

// startupSize is the size of the database that -startup fills, in bytes.
const startupSize = 1 << 30

// writeStarts fills a database and measures starts.
func writeStarts(ctx context.Context, o options) error {
	f := &figures{Machine: describeMachine(o.folder)}
	watching := watchMachine()
	if err := fill(ctx, &o); err != nil {
		return err
	}
	var err error
	if f.Starts, err = measureStarts(ctx, &o); err != nil {
		return err
	}
	f.Machine.Foreign, f.Machine.Steal = watching.since(0)
	var b bytes.Buffer
	b.WriteString(f.Machine.text())
	f.others(&b)
	_, err = b.WriteTo(o.out)
	return err
}

// fill runs the webhook of row c until the database has the size for -startup.
func fill(ctx context.Context, o *options) (err error) {
	s := &stage{folder: o.folder, server: &server{binary: o.binary, folder: o.folder}}
	defer s.close()
	if err := s.server.start(ctx); err != nil {
		return err
	}
	if s.flows, err = storeFlows(ctx, s.server); err != nil {
		return err
	}
	most, runs := int64(startupSize), int64(20_000)
	if o.quick {
		most, runs = 0, 50
	}
	request := postRequest(s.server.host(), "/webhooks/blueprint/"+s.flows.accept, payload())
	for {
		if _, err := s.load(ctx, loadJob{Connections: 32, Requests: [][]byte{request}, Most: runs}); err != nil {
			return err
		}
		bytes, err := size(ctx, s.server.database())
		if err != nil {
			return err
		}
		if o.say("the database has %.0f MB", mega(bytes)); bytes >= most {
			return s.server.stop()
		}
	}
}

// measureStarts starts the server without a database, on an empty one, and on the one that
// the rows have filled.
func measureStarts(ctx context.Context, o *options) ([]starts, error) {
	list := []starts{{What: "new database, made by this start"}, {What: "empty database"}, {What: "loaded database"}}
	for i := range list {
		l := &list[i]
		folder, err := os.MkdirTemp(o.folder, "starts")
		if err != nil {
			return nil, err
		}
		s := &server{binary: o.binary, folder: folder}
		switch i {
		case 1:
			if err := s.start(ctx); err != nil {
				return nil, err
			}
			if err := s.stop(); err != nil {
				return nil, err
			}
		case 2:
			s.folder = o.folder
		}
		var sizes, anonymous []int64
		for n := range o.starts {
			if i == 0 && n > 0 {
				if s.folder, err = os.MkdirTemp(o.folder, "starts"); err != nil {
					return nil, err
				}
			}
			if err := s.start(ctx); err != nil {
				return nil, err
			}
			cpu, err := preciseCPU(s.Pid())
			resident, private, unread := rolledUp(s.Pid())
			if err = errors.Join(err, unread); err != nil {
				s.Kill()
				return nil, err
			}
			sizes, anonymous, l.CPU = append(sizes, resident), append(anonymous, private), append(l.CPU, cpu)
			l.Times = append(l.Times, s.up)
			if err := s.stop(); err != nil {
				return nil, err
			}
		}
		l.Anonymous = median(anonymous)
		if l.RSS = median(sizes); i > 0 {
			if l.Size, err = size(ctx, s.database()); err != nil {
				return nil, err
			}
		}
		o.say("start, %s: %s", l.What, median(l.Times))
	}
	return list, nil
}
