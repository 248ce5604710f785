package cron

import (
	"slices"
	"strings"

	"github.com/hbollon/go-edlib"
)

// abbreviations lists a place for each common abbreviation that is no zone name
// of its own.
var abbreviations = map[string]string{
	"pst": "America/Los_Angeles", "pdt": "America/Los_Angeles", "mdt": "America/Denver",
	"cst": "America/Chicago", "cdt": "America/Chicago", "edt": "America/New_York",
	"bst": "Europe/London", "cest": "Europe/Berlin", "eest": "Europe/Athens",
	"ist": "Asia/Kolkata", "jst": "Asia/Tokyo", "aest": "Australia/Sydney",
}

// nearest returns up to three zone names that may be meant by another name: the
// one that differs in letter case or separators only, else those of the same
// city, else those a few letters away.
func nearest(name string) []string {
	wanted := plain(name)
	if place, ok := abbreviations[wanted]; ok {
		return []string{place}
	}
	if len(wanted) > 64 {
		return nil
	}
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	for _, zone := range zoneNames() {
		known := plain(zone)
		distance := edlib.OSADamerauLevenshteinDistance(wanted, known)
		switch {
		case distance == 0:
			return []string{zone}
		case city(wanted) == city(known):
			found = append(found, candidate{zone, 1})
		case distance <= min(3, len(wanted)/3):
			found = append(found, candidate{zone, distance})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	var names []string
	for _, c := range found[:min(3, len(found))] {
		names = append(names, c.name)
	}
	return names
}

// plain makes names comparable: lower case, with the separator of the database.
func plain(name string) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
}

func city(plain string) string { return plain[strings.LastIndexByte(plain, '/')+1:] }
