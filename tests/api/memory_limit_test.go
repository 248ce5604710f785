package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// zeros is about a megabyte of JSON with as many values as fit.
func zeros() string { return "[" + strings.Repeat("0,", 1<<19) + "0]" }

// dense sends large webhooks concurrently and returns the number of responses by status.
func dense(t *testing.T, s *servertest.Server, path string, count int) map[int]int {
	t.Helper()
	var mu sync.Mutex
	got := map[int]int{}
	var all sync.WaitGroup
	for range count {
		all.Go(func() {
			response, err := http.Post(s.Host+path, "application/json", strings.NewReader(zeros()))
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			if response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") == "" {
				t.Error("503 without Retry-After")
			}
			mu.Lock()
			defer mu.Unlock()
			got[response.StatusCode]++
		})
	}
	all.Wait()
	return got
}

// Large dense deliveries that arrive at the same time are all accepted, in sequence on a
// machine with little memory.
func TestDenseWebhooksAreAllTaken(t *testing.T) {
	count := 4
	if *thorough {
		count = 16
	}
	for _, limit := range []int64{0, 256 << 20} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			s := servertest.New(t, func(o *server.Options) { o.MemoryLimit, o.MaxBody, o.AdmissionWait = limit, 5<<20, time.Minute })
			id := s.Root.Blueprint(t, "dense", node("a", "set", object{"values": object{"x": 1}}))
			trigger := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{}})
			if got := dense(t, s, "/webhooks/blueprint/"+trigger, count); got[http.StatusAccepted] != count {
				t.Errorf("answers %v, want %v", got, count)
			}
		})
	}
}

// While a run holds all memory for large inputs, another one is refused in time with
// Retry-After; a small one is accepted.
func TestDenseWebhooksWaitOnlyForSoLong(t *testing.T) {
	came, answer := make(chan struct{}, 2), make(chan struct{})
	stub := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		came <- struct{}{}
		<-answer
	}))
	defer stub.Close()
	s := servertest.New(t, func(o *server.Options) {
		o.MemoryLimit, o.AdmissionWait, o.AllowNet = 32<<20, 10*time.Millisecond, []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	id := s.Root.Blueprint(t, "dense", node("a", "http-request", object{"url": stub.URL}))
	trigger := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{}})
	path := "/webhooks/blueprint/" + trigger
	if got := dense(t, s, path, 1); got[http.StatusAccepted] != 1 {
		t.Errorf("alone: answers %v, want 1", got)
	}
	<-came
	if got := dense(t, s, path, 3); got[http.StatusServiceUnavailable] != 3 {
		t.Errorf("beside one that holds all room: answers %v, want 3", got)
	}
	if small := (servertest.Caller{Server: s}).Send(t, http.MethodPost, path, "{}"); small.Status != http.StatusAccepted {
		t.Errorf("a small one: %d %s, want %v", small.Status, small.Text, http.StatusAccepted)
	}
	close(answer)
}
