package main

import (
	"io"
	"testing"
)

// TestReadHours reads a response of two hours.
func TestReadHours(t *testing.T) {
	bucket := func(start string, completed, failed float64) any {
		return object{"start": start, "completed": completed, "failed": failed}
	}
	for _, c := range []struct {
		name   string
		second any
		totals any
		want   string
	}{
		{"whole", bucket("1970-01-01T01:00:00.000Z", 2, 0), bucket("", 3, 1), ""},
		{"an hour too much", bucket("1970-01-01T01:00:00.000Z", 2, 0), bucket("", 1, 1), "I18"},
		{"at no time", bucket("soon", 2, 0), bucket("", 1, 1), "I18"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, counted := newHistory("test", io.Discard), map[hour]ends{}
			b.readHours(counted, "b", object{"buckets": []any{bucket("1970-01-01T00:00:00Z", 1, 1), c.second}, "totals": c.totals})
			if first(b) != c.want || counted[hour{"b", 0}] != (ends{1, 1}) || c.want == "" && counted[hour{"b", 1}] != (ends{2, 0}) {
				t.Errorf("%v, violations %v; want %v", counted, b.violations, c.want)
			}
		})
	}
}

// TestCheckHourlyCounts compares the counts with the runs.
func TestCheckHourlyCounts(t *testing.T) {
	one, two := hour{"b", 1}, hour{"o", 1}
	both := func(n int) map[hour]ends { return map[hour]ends{one: {n, 1}, two: {n, 1}} }
	asked := map[string]bool{"b": true, "o": true}
	for _, c := range []struct {
		name           string
		counted, ended map[hour]ends
		asked, gone    map[string]bool
		want           string
	}{
		{"as counted", both(3), both(3), asked, nil, ""},
		{"counted twice", both(4), both(3), asked, nil, "I18"},
		{"never counted", both(2), both(3), asked, nil, "I18"},
		{"in another hour", map[hour]ends{one: {3, 1}, two: {2, 1}, {"o", 2}: {1, 0}}, both(3), asked, nil, "I18"},
		{"as failed", both(0), map[hour]ends{one: {1, 0}, two: {1, 0}}, asked, nil, "I18"},
		{"where none ended", both(3), map[hour]ends{one: {3, 1}}, asked, nil, "I18"},
		{"for the organization alone", map[hour]ends{two: {3, 1}}, both(3), asked, nil, "I18"},
		{"not acknowledged", map[hour]ends{two: {3, 1}}, both(3), map[string]bool{"o": true}, nil, "I18"},
		{"of a deleted blueprint", map[hour]ends{two: {3, 1}}, both(3), map[string]bool{"o": true}, map[string]bool{"b": true}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newHistory("test", io.Discard)
			if b.checkHourlyCounts(c.counted, c.ended, c.asked, c.gone); first(b) != c.want {
				t.Errorf("violations %v, want %q", b.violations, c.want)
			}
		})
	}
}
