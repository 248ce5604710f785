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
		t.Run(text, func(t *testing.T) {
			if got, err := parseKeep(text, "runs"); err != nil || got != want {
				t.Errorf("parseKeep(%q) = %+v, %v, want %+v", text, got, err, want)
			}
		})
	}
	for text, says := range map[string]string{"90": "90 runs, or 90d?", "1": "1 runs, or 1d?", "999": "999 runs, or 999d?", "": "want an age", "none": "want an age"} {
		t.Run(text, func(t *testing.T) {
			if got, err := parseKeep(text, "runs"); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("parseKeep(%q) = %+v, %v, want an error with %q", text, got, err, says)
			}
		})
	}
	for _, text := range []string{"", "-1", "-1d", "59s", "90 d", "d", "NaNd", "1e9d", "1e99d", "Infd", "none", "9999999999999999999"} {
		if got, err := parseKeep(text, "runs"); err == nil {
			t.Errorf("parseKeep(%q) = %+v, want an error", text, got)
		}
	}
}

func TestHistoryFlagsRefused(t *testing.T) {
	for _, test := range [][3]string{
		{"--keep-executions", "90", "--keep-executions 90: 90 runs, or 90d?"},
		{"--keep-firings", "90", "--keep-firings 90: 90 rows, or 90d?"},
		{"--keep-executions", "", "--keep-executions: want an age"},
		{"--max-disk", "", "--max-disk: want a size"},
		{"--max-disk", "99999999TiB", "--max-disk 99999999TiB: is larger than any disk"},
		{"--max-disk", "1MiB", "--max-disk 1MiB: must be at least 16MiB"},
		{"--max-disk", "lots", "--max-disk lots: want a size"},
		{"--keep-old", "maybe", "--keep-old maybe: choose auto, always or never"},
	} {
		t.Run(test[0]+" "+test[1], func(t *testing.T) {
			var out bytes.Buffer
			code := run(t, []string{"blueprintd", "serve", "--db", filepath.Join(t.TempDir(), "x.db"), test[0], test[1]}, nil, &out, &out)
			if code != ExitUsage || !strings.Contains(out.String(), test[2]) || !strings.Contains(out.String(), "hint: ") {
				t.Errorf("exit code %d, want %d; got %q, want %q and a hint", code, ExitUsage, out.String(), test[2])
			}
		})
	}
}

func FuzzParseKeep(f *testing.F) {
	for _, seed := range []string{"90d", "36h", "all", "100000", "1e4d", "-0d", "0x10"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		keep, err := parseKeep(text, "runs")
		if keep.Age < 0 || keep.Rows < 0 || keep.Age > 0 && keep.Rows > 0 || err != nil && keep != (store.Keep{}) {
			t.Errorf("%q: %+v %v", text, keep, err)
		}
	})
}
