package process

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestMain makes this program the one to launch: it says what the variable
// tells, writes to its standard error, and ends as its standard input does, or
// at once when it has nothing to say.
func TestMain(m *testing.M) {
	says, child := os.LookupEnv("HARNESS_TEST_SAYS")
	if !child {
		os.Exit(m.Run())
	}
	fmt.Print(says)
	fmt.Fprintln(os.Stderr, "a word")
	if says == "" {
		os.Exit(3)
	}
	io.Copy(io.Discard, os.Stdin)
}

func TestProcess(t *testing.T) {
	ready := regexp.MustCompile(`is ready on (http://\S+)(?:[\s\S]*key (\S+))?`)
	for _, c := range []struct{ says, address, second, err string }{
		{"it is ready on http://a:1\n", "http://a:1", "", ""},
		{"first\nit is ready on http://a:1\n a word\n key k\nmore\n", "http://a:1", "k", ""},
		{"", "", "", "it ended before it was ready: exit status 3"},
	} {
		t.Run(c.says, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "log")
			p, err := Launch(Program{Path: os.Args[0], Environment: []string{"HARNESS_TEST_SAYS=" + c.says}, Log: log, Ready: ready})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Kill()
			address, err := p.Address(t.Context(), time.Minute)
			if address != c.address || fmt.Sprint(err) != c.err && err != nil || (err == nil) != (c.err == "") {
				t.Fatalf("%q, %v", address, err)
			}
			if err == nil && (p.Found[2] != c.second || !p.Running() || p.Pid() == 0) {
				t.Errorf("found %q, running %v", p.Found, p.Running())
			}
			p.Kill()
			if p.Running() || !p.Gone(0) || p.Err == nil || p.EndedAt.Before(p.Started) {
				t.Errorf("not gone well: %v", p.Err)
			}
			if err := p.Stop(time.Minute); err != p.Err {
				t.Errorf("stopped after its end: %v, not %v", err, p.Err)
			}
			if c.err == "" {
				return // it may have been killed before it wrote
			}
			if words, _ := os.ReadFile(log); string(words) != "a word\n" {
				t.Errorf("its log is %q", words)
			}
		})
	}
}

func TestClient(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer k" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, `{"result":{"data":{"json":{"id":%q}}}}`, r.URL.Path+" "+r.FormValue("input")+string(body))
	}))
	defer server.Close()
	c, ctx := NewClient(server.URL, "k", server.Client()), context.Background()
	input := map[string]any{"a": 1}
	for what, a := range map[string]Answer{"query": c.Query(ctx, "p", input), "mutation": c.Mutate(ctx, "p", input)} {
		if got := a.Text("id"); got != `/api/trpc/p {"json":{"a":1}}` {
			t.Errorf("a %s: %s", what, a)
		}
	}
	if id, err := c.Create(ctx, "p", input); err != nil || id == "" {
		t.Errorf("made %q, %v", id, err)
	}
	c.Key = "another"
	if _, err := c.Create(ctx, "p", input); err == nil || !strings.HasPrefix(err.Error(), "p: 401 {") {
		t.Errorf("refused: %v", err)
	}
	c.Open("")
	if a := c.Query(ctx, "p", nil); a.OK() || a.Err != ErrDown {
		t.Errorf("down: %s", a)
	}
}
