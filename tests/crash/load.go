package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"blueprintd/clients/go/program"
	"blueprintd/tests/process"
)

// leaveOut removes shapes from the load, and everything that needs them.
func (s *scene) leaveOut(names []string) {
	if s.ticking != nil {
		return
	}
	s.shapes = slices.DeleteFunc(s.shapes, func(one *shape) bool { return slices.Contains(names, one.name) })
	s.shapes = slices.DeleteFunc(s.shapes, func(one *shape) bool { return one.narrowed != "" && !s.has(one.narrowed) })
	s.sources = slices.DeleteFunc(s.sources, func(one *source) bool { return !s.has(one.shape.name) })
}

// has reports whether a shape is part of the load.
func (s *scene) has(name string) bool {
	return slices.ContainsFunc(s.shapes, func(one *shape) bool { return one.name == name })
}

// sendAll runs all senders of deliveries until loaded ends.
func (s *scene) sendAll(ctx, loaded context.Context, clients *sync.WaitGroup) {
	if s.ticking != nil {
		return
	}
	for i, source := range s.sources {
		one := &sender{client: s.client(900 + i), of: source, post: s.post}
		s.senders = append(s.senders, one)
		clients.Go(func() { one.work(ctx, loaded) })
	}
	if turner := s.client(980); len(s.sources) > 0 {
		clients.Go(func() { turn(ctx, loaded, turner, s.sources) })
	}
	repeater := s.client(990)
	clients.Go(func() { s.repeats.work(ctx, loaded, repeater, s.sources) })
}

// finish delivers everything without a response.
func (s *scene) finish(ctx context.Context) {
	for _, one := range s.senders {
		one.finish(ctx)
	}
}

// judgeSources judges the deliveries after all runs have ended.
func (s *scene) judgeSources(ctx context.Context, c *client) {
	if s.ticking != nil {
		return
	}
	if shape := s.edited(); shape != nil && s.has(spoken) {
		_, tried := shape.editions()
		s.book.judgeListeners(s.has, s.book.counts.Updates, tried-1-shape.unsent)
	}
	for _, source := range s.sources {
		ledger := c.judgeLedger(ctx, source)
		if source.config["concurrency"] != nil {
			c.judgeLimits(ctx, source)
		}
		if source.path == "" {
			c.judgeLetters(ctx, source, ledger)
		}
	}
	s.repeats.judge(ctx, c)
}

// readyFile is the file that the server writes when it is ready.
func (s *scene) readyFile() string { return filepath.Join(s.folder, "ready.json") }

// mostToSay bounds the time between readiness and the ready file.
const mostToSay = 5 * time.Second

// openPost reads the mail address of a ready server.
func (s *scene) openPost(ctx context.Context, p *program.Process) error {
	if !s.has("letter") {
		return nil
	}
	for late := now().Add(mostToSay); now().Before(late); process.Pause(ctx, 5*time.Millisecond) {
		var said struct {
			Pid      int    `json:"pid"`
			SMTPAddr string `json:"smtpAddr"`
		}
		data, err := os.ReadFile(s.readyFile())
		if err == nil && json.Unmarshal(data, &said) == nil && said.Pid == p.Pid() && said.SMTPAddr != "" {
			s.post.open(said.SMTPAddr)
			return nil
		}
	}
	return fmt.Errorf("the server does not say in %s where it takes mail", s.readyFile())
}

// outsideParts returns the parts of the load made by the existing sources.
func (s *scene) outsideParts() (list []part) {
	c := &s.book.counts
	for _, one := range []struct {
		shape string
		parts []part
	}{
		{"signed", []part{{"signed delivery", c.Signed}, {"delivery signed with the secret before", c.OldSecrets}, {"delivery signed wrongly", c.Wrong}, {"replaced secret", c.Rotations}}},
		{"slack", []part{{"event of Slack", c.Slack}, {"event that a filter left out", c.Skipped}}},
		{"letter", []part{{"letter", c.Letters}, {"letter cut off", c.Cut}, {"attachment", c.Files}}},
		{spoken, []part{{"delivered end of a run", c.Told}, {"delivered change of a blueprint", c.Changes}}},
		{queued, []part{{"run under a limit", c.Limited}, {"limit that was met", c.Met}}},
		{crowded, []part{{"run that made room", c.Displaced}}},
	} {
		if s.has(one.shape) {
			list = append(list, one.parts...)
		}
	}
	for _, one := range s.sources {
		runs := 0
		for _, r := range s.book.runs {
			if r.shape == one.shape {
				runs++
			}
		}
		list = append(list, part{"run of " + one.shape.name, runs})
	}
	return list
}
