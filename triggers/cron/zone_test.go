package cron

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLoadZone(t *testing.T) {
	if !slices.IsSorted(zoneNames()) {
		t.Error("zones.txt is not sorted")
	}
	for _, name := range zoneNames() {
		zone, err := LoadZone(name)
		if err != nil {
			t.Errorf("LoadZone(%q): %v", name, err)
			continue
		}
		if zone.String() != name {
			t.Errorf("LoadZone(%q) = %s", name, zone)
		}
		if again, err := LoadZone(name); err != nil || again != zone {
			t.Errorf("LoadZone(%q) is loaded twice (%v), want %v", name, err, zone)
		}
	}
	if zone, err := LoadZone(""); err != nil || zone != time.UTC {
		t.Errorf(`LoadZone("") = %v, %v; want UTC`, zone, err)
	}
}

func TestLoadZoneRefuses(t *testing.T) {
	for name, words := range map[string]string{
		"Local":                           "depends on the machine",
		"local":                           "depends on the machine",
		"localtime":                       "depends on the machine",
		"posixrules":                      "depends on the machine",
		"Factory":                         "depends on the machine",
		"posix/Europe/Berlin":             "perhaps Europe/Berlin is meant",
		"right/Europe/Berlin":             "perhaps Europe/Berlin is meant",
		"+02:00":                          "is an offset, which has no daylight saving; write a place such as Europe/Berlin, or Etc/GMT-2 (",
		"-0500":                           "or Etc/GMT+5",
		"UTC+2":                           "or Etc/GMT-2",
		"gmt-11":                          "or Etc/GMT+11",
		"+05:30":                          "is an offset, which has no daylight saving; write a place such as Europe/Berlin",
		"UTC+99":                          "is an offset",
		"2":                               "is an offset",
		"Z":                               "write an IANA name",
		"utc":                             "perhaps UTC is meant",
		"europe/berlin":                   "perhaps Europe/Berlin is meant",
		"EUROPE/BERLIN":                   "perhaps Europe/Berlin is meant",
		"Europe/berlin":                   "perhaps Europe/Berlin is meant",
		" Europe/Berlin":                  "perhaps Europe/Berlin is meant",
		"Europe/Berlin\n":                 `"Europe/Berlin\n" is not a known time zone; perhaps Europe/Berlin is meant`,
		"Europe/Berln":                    "perhaps Europe/Berlin",
		"Berlin":                          "perhaps Europe/Berlin is meant",
		"Euroep/Berlni":                   "perhaps Europe/Berlin is meant",
		"New York":                        "perhaps America/New_York is meant",
		"America/New York":                "perhaps America/New_York is meant",
		"Europe/New_York":                 "perhaps America/New_York is meant",
		"PST":                             "perhaps America/Los_Angeles is meant",
		"CEST":                            "perhaps Europe/Berlin is meant",
		"Europe":                          "write an IANA name",
		"Mars/Olympus":                    "write an IANA name",
		"Europe/Nowhere_At_All":           "write an IANA name",
		"../../etc/passwd":                "write an IANA name",
		"/etc/localtime":                  "write an IANA name",
		"Europe/../Berlin":                "is not a known time zone",
		"zone.tab":                        "write an IANA name",
		"\x00":                            `"\x00" is not a known`,
		"Etc/GMT+99":                      "perhaps Etc/GMT",
		"W. Europe Standard Time":         "write an IANA name",
		"A/" + strings.Repeat("b", 10000): "... is not a known time zone",
	} {
		t.Run(name, func(t *testing.T) {
			zone, err := LoadZone(name)
			var refusal *ParseError
			if !errors.As(err, &refusal) || zone != nil {
				t.Errorf("LoadZone(%q) = %v, %v; want a *ParseError", name, zone, err)
				return
			}
			if refusal.Field != "timezone" || refusal.Value != name || !strings.Contains(refusal.Message, words) || len(refusal.Message) > 300 {
				t.Errorf("LoadZone(%q): %q, %q; want %q", name, refusal.Field, refusal.Message, words)
			}
		})
	}
}

// FuzzLoadZone: nothing panics, and what is accepted is a zone of that name.
func FuzzLoadZone(f *testing.F) {
	for _, seed := range []string{"", "UTC", "Europe/Berlin", "europe/berlin", "Local", "+02:00", "America/Argentina/Ushuaia", "Etc/GMT+5", "../x", "A/B\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		zone, err := LoadZone(name)
		var refusal *ParseError
		switch {
		case err != nil && !errors.As(err, &refusal):
			t.Fatalf("LoadZone(%q): %v", name, err)
		case err != nil && len(err.Error()) > 300:
			t.Fatalf("LoadZone(%q): %d bytes of error", name, len(err.Error()))
		case err == nil && zone.String() != name && name != "":
			t.Fatalf("LoadZone(%q) = %s", name, zone)
		}
	})
}
