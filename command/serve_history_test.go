package command

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blueprintd/store"
)

func TestParseKeep(t *testing.T) {
	for text, want := range map[string]store.Keep{
		"all": {}, "0": {}, "100000": {Rows: 100_000}, "1000": {Rows: 1000}, "90d": {Age: 90 * 24 * time.Hour}, "36h": {Age: 36 * time.Hour},
		"1.5d": {Age: 36 * time.Hour}, "1h30m": {Age: 90 * time.Minute}, "1m": {Age: time.Minute},
	} {
		if got, err := parseKeep(text); err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for text, says := range map[string]string{"90": "90 runs, or 90d?", "1": "1 runs, or 1d?", "999": "999 runs, or 999d?", "": "is empty", "none": "no age"} {
		if got, err := parseKeep(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-1", "-1d", "59s", "90 d", "d", "NaNd", "1e9d", "1e99d", "Infd", "none", "9999999999999999999"} {
		if got, err := parseKeep(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

// What is wrong with a flag of the history is said of that flag, with the next
// step, and nothing is started.
func TestHistoryFlagsRefused(t *testing.T) {
	for _, test := range [][3]string{
		{"--keep-executions", "90", "--keep-executions 90: 90 runs, or 90d?"},
		{"--keep-firings", "90", "--keep-firings 90: 90 rows, or 90d?"},
		{"--keep-executions", "", "--keep-executions: is empty"},
		{"--max-disk", "", "--max-disk: is empty"},
		{"--max-disk", "99999999TiB", "--max-disk 99999999TiB: is larger than any disk"},
		{"--max-disk", "1MiB", "--max-disk 1MiB: is less than 16MiB"},
		{"--max-disk", "lots", "--max-disk lots: is no size"},
	} {
		var out bytes.Buffer
		code := run(t, []string{"blueprintd", "serve", "--db", filepath.Join(t.TempDir(), "x.db"), test[0], test[1]}, nil, &out, &out)
		if code != ExitUsage || !strings.Contains(out.String(), test[2]) || !strings.Contains(out.String(), "hint: ") {
			t.Errorf("%s %q: exit code %d: %s", test[0], test[1], code, out.String())
		}
	}
}

func FuzzParseKeep(f *testing.F) {
	for _, seed := range []string{"90d", "36h", "all", "100000", "1e4d", "-0d", "0x10"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		keep, err := parseKeep(text)
		if keep.Age < 0 || keep.Rows < 0 || keep.Age > 0 && keep.Rows > 0 || err != nil && keep != (store.Keep{}) {
			t.Errorf("%q: %+v %v", text, keep, err)
		}
	})
}
