package simulation

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The oracle finds each flaw, by the rule that the flaw breaks.
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
		FlawOnceTwice:   {"a node with effect once runs again automatically", "I4"},
		FlawTorn:        {"a crash leaves half of a commit", "I"},
		FlawLosesFiring: {"a run is stored without its ledger row", "I7"},
		FlawWrongRecord: {"a record has another output", "the reference differs"},
		FlawNoRecovery:  {"what a crash cut off is not taken up", "I2"},
		FlawForgetsItem: {"what an item came to is forgotten at recovery", "I4"},
		FlawForgetsCall: {"a node starts a second run after a crash", "I11"},
		FlawWrongChild:  {"another output of a run reaches the one that started it", "the reference differs"},

		FlawNoFence:         {"a process that was declared dead still writes", "I20|I7"}, // or starts a tick again
		FlawKeepsHanded:     {"a run is handed to another process and kept", "I20"},
		FlawLeaseFromAnswer: {"a lease counts from the answer to a beat", "I21"},
		FlawUnknownFailed:   {"a commit with an unknown outcome is taken for failed", "I|a client received"},
		FlawUnknownDone:     {"a commit with an unknown outcome is taken for done", "I"},
		FlawTwoDuties:       {"two processes have the duties", "I7"},
		FlawDeadByClock:     {"silence counts while a process could not look", "I24"},
		FlawSignalTwice:     {"a command is taken twice", "I23"},
		FlawSignalUnread:    {"a command is answered before it is performed", "I23"},
		FlawEarlyRelease:    {"a process that stops releases its runs too early", "I20"},
		FlawNoTakeOver:      {"dead processes are not noticed", "I22"},
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
	if int(flaws) != 27 {
		t.Errorf("there are %d flaws: each needs a line here, want 26", flaws-1)
	}
}

// TestSeedsReplayExactly requires that a seed has one trace, the same to the last byte.
// The Go scheduler interrupts a goroutine that a busy machine keeps from its processor for
// 10 ms, and then another one goes first; so two of up to five replays have to be equal.
func TestSeedsReplayExactly(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer withoutCollector()() // also between worlds
	for seed := uint64(1); seed <= *replays; seed++ {
		var traces [][]string
		for {
			report := simulate(t, Options{Seed: seed})
			if report.Failure != "" {
				t.Fatalf("seed %d: %s, want nothing", seed, report.Failure)
			}
			same := func(trace []string) bool { return slices.Equal(trace, report.Trace) }
			if slices.ContainsFunc(traces, same) || raceDetector && len(traces) > 0 {
				break // the race detector reorders goroutines
			}
			if traces = append(traces, report.Trace); len(traces) == 5 {
				t.Fatalf("seed %d has five traces; the first two differ:\n%s", seed, cmp.Diff(traces[0], traces[1]))
			}
		}
	}
}
