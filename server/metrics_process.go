package server

import (
	"os"
	"runtime"
	runtimemetrics "runtime/metrics"
	"strconv"
	"strings"

	"blueprintd/foundation/fileio"
	"blueprintd/foundation/metrics"
)

// writeProcess adds what is known of every process and every Go program, under
// the names that others use for it too. What the system does not tell is left
// out.
func writeProcess(p *metrics.Page) {
	p.Gauge("go_goroutines", "Goroutines that exist.").Value(float64(runtime.NumGoroutine()))
	heap := []runtimemetrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	runtimemetrics.Read(heap) // without stopping anything
	if heap[0].Value.Kind() == runtimemetrics.KindUint64 {
		p.Gauge("go_memstats_heap_alloc_bytes", "Bytes of objects on the heap.").Value(float64(heap[0].Value.Uint64()))
	}
	if pages, ok := processField("/proc/self/statm", "", 1); ok {
		p.Gauge("process_resident_memory_bytes", "Memory in use, as the system counts it.").Value(float64(pages) * float64(os.Getpagesize()))
	}
	// The fields behind the program's name, which may hold anything.
	user, ok := processField("/proc/self/stat", ") ", 11)
	system, alsoOK := processField("/proc/self/stat", ") ", 12)
	if ok && alsoOK {
		const ticks = 100 // in a second, wherever Go runs on Linux
		p.Counter("process_cpu_seconds_total", "Time that the process worked.").Value(float64(user+system) / ticks)
	}
	if folder, err := os.Open("/proc/self/fd"); err == nil {
		names, err := folder.Readdirnames(-1)
		folder.Close()
		if err == nil {
			p.Gauge("process_open_fds", "Files and sockets that are open.").Value(float64(len(names)))
		}
	}
}

// processField reads one of the numbers that the system tells of this process:
// field n behind the last mark.
func processField(path, mark string, n int) (int64, bool) {
	data, err := fileio.Read(path, 4096)
	if err != nil {
		return 0, false
	}
	text := string(data)
	if mark != "" {
		text = text[strings.LastIndex(text, mark)+len(mark):]
	}
	fields := strings.Fields(text)
	if n >= len(fields) {
		return 0, false
	}
	value, err := strconv.ParseInt(fields[n], 10, 64)
	return value, err == nil
}
