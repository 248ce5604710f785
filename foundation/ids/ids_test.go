package ids_test

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/ids"
)

var now = time.UnixMilli(1_700_000_000_123)

func TestForms(t *testing.T) {
	source := ids.New(nil)
	for _, test := range []struct {
		name, form string
		made       func() string
	}{
		{"UUID", `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, source.UUID},
		{"ULID", `^01HF7YAT[0-9A-HJKMNP-TV-Z]{18}$`, func() string { return source.ULID(now) }},
		{"execution", `^exec_1700000000123_01hf7yat[0-9a-z]{18}$`, func() string { return source.ExecutionID(now) }},
		{"token", `^[0-9A-Za-z]{43}$`, func() string { return source.Token(43) }},
		{"API key", `^bpd_[0-9A-Za-z]{43}$`, source.APIKey},
		{"address", `^[a-z2-7]{26}$`, source.Address},
	} {
		t.Run(test.name, func(t *testing.T) {
			form := regexp.MustCompile(test.form)
			seen := map[string]bool{}
			for range 1000 {
				id := test.made()
				if !form.MatchString(id) {
					t.Fatalf("%s does not look right", id)
				}
				if seen[id] {
					t.Fatalf("%s came twice", id)
				}
				seen[id] = true
			}
		})
	}
	if !blueprint.IsUUID(source.UUID()) {
		t.Error("the vocabulary does not know this form")
	}
	if source.Token(0) != "" || len(source.Bytes(5)) != 5 {
		t.Error("lengths are wrong")
	}
}

func TestSortedByTime(t *testing.T) {
	source := ids.New(nil)
	var ulids, executions []string
	for i := range 100 {
		at := now.Add(time.Duration(i) * time.Hour)
		ulids = append(ulids, source.ULID(at))
		executions = append(executions, source.ExecutionID(at))
	}
	if !slices.IsSorted(ulids) || !slices.IsSorted(executions) {
		t.Error("later ids do not sort after earlier ones")
	}
}

// The ids of runs of one millisecond sort in the order in which they were made.
func TestExecutionIDsAreOrdered(t *testing.T) {
	for name, source := range map[string]*ids.Source{"random": ids.New(nil), "seeded": ids.Seeded(7)} {
		t.Run(name, func(t *testing.T) {
			var made []string
			for i := range 10_000 {
				made = append(made, source.ExecutionID(now, "execution", strconv.Itoa(i%3)))
			}
			if !slices.IsSorted(made) || len(slices.Compact(slices.Clone(made))) != len(made) {
				t.Errorf("the ids are %q, want them sorted", made[:10])
			}
			if later := source.ExecutionID(now.Add(time.Millisecond)); later <= made[len(made)-1] {
				t.Errorf("%s is made after %s, want it sorted after it", later, made[len(made)-1])
			}
		})
	}
}

func TestTokensUseAllLettersEvenly(t *testing.T) {
	counts := map[rune]int{}
	for _, letter := range ids.New(seeded()).Token(62_000) {
		counts[letter]++
	}
	if len(counts) != 62 {
		t.Fatalf("%d letters, want 62", len(counts))
	}
	for letter, n := range counts {
		if n < 800 || n > 1200 {
			t.Errorf("%c came %d times of 1000, want at least 800 and at most 1200", letter, n)
		}
	}
}

func TestSeedGivesTheSameIDs(t *testing.T) {
	make := func() string {
		source := ids.New(seeded())
		return strings.Join([]string{source.UUID(), source.ULID(now), source.ExecutionID(now), source.Token(10)}, " ")
	}
	if a, b := make(), make(); a != b {
		t.Errorf("%s is not %s", a, b)
	}
}

func TestConcurrentUse(t *testing.T) {
	source := ids.New(seeded())
	var mu sync.Mutex
	seen := map[string]bool{}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				id := source.UUID()
				mu.Lock()
				if seen[id] {
					t.Errorf("%s came twice", id)
				}
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	group.Wait()
}

func TestBrokenSourcePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	ids.New(broken{}).Bytes(1)
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("empty") }

func seeded() *rand.ChaCha8 { return rand.NewChaCha8([32]byte{1}) }
