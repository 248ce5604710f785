package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"blueprintd/tests/process"
)

const greeting = `{"name":"Ada"}`

// path returns the webhook of a connection.
func (w *worker) path(i int) string { return w.Paths[i%len(w.Paths)] }

// chance returns the random source of one connection.
func (w *worker) chance(i int) *rand.Rand { return rand.New(rand.NewPCG(w.Seed, uint64(i))) }

// steady sends at a fixed rate, whether or not the previous requests have responses: for
// the client, waiting for a free connection counts like a slow response.
func (w *worker) steady(up func()) error {
	every := time.Duration(float64(w.Connections) / w.Rate * float64(time.Second))
	began := now()
	wait, err := w.open(func(i int, l *line) {
		due := began.Add(every * time.Duration(i) / time.Duration(w.Connections))
		for free := now(); ; free = now() {
			if !process.Pause(w.ctx, due.Sub(free)) {
				return
			}
			since := now()
			if free.After(due) {
				since = due
			}
			first := l.used == 0
			o := l.ask(post(w.Address, w.path(i), len(greeting)) + greeting)
			w.note(o, first)
			took := now().Sub(since)
			w.mu.Lock()
			w.latencies = append(w.latencies, took)
			w.mu.Unlock()
			due = due.Add(every)
			if !o.closes {
				continue
			}
			l.Close()
			var err error
			if l, err = dial(w.ctx, w.Address); err != nil {
				w.count("not connected")
				return
			}
		}
	})
	if err != nil {
		return err
	}
	up()
	wait()
	return nil
}

// crowd keeps its connections open and sends on each occasionally. The first request is
// sent at once: a connection without any request is closed sooner than an idle one.
func (w *worker) crowd(up func()) error {
	started := make(chan struct{})
	var ready sync.WaitGroup
	ready.Add(w.Connections)
	mean := float64(w.Connections) / w.Rate * float64(time.Second)
	wait, err := w.open(func(i int, l *line) {
		chance := w.chance(i)
		if o := l.ask("GET /healthz HTTP/1.1\r\nHost: " + w.Address + "\r\n\r\n"); o.status != 200 {
			w.note(o, true)
			ready.Done()
			return
		}
		ready.Done()
		<-started
		for at := time.Duration(chance.Float64() * mean); process.Pause(w.ctx, at); at = time.Duration(chance.ExpFloat64() * mean) {
			o := l.ask(post(w.Address, w.path(i), len(greeting)) + greeting)
			w.note(o, false)
			if o.closes {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	ready.Wait()
	up()
	close(started)
	wait()
	return nil
}

// slowSenders never complete a request: half of them send a byte a second, the others stop
// halfway; half of each do so in the headers, or all of them if the job has no Size, the
// others in the body.
func (w *worker) slowSenders(up func()) error {
	started := now()
	wait, err := w.open(func(i int, l *line) {
		drips, head := i%2 == 0, i/2%2 == 0 || w.Size == 0
		whole := post(w.Address, w.path(i), w.Size) + `{"name":"`
		send := whole[:len(whole)/2]
		if !head {
			send = whole
		}
		what := map[bool]string{true: "head", false: "body"}[head]
		if _, err := io.WriteString(l, send); err != nil {
			w.count(what + " " + cause(err))
			return
		}
		for w.ctx.Err() == nil {
			_ = l.SetReadDeadline(now().Add(time.Second))
			_, err := l.in.Peek(1)
			if err != nil && cause(err) == "timed out" {
				if drips {
					_, _ = io.WriteString(l, "x")
				}
				continue
			}
			if err != nil {
				what += " " + cause(err)
			} else if o := l.receive(); o.err == nil {
				what += fmt.Sprintf(" %d", o.status)
			} else {
				what += " answer cut off"
			}
			w.mu.Lock()
			w.result.Last = now().Sub(started)
			w.mu.Unlock()
			w.count(what)
			return
		}
		w.count(what + " still open")
	})
	if err != nil {
		return err
	}
	up()
	wait()
	return nil
}

// slowReaders send a request and read no response until the end.
func (w *worker) slowReaders(up func()) error {
	wait, err := w.open(func(i int, l *line) {
		if tcp, ok := l.Conn.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4 << 10)
		}
		if _, err := io.WriteString(l, post(w.Address, w.path(i), len(greeting))+greeting); err != nil {
			w.count(cause(err))
			return
		}
		<-w.ctx.Done()
		// Read only the beginning of the response: reading all of it takes too long.
		_ = l.SetReadDeadline(now().Add(5 * time.Second))
		response, err := http.ReadResponse(l.in, nil)
		if err != nil {
			w.count("connection " + cause(err))
			return
		}
		w.note(outcome{status: response.StatusCode, retry: response.Header.Get("Retry-After")}, true)
	})
	if err != nil {
		return err
	}
	up()
	wait()
	return nil
}

// largeBodies each send one large body, the odd ones slowly. All headers are sent before
// any body, because the bodies keep this process busy for seconds.
func (w *worker) largeBodies(up func()) error {
	text := `{"pad":"` + strings.Repeat("x", w.Size-10) + `"}`
	dense := `[` + strings.Repeat("0,", w.Size/2-2) + `0]`
	started := make(chan struct{})
	var ready sync.WaitGroup
	ready.Add(w.Connections)
	wait, err := w.open(func(i int, l *line) {
		body := text
		if i%4 >= 2 {
			body = dense
		}
		if _, err := io.WriteString(l, post(w.Address, w.path(i), len(body))); err != nil {
			w.count(cause(err))
		}
		ready.Done()
		<-started
		go func() {
			for rest := body; rest != ""; {
				n := len(rest)
				if i%2 == 1 {
					n = min(n, 64<<10)
					if !process.Pause(w.ctx, 100*time.Millisecond) {
						return
					}
				}
				if _, err := io.WriteString(l, rest[:n]); err != nil {
					return
				}
				rest = rest[n:]
			}
		}()
		_ = l.SetReadDeadline(now().Add(w.Length + 20*time.Second))
		w.note(l.receive(), true)
	})
	if err != nil {
		return err
	}
	ready.Wait()
	up()
	close(started)
	wait()
	return nil
}

// flood makes a number of requests as fast as possible.
func (w *worker) flood(up func()) error {
	body := greeting
	if w.Size > 0 {
		body = `{"pad":"` + strings.Repeat("x", w.Size-10) + `"}`
	}
	var made atomic.Int64
	wait, err := w.open(func(i int, l *line) {
		for w.ctx.Err() == nil && made.Add(1) <= int64(w.Requests) {
			first := l.used == 0
			o := l.ask(post(w.Address, w.path(i), len(body)) + body)
			w.note(o, first)
			if !o.closes {
				continue
			}
			l.Close()
			var err error
			if l, err = dial(w.ctx, w.Address); err != nil {
				w.count("not connected")
				return
			}
		}
	})
	if err != nil {
		return err
	}
	up()
	wait()
	return nil
}

// beyondLimit repeats: it sends requests until one is refused with Retry-After,
// waits for that time and sends the request again.
func (w *worker) beyondLimit(up func()) error {
	request := fmt.Sprintf("GET /api/trpc/blueprint.list HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", w.Address, apiKey)
	for lines := []*line(nil); ; {
		for len(lines) < w.Connections {
			l, err := dial(w.ctx, w.Address)
			if err != nil {
				return err
			}
			defer l.Close()
			lines = append(lines, l)
		}
		if up != nil {
			up()
			up = nil
		}
		if w.ctx.Err() != nil {
			return nil
		}
		var all sync.WaitGroup
		var longest atomic.Int64
		for _, l := range lines {
			all.Go(func() {
				for {
					o := l.ask(request)
					w.note(o, false)
					if o.status != http.StatusTooManyRequests && o.err == nil {
						continue
					}
					seconds, _ := strconv.ParseInt(o.retry, 10, 64)
					longest.Store(max(longest.Load(), seconds))
					return
				}
			})
		}
		all.Wait()
		if !process.Pause(w.ctx, time.Duration(longest.Load())*time.Second) {
			return nil
		}
		for _, l := range lines {
			if o := l.ask(request); o.err != nil || o.status == http.StatusTooManyRequests || o.status >= 500 {
				w.count("obeyed and refused again")
			} else {
				w.count("obeyed")
			}
		}
	}
}

// untilStopped sends requests while the server stops: half of the connections are kept, the
// others make one request each.
func (w *worker) untilStopped(up func()) error {
	var all sync.WaitGroup
	for i := range w.Connections {
		all.Go(func() {
			var l *line
			for w.ctx.Err() == nil {
				if l == nil {
					var err error
					if l, err = dial(w.ctx, w.Address); err != nil {
						l = nil
						w.count("not connected")
						process.Pause(w.ctx, 5*time.Millisecond)
						continue
					}
				}
				_ = l.SetDeadline(now().Add(30 * time.Second))
				keep := i%2 == 0
				var headers []string
				if !keep {
					headers = []string{"Connection: close"}
				}
				first := l.used == 0
				o := l.ask(post(w.Address, w.path(i/2), len(greeting), headers...) + greeting)
				w.note(o, first)
				if o.status == http.StatusServiceUnavailable {
					process.Pause(w.ctx, 5*time.Millisecond)
				}
				if !keep || o.closes {
					l.Close()
					l = nil
				}
			}
		})
	}
	up()
	all.Wait()
	return nil
}
