package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"blueprintd/tests/process"
)

// stage holds the servers of the scenes: one for those that compare a client with itself,
// others for the rest.
type stage struct {
	options options
	folder  string
	created map[string]string // URLs of databases by the name of their server
	main    *server
	calm    string          // the webhook of the well-behaved client
	accept  string          // a webhook that responds as soon as a run is stored
	rest    []time.Duration // the client's 99th percentiles without load so far
	idle    int64           // memory of the server when idle
}

// mostMemory is the memory limit of the server in any scene.
const mostMemory = 512 << 20

func (s *stage) close() {
	if s.main != nil {
		s.main.stop()
	}
	for _, url := range s.created {
		_, name, _ := strings.Cut(strings.TrimPrefix(url, s.options.database), "/")
		if err := process.Administer(context.Background(), s.options.database, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			fmt.Fprintf(os.Stderr, "overload: database %s not dropped: %v\n", name, err)
		}
	}
}

// prepare starts the server of the comparing scenes and warms it up.
func (s *stage) prepare(ctx context.Context) (err error) {
	if s.main != nil {
		return nil
	}
	if s.main, err = s.launch(ctx, "main", "--rate-limit", "0"); err != nil {
		return err
	}
	if s.calm, err = s.main.greet(ctx, "wait"); err != nil {
		return err
	}
	if s.accept, err = s.main.greet(ctx, ""); err != nil {
		return err
	}
	if _, err = s.round(ctx); err != nil {
		return err
	}
	for range 3 {
		if err := s.atRest(ctx); err != nil {
			return err
		}
	}
	s.idle, _, err = process.Memory(s.main.Pid())
	return err
}

// round runs the well-behaved client for a third of a scene.
func (s *stage) round(ctx context.Context) (*result, error) {
	return perform(ctx, job{Kind: "steady", Address: s.main.address, Paths: []string{s.calm}, Connections: 8, Rate: 200, Length: max(time.Second, s.options.seconds/3)})
}

// atRest is a round without load.
func (s *stage) atRest(ctx context.Context) error {
	r, err := s.round(ctx)
	if err != nil {
		return err
	}
	if bad := lost(r, 200); bad > 0 {
		return fmt.Errorf("at rest, %d requests failed: %s", bad, counts(r))
	}
	s.rest = append(s.rest, r.P99)
	return nil
}

// strain compares the well-behaved client under a load with the same client without it, and
// returns the result of the load.
func (s *stage) strain(ctx context.Context, sc *scene, j job, factor float64) (*result, error) {
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	process.ForgetPeak(s.main.Pid())
	first := max(0, len(s.rest)-2)
	j.Address, j.Seed = s.main.address, s.options.seed
	l, err := begin(ctx, j)
	if err != nil {
		return nil, err
	}
	var tails []time.Duration
	asked, bad, failures := 0, 0, map[string]bool{}
	for range 3 {
		r, err := s.round(ctx)
		if err != nil {
			return nil, err
		}
		tails = append(tails, r.P99)
		asked += total(r)
		if n := lost(r, 200); n > 0 {
			bad += n
			failures[counts(r)] = true
		}
	}
	var outcome *result
	if j.Length == 0 {
		outcome, err = l.end()
	} else {
		outcome, err = l.wait()
	}
	if err != nil {
		return nil, err
	}
	for range 2 {
		if err := s.atRest(ctx); err != nil {
			return nil, err
		}
	}
	calm, strained := median(s.rest[first:]), median(tails)
	if factor > 0 {
		sc.demand(float64(strained) <= factor*float64(calm), fmt.Sprintf("p99 of the well-behaved client at most %.0f times that at rest", factor),
			"%.1f times: %s (%s), at rest %s (%s)", float64(strained)/float64(calm), shown(strained), list(tails), shown(calm), list(s.rest[first:]))
	} else {
		sc.note("p99 of the well-behaved client %s (%s), at rest %s", shown(strained), list(tails), shown(calm))
	}
	sc.demand(bad == 0, "every request of the well-behaved client answered with 200", "%d of %d failed %s", bad, asked, strings.Join(slices.Sorted(maps.Keys(failures)), "; "))
	return outcome, s.weigh(sc)
}

// weigh compares the memory of the main server with the limit.
func (s *stage) weigh(sc *scene) error {
	resident, peak, err := process.Memory(s.main.Pid())
	sc.demand(peak <= mostMemory, "memory at most "+mebibytes(mostMemory), "at most %s, %s afterwards, %s at rest before all", mebibytes(peak), mebibytes(resident), mebibytes(s.idle))
	return err
}

// total returns the number of requests; lost is how many of them had another status or no
// response.
func total(r *result) (n int) {
	for _, count := range r.Counts {
		n += count
	}
	return n
}

func lost(r *result, status int) int { return total(r) - r.Counts[fmt.Sprint(status)] }

func counts(r *result) string {
	var all []string
	for _, what := range slices.Sorted(maps.Keys(r.Counts)) {
		all = append(all, fmt.Sprintf("%s: %d", what, r.Counts[what]))
	}
	return strings.Join(all, ", ")
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func shown(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }

func list(all []time.Duration) string {
	var texts []string
	for _, d := range all {
		texts = append(texts, fmt.Sprintf("%.1f", d.Seconds()*1000))
	}
	return strings.Join(texts, " ")
}
