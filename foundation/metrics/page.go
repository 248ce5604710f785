// Package metrics implements counters, gauges and histograms, and writes them in the
// text format of Prometheus, version 0.0.4.
//
// Packages keep counters and histograms with fixed labels and bounds: counting never
// creates a new series, so that no user can exhaust the memory of the scraper.
// Counting takes one atomic addition and allocates nothing. A [Page] collects the
// values for one scrape.
package metrics

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ContentType is the content type of a page.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Page is the answer to one scrape. It is not safe for concurrent use.
type Page struct {
	text   bytes.Buffer
	names  map[string]bool
	series map[string]bool
	err    error
}

// Family is the series of one name. It must be complete before the next one starts.
type Family struct {
	page *Page
	name string
}

// Kinds of families.
const (
	kindCounter   = "counter"
	kindGauge     = "gauge"
	kindHistogram = "histogram"
)

// NewPage returns an empty page.
func NewPage() *Page { return &Page{names: map[string]bool{}, series: map[string]bool{}} }

// Counter starts a family of counters, whose name ends in _total by convention.
func (p *Page) Counter(name, help string) Family { return p.family(kindCounter, name, help) }

// Gauge starts a family of gauges.
func (p *Page) Gauge(name, help string) Family { return p.family(kindGauge, name, help) }

// Histogram starts a family of histograms in seconds.
func (p *Page) Histogram(name, help string) Family { return p.family(kindHistogram, name, help) }

var (
	metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	labelName  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
)

func (p *Page) family(kind, name, help string) Family {
	switch {
	case !metricName.MatchString(name):
		p.fail("%q is not a metric name", name)
	case p.names[name]:
		p.fail("duplicate metric %s", name)
	}
	p.names[name] = true
	fmt.Fprintf(&p.text, "# HELP %s %s\n# TYPE %s %s\n", name, strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(help), name, kind)
	return Family{p, name}
}

func (p *Page) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("metrics: "+format, args...)
	}
}

// Value adds a series; labels are alternating names and values.
func (f Family) Value(value float64, labels ...string) { f.line("", value, labels) }

// Distribution adds a series of a histogram; labels are as for Value.
func (f Family) Distribution(d Distribution, labels ...string) {
	count := int64(0)
	for i, n := range d.Counts {
		count += n
		bound := "+Inf"
		if i < len(d.Bounds) {
			bound = number(d.Bounds[i].Seconds())
		}
		f.line("_bucket", float64(count), append(slices.Clip(labels), "le", bound))
	}
	f.line("_sum", d.Sum.Seconds(), labels)
	f.line("_count", float64(count), labels)
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func (f Family) line(suffix string, value float64, labels []string) {
	var series strings.Builder
	series.WriteString(f.name + suffix)
	for i := 0; i+1 < len(labels); i += 2 {
		separator := ","
		if i == 0 {
			separator = "{"
		}
		if !labelName.MatchString(labels[i]) {
			f.page.fail("%q is not a label name", labels[i])
		}
		series.WriteString(separator + labels[i] + `="` + escape.Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD")) + `"`)
	}
	if len(labels) > 0 {
		series.WriteByte('}')
	}
	if f.page.series[series.String()] {
		f.page.fail("duplicate series %s", series.String())
	}
	f.page.series[series.String()] = true
	f.page.text.WriteString(series.String() + " " + number(value) + "\n")
}

func number(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

// Write writes the page, or returns the first mistake in building it.
func (p *Page) Write(w io.Writer) error {
	if p.err != nil {
		return p.err
	}
	_, err := w.Write(p.text.Bytes())
	return err
}
