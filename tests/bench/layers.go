package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	pprof "github.com/google/pprof/profile"
)

// layer is a part of the server that uses CPU time.
type layer string

const (
	layerGC        layer = "garbage collector"
	layerScheduler layer = "scheduler"
	layerSQLite    layer = "SQLite"
	layerEncode    layer = "encode and decode"
	layerStore     layer = "store"
	layerEngine    layer = "engine"
	layerTrigger   layer = "trigger"
	layerHTTP      layer = "HTTP"
	layerOther     layer = "other"
)

// layers are all of them, in the order of the table.
var layers = []layer{layerHTTP, layerTrigger, layerEngine, layerEncode, layerStore, layerSQLite, layerGC, layerScheduler, layerOther}

// layersByFunction assigns functions, by the beginning of their names, to layers. The
// innermost function of a sample that is listed decides.
var layersByFunction = []struct {
	prefix string
	layer  layer
}{
	{"runtime.gcBgMarkWorker", layerGC}, {"runtime.gcAssistAlloc", layerGC}, {"runtime.gcStart", layerGC}, {"runtime.gcMarkTermination", layerGC},
	{"runtime.bgsweep", layerGC}, {"runtime.bgscavenge", layerGC}, {"runtime.deductSweepCredit", layerGC},
	{"runtime.schedule", layerScheduler}, {"runtime.mcall", layerScheduler}, {"runtime.park_m", layerScheduler}, {"runtime.sysmon", layerScheduler}, {"runtime.wakep", layerScheduler},
	{"modernc.org/sqlite", layerSQLite}, {"modernc.org/libc", layerSQLite},
	{"encoding/json.", layerEncode}, {"blueprintd/blueprint.Encode", layerEncode}, {"blueprintd/blueprint.Decode", layerEncode},
	{"blueprintd/store", layerStore}, {"database/sql.", layerStore}, {"blueprintd/foundation/secret", layerStore},
	{"blueprintd/engine", layerEngine}, {"blueprintd/blueprint", layerEngine}, {"blueprintd/foundation/ids", layerEngine},
	{"blueprintd/triggers", layerTrigger},
	{"net/http.", layerHTTP}, {"blueprintd/server", layerHTTP}, {"blueprintd/rpc", layerHTTP},
}

// layerOf returns the layer of a stack, its innermost function first.
func layerOf(stack []string) layer {
	for _, function := range stack {
		for _, known := range layersByFunction {
			if strings.HasPrefix(function, known.prefix) {
				return known.layer
			}
		}
	}
	return layerOther
}

// use is CPU time, and the part of it that was spent in system calls.
type use struct{ total, system time.Duration }

// layersOf adds up the samples of a CPU profile by layer.
func layersOf(in io.Reader) (map[layer]use, error) {
	p, err := pprof.Parse(in)
	if err != nil {
		return nil, err
	}
	cpu := slices.IndexFunc(p.SampleType, func(t *pprof.ValueType) bool { return t.Type == "cpu" })
	if cpu < 0 {
		return nil, fmt.Errorf("this is no CPU profile")
	}
	sums := map[layer]use{}
	for _, sample := range p.Sample {
		var stack []string
		for _, location := range sample.Location {
			for _, line := range location.Line {
				stack = append(stack, line.Function.Name)
			}
		}
		of := layerOf(stack)
		sum, took := sums[of], time.Duration(sample.Value[cpu])
		sum.total += took
		if len(stack) > 0 && strings.Contains(stack[0], "yscall") {
			sum.system += took
		}
		sums[of] = sum
	}
	return sums, nil
}

// writeLayers measures rows with a CPU profile of the server and writes a table of its
// CPU time by layer. The profile also contains the warm-up; its shares are applied to
// the CPU time of the measurement.
func writeLayers(ctx context.Context, o options) error {
	fmt.Fprintln(o.out, "CPU microseconds for each answer; in parentheses the part in system calls.")
	for _, name := range o.rows {
		head, rule := "| layer |", "|---|"
		cells := map[layer]string{}
		total, generator := "", ""
		for _, connections := range o.connections {
			r, sums, err := o.profiled(ctx, name, connections)
			if err != nil {
				return err
			}
			head, rule = head+fmt.Sprintf(" %d connections: %.0f a second |", connections, r.rate()), rule+"--:|"
			var all time.Duration
			for _, sum := range sums {
				all += sum.total
			}
			each := r.per(float64(r.CPU.Nanoseconds())) / 1e3
			for _, of := range layers {
				share := func(part time.Duration) float64 { return each * float64(part) / float64(max(all, 1)) }
				cells[of] += fmt.Sprintf(" %.1f (%.1f) |", share(sums[of].total), share(sums[of].system))
			}
			total += fmt.Sprintf(" %.1f |", each)
			generator += fmt.Sprintf(" %.1f |", r.per(float64(r.LoadCPU.Nanoseconds()))/1e3)
		}
		fmt.Fprintf(o.out, "\n(%s)\n\n%s\n%s\n", name, head, rule)
		for _, of := range layers {
			fmt.Fprintf(o.out, "| %s |%s\n", of, cells[of])
		}
		fmt.Fprintf(o.out, "| all of the server |%s\n| load generator |%s\n", total, generator)
	}
	return nil
}

// profiled measures a row on a new server.
func (o *options) profiled(ctx context.Context, row string, connections int) (r *result, sums map[layer]use, err error) {
	folder, err := os.MkdirTemp(o.folder, "layers")
	if err != nil {
		return nil, nil, err
	}
	path := folder + "/cpu.prof"
	s := &stage{folder: folder, server: &server{binary: o.binary, folder: folder, environment: append(os.Environ(), "BLUEPRINTD_CPU_PROFILE="+path)}}
	defer s.close()
	if err := s.prepare(ctx, []string{row}); err != nil {
		return nil, nil, err
	}
	for _, m := range s.measurements([]string{row}) {
		o.say("%s with %d connections for %s", m.what, connections, o.length)
		if r, err = m.measure(ctx, connections, o.warmup, o.length); err != nil {
			return nil, nil, err
		}
	}
	if err := s.server.stop(); err != nil {
		return nil, nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	sums, err = layersOf(file)
	return r, sums, err
}
