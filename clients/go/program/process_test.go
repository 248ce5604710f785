package program

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// TestMain makes this program the one to launch: it says what the variable
// tells, writes to its standard error, and ends as its standard input does, or
// at once when it has nothing to say.
func TestMain(m *testing.M) {
	says, child := os.LookupEnv("PROGRAM_TEST_SAYS")
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
			p, err := Start(Command{Path: os.Args[0], Env: []string{"PROGRAM_TEST_SAYS=" + c.says}, Log: log, Ready: ready})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Kill()
			address, err := p.Address(t.Context(), time.Minute)
			if address != c.address || fmt.Sprint(err) != c.err && err != nil || (err == nil) != (c.err == "") {
				t.Fatalf("%q, %v; want address %v and err %v", address, err, c.address, c.err)
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
				t.Errorf("its log is %q, want %v", words, "a word\n")
			}
		})
	}
}
