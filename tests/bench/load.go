package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"time"
)

// loadArgument makes this program the load generator: it reads a loadJob from its standard
// input, runs it, and writes a loadResult.
const loadArgument = "generate-load"

// loadJob is a closed loop: each connection sends its next request as soon as it has the
// response to the previous one.
type loadJob struct {
	Address     string // host:port
	Connections int
	Requests    [][]byte // complete; each connection picks one at random each time
	Answer      string   // must be in every response; "" = any body
	Warmup      time.Duration
	Length      time.Duration
	Most        int64 // stop after this many responses instead of after Length; 0 = none
	Server      int   // the process whose CPU time is measured
	Beside      []int // others, of the same server
}

// servers are the measured processes.
func (j *loadJob) servers() []int { return append([]int{j.Server}, j.Beside...) }

// serverCPU returns their CPU time.
func (j *loadJob) serverCPU() (sum time.Duration, err error) {
	for _, pid := range j.servers() {
		used, err := cpuTime(pid)
		if err != nil {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}

// result is the result of one measurement.
type result struct {
	Completed int64         `json:"completed"`
	Answered  int64         `json:"answered"` // including responses before and after the measurement
	Failed    int64         `json:"failed"`   // responses with another status than 2xx, or without the expected answer
	Failure   string        `json:"failure,omitempty"`
	Elapsed   time.Duration `json:"elapsedNs"`
	P50       time.Duration `json:"p50Ns"`
	P99       time.Duration `json:"p99Ns"`
	Highest   time.Duration `json:"highestNs"`
	CPU       time.Duration `json:"serverCpuNs"`
	LoadCPU   time.Duration `json:"loadCpuNs"` // of the load generator itself
	Batch     float64       `json:"batch,omitempty"`
	Growth    int64         `json:"growthBytes"` // of the database
	Peak      int64         `json:"peakBytes"`   // of resident memory
}

// rate returns the completed requests per second.
func (r result) rate() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Completed) / r.Elapsed.Seconds()
}

// per divides an amount by the completed requests.
func (r result) per(amount float64) float64 { return amount / float64(max(r.Completed, 1)) }

func (r *result) latencies(h *histogram) {
	r.P50, r.P99, r.Highest = h.quantile(0.5), h.quantile(0.99), h.quantile(1)
}

func serveLoad(in io.Reader, out io.Writer) error {
	var job loadJob
	if err := json.NewDecoder(in).Decode(&job); err != nil {
		return err
	}
	r, err := generate(&job)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r)
}

// connection is a connection of the loop, with one pending request.
type connection struct {
	descriptor int
	sent       time.Time
	request    []byte
	received   []byte // of the response, so far
	buffer     []byte
}

// generate runs a job in one thread, because the server shares the processors.
func generate(job *loadJob) (*result, error) {
	loop, err := newLoop(job.Connections)
	if err != nil {
		return nil, err
	}
	defer loop.close()
	started := now()
	g := &generator{job: job, loop: loop, answer: []byte(job.Answer), begin: started.Add(job.Warmup), end: started.Add(job.Warmup + job.Length)}
	if job.Most > 0 {
		g.begin = started
	}
	for range job.Connections {
		c, err := loop.connect(job.Address)
		if err != nil {
			return nil, fmt.Errorf("connect to %s: %w", job.Address, err)
		}
		g.idle = append(g.idle, c)
	}
	return g.run()
}

type generator struct {
	job        *loadJob
	loop       *loop
	idle       []*connection
	begin, end time.Time
	sent       int64
	waiting    int // connections with a pending request
	answer     []byte
	measuring  bool
	over       bool
	cpu, own   time.Duration // at the start of the measurement
	noted      histogram
	result     result
}

func (g *generator) run() (*result, error) {
	at := now()
	for _, c := range g.idle {
		if err := g.send(c, at); err != nil {
			return nil, err
		}
	}
	for late := g.end.Add(2 * time.Minute); g.waiting > 0; {
		ready, err := g.loop.wait(100 * time.Millisecond)
		if err != nil {
			return nil, err
		}
		if err := g.tick(now()); err != nil {
			return nil, err
		}
		for _, c := range ready {
			if err := g.receive(c); err != nil {
				return nil, err
			}
		}
		if g.job.Most == 0 && now().After(late) {
			return nil, fmt.Errorf("%d requests have no answer two minutes after the end", g.waiting)
		}
	}
	if err := g.finish(now()); err != nil {
		return nil, err
	}
	g.result.latencies(&g.noted)
	return &g.result, nil
}

// tick begins and ends the measurement when its time has come.
func (g *generator) tick(at time.Time) (err error) {
	if !g.measuring && !g.over && !at.Before(g.begin) {
		g.measuring, g.begin, g.end = true, at, at.Add(g.job.Length) // as long if it begins late
		if g.cpu, err = g.job.serverCPU(); err == nil {
			g.own = ownCPUTime()
		}
		return err
	}
	if g.job.Most == 0 && !at.Before(g.end) {
		return g.finish(at)
	}
	return nil
}

// finish ends the measurement; later responses do not count.
func (g *generator) finish(at time.Time) error {
	if g.over {
		return nil
	}
	g.over, g.measuring = true, false
	g.result.Elapsed = at.Sub(g.begin)
	cpu, err := g.job.serverCPU()
	g.result.CPU, g.result.LoadCPU = cpu-g.cpu, ownCPUTime()-g.own
	return err
}

func (g *generator) send(c *connection, at time.Time) error {
	if g.over || g.job.Most > 0 && g.sent == g.job.Most {
		return g.loop.forget(c)
	}
	g.sent++
	g.waiting++
	c.sent = at
	c.request = g.job.Requests[0]
	if n := len(g.job.Requests); n > 1 {
		c.request = g.job.Requests[rand.IntN(n)]
	}
	return g.loop.write(c)
}

// receive reads the received bytes of a connection, and sends its next request when the
// response is complete.
func (g *generator) receive(c *connection) error {
	if err := g.loop.read(c); err != nil {
		return err
	}
	status, length, err := parseResponse(c.received)
	if err != nil {
		return err
	}
	if length == 0 {
		return nil
	}
	if length != len(c.received) {
		return fmt.Errorf("%d bytes follow the answer", len(c.received)-length)
	}
	at := now()
	g.waiting--
	switch {
	case status/100 != 2 || !bytes.Contains(c.received, g.answer):
		g.result.Failed++
		g.result.Failure = fmt.Sprintf("%d %.300s", status, c.received[max(0, length-300):])
	default:
		g.result.Answered++
		if g.measuring {
			g.result.Completed++
			g.noted.note(at.Sub(c.sent))
		}
	}
	c.received = c.buffer[:0]
	return g.send(c, at)
}

// histogram counts durations in buckets that are at most 1/128 of their value wide. It has
// a fixed size, and counting does not allocate.
type histogram struct {
	counts [57 * bucketsPerPower]int64
	total  int64
}

const (
	powerOfBuckets  = 7
	bucketsPerPower = 1 << powerOfBuckets
)

// bucket returns the bucket of a value: each value below bucketsPerPower has its own, and
// each power of two above is divided into as many.
func bucket(value uint64) int {
	shift := max(bits.Len64(value)-powerOfBuckets-1, 0)
	return shift<<powerOfBuckets + int(value>>shift)
}

// middle returns the value in the middle of a bucket.
func middle(bucket int) float64 {
	shift := max(bucket>>powerOfBuckets-1, 0)
	low := uint64(bucket-shift<<powerOfBuckets) << shift
	return float64(low) + float64(uint64(1)<<shift-1)/2
}

func (h *histogram) note(d time.Duration) {
	h.counts[bucket(uint64(max(d, 0)))]++
	h.total++
}

// quantile returns the duration that a fraction q of all values does not exceed; 0 without
// values.
func (h *histogram) quantile(q float64) time.Duration {
	wanted := int64(q*float64(h.total-1)) + 1
	var seen int64
	for i, count := range h.counts {
		if seen += count; count > 0 && seen >= wanted {
			return time.Duration(middle(i))
		}
	}
	return 0
}

func (h *histogram) add(other *histogram) {
	for i, count := range other.counts {
		h.counts[i] += count
	}
	h.total += other.total
}
