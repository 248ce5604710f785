package testsuite

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine/script"
	"blueprintd/foundation/clock"
	"blueprintd/project"
)

// heardBuffer may be written to and read at the same time.
type heardBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *heardBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *heardBuffer) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.text.Reset()
	return b.text.String()
}

func testsIn(folder string, out *heardBuffer) *Suite {
	return &Suite{Names: []string{folder}, Jobs: 2, Only: regexp.MustCompile(""), Out: out, Errors: out, Scripts: script.New(script.Options{}), Complain: func(err error) {
		message, hint := blueprint.DescribeError(err)
		fmt.Fprintf(out, "%s\nhint: %s\n", message, hint)
	}}
}

// watching watches the tests of a file or a folder while f goes on, which is given
// what has been said since it last asked, some seconds later.
func watching(t *testing.T, path string, f func(t *testing.T, later func() string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		out := &heardBuffer{}
		ended := make(chan error, 1)
		ticking := clock.NewVirtual(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
		go func() { ended <- testsIn(path, out).watchBy(ctx, ticking, func(*project.Watcher) {}) }()
		later := func() string {
			synctest.Wait()
			for range 4 {
				if err := ticking.Advance(ctx, ticking.Now().Add(1e9)); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
			return out.take()
		}
		f(t, later)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Watching runs the tests again when a file changes, and not before.
func TestWatchRunsTestsAgain(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.blueprint.yaml", "title: A\nblueprint_map:\n  nodes:\n    - {id: a, type: template, title: A, config: {text: one}}\n")
	write("a.test.yaml", "blueprint: a.blueprint.yaml\ntests:\n  - name: a\n    expect: {status: completed, output: {text: one}}\n")
	watching(t, folder, func(t *testing.T, later func() string) {
		if got := later(); !strings.Contains(got, "1 passed") || strings.Count(got, "waiting for changes") != 1 {
			t.Errorf("at first: %s, want \"1 passed\" in it and 1", got)
		}
		if got := later(); got != "" {
			t.Errorf("nothing changed: %s, want nothing", got)
		}
		write("a.blueprint.yaml", "title: A\nblueprint_map:\n  nodes:\n    - {id: a, type: template, title: A, config: {text: other}}\n")
		if got := later(); !strings.Contains(got, `expected "one", got "other"`) || !strings.Contains(got, "1 failed") {
			t.Errorf("after a change: %s, want expected \"one\", got \"other\" in it and \"1 failed\" in it", got)
		}
	})
}

// A test is the same each time, byte for byte.
func TestTestsAreTheSameEachTime(t *testing.T) {
	list, bad := testsIn("../../testdata/blueprints", &heardBuffer{}).load([]string{"../../testdata/blueprints/order.test.yaml", "../../testdata/blueprints/reminder.test.yaml"})
	if bad != nil || len(list) != 5 {
		t.Fatalf("%d tests, bad: %v; want nil and 5", len(list), bad)
	}
	for _, one := range list {
		var first string
		for range 5 {
			if r := one.result(t.Context()); !r.Passed() {
				t.Fatalf("%s: %v", one.test.Name, r.Lines(false))
			}
			data, err := blueprint.Encode([]any{one.outcome.Recording.ExecutionStatus, one.outcome.Recording.Exchanges})
			if err != nil {
				t.Fatal(err)
			}
			if first == "" {
				first = string(data)
			}
			if string(data) != first {
				t.Fatalf("%s: %s\nand then %s", one.test.Name, first, data)
			}
		}
	}
}

// TestSharedConnections checks that a connection of the file serves all tests without one of
// the same name, and that an unknown name is reported where it is written.
func TestSharedConnections(t *testing.T) {
	const post = `title: Post
blueprint_map:
  nodes:
    - {id: post, type: send-slack, title: Post, config: {connectionId: {$connection: slack}, channel: '#orders', text: hi}}
`
	const tests = `blueprint: post.blueprint.yaml
connections:
  NAME: {type: slack, config: {baseUrl: 'https://file.example.com/api/'}}
tests:
  - name: of the file
    stubs: {'*.example.com': {status: 200, body: {ok: true, channel: C01, ts: '1.0'}}}
    expect: {status: completed, calls: [{host: file.example.com}]}
  - name: of the test
    connections: {slack: {type: slack, config: {baseUrl: 'https://test.example.com/api/'}}}
    stubs: {'*.example.com': {status: 200, body: {ok: true, channel: C01, ts: '1.0'}}}
    expect: {status: completed, calls: [{host: test.example.com}]}
`
	for name, want := range map[string]string{
		"slack": "2 passed;",
		"slak":  `post.test.yaml:3:3: connections.slak: is not an id, and no blueprint refers to a connection with this name; did you mean "slack"?`,
	} {
		t.Run(name, func(t *testing.T) {
			folder, out := t.TempDir(), &heardBuffer{}
			for file, text := range map[string]string{"post.blueprint.yaml": post, "post.test.yaml": strings.Replace(tests, "NAME", name, 1)} {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := testsIn(folder, out).Once(t.Context())
			if text := out.take(); !strings.Contains(text, want) || (err == nil) != (name == "slack") {
				t.Errorf("%v, said %q; want %q in it", err, text, want)
			}
		})
	}
}
