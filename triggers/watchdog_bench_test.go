package triggers

import (
	"flag"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
)

var sweepSchedules = flag.Int("sweep", 1000, "over how many schedules BenchmarkSweep lets the watchdog look")

// BenchmarkSweep is what the watchdog's look at all schedules costs, over a
// database file: ns/schedule, and the share of a processor that it takes when it
// happens every quarter of an hour. It keeps nothing: heap-MB is what is in
// memory after a look and before the garbage is collected, less what was before.
func BenchmarkSweep(b *testing.B) {
	disk, made, ada := openDisk(b, clock.Real{})
	zones := []string{"", "Europe/Berlin", "America/New_York", "Asia/Kolkata"}
	var creating sync.WaitGroup
	for i := range 100 {
		creating.Go(func() {
			for n := i; n < *sweepSchedules; n += 100 {
				config := map[string]any{"cron": fmt.Sprintf("%d %d * * 1-5", n%60, n/60%24), "timezone": zones[n%len(zones)]}
				if _, err := disk.CreateTrigger(b.Context(), ada, made.ID, blueprint.TriggerScheduled, config); err != nil {
					b.Error(err)
				}
			}
		})
	}
	creating.Wait()
	w := &watchdog{Service: New(Options{Store: disk, Clock: clock.Real{}, IDs: ids.New(nil), Logger: slog.New(slog.DiscardHandler)})}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		if err := w.sweep(b.Context(), time.Now()); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	runtime.ReadMemStats(&after)
	each := b.Elapsed() / time.Duration(b.N)
	b.ReportMetric(float64(each.Nanoseconds())/float64(*sweepSchedules), "ns/schedule")
	b.ReportMetric(100*each.Seconds()/sweepInterval.Seconds(), "%-of-a-core")
	b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/(1<<20), "heap-MB")
}
