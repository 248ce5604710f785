package store

import (
	"log/slog"
	"strings"
	"testing"
	"time"
)

// A pass that removed something tells how much, once; one that did not is quiet.
func TestPruneTells(t *testing.T) {
	options := testOptions(t)
	var log lockedLog
	options.Logger = slog.New(slog.NewTextHandler(&log, nil))
	options.KeepExecutions, options.KeepFirings = Keep{Age: 90 * day}, Keep{Age: 90 * day}
	s := open(t, options)
	historyOf(t, s)
	run(t, s)
	advance(t, s, 0)
	advance(t, s, time.Hour)
	stats := s.Stats()
	said := log.String()
	if strings.Count(said, "old history was pruned") != 1 || stats.PrunedRuns == 0 || stats.PrunedFirings == 0 ||
		!strings.Contains(said, "level=INFO msg=\"old history was pruned\"") || !strings.Contains(said, " seconds=") {
		t.Errorf("%d runs and %d firings were pruned; the log says %s", stats.PrunedRuns, stats.PrunedFirings, said)
	}
}

func TestKeepString(t *testing.T) {
	for want, keep := range map[string]Keep{"all": {}, "5000": {Rows: 5000}, "90d": {Age: 90 * day}, "36h0m0s": {Age: 36 * time.Hour}} {
		if got := keep.String(); got != want {
			t.Errorf("%+v is %s, want %s", keep, got, want)
		}
	}
}
