package server_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"blueprintd/tests/servertest"
)

// scraped are the series of a page of metrics by their text, such as
// runs_ended_total{status="failed"}.
type scraped map[string]float64

var (
	helpLine   = regexp.MustCompile(`^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (\S.*)$`)
	typeLine   = regexp.MustCompile(`^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)$`)
	sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)*\})? (\S+)$`)
	boundLabel = regexp.MustCompile(`,?le="([^"]*)"`)
)

// parseMetrics reads a page in the text format 0.0.4 and checks its rules: each
// family has one HELP and one TYPE line before its series, which stand
// together; no series is there twice; the buckets of a histogram only grow, and
// the last one holds what the histogram counted.
func parseMetrics(t testing.TB, text string) scraped {
	t.Helper()
	if !strings.HasSuffix(text, "\n") {
		t.Error("the last line does not end")
	}
	series, families := scraped{}, map[string]string{}
	var family string
	buckets := map[string][]float64{} // of a histogram's labels: bound and count in turn
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if help := helpLine.FindStringSubmatch(line); help != nil {
			if _, again := families[help[1]]; again {
				t.Errorf("the family %s is there twice", help[1])
			}
			family = help[1]
			families[family] = ""
			continue
		}
		if kind := typeLine.FindStringSubmatch(line); kind != nil {
			if kind[1] != family || families[family] != "" {
				t.Errorf("%q does not follow its HELP line, want %v and nothing", line, family)
			}
			families[family] = kind[2]
			continue
		}
		sample := sampleLine.FindStringSubmatch(line)
		if sample == nil {
			t.Errorf("%q is no line of a page", line)
			continue
		}
		name, labels := sample[1], sample[2]
		value, err := strconv.ParseFloat(sample[3], 64)
		if err != nil || value < 0 {
			t.Errorf("%q: %v, want at least 0", line, err)
		}
		if _, again := series[name+labels]; again {
			t.Errorf("the series %s is there twice", name+labels)
		}
		series[name+labels] = value
		kind := families[family]
		own := name == family
		if kind == "histogram" {
			own = name == family+"_bucket" || name == family+"_sum" || name == family+"_count"
		}
		if !own {
			t.Errorf("%s is in the family %s, a %s", name, family, kind)
		}
		if kind == "counter" && !strings.HasSuffix(name, "_total") {
			t.Errorf("the counter %s is not called a total", name)
		}
		switch {
		case name == family+"_bucket":
			bound := boundLabel.FindStringSubmatch(labels)
			if bound == nil {
				t.Fatalf("%q has no bound", line)
			}
			at, err := strconv.ParseFloat(bound[1], 64)
			rest := family + strings.Replace(boundLabel.ReplaceAllString(labels, ""), "{}", "", 1)
			have := buckets[rest]
			if err != nil || len(have) > 0 && (at <= have[len(have)-2] || value < have[len(have)-1]) {
				t.Errorf("%q does not follow from the bucket before it", line)
			}
			buckets[rest] = append(have, at, value)
		case kind == "histogram" && name == family+"_count":
			have := buckets[family+labels]
			if len(have) == 0 || have[len(have)-1] != value || strconv.FormatFloat(have[len(have)-2], 'g', -1, 64) != "+Inf" {
				t.Errorf("%q: the buckets hold %v, want some, %v and +Inf", line, have, value)
			}
			delete(buckets, family+labels)
		}
	}
	for rest := range buckets {
		t.Errorf("the histogram %s has no count", rest)
	}
	for name, kind := range families {
		if kind == "" {
			t.Errorf("the family %s has no TYPE", name)
		}
	}
	return series
}

// scrape reads the metrics of a service.
func scrape(t testing.TB, s *servertest.Server) scraped {
	t.Helper()
	answer := servertest.Caller{Server: s}.Send(t, "GET", "/metrics", "")
	if answer.Status != 200 || answer.Header.Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
		t.Fatalf("metrics: %d %v, want 200 and Content-Type text/plain; version=0.0.4; charset=utf-8", answer.Status, answer.Header)
	}
	return parseMetrics(t, answer.Text)
}

// want checks some series; what is not there counts as 0.
func (m scraped) want(t testing.TB, when string, values map[string]float64) {
	t.Helper()
	for name, value := range values {
		if got := m["blueprintd_"+name]; got != value {
			t.Errorf("%s: %s is %v, want %v", when, name, got, value)
		}
	}
}
