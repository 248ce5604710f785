package metrics

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestPage(t *testing.T) {
	h := NewHistogram(time.Millisecond, time.Second)
	for _, d := range []time.Duration{-5, time.Millisecond, 2 * time.Millisecond, time.Minute} {
		h.Observe(d)
	}
	c := NewCounters([]string{"a", "b"}, []string{"x", "y"})
	c.Add("a", "y")
	c.Add("a", "y")
	c.Add("a", "unheard of")
	c.Add("unheard of", "y")
	p := NewPage()
	p.Gauge("room_size", "back\\slash\nline").Value(1.5, "name", "a\"b\\c\nd")
	f := p.Counter("done_total", "What was done.")
	c.Each(func(first, second string, n int64) { f.Value(float64(n), "first", first, "second", second) })
	p.Histogram("wait_seconds", "How long.").Distribution(h.Distribution(), "kind", "k")
	p.Gauge("bytes", "Many.").Value(1 << 40)
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		t.Fatal(err)
	}
	const want = `# HELP room_size back\\slash\nline
# TYPE room_size gauge
room_size{name="a\"b\\c\nd"} 1.5
# HELP done_total What was done.
# TYPE done_total counter
done_total{first="a",second="y"} 2
# HELP wait_seconds How long.
# TYPE wait_seconds histogram
wait_seconds_bucket{kind="k",le="0.001"} 2
wait_seconds_bucket{kind="k",le="1"} 3
wait_seconds_bucket{kind="k",le="+Inf"} 4
wait_seconds_sum{kind="k"} 60.003
wait_seconds_count{kind="k"} 4
# HELP bytes Many.
# TYPE bytes gauge
bytes 1.099511627776e+12
`
	if text.String() != want {
		t.Errorf("got\n%swant\n%s", text.String(), want)
	}
}

func TestPageErrors(t *testing.T) {
	for name, make := range map[string]func(p *Page){
		"duplicate metric a":          func(p *Page) { p.Gauge("a", ""); p.Counter("a", "") },
		"duplicate series a{x=\"1\"}": func(p *Page) { f := p.Gauge("a", ""); f.Value(1, "x", "1"); f.Value(2, "x", "1") },
		"not a metric name":           func(p *Page) { p.Gauge("a-b", "") },
		"\"x-y\" is not a label":      func(p *Page) { p.Gauge("a", "").Value(1, "x-y", "1") },
	} {
		t.Run(name, func(t *testing.T) {
			p := NewPage()
			make(p)
			if err := p.Write(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("got %v, want an error and %q in it", err, name)
			}
		})
	}
}

// Many count at the same time: nothing is lost, and nothing is allocated.
func TestCounting(t *testing.T) {
	var counter Counter
	var gauge Gauge
	counters, histogram := NewCounters([]string{"a"}, []string{"b"}), NewHistogram(time.Second)
	count := func() {
		counter.Add(1)
		gauge.Add(1)
		counters.Add("a", "b")
		histogram.Observe(time.Millisecond)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				count()
			}
		})
	}
	all.Wait()
	d := histogram.Distribution()
	if counter.Value() != 8000 || gauge.Value() != 8000 || d.Counts[0] != 8000 || d.Sum != 8*time.Second {
		t.Errorf("counted %d, %d, %v; want 8000, 8000, Counts 8000 and Sum %v", counter.Value(), gauge.Value(), d, 8*time.Second)
	}
	gauge.Set(3)
	if gauge.Value() != 3 {
		t.Error("a gauge has another value")
	}
	counters.Each(func(_, _ string, n int64) {
		if n != 8000 {
			t.Errorf("counted %d pairs, want 8000", n)
		}
	})
	if n := testing.AllocsPerRun(100, count); n != 0 {
		t.Errorf("counting allocates %v times, want 0", n)
	}
}
