package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"blueprintd/tests/process"
)

const (
	dayRate   = 200 // runs started each second
	dayLength = 150 * time.Second
	dayGoal99 = 5 * time.Millisecond
	dayGoal   = 20 * time.Millisecond // of 99.9 %
)

// day is what happened while mixed runs were started at a fixed rate.
type day struct {
	length    time.Duration
	latencies []sent // of the webhooks that are answered at the end of a run
	backups   []dayEvent
	pruned    []dayEvent
}

type sent struct{ due, took time.Duration } // since the beginning; until the whole answer

// dayEvent is work beside the runs.
type dayEvent struct {
	what       string
	begin, end time.Duration
}

// writeDay starts mixed runs at a fixed rate, beside backups and pruning, and writes the
// latency of half of them, the webhooks that are answered at the end of a run, as a
// table and, over time, as a picture. A request that could not be sent in time counts from
// when it was due.
func writeDay(ctx context.Context, o options) error {
	machine, watching := describeMachine(o.folder), watchMachine()
	d, alive, err := o.measureDay(ctx)
	if err != nil {
		return err
	}
	machine.Foreign, machine.Steal = watching.since(alive)
	if err := os.WriteFile(o.day, []byte(d.picture()), 0o644); err != nil {
		return err
	}
	return publish(&o, map[string]any{"machine": machine, "sortedNs": d.sorted(0, d.length)}, machine, "\n"+machine.text()+d.table()+"\n", dayBegin, dayEnd)
}

// measureDay also returns the CPU time of the processes that are still alive.
func (o *options) measureDay(ctx context.Context) (d *day, alive time.Duration, err error) {
	d = &day{length: dayLength}
	if o.quick {
		d.length = 2 * time.Second
	}
	s := &stage{folder: o.folder, server: &server{
		binary: o.binary, folder: o.folder,
		// A pass of the pruner each minute; it deletes what exceeds a thousand runs.
		environment: append(os.Environ(), "BLUEPRINTD_ALLOW_NET=127.0.0.0/8", "BLUEPRINTD_KEEP_EXECUTIONS=1000", "BLUEPRINTD_KEEP_FIRINGS=1000"),
	}}
	defer s.close()
	if err := s.startEcho(ctx); err != nil {
		return nil, 0, err
	}
	if err := s.server.start(ctx); err != nil {
		return nil, 0, err
	}
	requests, err := s.mixed(ctx)
	if err != nil {
		return nil, 0, err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	defer client.CloseIdleConnections()
	send := func(r mixedRequest) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.server.address+r.path, strings.NewReader(r.body))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+apiKey)
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err == nil && response.StatusCode/100 != 2 {
			err = fmt.Errorf("%s: %s", response.Status, text)
		}
		return err
	}
	for _, r := range requests { // compiles the blueprints
		if err := send(r); err != nil {
			return nil, 0, err
		}
	}

	begun := now()
	var beside sync.WaitGroup
	var besideErr atomic.Pointer[error]
	beside.Go(func() {
		if err := d.backUp(ctx, s.server, begun); err != nil {
			besideErr.Store(&err)
		}
	})
	beside.Go(func() {
		if err := d.watchPruning(ctx, s.server, begun); err != nil {
			besideErr.Store(&err)
		}
	})
	all := make([]sent, int(d.length.Seconds()*dayRate))
	var sending sync.WaitGroup
	var failures atomic.Int64
	var failure atomic.Pointer[error]
	for i := range all {
		due := time.Duration(i) * time.Second / dayRate
		if left := due - now().Sub(begun); left > 0 && !process.Pause(ctx, left) {
			break
		}
		sending.Go(func() {
			if err := send(requests[i%len(requests)]); err != nil {
				failures.Add(1)
				failure.Store(&err)
			}
			all[i] = sent{due, now().Sub(begun) - due}
		})
	}
	sending.Wait()
	beside.Wait()
	for i, one := range all {
		if requests[i%len(requests)].measured {
			d.latencies = append(d.latencies, one)
		}
	}
	if err := besideErr.Load(); err != nil {
		return nil, 0, *err
	}
	if err := failure.Load(); err != nil {
		return nil, 0, fmt.Errorf("%d requests failed, the last one with: %w", failures.Load(), *err)
	}
	if alive, err = cpuTime(s.server.Pid()); err != nil {
		return nil, 0, err
	}
	echo, err := cpuTime(s.echo.Pid())
	if err != nil {
		return nil, 0, err
	}
	return d, alive + echo, errors.Join(ctx.Err(), s.server.stop())
}

// mixedRequest starts one run.
type mixedRequest struct {
	path, body string
	measured   bool
}

// mixed returns ten requests that are sent in turn.
func (s *stage) mixed(ctx context.Context) (list []mixedRequest, err error) {
	flows, err := storeFlows(ctx, s.server)
	if err != nil {
		return nil, err
	}
	client := process.NewClient(s.server.address, apiKey, http.DefaultClient)
	webhook := func(title string, node any) string {
		if err != nil {
			return ""
		}
		var id string
		if id, err = client.Create(ctx, "blueprint.create", object{"title": title, "blueprint_map": object{"nodes": []any{node}}}); err == nil {
			id, err = client.Create(ctx, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{}})
		}
		return id
	}
	loop := webhook("loop", process.Node("loop", "for-each", object{"items": "inputData.items", "nodes": []any{process.Node("x", "transform", object{"expression": "item + 1"})}}))
	call := webhook("request", process.Node("call", "http-request", object{"method": "POST", "url": "http://" + s.echoAt + "/", "body": object{"i": 1}}))
	pause := webhook("pause", process.Node("pause", "wait", object{"durationMs": 1000}))
	if err != nil {
		return nil, err
	}
	to := func(trigger, body string) mixedRequest {
		return mixedRequest{path: "/webhooks/blueprint/" + trigger, body: body}
	}
	measured := to(flows.wait, payload())
	measured.measured = true
	return []mixedRequest{
		measured, to(flows.accept, payload()),
		measured, to(loop, `{"items":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]}`),
		measured, to(call, `{}`),
		measured, {path: "/api/trpc/blueprint.execute", body: `{"json":{"id":"` + flows.execute + `","variables":{"name":"Ada"}}}`},
		measured, to(pause, `{}`),
	}, nil
}

// backUp makes two backups with the command, a quarter and five eighths into the day.
func (d *day) backUp(ctx context.Context, s *server, begun time.Time) error {
	for i, at := range []time.Duration{d.length / 4, d.length * 5 / 8} {
		if !process.Pause(ctx, at-now().Sub(begun)) {
			return ctx.Err()
		}
		event := dayEvent{what: "backup", begin: now().Sub(begun)}
		command := exec.CommandContext(ctx, s.binary, "backup", "--db", s.database(), filepath.Join(s.folder, fmt.Sprintf("%d.backup", i)))
		if text, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("backup: %w: %s", err, text)
		}
		event.end = now().Sub(begun)
		d.backups = append(d.backups, event)
	}
	return nil
}

// watchPruning notes when the oldest run disappears.
func (d *day) watchPruning(ctx context.Context, s *server, begun time.Time) error {
	oldest := ""
	for at := time.Duration(0); at < d.length; at += time.Second {
		if !process.Pause(ctx, at-now().Sub(begun)) {
			return ctx.Err()
		}
		seen, err := column(ctx, s.database(), "SELECT coalesce(min(seq), 0) FROM executions")
		if err != nil {
			return err
		}
		switch {
		case oldest == "" || seen[0] == oldest:
		case len(d.pruned) > 0 && at-d.pruned[len(d.pruned)-1].end <= time.Second:
			d.pruned[len(d.pruned)-1].end = at
		default:
			d.pruned = append(d.pruned, dayEvent{"pruning", at - time.Second, at})
		}
		oldest = seen[0]
	}
	return nil
}

// quantile returns the smallest latency that a share of them does not exceed.
func quantile(sorted []time.Duration, share float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(math.Ceil(share*float64(len(sorted))))-1)]
}

func (d *day) sorted(from, to time.Duration) (list []time.Duration) {
	for _, one := range d.latencies {
		if one.due >= from && one.due < to {
			list = append(list, one.took)
		}
	}
	slices.Sort(list)
	return list
}

func (d *day) table() string {
	all := d.sorted(0, d.length)
	var out strings.Builder
	fmt.Fprintf(&out, "| %d runs a second for %s | p50 ms | p99 ms | p99.9 ms | longest ms |\n|---|--:|--:|--:|--:|\n", dayRate, d.length)
	fmt.Fprintf(&out, "| %d webhooks, answered at the end of the run", len(all))
	for _, share := range []float64{0.5, 0.99, 0.999, 1} {
		fmt.Fprintf(&out, " | %s", milliseconds(quantile(all, share)))
	}
	fmt.Fprintf(&out, " |\n| goal | | %s | %s | |\n", milliseconds(dayGoal99), milliseconds(dayGoal))
	return out.String()
}

// picture returns an SVG with the median, the 99th percentile and the longest latency of
// each second on a logarithmic scale, and the events behind them.
func (d *day) picture() string {
	const width, height, left, right, top, bottom = 860, 340, 66, 16, 34, 40
	const lowest, highest = 0.1, 1000.0 // milliseconds
	x := func(at time.Duration) float64 {
		return left + (width-left-right)*at.Seconds()/d.length.Seconds()
	}
	y := func(ms float64) float64 {
		share := math.Log10(max(ms, lowest)/lowest) / math.Log10(highest/lowest)
		return height - bottom - (height-top-bottom)*min(share, 1)
	}
	var out strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	p(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="12" role="img">`, width, height)
	p(`<title>Latency of webhooks over time, on a logarithmic scale</title>`)
	p(`<style>.page{fill:#fff}text{fill:#3b4252}.grid{stroke:#d8dee9}.goal{stroke:#bf616a;stroke-dasharray:5 4}.event{fill:#5e81ac;opacity:.16}.line{fill:none;stroke-width:1.6}.m{stroke:#2e7d5b}.n{stroke:#3b6ea5}.l{stroke:#b58900}@media(prefers-color-scheme:dark){.page{fill:#1b1e25}text{fill:#cfd6e4}.grid{stroke:#3a4150}.event{opacity:.35}.m{stroke:#7fd1a8}.n{stroke:#8ab4e8}.l{stroke:#e0c060}}</style>`)
	p(`<rect class="page" width="%d" height="%d"/>`, width, height)
	for _, e := range slices.Concat(d.pruned, d.backups) {
		p(`<rect class="event" x="%.1f" y="%d" width="%.1f" height="%d"/>`, x(e.begin), top, max(2, x(e.end)-x(e.begin)), height-top-bottom)
		p(`<text x="%.1f" y="%d" text-anchor="middle">%s</text>`, (x(e.begin)+x(e.end))/2, top-6, html.EscapeString(e.what))
	}
	for _, ms := range []float64{0.1, 1, 10, 100, 1000} {
		p(`<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, left, width-right, y(ms), y(ms))
		p(`<text x="%d" y="%.1f" text-anchor="end">%g ms</text>`, left-6, y(ms)+4, ms)
	}
	for _, goal := range []time.Duration{dayGoal99, dayGoal} {
		ms := goal.Seconds() * 1000
		p(`<line class="goal" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, left, width-right, y(ms), y(ms))
	}
	step := max(time.Second, (d.length / 5).Truncate(10*time.Second))
	for at := time.Duration(0); at <= d.length; at += step {
		p(`<text x="%.1f" y="%d" text-anchor="middle">%.0f s</text>`, x(at), height-bottom+18, at.Seconds())
	}
	for i, line := range []struct {
		class, name string
		share       float64
	}{{"l", "longest", 1}, {"n", "99 %", 0.99}, {"m", "median", 0.5}} {
		var points []string
		for at := time.Duration(0); at < d.length; at += time.Second {
			if of := d.sorted(at, at+time.Second); len(of) > 0 {
				points = append(points, fmt.Sprintf("%.1f,%.1f", x(at+time.Second/2), y(quantile(of, line.share).Seconds()*1000)))
			}
		}
		p(`<polyline class="line %s" points="%s"/>`, line.class, strings.Join(points, " "))
		p(`<line class="line %s" x1="%d" x2="%d" y1="%d" y2="%d"/>`, line.class, left+i*110, left+i*110+22, height-9, height-9)
		p(`<text x="%d" y="%d">%s</text>`, left+i*110+28, height-5, line.name)
	}
	p(`<line class="goal" x1="%d" x2="%d" y1="%d" y2="%d"/>`, left+330, left+352, height-9, height-9)
	p(`<text x="%d" y="%d">goals of 99 %% and 99.9 %%</text>`, left+358, height-5)
	p(`</svg>`)
	return out.String()
}
