package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"blueprintd/tests/process"
)

// playIdle measures the well-behaved client alone.
func (s *stage) playIdle(ctx context.Context, sc *scene) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	r, err := s.round(ctx)
	if err != nil {
		return err
	}
	sc.demand(lost(r, 200) == 0, "every request answered with 200", "%s; p50 %s, p99 %s (of rounds: %s)", counts(r), shown(r.P50), shown(r.P99), list(s.rest))
	return s.weigh(sc)
}

// playCrowd opens many well-behaved connections.
func (s *stage) playCrowd(ctx context.Context, sc *scene) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	r, err := s.strain(ctx, sc, job{Kind: "crowd", Paths: []string{s.accept, s.calm}, Connections: s.options.connections, Rate: 300}, 2)
	if err != nil {
		return err
	}
	sc.demand(total(r) == r.Counts["200"]+r.Counts["202"], fmt.Sprintf("every request of %d connections answered", s.options.connections), "%s", counts(r))
	return nil
}

// playSenders holds connections open with requests that never end.
func (s *stage) playSenders(ctx context.Context, sc *scene) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	r, err := s.strain(ctx, sc, job{Kind: "senders", Paths: []string{s.accept}, Connections: s.options.connections / 2, Length: max(15*time.Second, s.options.seconds+5*time.Second)}, 2)
	if err != nil {
		return err
	}
	open := 0
	for what, n := range r.Counts {
		if strings.HasSuffix(what, "still open") {
			open += n
		}
	}
	sc.demand(open == 0, "slow headers time out within 15 s", "the last after %.1f s: %s", r.Last.Seconds(), counts(r))
	// A body may take a minute; only this load runs that long.
	if r, err = perform(ctx, job{Kind: "senders", Address: s.main.address, Paths: []string{s.accept}, Connections: max(8, s.options.connections/20), Size: 1 << 20, Length: 70 * time.Second}); err != nil {
		return err
	}
	open = r.Counts["body still open"] + r.Counts["head still open"]
	sc.demand(open == 0, "a slow body times out within 70 s", "the last after %.1f s: %s", r.Last.Seconds(), counts(r))
	resident, _, err := process.Memory(s.main.Pid())
	sc.demand(resident <= s.idle+128<<20, "memory afterwards at most 128 MiB above idle", "%s, at rest %s", mebibytes(resident), mebibytes(s.idle))
	return err
}

// playReaders requests large responses and does not read them.
func (s *stage) playReaders(ctx context.Context, sc *scene) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	large, err := s.main.webhook(ctx, "large", "wait", process.Node("say", "respond", object{"body": strings.Repeat("x", 1<<20)}))
	if err != nil {
		return err
	}
	r, err := s.strain(ctx, sc, job{Kind: "readers", Paths: []string{large}, Connections: s.options.connections / 5}, 2)
	if err != nil {
		return err
	}
	sc.demand(r.Counts["503 without Retry-After"] == 0, "every refusal says when to retry", "%s", counts(r))
	return nil
}

// playBodies sends large bodies.
func (s *stage) playBodies(ctx context.Context, sc *scene) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	swallow, err := s.main.webhook(ctx, "swallow", "", process.Node("a", "set", object{"values": object{"seen": true}}))
	if err != nil {
		return err
	}
	r, err := s.strain(ctx, sc, job{Kind: "bodies", Paths: []string{swallow}, Connections: s.options.connections / 5, Size: 5 << 20, Length: s.options.seconds}, 0)
	if err != nil {
		return err
	}
	sc.demand(r.Counts["503"] > 0 && r.Counts["503 without Retry-After"] == 0, "bodies beyond the limit are refused with 503 and Retry-After", "%s", counts(r))
	return nil
}

// playLimit exceeds the rate limit of a key.
func (s *stage) playLimit(ctx context.Context, sc *scene) error {
	p, err := s.launch(ctx, "limit", "--rate-limit", "50", "--rate-burst", "100")
	if err != nil {
		return err
	}
	defer p.kill()
	r, err := perform(ctx, job{Kind: "limit", Address: p.address, Connections: 8, Length: s.options.seconds})
	if err != nil {
		return err
	}
	sc.demand(r.Counts["429"] > 0 && total(r) == r.Counts["200"]+r.Counts["429"]+r.Counts["obeyed"]+r.Counts["obeyed and refused again"], "beyond the rate 429 with Retry-After", "%s", counts(r))
	sc.demand(r.Counts["obeyed"] > 0 && r.Counts["obeyed and refused again"] == 0, "a request repeated after Retry-After succeeds", "%d of %d", r.Counts["obeyed"], r.Counts["obeyed"]+r.Counts["obeyed and refused again"])
	return nil
}
