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

// exclude removes shapes from the load, and everything that needs them.
func (s *scenario) exclude(names []string) {
	if s.clock != nil {
		return
	}
	s.shapes = slices.DeleteFunc(s.shapes, func(one *shape) bool { return slices.Contains(names, one.name) })
	s.shapes = slices.DeleteFunc(s.shapes, func(one *shape) bool { return one.eventFilter != "" && !s.hasShape(one.eventFilter) })
	s.sources = slices.DeleteFunc(s.sources, func(one *source) bool { return !s.hasShape(one.shape.name) })
}

// hasShape reports whether a shape is part of the load.
func (s *scenario) hasShape(name string) bool {
	return slices.ContainsFunc(s.shapes, func(one *shape) bool { return one.name == name })
}

// startSenders runs all senders of deliveries until loaded ends.
func (s *scenario) startSenders(ctx, loaded context.Context, clients *sync.WaitGroup) {
	if s.clock != nil {
		return
	}
	for i, source := range s.sources {
		one := &sender{client: s.client(900 + i), source: source, mailServer: s.mailServer}
		s.senders = append(s.senders, one)
		clients.Go(func() { one.work(ctx, loaded) })
	}
	if rotator := s.client(980); len(s.sources) > 0 {
		clients.Go(func() { rotateSecrets(ctx, loaded, rotator, s.sources) })
	}
	repeater := s.client(990)
	clients.Go(func() { s.redeliveries.work(ctx, loaded, repeater, s.sources) })
}

// finishSenders delivers everything without a response.
func (s *scenario) finishSenders(ctx context.Context) {
	for _, one := range s.senders {
		one.finish(ctx)
	}
}

// checkSources checks the deliveries after all runs have ended.
func (s *scenario) checkSources(ctx context.Context, c *client) {
	if s.clock != nil {
		return
	}
	if shape := s.edited(); shape != nil && s.hasShape(observed) {
		_, tried := shape.editions()
		s.history.checkListeners(s.hasShape, s.history.counts.Updates, tried-1-shape.unsent)
	}
	for _, source := range s.sources {
		ledger := c.checkLedger(ctx, source)
		if source.config["concurrency"] != nil {
			c.checkLimits(ctx, source)
		}
		if source.path == "" {
			c.checkEmailRuns(ctx, source, ledger)
		}
	}
	s.redeliveries.check(ctx, c)
}

// readyFile is the file that the server writes when it is ready.
func (s *scenario) readyFile() string { return filepath.Join(s.folder, "ready.json") }

// maxReadyFile bounds the time between readiness and the ready file.
const maxReadyFile = 5 * time.Second

// readMailAddress reads the mail address of a ready server.
func (s *scenario) readMailAddress(ctx context.Context, p *program.Process) error {
	if !s.hasShape("email") {
		return nil
	}
	for late := now().Add(maxReadyFile); now().Before(late); process.Pause(ctx, 5*time.Millisecond) {
		var ready struct {
			Pid      int    `json:"pid"`
			SMTPAddr string `json:"smtpAddr"`
		}
		data, err := os.ReadFile(s.readyFile())
		if err == nil && json.Unmarshal(data, &ready) == nil && ready.Pid == p.Pid() && ready.SMTPAddr != "" {
			s.mailServer.set(ready.SMTPAddr)
			return nil
		}
	}
	return fmt.Errorf("the server does not say in %s where it takes mail", s.readyFile())
}

// sourceParts returns the parts of the load made by the existing sources.
func (s *scenario) sourceParts() (list []part) {
	c := &s.history.counts
	for _, one := range []struct {
		shape string
		parts []part
	}{
		{"signed", []part{{"signed delivery", c.Signed}, {"delivery signed with the previous secret", c.PreviousSecrets}, {"delivery with a wrong signature", c.WrongSignatures}, {"rotated secret", c.Rotations}}},
		{"slack", []part{{"Slack event", c.Slack}, {"filtered event", c.Filtered}}},
		{"email", []part{{"email", c.Emails}, {"email cut off", c.EmailsCutOff}, {"attachment", c.Attachments}}},
		{observed, []part{{"delivered end of a run", c.EndEvents}, {"delivered change of a blueprint", c.ChangeEvents}}},
		{queued, []part{{"run under a limit", c.Limited}, {"limit that was reached", c.LimitReached}}},
		{replacing, []part{{"displaced run", c.Displaced}}},
	} {
		if s.hasShape(one.shape) {
			list = append(list, one.parts...)
		}
	}
	for _, one := range s.sources {
		runs := 0
		for _, r := range s.history.runs {
			if r.shape == one.shape {
				runs++
			}
		}
		list = append(list, part{"run of " + one.shape.name, runs})
	}
	return list
}
