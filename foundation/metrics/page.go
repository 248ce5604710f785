// Package metrics counts what a program does and writes it down in the text
// format that Prometheus and its kin read, version 0.0.4.
//
// Rooms keep counters and histograms, whose labels and bounds are fixed when
// they are made: what is counted never makes a new series, so that no caller
// can fill the memory of whoever reads them. Counting takes one atomic
// addition and no memory. Once somebody asks, a [Page] is made of them.
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

// ContentType is what a page is served as.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Page is what one reading shows. It belongs to one goroutine.
type Page struct {
	text   bytes.Buffer
	names  map[string]bool
	series map[string]bool
	err    error
}

// Family is the series of one name. Its lines follow each other, so it ends
// where the next one begins.
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

// NewPage makes an empty one.
func NewPage() *Page { return &Page{names: map[string]bool{}, series: map[string]bool{}} }

// Counter begins a family of what only goes up. By custom its name ends in
// _total.
func (p *Page) Counter(name, help string) Family { return p.family(kindCounter, name, help) }

// Gauge begins a family of what goes up and down.
func (p *Page) Gauge(name, help string) Family { return p.family(kindGauge, name, help) }

// Histogram begins a family of distributions of seconds.
func (p *Page) Histogram(name, help string) Family { return p.family(kindHistogram, name, help) }

var (
	metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	labelName  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
)

func (p *Page) family(kind, name, help string) Family {
	switch {
	case !metricName.MatchString(name):
		p.fail("%q is no name of a metric", name)
	case p.names[name]:
		p.fail("the metric %s is there twice", name)
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

// Value adds a series: its value, and its labels as names and values in turn.
func (f Family) Value(value float64, labels ...string) { f.line("", value, labels) }

// Distribution adds a series of a histogram.
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

// escape is how a label's value is written between quotes.
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
			f.page.fail("%q is no name of a label", labels[i])
		}
		series.WriteString(separator + labels[i] + `="` + escape.Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD")) + `"`)
	}
	if len(labels) > 0 {
		series.WriteByte('}')
	}
	if f.page.series[series.String()] {
		f.page.fail("the series %s is there twice", series.String())
	}
	f.page.series[series.String()] = true
	f.page.text.WriteString(series.String() + " " + number(value) + "\n")
}

// number writes a value as briefly as it can be told from all others.
func number(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

// Write writes the page, or says what the program got wrong in making it.
func (p *Page) Write(w io.Writer) error {
	if p.err != nil {
		return p.err
	}
	_, err := w.Write(p.text.Bytes())
	return err
}
