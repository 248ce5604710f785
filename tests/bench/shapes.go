package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"blueprintd/tests/process"
)

// shape is a blueprint that is long or wide, and how often it runs.
type shape struct {
	what  string
	unit  string // what the cost is divided by
	units int    // in a run
	runs  int    // one after the other
	nodes []any
	edges []any // nil = sequential
	input any
}

// shapeFigure is the cost of a shape.
type shapeFigure struct {
	What     string        `json:"what"`
	Unit     string        `json:"unit"`
	Units    int           `json:"units"`
	Runs     int           `json:"runs"`
	CPU      time.Duration `json:"cpuNs"`
	Duration time.Duration `json:"durationNs"` // of all runs, as they are stored
	Peak     int64         `json:"peakBytes"`
}

// shapes returns what -shapes measures, from small to large; with -quick only the
// small ones.
func (o *options) shapes(echo string) (list []shape) {
	add := func(s shape) {
		if o.quick {
			s.runs = min(s.runs, 2)
		}
		if !o.quick || s.units <= 10 {
			list = append(list, s)
		}
	}
	sets := func(n int) (nodes []any) {
		for i := range n {
			nodes = append(nodes, process.Node("n"+strconv.Itoa(i), "set", object{"values": object{"i": i}}))
		}
		return nodes
	}
	for _, n := range []int{10, 100, 1000} {
		add(shape{what: fmt.Sprintf("sequence of %d nodes", n), unit: "node", units: n, runs: max(1, 3000/n), nodes: sets(n)})
	}
	for _, n := range []int{10, 100} {
		edges, from := []any{}, []any{process.Node("first", "set", object{"values": object{}})}
		for i := range n {
			id := "n" + strconv.Itoa(i)
			edges = append(edges, object{"source": "first", "target": id}, object{"source": id, "target": "last"})
		}
		add(shape{what: fmt.Sprintf("%d nodes side by side", n), unit: "node", units: n, runs: max(1, 3000/n), nodes: append(append(from, sets(n)...), process.Node("last", "merge", object{})), edges: edges})
	}
	for _, n := range []int{10, 100, 1000, 10_000, 100_000} {
		items := make([]int, n)
		for i := range items {
			items[i] = i
		}
		loop := process.Node("loop", "for-each", object{"items": "inputData.items", "concurrency": 100, "nodes": []any{process.Node("x", "transform", object{"expression": "item + 1"})}})
		add(shape{what: fmt.Sprintf("for-each over %d items, 100 at once", n), unit: "item", units: n, runs: max(1, 10_000/n), nodes: []any{loop}, input: object{"items": items}})
	}
	for _, kilobytes := range []int{1, 1000} {
		add(shape{what: fmt.Sprintf("three nodes, input of %d kB", kilobytes), unit: "kB", units: kilobytes, runs: 30, nodes: sets(3), input: object{"pad": strings.Repeat("x", 1000*kilobytes)}})
	}
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		var chain []any
		for i := range 10 {
			config := object{"method": method, "url": echo}
			if method == http.MethodPost {
				config["body"] = object{"i": i}
			}
			node := process.Node("h"+strconv.Itoa(i), "http-request", config)
			if method == http.MethodGet { // it changes nothing, so it need not be recorded before it starts
				node["effect"] = "pure"
			}
			chain = append(chain, node)
		}
		add(shape{what: chainOf(method), unit: "request", units: 10, runs: 300, nodes: chain})
	}
	return list
}

// writeShapes measures long and wide blueprints, each on a server of its own, and
// writes what a unit of them costs.
func writeShapes(ctx context.Context, o options) error {
	echo := &stage{folder: o.folder}
	if err := echo.startEcho(ctx); err != nil {
		return err
	}
	defer echo.echo.Kill()
	address := "http://" + echo.echoAt + "/"
	machine := describeMachine(o.folder)
	watching := watchMachine()
	var list []shapeFigure
	for _, s := range o.shapes(address) {
		f, err := o.measureShape(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
		o.say("%s: %.1f us of CPU time for each %s", f.What, f.perUnit(f.CPU), f.Unit)
		list = append(list, *f)
	}
	if !o.quick { // it waits for a minute of the clock
		f, err := o.measureSchedules(ctx, 10_000)
		if err != nil {
			return fmt.Errorf("schedules: %w", err)
		}
		list = append(list, *f)
	}
	alive, err := cpuTime(echo.echo.Pid())
	if err != nil {
		return err
	}
	machine.Foreign, machine.Steal = watching.since(alive)
	var text strings.Builder
	text.WriteString("\n" + machine.text())
	fmt.Fprint(&text, "| blueprint | runs, in sequence | CPU us | per | ms per run | peak memory MB |\n|---|--:|--:|---|--:|--:|\n")
	for _, f := range list {
		fmt.Fprintf(&text, "| %s | %d | %.1f | %s | %.1f | %.0f |\n", f.What, f.Runs, f.perUnit(f.CPU), f.Unit, f.Duration.Seconds()*1e3/float64(f.Runs), mega(f.Peak))
	}
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		bare, err := bareRequests(ctx, method, address)
		if err != nil {
			return err
		}
		for _, f := range list {
			if f.What == chainOf(method) {
				fmt.Fprintf(&text, "\n%s: a bare Go client takes %.2f ms for ten such requests, %.2f of the chain's time.\n", f.What, bare.Seconds()*1e3, bare.Seconds()*float64(f.Runs)/f.Duration.Seconds())
			}
		}
	}
	text.WriteString("\n")
	return publish(&o, list, machine, text.String(), shapesBegin, shapesEnd)
}

func chainOf(method string) string { return "chain of 10 requests, " + method }

// perUnit returns microseconds.
func (f *shapeFigure) perUnit(d time.Duration) float64 {
	return d.Seconds() * 1e6 / float64(f.Units*f.Runs)
}

// measureShape measures a shape on a server of its own.
func (o *options) measureShape(ctx context.Context, s shape) (f *shapeFigure, err error) {
	folder, err := os.MkdirTemp(o.folder, "shape")
	if err != nil {
		return nil, err
	}
	server := &server{binary: o.binary, folder: folder, environment: append(os.Environ(), "BLUEPRINTD_ALLOW_NET=127.0.0.0/8")}
	defer func() { server.Kill() }()
	if err := server.start(ctx); err != nil {
		return nil, err
	}
	client := process.NewClient(server.address, apiKey, http.DefaultClient)
	blueprintMap := object{"nodes": s.nodes}
	if s.edges != nil {
		blueprintMap["edges"] = s.edges
	}
	blueprint, err := client.Create(ctx, "blueprint.create", object{"title": s.what, "blueprint_map": blueprintMap})
	if err != nil {
		return nil, err
	}
	trigger, err := client.Create(ctx, "blueprintTriggers.create", object{"blueprintId": blueprint, "triggerType": "webhook", "config": object{"respond": "wait"}})
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(s.input)
	if err != nil {
		return nil, err
	}
	runs := func(runs int) error {
		for range runs {
			if err := send(ctx, http.MethodPost, server.address+"/webhooks/blueprint/"+trigger, body); err != nil {
				return err
			}
		}
		return nil
	}
	if err := runs(1); err != nil { // warm code, and the blueprint is compiled
		return nil, err
	}
	if _, err := settled(ctx, server.Pid(), 0, 2*time.Second); err != nil {
		return nil, err
	}
	before, err := cpuTime(server.Pid())
	if err != nil {
		return nil, err
	}
	process.ForgetPeak(server.Pid())
	if err := runs(s.runs); err != nil {
		return nil, err
	}
	after, err := cpuTime(server.Pid())
	if err != nil {
		return nil, err
	}
	f = &shapeFigure{What: s.what, Unit: s.unit, Units: s.units, Runs: s.runs, CPU: after - before}
	if _, f.Peak, err = process.Memory(server.Pid()); err != nil {
		return nil, err
	}
	const query = "SELECT sum(end_time - start_time) FROM (SELECT start_time, end_time FROM executions WHERE status = 'completed' ORDER BY seq DESC LIMIT ?) HAVING count(*) = ?"
	took, err := column(ctx, server.database(), query, s.runs, s.runs)
	if err != nil {
		return nil, err
	}
	if len(took) == 0 {
		return nil, errors.New("not every run completed")
	}
	milliseconds, err := strconv.ParseInt(took[0], 10, 64)
	f.Duration = time.Duration(milliseconds) * time.Millisecond
	if err != nil {
		return nil, err
	}
	return f, server.stop()
}

// measureSchedules measures the runs of schedules that are due in the same minute, from its
// beginning to the end of the last run.
func (o *options) measureSchedules(ctx context.Context, n int) (*shapeFigure, error) {
	folder, err := os.MkdirTemp(o.folder, "schedules")
	if err != nil {
		return nil, err
	}
	server := &server{binary: o.binary, folder: folder}
	defer func() { server.Kill() }()
	if err := server.start(ctx); err != nil {
		return nil, err
	}
	client := process.NewClient(server.address, apiKey, http.DefaultClient)
	blueprint, err := client.Create(ctx, "blueprint.create", object{"title": "scheduled", "blueprint_map": object{"nodes": three("Ada")}})
	if err != nil {
		return nil, err
	}
	due := now().UTC().Truncate(time.Minute).Add(2 * time.Minute)
	config := object{"cron": fmt.Sprintf("%d %d * * *", due.Minute(), due.Hour()), "timezone": "UTC"}
	creating, working := errgroup.WithContext(ctx)
	creating.SetLimit(16)
	for range n {
		creating.Go(func() error {
			_, err := client.Create(working, "blueprintTriggers.create", object{"blueprintId": blueprint, "triggerType": "scheduled", "config": config})
			return err
		})
	}
	if err := creating.Wait(); err != nil {
		return nil, err
	}
	if left := due.Sub(now()) - 5*time.Second; left < 0 || !process.Pause(ctx, left) {
		return nil, fmt.Errorf("making %d schedules took too long, or was interrupted", n)
	}
	before, err := cpuTime(server.Pid())
	if err != nil {
		return nil, err
	}
	process.ForgetPeak(server.Pid())
	f := &shapeFigure{What: fmt.Sprintf("%d schedules due in the same minute", n), Unit: "run", Units: n, Runs: 1}
	for end := due.Add(time.Minute); ; {
		took, err := column(ctx, server.database(), "SELECT max(end_time) - ? FROM executions WHERE status = 'completed' HAVING count(*) = ?", due.UnixMilli(), n)
		if err != nil {
			return nil, err
		}
		if len(took) > 0 {
			milliseconds, err := strconv.ParseInt(took[0], 10, 64)
			if err != nil {
				return nil, err
			}
			f.Duration = time.Duration(milliseconds) * time.Millisecond
			break
		}
		if now().After(end) || !process.Pause(ctx, 200*time.Millisecond) {
			return nil, errors.New("not every run completed within a minute")
		}
	}
	after, err := cpuTime(server.Pid())
	if err != nil {
		return nil, err
	}
	f.CPU = after - before
	if _, f.Peak, err = process.Memory(server.Pid()); err != nil {
		return nil, err
	}
	o.say("%s: %s", f.What, f.Duration)
	return f, server.stop()
}

// send sends a request; a GET without the body.
func send(ctx context.Context, method, address string, body []byte) error {
	if method == http.MethodGet {
		body = nil
	}
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
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

// bareRequests returns how long a Go client takes for ten requests in sequence, the
// mean of many.
func bareRequests(ctx context.Context, method, address string) (time.Duration, error) {
	const rounds = 30
	var begun time.Time
	for round := range 1 + rounds {
		if round == 1 { // after a warm-up
			begun = now()
		}
		for i := range 10 {
			if err := send(ctx, method, address, fmt.Appendf(nil, `{"i":%d}`, i)); err != nil {
				return 0, err
			}
		}
	}
	return now().Sub(begun) / rounds, nil
}
