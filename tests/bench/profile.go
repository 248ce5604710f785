package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// profile loads the server with one row and prints where its time goes. The
// files stay, for `go tool pprof`.
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
