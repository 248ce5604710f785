package store

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

var (
	historyRuns       = flag.Int("history", 1500, "how many runs the long history has; the short one has a thousand")
	historyBlueprints = flag.Int("history-blueprints", 100, "how many blueprints both have")
	historyKept       = flag.Int64("history-kept", 300, "how many runs pruning leaves")
	historyRounds     = flag.Int("history-rounds", 1, "how often each reading is repeated, twenty times each")
	historyLoad       = flag.Duration("history-load", 200*time.Millisecond, "how long the load beside pruning is measured before it")
)

// history is a database with a number of runs, each with its firing, of ten
// blueprints among many.
type history struct {
	*Store
	runs       int
	ann        blueprint.Principal
	blueprints []blueprint.Blueprint
	triggers   []blueprint.Trigger
	ids        []string // some runs
	latest     []string // the last 500
}

func newHistory(t testing.TB, runs int) *history {
	h := &history{Store: open(t, testOptions(t)), runs: runs}
	h.ann = user(t, h.Store, "ann")
	for i := range 10 {
		b := create(t, h.Store, h.ann, fmt.Sprint("busy ", i))
		h.blueprints = append(h.blueprints, b)
		h.triggers = append(h.triggers, must(h.CreateTrigger(context.Background(), h.ann, b.ID, blueprint.TriggerWebhook, nil))(t))
	}
	h.addBlueprints(t, *historyBlueprints)
	begun := time.Now()
	for done := 0; done < runs; done += 2000 {
		check(t, h.write(context.Background(), func(w *transaction) error { return h.addRuns(w, done, min(done+2000, runs)) }))
	}
	check(t, h.emptyLog())
	u := must(h.usage(context.Background()))(t)
	t.Logf("%9d runs stored in %v: %d MiB", runs, time.Since(begun).Round(time.Millisecond), u.file>>20)
	return h
}

// addBlueprints copies the first blueprint.
func (h *history) addBlueprints(t testing.TB, n int) {
	check(t, h.write(context.Background(), func(w *transaction) error {
		for i := range n {
			id := h.options.IDs.UUID()
			for _, copied := range []string{
				`INSERT INTO blueprints (id, title, title_fold, description, description_fold, status, visibility, version, tags, created_by, organization_id, created_at, updated_at)
					SELECT ?1, ?2, upper(?2), 'What it is good for.', 'WHAT IT IS GOOD FOR.', status, visibility, version, tags, created_by, organization_id, created_at, updated_at FROM blueprints WHERE id = ?3`,
				`INSERT INTO blueprint_contents (blueprint_id, version, map, variables) SELECT ?1, version, map, variables FROM blueprint_contents WHERE blueprint_id = ?3 AND ?2 <> ''`,
				`INSERT INTO blueprint_versions (blueprint_id, version, title, content_version, meaning_version, author, created_by, created_at, seq)
					SELECT ?1, version, ?2, content_version, meaning_version, author, created_by, created_at, seq FROM blueprint_versions WHERE blueprint_id = ?3`,
			} {
				if _, err := w.exec(copied, id, fmt.Sprint("blueprint ", i), h.blueprints[0].ID); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// addRuns stores runs as Commit does; they ended in the 30 days before start.
func (h *history) addRuns(w *transaction, from, to int) error {
	record := bytes.Repeat([]byte("a record of a run "), 70)
	for i := from; i < to; i++ {
		c := finished(h.Store, h.blueprints[i%10], h.ann, record)
		at := blueprint.TimeOf(start.Add(-30 * day).Add(time.Duration(i) * (29 * day / time.Duration(h.runs))))
		c.Row.ID = h.options.IDs.ExecutionID(at.Time())
		c.Row.CreatedAt, c.Row.UpdatedAt, c.Row.StartTime, c.Row.EndTime = at, at, at, at
		if i%20 == 0 {
			c.Row.Status = blueprint.StatusFailed
		}
		f := firing(h.Store, h.triggers[i%10], fmt.Sprint("delivery ", i))
		f.ReceivedAt, f.Decision, f.ExecutionID = at, blueprint.DecisionStarted, &c.Row.ID
		c.Firing, c.Row.FiringID, c.Row.TriggerID = &f, f.ID, f.TriggerID
		if err := h.beginWithFiring(w, c); err != nil {
			return err
		}
		h.writer.ended.add(&c.Row)
		if i >= h.runs-500 {
			h.latest = append(h.latest, c.Row.ID)
		}
		if rand.IntN(h.runs) < 1000 {
			h.ids = append(h.ids, c.Row.ID)
		}
	}
	return nil
}

// readings are what is compared between a short and a long history.
func (h *history) readings() map[string]func() error {
	ctx := context.Background()
	of := func() blueprint.Blueprint { return h.blueprints[rand.IntN(10)] }
	return map[string]func() error{
		"1 status": func() error {
			_, _, err := h.Execution(ctx, h.ann, h.ids[rand.IntN(len(h.ids))])
			return err
		},
		"1 status of the latest": func() error {
			_, _, err := h.Execution(ctx, h.ann, h.latest[rand.IntN(len(h.latest))])
			return err
		},
		"2 log page 1":         func() error { _, err := h.ExecutionLogs(ctx, h.ann, of().ID, 20, 0); return err },
		"3 log page at 80":     func() error { _, err := h.ExecutionLogs(ctx, h.ann, of().ID, 20, 80); return err },
		"4 recent page 1":      func() error { _, err := h.RecentExecutions(ctx, h.ann, nil, 20, 0); return err },
		"5 recent page at 900": func() error { _, err := h.RecentExecutions(ctx, h.ann, nil, 20, 900); return err },
		"6 search": func() error {
			_, _, err := h.ListBlueprints(ctx, h.ann, blueprint.BlueprintFilter{Search: "BLUEPRINT 29", Page: 1, Limit: 20})
			return err
		},
		"7 trigger history": func() error {
			_, _, err := h.Firings(ctx, h.ann, h.triggers[rand.IntN(10)].ID, 20, 0)
			return err
		},
		"8 start": func() error { return h.reopen() },
		"a runs": func() error {
			_, err := h.ListRuns(ctx, h.ann, blueprint.RunFilter{Limit: 20})
			return err
		},
		"b failed runs": func() error {
			_, err := h.ListRuns(ctx, h.ann, blueprint.RunFilter{Status: blueprint.StatusFailed, Limit: 20})
			return err
		},
		"c failed runs of one that has none": func() error { // the most that one page looks at
			_, err := h.ListRuns(ctx, h.ann, blueprint.RunFilter{Status: blueprint.StatusFailed, BlueprintID: h.blueprints[1].ID, Limit: 20})
			return err
		},
		"d run by id": func() error {
			_, err := h.ListRuns(ctx, h.ann, blueprint.RunFilter{Search: h.ids[rand.IntN(len(h.ids))], Limit: 20})
			return err
		},
		"e summaries": func() error {
			_, _, err := h.ListSummaries(ctx, h.ann, blueprint.SummaryFilter{Scope: blueprint.ScopeAll, Sort: "updated", Page: 1, Limit: 20})
			return err
		},
		"f summaries searched": func() error {
			_, _, err := h.ListSummaries(ctx, h.ann, blueprint.SummaryFilter{Scope: blueprint.ScopeAll, Sort: "title", Search: "BUSY", Page: 1, Limit: 20})
			return err
		},
		"g triggers": func() error {
			_, _, err := h.ListAllTriggers(ctx, h.ann, blueprint.TriggerFilter{Page: 1, Limit: 20})
			return err
		},
		"h tags": func() error { _, err := h.ListTags(ctx, h.ann, 200); return err },
		"i hours of a month": func() error {
			to := hourOf(blueprint.TimeOf(start))
			_, err := h.RunHours(ctx, h.ann, blueprint.HoursFilter{From: to - 30*24, To: to + 1})
			return err
		},
	}
}

// reopen reopens the store on the same database and reads what a server needs before it
// is ready.
func (h *history) reopen() error {
	if err := h.Close(); err != nil {
		return err
	}
	s, err := Open(context.Background(), h.options)
	if err != nil {
		return err
	}
	h.Store = s
	_, err = s.Unfinished(context.Background())
	return err
}

// TestHistory compares what reading costs in a short and in a long history, and
// prunes the long one beside a load. With the flags' defaults it only shows that
// it works; make bench-history asks for a million runs.
func TestHistory(t *testing.T) {
	t.Parallel()
	short, long := newHistory(t, 1000), newHistory(t, *historyRuns)
	readShort, readLong := short.readings(), long.readings()
	names := []string{}
	for name := range readShort {
		names = append(names, name)
	}
	slices.Sort(names)
	took := map[string][]time.Duration{}
	for _, h := range []*history{short, long} { // what is compared is not whether the disk was read before
		for _, id := range h.ids {
			_, _, err := h.Execution(context.Background(), h.ann, id)
			check(t, err)
		}
	}
	for round := range *historyRounds {
		for _, name := range names {
			times := 20
			if strings.ContainsRune("568", rune(name[0])) {
				times = 1
			}
			if name[0] == '8' && round%4 != 0 {
				continue
			}
			for range times {
				took["short "+name] = append(took["short "+name], timed(t, readShort[name]))
				took["long "+name] = append(took["long "+name], timed(t, readLong[name]))
			}
		}
	}
	t.Logf("%-36s %12s %12s %8s %12s %12s", "", "short: p50", "long: p50", "ratio", "short: p99", "long: p99")
	for _, name := range names {
		a, b := took["short "+name], took["long "+name]
		t.Logf("%-36s %12v %12v %8.2f %12v %12v", name, part(a, 50), part(b, 50), float64(part(b, 50))/float64(part(a, 50)), part(a, 99), part(b, 99))
	}
	at := min(*historyRuns, 20_000) - 20
	deep := timed(t, func() error {
		_, err := long.RecentExecutions(context.Background(), long.ann, nil, 20, at)
		return err
	})
	t.Logf("recent page at %d: %v (of the long history alone; offsets are walked)", at, deep)
	check(t, short.Close())
	prune(t, long)
}

func timed(t testing.TB, f func() error) time.Duration {
	begun := time.Now()
	check(t, f())
	return time.Since(begun)
}

// part returns a percentile.
func part(list []time.Duration, percent int) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[min(len(list)-1, len(list)*percent/100)].Round(time.Microsecond)
}

// prune measures a load of 200 runs a second before, and beside, pruning.
func prune(t *testing.T, h *history) {
	quiet := h.load(t, func() {
		alarm := time.NewTimer(*historyLoad)
		<-alarm.C
	})
	check(t, h.Close())
	options := h.options
	options.KeepExecutions, options.KeepFirings = Keep{Rows: *historyKept}, Keep{Rows: *historyKept}
	h.Store = open(t, options)
	before := must(h.usage(context.Background()))(t)
	var most atomic.Int64
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			select {
			case <-tick.C:
				if info, err := os.Stat(options.Path + "-wal"); err == nil {
					most.Store(max(most.Load(), info.Size()))
				}
			case <-stop:
				tick.Stop()
				return
			}
		}
	})
	begun := time.Now()
	busy := h.load(t, func() { advance(t, h.Store, 0) })
	t.Logf("pruned to %d in %v beside 200 runs a second; log at most %d MiB", *historyKept, time.Since(begun).Round(time.Millisecond), most.Load()>>20)
	close(stop)
	watching.Wait()
	t.Logf("a commit took p50 %v p99 %v before, p50 %v p99 %v meanwhile", part(quiet, 50), part(quiet, 99), part(busy, 50), part(busy, 99))
	check(t, h.emptyLog())
	after := must(h.usage(context.Background()))(t)
	t.Logf("the file had %.1f MiB and has %.1f", float64(before.file)/(1<<20), float64(after.file)/(1<<20))
	if most.Load() > 64<<20 {
		t.Errorf("the log had %d bytes, want at most %v", most.Load(), 64<<20)
	}
}

// load stores 200 runs a second while f runs, and gives how long each took.
func (h *history) load(t *testing.T, f func()) (took []time.Duration) {
	stop := run(t, h.Store)
	done := make(chan struct{})
	var mu sync.Mutex
	var clients sync.WaitGroup
	clients.Go(func() {
		pace := time.NewTicker(5 * time.Millisecond)
		defer pace.Stop()
		record := bytes.Repeat([]byte("r"), 1200)
		for {
			select {
			case <-pace.C:
				clients.Go(func() {
					begun := clock.Real{}.Now()
					err := h.Commit(context.Background(), finished(h.Store, h.blueprints[0], h.ann, record))
					mu.Lock()
					defer mu.Unlock()
					took = append(took, clock.Real{}.Now().Sub(begun))
					if err != nil {
						t.Error(err)
					}
				})
			case <-done:
				return
			}
		}
	})
	f()
	close(done)
	clients.Wait()
	if h.options.KeepExecutions.all() {
		check(t, stop())
	}
	return took
}
