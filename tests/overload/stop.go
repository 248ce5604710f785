package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"time"

	"blueprintd/tests/process"
)

// playStops stops the server under load repeatedly, each time on the same database.
func (s *stage) playStops(ctx context.Context, sc *scene) error {
	chance := rand.New(rand.NewPCG(s.options.seed, 1))
	all := &result{Counts: map[string]int{}}
	var longest time.Duration
	var failures []string
	p, err := s.launch(ctx, "stop", "--rate-limit", "0")
	if err != nil {
		return err
	}
	defer func() { p.kill() }()
	wait, err := p.greet(ctx, "wait")
	if err != nil {
		return err
	}
	accept, err := p.greet(ctx, "")
	if err != nil {
		return err
	}
	for n := range s.options.stops {
		l, err := begin(ctx, job{Kind: "stop", Address: p.address, Paths: []string{wait, accept}, Connections: 64, Seed: s.options.seed + uint64(n)})
		if err != nil {
			return err
		}
		process.Pause(ctx, 200*time.Millisecond+time.Duration(chance.Int64N(int64(800*time.Millisecond))))
		took, ended := p.stop()
		longest = max(longest, took)
		if ended != nil {
			failures = append(failures, ended.Error())
		}
		r, err := l.end()
		if err != nil {
			return err
		}
		for what, count := range r.Counts {
			all.Counts[what] += count
		}
		all.IDs = append(all.IDs, r.IDs...)
		if p, err = s.launch(ctx, "stop", "--rate-limit", "0"); err != nil {
			return err
		}
	}
	stored, err := runs(p.database)
	if err != nil {
		return err
	}
	missing, answered := 0, map[string]bool{}
	for _, id := range all.IDs {
		answered[id] = true
		if stored[id] == "" {
			missing++
		}
	}
	delete(all.Counts, "not connected") // the listener is closed: no request was sent
	good := all.Counts["200"] + all.Counts["202"]
	unanswered := all.Counts["answer cut off"]
	for what, n := range all.Counts {
		if strings.HasPrefix(what, "new connection ") || strings.HasPrefix(what, "kept connection ") {
			unanswered += n
		}
	}
	sc.demand(missing == 0 && len(all.IDs) == good, "every run that was answered is stored", "%d of %d missing, %d answers", missing, len(all.IDs), good)
	sc.demand(len(stored) == len(answered), "every run that is stored was answered", "%d of %d were not", len(stored)-len(answered), len(stored))
	sc.demand(total(all) == good+all.Counts["503"], "every request on an open connection answered, by 2xx or 503", "%d not: %s", unanswered, counts(all))
	sc.demand(len(failures) == 0 && longest < 20*time.Second, fmt.Sprintf("exit code 0 at each of %d stops, within 20 s", s.options.stops), "longest %.2f s %s", longest.Seconds(), strings.Join(slices.Sorted(maps.Keys(set(failures))), ", "))
	return s.playHaste(ctx, sc, p)
}

func set(all []string) map[string]bool {
	is := map[string]bool{}
	for _, one := range all {
		is[one] = true
	}
	return is
}

// playHaste stops a server whose run hangs, and a second time at once.
func (s *stage) playHaste(ctx context.Context, sc *scene, p *server) error {
	hold, arrived := make(chan struct{}), make(chan struct{}, 1)
	stub := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-hold
	}))
	defer stub.Close()
	defer close(hold)
	hang, err := p.webhook(ctx, "hang", "", process.Node("call", "http-request", object{"url": stub.URL}))
	if err != nil {
		return err
	}
	if _, err := perform(ctx, job{Kind: "flood", Address: p.address, Paths: []string{hang}, Connections: 1, Requests: 1}); err != nil {
		return err
	}
	<-arrived
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	process.Pause(ctx, 500*time.Millisecond)
	if !p.Running() {
		sc.demand(false, "a stop waits for a running node", "it did not: %v", p.Err)
		return nil
	}
	took, _ := p.stop()
	sc.demand(took < time.Second, "a second SIGTERM ends at once", "after %.2f s", took.Seconds())
	return nil
}
