package api

import (
	"runtime"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/clock"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// BenchmarkMonth runs a month of 31 days with a schedule of each kind, on an ephemeral
// server. It reports the duration of a run, and its ratio to a run that is started
// directly.
func BenchmarkMonth(b *testing.B) {
	collector := server.NewCollector() // as in serve
	defer runtime.KeepAlive(collector)
	collector.Settle()
	for _, month := range []struct {
		name, cron string
		runs       int
	}{{"hourly", "0 * * * *", 744}, {"minutely", "* * * * *", 44_640}} {
		b.Run(month.name, func(b *testing.B) {
			var passing, direct time.Duration
			for b.Loop() {
				b.StopTimer()
				s := servertest.New(b, servertest.AtNoon)
				ada := s.NewUser(b, "ada")
				id := ada.Blueprint(b, "ticks", node("a", "template", object{"text": "{{now}}"}))
				direct += directly(b, s, ada, id, month.runs)
				ada.OK(b, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "scheduled", "config": object{"cron": month.cron}})
				b.StartTimer()
				begin := b.Elapsed()
				if fired := s.Advance(b, "31d"); fired != month.runs {
					b.Fatalf("%d fired", fired)
				}
				passing += b.Elapsed() - begin
			}
			b.ReportMetric(float64(passing.Nanoseconds())/float64(b.N*month.runs), "ns/run")
			b.ReportMetric(float64(passing)/float64(direct), "x-direct")
		})
	}
}

// directly runs a number of runs in sequence.
func directly(b *testing.B, s *servertest.Server, who servertest.Caller, id string, runs int) time.Duration {
	b.Helper()
	definition, manages, err := server.Blueprints{Store: s.Server.Store}.Runnable(b.Context(), who.ID, id)
	if err != nil {
		b.Fatal(err)
	}
	begin := clock.Real{}.Now()
	for range runs {
		handle, err := s.Server.Engine.Start(&blueprint.StartRequest{Definition: definition, Principal: blueprint.Principal{UserID: who.ID}, CanManage: manages}, engine.AtEnd)
		if err == nil {
			_, err = handle.Wait(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	return clock.Real{}.Now().Sub(begin)
}
