package main

import (
	"testing"
	"time"

	"blueprintd/store"
)

func TestParseKeep(t *testing.T) {
	for text, want := range map[string]store.Keep{
		"all": {}, "0": {}, "100000": {Rows: 100_000}, "90d": {Age: 90 * 24 * time.Hour}, "36h": {Age: 36 * time.Hour},
		"1.5d": {Age: 36 * time.Hour}, "1h30m": {Age: 90 * time.Minute}, "1m": {Age: time.Minute},
	} {
		if got, err := parseKeep(text); err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-1", "-1d", "59s", "90 d", "d", "NaNd", "1e9d", "1e99d", "Infd", "none", "9999999999999999999"} {
		if got, err := parseKeep(text); err == nil {
			t.Errorf("%q is %+v", text, got)
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
