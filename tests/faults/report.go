package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"blueprintd/tests/faultfs"
)

// report is the result of a sweep, as JSON or text.
type report struct {
	mu           sync.Mutex
	began        time.Time
	lastProgress time.Time

	Seed         uint64         `json:"seed"`
	Points       map[string]int `json:"points,omitempty"` // by kind
	Vary         int            `json:"pointsVary"`       // difference in the number of points between two runs
	Cases        map[string]int `json:"cases"`            // by mode
	NotReached   int            `json:"notReached"`       // cases whose point was not reached
	Ended        int            `json:"serversEnded"`     // servers that ended by themselves, as required
	Refused      int            `json:"refused503"`
	Doubtful     int            `json:"refusedButStored"`
	Milliseconds int64          `json:"duration"`
	Interrupted  bool           `json:"interrupted,omitempty"`
	Violations   []violation    `json:"violations"`
}

// violation is a guarantee that did not hold.
type violation struct {
	Mode   string `json:"mode"`
	Point  int    `json:"point"`
	Where  string `json:"where"`
	Text   string `json:"text"`
	Replay string `json:"replay"`
	Log    string `json:"log,omitempty"`
}

func (v violation) String() string {
	return fmt.Sprintf("%s at point %d (%s): %s\n  replay: go run ./tests/faults %s\n  log: %s", v.Mode, v.Point, v.Where, v.Text, v.Replay, v.Log)
}

func (r *report) finish() { r.Milliseconds = now().Sub(r.began).Milliseconds() }

// maxViolations limits how many violations of one case are reported.
const maxViolations = 6

func (r *report) add(mode string, res result, where, replay string, point int, reached bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Cases[mode]++
	r.Refused += res.refused
	r.Doubtful += res.doubtful
	if res.ended {
		r.Ended++
	}
	if !reached {
		r.NotReached++
	}
	for _, text := range res.wrong[:min(len(res.wrong), maxViolations)] {
		v := violation{mode, point, where, text, replay, res.log}
		r.Violations = append(r.Violations, v)
		fmt.Fprintln(os.Stderr, "\rVIOLATED", v)
	}
}

func (r *report) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.Violations) > 0
}

// progress prints how many cases are done, at most once a second.
func (r *report) progress(done, all int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now().Sub(r.lastProgress) < time.Second && done < all {
		return
	}
	r.lastProgress = now()
	elapsed := now().Sub(r.began)
	left := time.Duration(0)
	if done > 0 {
		left = elapsed * time.Duration(all-done) / time.Duration(done)
	}
	end := ""
	if done == all {
		end = "\n"
	}
	fmt.Fprintf(os.Stderr, "\r%d of %d cases, %d violations, %s elapsed, about %s left    %s", done, all, len(r.Violations), elapsed.Round(time.Second), left.Round(time.Second), end)
}

func (r *report) pointsOf(phases []*phase) {
	r.Points = map[string]int{}
	for _, ph := range phases {
		for _, p := range ph.points {
			r.Points[p.Kind.String()]++
		}
	}
}

func (r *report) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %.0f s\n", r.Seed, float64(r.Milliseconds)/1000)
	if len(r.Points) > 0 {
		sum, parts := 0, []string{}
		for _, kind := range faultfs.Kinds() {
			if n := r.Points[kind.String()]; n > 0 {
				sum += n
				parts = append(parts, fmt.Sprintf("%d %s", n, kind))
			}
		}
		fmt.Fprintf(&b, "points    %d: %s (two runs differed by %d)\n", sum, strings.Join(parts, ", "), r.Vary)
	}
	for _, mode := range slices.Sorted(maps.Keys(r.Cases)) {
		fmt.Fprintf(&b, "%-12s%d cases\n", mode, r.Cases[mode])
	}
	fmt.Fprintf(&b, "%d servers ended by themselves; %d changes were answered 503; %d cases did not reach their point\n", r.Ended, r.Refused, r.NotReached)
	if r.Doubtful > 0 {
		fmt.Fprintf(&b, "%d changes were refused because the disk had failed, but were stored completely\n", r.Doubtful)
	}
	if r.Interrupted {
		b.WriteString("interrupted\n")
	}
	if len(r.Violations) == 0 {
		b.WriteString("no violations\n")
	}
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "VIOLATED  %s\n", v)
	}
	return b.String()
}
