package store

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// mutants is how many damaged databases TestMutatedDatabases tries. Each costs
// some ten fsyncs.
var mutants = flag.Int("mutants", 100, "try so many damaged databases")

// image is a database's files.
type image struct{ file, log []byte }

// specimen is a database with something of everything, and what it holds.
type specimen struct {
	options         Options
	closed, crashed image // after a clean end, and as a killed server leaves it
	ann             blueprint.Principal
	blueprint       blueprint.Blueprint
	runs            []string
	want, wantLate  map[string]string // what observe gives of closed and of crashed
}

func makeSpecimen(t *testing.T) *specimen {
	ctx := context.Background()
	x := &specimen{options: testOptions(t)}
	s := must(Open(ctx, x.options))(t)
	x.ann = user(t, s, "ann")
	text := strings.Repeat("all work and no play ", 40)
	for i := range 8 {
		variables := []any{map[string]any{"name": "s", "secret": i%2 == 0, "default": text}}
		b := must(s.CreateBlueprint(ctx, x.ann, blueprint.NewBlueprint{Title: fmt.Sprint("T", i), Description: text, Map: oneNode("set"), Variables: variables}))(t)
		must(s.CreateTrigger(ctx, x.ann, b.ID, blueprint.TriggerWebhook, map[string]any{"secret": "x"}))(t)
		x.blueprint = b
	}
	add := func(n int) {
		for i := range n {
			commit := finished(s, x.blueprint, x.ann, []byte(`{"text":"`+strings.Repeat(text, 1+i%20)+`"}`))
			if i%3 == 0 {
				commit = &blueprint.JournalCommit{Row: row(s, x.blueprint, x.ann), New: true, Entries: [][]byte{[]byte(`{"a":1}`), []byte(text), []byte(`{}`)}}
			}
			check(t, s.Commit(ctx, commit))
			x.runs = append(x.runs, commit.Row.ID)
			advance(t, s, time.Second)
		}
	}
	add(60)
	check(t, s.Close())
	x.closed.file = must(os.ReadFile(x.options.Path))(t)
	late := x.runs[:len(x.runs):len(x.runs)]
	s = must(Open(ctx, x.options))(t)
	x.want = x.observe(s)
	add(20)
	x.wantLate = x.observe(s)
	x.crashed.file = must(os.ReadFile(x.options.Path))(t)
	x.crashed.log = must(os.ReadFile(x.options.Path + "-wal"))(t)
	check(t, s.Close())
	x.runs = late
	x.wantLate = only(x.wantLate, x.want)
	return x
}

// only returns those entries of a map whose keys another one has.
func only(of, keys map[string]string) map[string]string {
	kept := map[string]string{}
	for key := range keys {
		kept[key] = of[key]
	}
	return kept
}

// observe reads everything as a server does and gives each answer as text, or
// "error" where there was one.
func (x *specimen) observe(s *Store) map[string]string {
	ctx := context.Background()
	seen := map[string]string{}
	note := func(key string, value any, err error) {
		if err != nil {
			seen[key] = "error"
			if blueprint.CodeOf(err) == blueprint.CodeNotFound {
				seen[key] = "not found"
			}
			return
		}
		seen[key] = fmt.Sprintf("%+v", value)
	}
	users, err := s.Users(ctx)
	note("users", users, err)
	triggers, err := s.ListTriggers(ctx, x.ann, x.blueprint.ID)
	note("triggers", triggers, err)
	got, err := s.GetBlueprint(ctx, x.ann, x.blueprint.ID)
	note("blueprint", got, err)
	for _, id := range x.runs {
		stored, err := s.Load(ctx, id)
		if err == nil {
			note(id, stored.Row, nil)
			note("content of "+id, fmt.Sprintf("%s %s %s", stored.Record, stored.State, stored.Entries), nil)
		} else {
			note(id, nil, err)
		}
	}
	return seen
}

// pageSize is that of the specimen.
const pageSize = 4096

// mutate damages a file, in one of many ways.
func mutate(r *rand.Rand, image image) (image, string) {
	data := append([]byte(nil), image.file...)
	log := append([]byte(nil), image.log...)
	pages := len(data) / pageSize
	page := func() []byte { n := r.IntN(pages); return data[n*pageSize : (n+1)*pageSize] }
	target := data
	if len(log) > 0 && r.IntN(2) == 0 {
		target = log
	}
	kind := r.IntN(10)
	switch kind {
	case 0: // bits
		for range 1 + r.IntN(20) {
			target[r.IntN(len(target))] ^= 1 << r.IntN(8)
		}
		return image.with(data, log), "bits"
	case 1: // two pages change places
		a, b := page(), page()
		for i := range a {
			a[i], b[i] = b[i], a[i]
		}
		return image.with(data, log), "swap"
	case 2:
		clear(page())
		return image.with(data, log), "zero page"
	case 3: // a page again in another place
		copy(page(), page())
		return image.with(data, log), "copy page"
	case 4:
		cut := r.IntN(len(target))
		if len(log) > 0 && &target[0] == &log[0] {
			return image.with(data, log[:cut]), "cut log"
		}
		return image.with(data[:cut], log), "cut"
	case 5:
		for range 1 + r.IntN(4) {
			data[r.IntN(100)] = byte(r.Uint32())
		}
		return image.with(data, log), "header"
	case 6: // the head of a tree's page: type, free block, cells, right child
		p := page()
		for range 1 + r.IntN(3) {
			p[r.IntN(12)] = byte(r.Uint32())
		}
		return image.with(data, log), "page head"
	case 7: // where the cells are
		p := page()
		for range 1 + r.IntN(4) {
			binary.BigEndian.PutUint16(p[8+2*r.IntN(40):], uint16(r.Uint32()))
		}
		return image.with(data, log), "cell pointers"
	case 8: // page numbers: children, overflow chains, the free list
		p := page()
		for range 1 + r.IntN(4) {
			binary.BigEndian.PutUint32(p[r.IntN(pageSize-4):], uint32(1+r.IntN(pages)))
		}
		return image.with(data, log), "page numbers"
	}
	start := r.IntN(len(target))
	for i := start; i < min(len(target), start+1+r.IntN(10_000)); i++ {
		target[i] = byte(r.Uint32())
	}
	return image.with(data, log), "noise"
}

func (image) with(file, log []byte) image { return image{file, log} }

// verdict is what became of a damaged database.
type verdict struct {
	seed    uint64
	kind    string
	refused bool
	errors  int    // answers that were errors
	wrong   string // the first answer that was wrong without an error
	write   string // what became of a write
	fault   string // a panic or a hang
}

func (x *specimen) try(folder string, seed uint64) (v verdict) {
	r := rand.New(rand.NewPCG(seed, 1))
	origin, want := x.closed, x.want
	if r.IntN(3) == 0 {
		origin, want = x.crashed, x.wantLate
	}
	damaged, kind := mutate(r, origin)
	v = verdict{seed: seed, kind: kind}
	ctx := context.Background()
	options := x.options
	options.Path = filepath.Join(folder, fmt.Sprint(seed, ".db"))
	if err := os.WriteFile(options.Path, damaged.file, 0o600); err != nil {
		v.fault = err.Error()
		return v
	}
	if len(damaged.log) > 0 {
		if err := os.WriteFile(options.Path+"-wal", damaged.log, 0o600); err != nil {
			v.fault = err.Error()
			return v
		}
	}
	done := make(chan verdict, 1)
	go func(v verdict) {
		defer func() {
			if caught := recover(); caught != nil {
				v.fault = fmt.Sprintf("panic: %v\n%s", caught, debug.Stack())
			}
			done <- v
		}()
		s, err := Open(ctx, options)
		if err != nil {
			v.refused = true
			return
		}
		_, unfinished := s.Unfinished(ctx)
		if unfinished != nil {
			v.errors++
		}
		for key, got := range x.observe(s) {
			switch {
			case got == "error":
				v.errors++
			case strings.HasPrefix(key, "content") && !strings.HasPrefix(want[key], strings.TrimSuffix(got, "]")):
				v.fault = fmt.Sprintf("%s: %.300s, want %.300s", key, got, want[key])
			case got != want[key] && v.wrong == "":
				v.wrong = fmt.Sprintf("%s: %.300s, want %.300s", key, got, want[key])
			}
		}
		if _, err := s.RecentExecutions(ctx, x.ann, nil, 100, 0); err != nil {
			v.errors++
		}
		commit := finished(s, x.blueprint, x.ann, []byte("new"))
		v.write = "done"
		if err := s.Commit(ctx, commit); err != nil {
			v.write = "error"
		} else if stored, err := s.Load(ctx, commit.Row.ID); err == nil && string(stored.Record) != "new" {
			v.wrong = "what was written is not what is read"
		}
		_ = s.Close()
	}(v)
	late := time.NewTimer(2 * time.Minute) // a busy machine with the race detector takes many seconds
	defer late.Stop()
	select {
	case v = <-done:
	case <-late.C:
		v.fault = "it hangs"
	}
	return v
}

// TestMutatedDatabases opens many databases that were damaged in as many ways
// and uses each as a server does: it must neither crash nor hang, and give what
// was stored or an error. Of what a run leaves behind that holds for every bit,
// but for the end of a journal, which may be gone.
// Of the rest it holds as far as SQLite can tell: a bit that turns inside a text
// is part of the text. How often that was so is in the log.
func TestMutatedDatabases(t *testing.T) {
	t.Parallel()
	x := makeSpecimen(t)
	folder := t.TempDir()
	var mu sync.Mutex
	summary := map[string]int{}
	var group sync.WaitGroup
	seeds := make(chan uint64)
	for range 8 { // most of the time goes into waiting for the disk
		group.Go(func() {
			for seed := range seeds {
				v := x.try(folder, seed)
				mu.Lock()
				switch {
				case v.fault != "":
					t.Errorf("mutant %d (%s): %s", v.seed, v.kind, v.fault)
				case v.refused:
					summary["refused"]++
				case v.wrong != "":
					summary["wrong"]++
					summary["wrong: "+v.kind]++
					t.Logf("mutant %d (%s), write %s: %s", v.seed, v.kind, v.write, v.wrong)
				case v.errors > 0:
					summary["errors"]++
				default:
					summary["right"]++
				}
				mu.Unlock()
			}
		})
	}
	for seed := range uint64(*mutants) {
		seeds <- seed
	}
	close(seeds)
	group.Wait()
	t.Logf("%d mutants: %v", *mutants, summary)
}
