package api

import (
	"blueprintd/server"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestMemoryLimitOfCgroups(t *testing.T) {
	for _, c := range []struct {
		name   string
		groups string
		limits map[string]string
		want   int64
	}{
		{"version 2", "0::/a/b\n", map[string]string{"a/b/memory.max": "1000\n"}, 1000},
		{"version 2, a limit above", "0::/a/b\n", map[string]string{"a/b/memory.max": "max\n", "a/memory.max": "2000\n"}, 2000},
		{"version 2, in a container", "0::/../host/scope\n", map[string]string{"memory.max": "3000\n"}, 3000},
		{"version 1", "5:cpu,cpuacct:/x\n4:memory:/x\n0::/\n", map[string]string{"memory/x/memory.limit_in_bytes": "4000\n", "x/memory.max": "1\n"}, 4000},
		{"version 1, in a container", "4:hugetlb,memory:/docker/abc\n", map[string]string{"memory/memory.limit_in_bytes": "5000\n"}, 5000},
		{"none", "0::/\n", map[string]string{"memory.max": "max\n"}, math.MaxInt64},
		{"no cgroups", "", nil, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			write := func(path, text string) {
				path = filepath.Join(root, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if c.groups != "" {
				write("proc/self/cgroup", c.groups)
			}
			for path, text := range c.limits {
				write("sys/fs/cgroup/"+path, text)
			}
			if got := server.CgroupLimit(root); got != c.want {
				t.Errorf("limit %d, want %d", got, c.want)
			}
		})
	}
}

func TestMemoryLimitFollowsTheSystem(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	if got := server.MemoryLimit(123); got != 123 {
		t.Errorf("%d was chosen, want 123", got)
	}
	if got, physical := server.MemoryLimit(0), server.PhysicalMemory(); got <= 0 || physical > 0 && got > physical {
		t.Errorf("the limit is %d of %d", got, physical)
	}
	// Large machines are used, small ones are not used up.
	for _, limit := range []int64{128 << 20, 64 << 30} {
		s := server.SharesOf(limit)
		if s.Heap < limit/2 || s.Heap > limit || s.Arriving+s.Decoded+2*s.Inputs+s.Inputs/4+s.Answers > limit/4*3 {
			t.Errorf("%d bytes are shared out as %+v", limit, s)
		}
	}
}

// zeros is about a megabyte of JSON with as many values as fit.
func zeros() string { return "[" + strings.Repeat("0,", 1<<19) + "0]" }

// dense sends large webhooks at the same time and returns how often each status
// was answered.
func dense(t *testing.T, s *service, path string, count int) map[int]int {
	t.Helper()
	var mu sync.Mutex
	got := map[int]int{}
	var all sync.WaitGroup
	for range count {
		all.Go(func() {
			response, err := http.Post(s.host+path, "application/json", strings.NewReader(zeros()))
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

// Large dense deliveries that come at the same time are all taken, on a machine
// with little memory one after the other.
func TestDenseWebhooksAreAllTaken(t *testing.T) {
	for _, limit := range []int64{0, 256 << 20} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			s := newService(t, func(o *server.Options) { o.MemoryLimit, o.MaxBody, o.AdmissionWait = limit, 5<<20, time.Minute })
			id := s.root.blueprint(t, "dense", node("a", "set", object{"values": object{"x": 1}}))
			trigger := s.root.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{}})
			if got := dense(t, s, "/webhooks/blueprint/"+trigger, 16); got[http.StatusAccepted] != 16 {
				t.Errorf("answers %v", got)
			}
		})
	}
}

// While a run holds all room for large inputs, another one is refused in time and
// told when to come again; a small one is taken.
func TestDenseWebhooksWaitOnlyForSoLong(t *testing.T) {
	came, answer := make(chan struct{}, 2), make(chan struct{})
	stub := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		came <- struct{}{}
		<-answer
	}))
	defer stub.Close()
	s := newService(t, func(o *server.Options) {
		o.MemoryLimit, o.AdmissionWait, o.AllowNet = 32<<20, 10*time.Millisecond, []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	id := s.root.blueprint(t, "dense", node("a", "http-request", object{"url": stub.URL}))
	trigger := s.root.id(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{}})
	path := "/webhooks/blueprint/" + trigger
	if got := dense(t, s, path, 1); got[http.StatusAccepted] != 1 {
		t.Errorf("alone: answers %v", got)
	}
	<-came
	if got := dense(t, s, path, 3); got[http.StatusServiceUnavailable] != 3 {
		t.Errorf("beside one that holds all room: answers %v", got)
	}
	if small := (person{service: s}).send(t, http.MethodPost, path, "{}"); small.status != http.StatusAccepted {
		t.Errorf("a small one: %d %s", small.status, small.text)
	}
	close(answer)
}
