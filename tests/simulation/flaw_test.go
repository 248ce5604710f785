package simulation

import (
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A simulator that cannot fail shows nothing. Each flaw that is built in on
// purpose must be found, and by the rule that it breaks.
func TestOracleFindsFlaws(t *testing.T) {
	const most = 400 // seeds
	for flaw, expected := range map[Flaw]struct{ name, verdict string }{
		FlawLosesLast:   {"a commit loses its last entry", "I4|a client received engine: journal"},
		FlawNoKey:       {"a key starts several runs", "I7"},
		FlawEarlyAnswer: {"an acknowledgement comes before the commit", "I"},
		FlawForgetsTick: {"the cursor of a schedule is not stored", "I7"},
		FlawSkipsTick:   {"the cursor of a schedule moves too far", "I7"},
		FlawRevives:     {"a finished run is taken up again", "I5"},
		FlawStaleRead:   {"a run is read back without its last entry", "I4|a client received engine: journal"},
		FlawOnceTwice:   {"a node of effect once runs again by itself", "I4"},
		FlawTorn:        {"a crash leaves half of a commit", "I"},
		FlawLosesFiring: {"a run is stored without its ledger row", "I7"},
		FlawWrongRecord: {"a record tells of another output", "the reference differs"},
		FlawNoRecovery:  {"what a crash cut off is not taken up", "I2"},
		FlawForgetsItem: {"what an item came to is forgotten at recovery", "I4"},
		FlawForgetsCall: {"a node starts a second run after a crash", "I11"},
		FlawWrongChild:  {"another output of a run reaches the one that started it", "the reference differs"},
	} {
		t.Run(expected.name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= most; seed++ {
				report := simulate(t, Options{Seed: seed, Flaw: flaw})
				if report.Failure == "" {
					continue
				}
				if !slices.ContainsFunc(strings.Split(expected.verdict, "|"), func(verdict string) bool { return strings.HasPrefix(report.Failure, verdict) }) {
					t.Errorf("seed %d finds %s", seed, report.Failure)
				}
				t.Logf("seed %d finds: %s", seed, report.Failure)
				return
			}
			t.Errorf("%d seeds find nothing", most)
		})
	}
	if int(flaws) != 16 {
		t.Errorf("there are %d flaws: each needs a line here", flaws-1)
	}
}

// A seed is one history: what is replayed is the same to the last byte.
func TestSeedsReplayExactly(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer withoutCollector()() // also between worlds
	for seed := uint64(1); seed <= *replays; seed++ {
		once, again := simulate(t, Options{Seed: seed}), simulate(t, Options{Seed: seed})
		if once.Failure != "" || again.Failure != "" {
			t.Fatalf("seed %d: %s%s", seed, once.Failure, again.Failure)
		}
		if raceDetector || slices.Equal(once.Trace, again.Trace) {
			continue // the race detector shuffles goroutines on purpose
		}
		for i := range min(len(once.Trace), len(again.Trace)) {
			if once.Trace[i] != again.Trace[i] {
				t.Fatalf("seed %d differs from line %d on:\n%s\n%s", seed, i+1, once.Trace[i], again.Trace[i])
			}
		}
		t.Fatalf("seed %d has %d lines, then %d", seed, len(once.Trace), len(again.Trace))
	}
}
