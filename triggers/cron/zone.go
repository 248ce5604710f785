package cron

import (
	_ "embed" // the list of zone names
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hbollon/go-edlib"
)

// zoneText lists the names of the IANA time zone database, sorted, one per line. It is used
// to refuse names that a machine accepts in addition (its own zone, other letter cases) and
// to suggest the intended name; a zone newer than the list is accepted. It was generated
// from the Go distribution with
//
//	unzip -Z1 $(go env GOROOT)/lib/time/zoneinfo.zip | grep -v -e '/$' -e Factory | LC_ALL=C sort
//
//go:embed zones.txt
var zoneText string

var zoneNames = sync.OnceValue(func() []string { return strings.Fields(zoneText) })

// loaded caches zones by name (string to *time.Location), so that many schedules share one.
// There are at most as many entries as zone names.
var loaded sync.Map

// newZone matches possible names of zones that are not on the list.
var newZone = regexp.MustCompile(`^[A-Z][A-Za-z]+(/[A-Z][A-Za-z0-9_+-]*){1,2}$`)

// LoadZone returns the time zone with an IANA name such as "Europe/Berlin"; "" is UTC. It
// refuses all names that depend on the machine, such as "Local", and offsets such as
// "+02:00". The error is a *ParseError with the field timezone.
//
// The rules come from the machine's time zone database, or from the embedded one.
func LoadZone(name string) (*time.Location, error) {
	if name == "" || name == "UTC" {
		return time.UTC, nil
	}
	if zone, ok := loaded.Load(name); ok {
		return zone.(*time.Location), nil
	}
	_, listed := slices.BinarySearch(zoneNames(), name)
	if !listed {
		if message := refuseZone(name); message != "" {
			return nil, &ParseError{"timezone", name, message}
		}
	}
	zone, err := time.LoadLocation(name)
	switch {
	case err == nil:
		shared, _ := loaded.LoadOrStore(name, zone)
		return shared.(*time.Location), nil
	case listed:
		return nil, &ParseError{"timezone", name, "this machine has no rules for " + name + "; install its time zone database (tzdata)"}
	default:
		return nil, &ParseError{"timezone", name, unknownZone(name)}
	}
}

// offset matches common notations of a fixed offset.
var offset = regexp.MustCompile(`^(?i:UTC|GMT|Z)?\s*([+-])?(\d{1,2})(?::?(\d\d))?$`)

// refuseZone returns the reason why a name that is not on the list cannot be a zone, or "".
func refuseZone(name string) string {
	if parts := offset.FindStringSubmatch(name); parts != nil {
		message := show(name) + " is an offset, which has no daylight saving; write a place such as Europe/Berlin"
		hours := strings.TrimPrefix(parts[2], "0")
		fixed := "Etc/GMT" + map[string]string{"+": "-", "-": "+"}[parts[1]] + hours
		if _, ok := slices.BinarySearch(zoneNames(), fixed); ok && parts[1] != "" && (parts[3] == "" || parts[3] == "00") {
			message += ", or " + fixed + " (its sign is inverted)"
		}
		return message
	}
	switch strings.ToLower(name) {
	case "local", "localtime", "system", "factory", "posixrules":
		return show(name) + " depends on the machine; write a place such as Europe/Berlin, or UTC"
	}
	known := func(other string) bool { return strings.EqualFold(name, other) }
	if !newZone.MatchString(name) || len(name) > 64 || slices.ContainsFunc(zoneNames(), known) {
		return unknownZone(name)
	}
	return ""
}

// unknownZone returns the error message for an unknown zone, with suggestions.
func unknownZone(name string) string {
	message := show(name) + " is not a known time zone; "
	switch near := nearest(name); len(near) {
	case 0:
		return message + "write an IANA name such as Europe/Berlin or America/New_York"
	case 1:
		return message + fmt.Sprintf("perhaps %s is meant", near[0])
	default:
		return message + fmt.Sprintf("perhaps %s or %s is meant", strings.Join(near[:len(near)-1], ", "), near[len(near)-1])
	}
}

// abbreviations lists a place for each common abbreviation that is not the name of a zone.
var abbreviations = map[string]string{
	"pst": "America/Los_Angeles", "pdt": "America/Los_Angeles", "mdt": "America/Denver",
	"cst": "America/Chicago", "cdt": "America/Chicago", "edt": "America/New_York",
	"bst": "Europe/London", "cest": "Europe/Berlin", "eest": "Europe/Athens",
	"ist": "Asia/Kolkata", "jst": "Asia/Tokyo", "aest": "Australia/Sydney",
}

// nearest returns up to three zone names that may be intended: the one that differs only in
// letter case or separators, otherwise those of the same city, otherwise those that differ
// in a few letters.
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
