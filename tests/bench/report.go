package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// The markers between which a file's tables are replaced.
const (
	tablesBegin   = "<!-- bench: begin -->"
	tablesEnd     = "<!-- bench: end -->"
	peersBegin    = "<!-- bench-peers: begin -->"
	peersEnd      = "<!-- bench-peers: end -->"
	dayBegin      = "<!-- bench-day: begin -->"
	dayEnd        = "<!-- bench-day: end -->"
	postgresBegin = "<!-- bench-postgresql: begin -->"
	postgresEnd   = "<!-- bench-postgresql: end -->"
	shapesBegin   = "<!-- bench-shapes: begin -->"
	shapesEnd     = "<!-- bench-shapes: end -->"
)

// median returns the middle value; of an even number, the higher of the two in the middle.
func median[T cmp.Ordered](values []T) (middle T) {
	if len(values) == 0 {
		return middle
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2] // of an even number, the lower one
}

// spread formats a median with its minimum and maximum.
func spread[T cmp.Ordered](values []T, write func(T) string) string {
	if len(values) == 0 {
		return "-"
	}
	return fmt.Sprintf("%s [%s-%s]", write(median(values)), write(slices.Min(values)), write(slices.Max(values)))
}

func mega(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// milliseconds formats a duration with at least three digits.
func milliseconds(d time.Duration) string {
	if ms := d.Seconds() * 1000; ms < 100 {
		return fmt.Sprintf("%.3g", ms)
	}
	return fmt.Sprintf("%.0f", d.Seconds()*1000)
}

func whole(f float64) string { return fmt.Sprintf("%.0f", f) }

// each maps results to values.
func each[T any](results []result, of func(result) T) (list []T) {
	for _, r := range results {
		list = append(list, of(r))
	}
	return list
}

// text returns the figures as tables in Markdown.
func (f *figures) text() string {
	var b bytes.Buffer
	b.WriteString(f.Machine.text())
	fmt.Fprintf(&b, "Each figure is the median of %d rounds of %.3g s [lowest-highest], the rows measured in turn.\n\n", f.Rounds, f.Seconds)
	b.WriteString("| row | connections | each second | p50 ms | p99 ms | CPU us each | bytes each | peak memory MB |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, row := range f.Rows {
		stored := "-"
		if grown := each(row.Results, func(r result) float64 { return float64(r.Growth) / float64(max(r.Answered, 1)) }); median(grown) > 0 {
			stored = whole(median(grown))
		}
		fmt.Fprintf(&b, "| (%s) %s | %d | %s | %s | %s | %s | %s | %s |\n", row.Name, row.What, row.Connections,
			spread(each(row.Results, result.rate), whole),
			milliseconds(median(each(row.Results, func(r result) time.Duration { return r.P50 }))),
			milliseconds(median(each(row.Results, func(r result) time.Duration { return r.P99 }))),
			whole(median(each(row.Results, func(r result) float64 { return r.per(float64(r.CPU.Microseconds())) }))), stored,
			whole(mega(median(each(row.Results, func(r result) int64 { return r.Peak })))))
	}
	if len(f.Ratios) > 0 {
		b.WriteString("\n| ratio of the rates | connections | median [lowest-highest] of the rounds |\n|---|--:|--:|\n")
		for _, r := range f.Ratios {
			fmt.Fprintf(&b, "| (%s) | %d | %s |\n", strings.Replace(r.Name, "/", ") / (", 1), r.Connections, spread(r.Values, func(v float64) string { return fmt.Sprintf("%.2f", v) }))
		}
	}
	f.facts(&b)
	f.others(&b)
	return b.String()
}

// facts writes the figures outside of tables.
func (f *figures) facts(b *bytes.Buffer) {
	b.WriteByte('\n')
	if f.Idle > 0 {
		fmt.Fprintf(b, "- Resident memory of the server, started and idle: %.1f MB.\n", mega(f.Idle))
	}
	if f.RunSize > 0 {
		fmt.Fprintf(b, "- Content of the rows of one run (c), which (b1) and (b2) insert: %d bytes.\n", f.RunSize)
	}
	if share := f.loadShare(); share > 0 {
		fmt.Fprintf(b, "- The load generator took at most %.0f %% of one processor.\n", 100*share)
	}
	if batches := f.batches(); batches != "" {
		fmt.Fprintf(b, "- Runs to one commit: %s.\n", batches)
	}
}

// others writes the tables of starts, of waiting runs and of idle connections.
func (f *figures) others(b *bytes.Buffer) {
	if len(f.Starts) > 0 {
		b.WriteString("\n| start-up, to the first 200 of /readyz | ms | CPU ms | resident memory MB | anonymous MB | database MB |\n|---|--:|--:|--:|--:|--:|\n")
		for _, s := range f.Starts {
			fmt.Fprintf(b, "| %s | %s | %s | %.1f | %.1f | %.1f |\n", s.What, spread(s.Times, milliseconds), spread(s.CPU, milliseconds), mega(s.RSS), mega(s.Anonymous), mega(s.Size))
		}
	}
	if len(f.Waiting) > 0 {
		b.WriteString("\n| runs that wait | runs | resident MB before | with them | cost MB | bytes stored each | new start: ready after ms | resident MB | cost MB |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
		for _, w := range f.Waiting {
			fmt.Fprintf(b, "| %s | %d | %.1f | %.1f | %.1f | %.0f | %s (without them %s) | %.1f | %.1f |\n", w.What, w.Runs, mega(w.Before), mega(w.After), mega(w.After-w.Before),
				w.Stored, milliseconds(w.Ready), milliseconds(w.Empty), mega(w.Restored), mega(w.Restored-w.Idle))
		}
	}
	if len(f.Open) > 0 {
		b.WriteString("\n| idle connections, each after one webhook | connections | resident MB before | with them | cost MB |\n|---|--:|--:|--:|--:|\n")
		for _, i := range f.Open {
			fmt.Fprintf(b, "| %s | %d | %.1f | %.1f | %.1f |\n", i.What, i.Connections, mega(i.Before), mega(i.After), mega(i.After-i.Before))
		}
	}
}

// loadShare is the largest share of one processor that the load generator used. Close to 1,
// it would limit the rates.
func (f *figures) loadShare() (most float64) {
	for _, row := range f.Rows {
		for _, r := range row.Results {
			most = max(most, r.LoadCPU.Seconds()/max(r.Elapsed.Seconds(), 1e-9))
		}
	}
	return most
}

// batches returns how many inserts of (b) shared a commit.
func (f *figures) batches() string {
	var list []string
	for _, row := range f.Rows {
		if batch := median(each(row.Results, func(r result) float64 { return r.Batch })); batch > 0 {
			list = append(list, fmt.Sprintf("(%s) at %d: %.1f", row.Name, row.Connections, batch))
		}
	}
	return strings.Join(list, ", ")
}

// text describes the machine, for reading its figures.
func (m *machine) text() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "- %s, commit %s, `%s`\n", m.Date, m.Commit, m.Command)
	fmt.Fprintf(&b, "- %s, %d cores, %s, Linux %s, %s; %s\n", m.Processor, m.Cores, m.Memory, m.Kernel, m.Disk, m.Go)
	fmt.Fprintf(&b, "- Load before: %s. While measuring, ", m.Load)
	if m.Foreign >= 0 {
		fmt.Fprintf(&b, "others used %.0f %% of a core and ", m.Foreign)
	}
	fmt.Fprintf(&b, "the host took %.1f %%.\n", m.Steal)
	if m.Foreign > maxForeign {
		fmt.Fprintf(&b, "- **Not a quiet machine: do not compare these figures with others.**\n")
	}
	return b.String() + "\n"
}

// maxForeign is the CPU use of other processes, of one core, above which figures are
// unreliable.
const maxForeign = 10

// publish prints the figures and writes them where the options say.
func (f *figures) publish(o *options) error {
	return publish(o, f, f.Machine, f.text(), tablesBegin, tablesEnd)
}

func publish(o *options, figures any, m machine, text, begin, end string) error {
	if m.Foreign > maxForeign {
		o.say("WARNING: other processes used %.0f %% of a core while it measured; the figures are worth little", m.Foreign)
	}
	data, err := json.MarshalIndent(figures, "", "  ")
	if err != nil {
		return err
	}
	switch o.json {
	case "-":
		fmt.Fprintf(o.out, "%s\n", data)
	case "":
		fmt.Fprint(o.out, text)
	default:
		fmt.Fprint(o.out, text)
		if err := os.WriteFile(o.json, append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	if o.write == "" {
		return nil
	}
	page, err := os.ReadFile(o.write)
	if err != nil {
		return err
	}
	page, err = between(page, text, begin, end)
	if err != nil {
		return fmt.Errorf("%s: %w", o.write, err)
	}
	return os.WriteFile(o.write, page, 0o644)
}

// between replaces the text between two markers.
func between(page []byte, text, begin, end string) ([]byte, error) {
	before, rest, ok := bytes.Cut(page, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !ok || !closed {
		return nil, errors.New("it lacks the lines " + begin + " and " + end)
	}
	return slices.Concat(before, []byte(begin+"\n\n"+strings.TrimSpace(text)+"\n\n"+end), after), nil
}

// profile loads the server with one row and prints where its time goes. It keeps the files
// for `go tool pprof`.
func profile(ctx context.Context, o options) error {
	kept, err := os.MkdirTemp("", "bench-profile")
	if err != nil {
		return err
	}
	file, binary := kept+"/cpu.prof", kept+"/blueprintd"
	if err := os.Link(o.binary, binary); err != nil {
		binary = o.binary
	}
	s := &stage{folder: o.folder, server: &server{binary: o.binary, folder: o.folder, environment: append(os.Environ(), "BLUEPRINTD_CPU_PROFILE="+file)}}
	defer s.close()
	if err := s.prepare(ctx, o.rows); err != nil {
		return err
	}
	length := max(o.length, 10*time.Second)
	for _, m := range s.measurements(o.rows) {
		for _, connections := range o.connections {
			o.say("%s with %d connections for %s", m.what, connections, length)
			r, err := m.measure(ctx, connections, o.warmup, length)
			if err != nil {
				return err
			}
			fmt.Fprintf(o.out, "%s, %d connections: %.0f/s, p50 %s, p99 %s, %.1f us of CPU each\n", m.what, connections, r.rate(), r.P50, r.P99, r.per(float64(r.CPU.Microseconds())))
		}
	}
	if err := s.server.stop(); err != nil {
		return err
	}
	top := exec.CommandContext(ctx, "go", "tool", "pprof", "-top", "-nodecount=40", binary, file)
	top.Stdout, top.Stderr = o.out, o.progress
	if err := top.Run(); err != nil {
		return err
	}
	fmt.Fprintf(o.out, "\ngo tool pprof -http=: %s %s\n", binary, file)
	return nil
}
