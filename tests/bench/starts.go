package main

import (
	"context"
	"os"
	"time"

	"blueprintd/tests/process"
)

// starts is the time from the start of the server to the first 200 of /readyz, on one kind
// of database.
type starts struct {
	What  string          `json:"what"`
	Times []time.Duration `json:"timesNs"`
	RSS   int64           `json:"residentBytes"` // at the first 200, the median
	Size  int64           `json:"databaseBytes"`
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
		var sizes []int64
		for n := range o.starts {
			if i == 0 && n > 0 {
				if s.folder, err = os.MkdirTemp(o.folder, "starts"); err != nil {
					return nil, err
				}
			}
			if err := s.start(ctx); err != nil {
				return nil, err
			}
			resident, _, err := process.Memory(s.Pid())
			if err != nil {
				s.Kill()
				return nil, err
			}
			sizes = append(sizes, resident)
			l.Times = append(l.Times, s.up)
			if err := s.stop(); err != nil {
				return nil, err
			}
		}
		if l.RSS = median(sizes); i > 0 {
			if l.Size, err = size(ctx, s.database()); err != nil {
				return nil, err
			}
		}
		o.say("start, %s: %s", l.What, median(l.Times))
	}
	return list, nil
}
