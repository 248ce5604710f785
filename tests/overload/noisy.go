package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"time"

	"blueprintd/tests/process"
)

// noisyRun is the duration of a run of the flooded trigger.
const noisyRun = 50 * time.Millisecond

// noisyLines is the number of connections that flood it.
const noisyLines = 32

// playNoisy floods one trigger and measures others at the same time: one of the same
// organization, and one of another.
func (s *stage) playNoisy(ctx context.Context, sc *scene) error {
	stub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		process.Pause(r.Context(), noisyRun)
		fmt.Fprint(w, "{}")
	}))
	defer stub.Close()
	for _, slots := range []int{8, 1000} {
		if err := s.playNoise(ctx, sc, slots, stub.URL); err != nil {
			return err
		}
	}
	return nil
}

// playNoise is playNoisy with a number of slots.
func (s *stage) playNoise(ctx context.Context, sc *scene, slots int, stub string) error {
	p, err := s.launch(ctx, fmt.Sprint("noisy", slots), "--rate-limit", "0", "--max-running", fmt.Sprint(slots))
	if err != nil {
		return err
	}
	defer p.kill()
	noisy, err := p.webhook(ctx, "noisy", "", process.Node("call", "http-request", object{"url": stub}))
	if err != nil {
		return err
	}
	beside, err := p.greet(ctx, "wait")
	if err != nil {
		return err
	}
	other, err := s.stranger(ctx, p)
	if err != nil {
		return err
	}
	elsewhere, err := other.greet(ctx, "wait")
	if err != nil {
		return err
	}
	owners := []string{"same organization", "another"}
	calm := func() (all [2]*result, err error) {
		var loads [2]*load
		for i, path := range []string{beside, elsewhere} {
			if loads[i], err = begin(ctx, job{Kind: "steady", Address: p.address, Paths: []string{path}, Connections: 8, Rate: 20, Length: s.options.seconds}); err != nil {
				return all, err
			}
		}
		for i, l := range loads {
			r, failed := l.wait()
			all[i], err = r, errors.Join(err, failed)
		}
		return all, err
	}
	if _, err := calm(); err != nil { // warm up
		return err
	}
	alone, err := calm()
	if err != nil {
		return err
	}
	l, err := begin(ctx, job{Kind: "flood", Address: p.address, Paths: []string{noisy}, Connections: noisyLines, Requests: 1 << 40})
	if err != nil {
		return err
	}
	process.Pause(ctx, 2*time.Second) // until the queue is full
	amid, err := calm()
	if err != nil {
		return err
	}
	r, err := l.end()
	if err != nil {
		return err
	}
	for i := range owners {
		sc.demand(lost(amid[i], 200) == 0, fmt.Sprintf("%d slots: every request to a trigger of %s answered with 200", slots, owners[i]), "%s", counts(amid[i]))
		most := max(10*noisyRun, 2*alone[i].P99) // a busy machine slows every trigger down
		sc.demand(amid[i].P99 <= most, fmt.Sprintf("%d slots: its p99 at most %s", slots, shown(most)), "p50 %s, p99 %s; alone %s, %s: %.1f and %.1f times",
			shown(amid[i].P50), shown(amid[i].P99), shown(alone[i].P50), shown(alone[i].P99),
			float64(amid[i].P50)/float64(alone[i].P50), float64(amid[i].P99)/float64(alone[i].P99))
	}
	refused := r.Counts["429"] + r.Counts["503"]
	sc.demand(total(r) == r.Counts["202"]+refused, "the noisy one accepted, or refused with Retry-After", "%s", counts(r))
	return nil
}

// stranger adds a user with an organization of their own and returns the server as that
// user's client.
func (s *stage) stranger(ctx context.Context, p *server) (*server, error) {
	const email = "stranger@example.org"
	var key string
	for _, command := range [][]string{{"user", "add", "--email", email, "--name", "Stranger"}, {"key", "create", "--user", email, "--name", "k"}} {
		out, err := exec.CommandContext(ctx, s.options.binary, append(command, p.flags...)...).Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(command, " "), err)
		}
		key = strings.TrimSpace(string(out))
	}
	theirs := *p
	theirs.client = process.NewClient("http://"+p.address, key, p.client.HTTP)
	return &theirs, nil
}
