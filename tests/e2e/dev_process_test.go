package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"blueprintd/tests/process"
)

// developing is a running blueprintd dev.
type developing struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string
	seen  []string
	log   *bytes.Buffer
	host  string
}

// startDev runs the real binary with `dev` and waits until it watches.
func startDev(t *testing.T, dir string, args ...string) *developing {
	t.Helper()
	return startDevWith(t, nil, dir, args...)
}

// startDevWith is startDev with settings besides the environment of the test.
func startDevWith(t *testing.T, settings []string, dir string, args ...string) *developing {
	t.Helper()
	path := process.Path(t)
	d := &developing{t: t, lines: make(chan string, 1000), log: &bytes.Buffer{}}
	d.cmd = exec.Command(path, append([]string{"dev", dir, "--addr", "127.0.0.1:0", "--api-key", process.Key}, args...)...)
	d.cmd.Dir, d.cmd.Stderr, d.cmd.Env = t.TempDir(), d.log, append(os.Environ(), settings...)
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(d.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			d.lines <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		d.cmd.Process.Kill()
		if t.Failed() {
			t.Logf("standard error:\n%s", d.log)
		}
	})
	d.host = strings.TrimPrefix(regexp.MustCompile(`on http://\S+`).FindString(d.until(`serves .* on http://`)), "on ")
	return d
}

// until waits for a line that matches a pattern, and returns it.
func (d *developing) until(pattern string) string {
	d.t.Helper()
	expression, patience := regexp.MustCompile(pattern), time.After(30*time.Second)
	for {
		select {
		case line, more := <-d.lines:
			if !more {
				d.t.Fatalf("it ended before it said %s, after\n%s\n%s", pattern, strings.Join(d.seen, "\n"), d.log)
			}
			d.seen = append(d.seen, line)
			if expression.MatchString(line) {
				return line
			}
		case <-patience:
			d.t.Fatalf("it does not say %s, but\n%s\n%s", pattern, strings.Join(d.seen, "\n"), d.log)
		}
	}
}

// stop sends SIGINT and expects a clean exit.
func (d *developing) stop() {
	d.t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGINT); err != nil {
		d.t.Fatal(err)
	}
	for line := range d.lines {
		d.seen = append(d.seen, line)
	}
	if err := d.cmd.Wait(); err != nil {
		d.t.Errorf("it ended with %v\n%s", err, d.log)
	}
}

// save writes a file like editors do: it moves another one into its place.
func save(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

const devFlow = `title: A
blueprint_map:
  nodes:
    - {id: a, type: TYPE, title: A, config: {text: "TEXT"}}
triggers:
  - {triggerType: webhook, config: {secret: null}}
`

func TestDev(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "flows")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	a := filepath.Join(dir, "a.blueprint.yaml")
	with := func(kind, text string) string {
		return strings.NewReplacer("TYPE", kind, "TEXT", text).Replace(devFlow)
	}
	save(t, a, with("template", "hi"))
	d := startDev(t, dir)
	d.until(`dashboard http://.*/setup\?token=`)
	d.until(`^a.blueprint.yaml: created: 1 node$`)
	d.until(`webhook http://.*/webhooks/blueprint/`)
	d.until(`^watching `)

	save(t, a, with("template", "hello {{inputData.name}}"))
	d.until(`^a.blueprint.yaml: updated: ~ node a: config.text: "hi" -> `)
	d.until(`^a.blueprint.yaml: failed: node "a": .*name`)
	d.until(`/runs/exec_`)
	save(t, filepath.Join(dir, "a.input.json"), `{"name": "Ada"}`)
	d.until(`^a.blueprint.yaml: completed: .*hello Ada`)
	save(t, filepath.Join(dir, "a.input.json"), `{`)
	d.until(`^a.blueprint.yaml: not run: .*a.input.json: `)
	save(t, filepath.Join(dir, "a.input.json"), `{"name": "Bo"}`)
	d.until(`hello Bo`)

	// Tests of the file run instead, also those that only name it.
	tested := "blueprint: a.blueprint.yaml\ntests:\n  - {name: greets, inputData: {name: Cy}, expect: {status: completed, output: {text: WANT}}}\n"
	save(t, filepath.Join(dir, "more.test.yaml"), strings.Replace(tested, "WANT", "hello Cy", 1))
	d.until(`✓ .*more.test.yaml: greets`)
	save(t, filepath.Join(dir, "more.test.yaml"), strings.Replace(tested, "WANT", "hello Di", 1))
	d.until(`✗ .*more.test.yaml: greets`)
	save(t, a, with("template", "hello {{inputData.name}}!"))
	d.until(`^a.blueprint.yaml: updated: `)
	d.until(`✗ .*more.test.yaml: greets`)

	// Tests that cannot run are reported, and tests that need the saved file run too.
	save(t, filepath.Join(dir, "other.test.yaml"), "{")
	d.until(`0 passed, 1 invalid test file`)
	save(t, filepath.Join(dir, "other.test.yaml"), strings.Replace(tested, "a.blueprint.yaml", "nowhere.blueprint.yaml", 1))
	d.until(`0 passed, 1 invalid test file`)
	p := process.Connect(t, d.host)
	save(t, filepath.Join(dir, "p.blueprint.yaml"), "title: P\nblueprint_map:\n  nodes:\n    - {id: p, type: template, title: P, config: {text: p}}\n")
	d.until(`^p.blueprint.yaml: completed`)
	save(t, filepath.Join(dir, "other.test.yaml"), "blueprint: p.blueprint.yaml\nblueprints: {\"00000000-0000-4000-8000-00000000000a\": a.blueprint.yaml}\ntests:\n  - {name: needs a, expect: {status: completed, output: {text: p}}}\n")
	d.until(`✓ .*other.test.yaml: needs a`)
	save(t, a, with("template", "hello {{inputData.name}}?"))
	d.until(`✓ .*other.test.yaml: needs a`)
	save(t, a, with("template", "hello {{inputData.name}}!"))
	d.until(`✓ .*other.test.yaml: needs a`)
	save(t, filepath.Join(dir, "x.cassette.json"), `{`)
	save(t, filepath.Join(dir, "other.test.yaml"), "blueprint: p.blueprint.yaml\ntests:\n  - {name: plays, cassette: x.cassette.json, expect: {status: completed, output: {text: p}}}\n")
	d.until(`0 passed, 1 invalid test file`)
	save(t, filepath.Join(dir, "x.cassette.json"), `{"format": "blueprintd-cassette/1", "exchanges": []}`)
	d.until(`✓ .*other.test.yaml: plays`)
	for _, name := range []string{"p.blueprint.yaml", "other.test.yaml"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	d.until(`^p.blueprint.yaml: deleted$`)
	if err := os.Remove(filepath.Join(dir, "more.test.yaml")); err != nil {
		t.Fatal(err)
	}

	// An invalid file keeps the stored blueprint, which stays available.
	save(t, a, with("nope", "hello"))
	d.until(`^a.blueprint.yaml: has errors; the stored blueprint is unchanged$`)
	stored := at(p.Query("blueprint.list", object{"source": "sync:flows:"}), "data").([]any)
	if len(stored) != 1 || !strings.Contains(fmt.Sprint(at(stored[0], "blueprint_map")), "hello {{inputData.name}}!") {
		t.Errorf("stored %v, want length 1 and \"hello {{inputData.name}}!\" in it", stored)
	}

	// A second file with a waiting run, and its newer save, whose run replaces it.
	b := filepath.Join(dir, "b.blueprint.yaml")
	waits := "title: B\nblueprint_map:\n  nodes:\n    - {id: w, type: wait, title: W, config: {durationMs: DURATION}}\n"
	save(t, b, strings.Replace(waits, "DURATION", "3600000", 1))
	d.until(`^b.blueprint.yaml: created`)
	d.until(`^b.blueprint.yaml: running$`)
	save(t, b, strings.Replace(waits, "DURATION", "1", 1))
	d.until(`^b.blueprint.yaml: updated: `)
	d.until(`^b.blueprint.yaml: completed: `)
	if err := os.Rename(b, filepath.Join(dir, "c.blueprint.yaml")); err != nil {
		t.Fatal(err)
	}
	d.until(`^c.blueprint.yaml: updated: renamed from b.blueprint.yaml$`)
	if err := os.Remove(filepath.Join(dir, "c.blueprint.yaml")); err != nil {
		t.Fatal(err)
	}
	d.until(`^c.blueprint.yaml: deleted$`)
	d.stop()
	if log := d.log.String(); !strings.Contains(log, "a.blueprint.yaml:4:") || !strings.Contains(log, `unknown node type "nope"`) {
		t.Errorf("standard error:\n%s", log)
	}
	for _, line := range d.seen {
		if strings.Contains(line, "\x1b") {
			t.Errorf("a pipe was sent %q", line)
		}
	}
}

// TestDevKeeps uses dev with an existing database: its blueprints stay, and are not run.
func TestDevKeeps(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	dir, db := filepath.Join(folder, "flows"), filepath.Join(folder, "my.db")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	a := filepath.Join(dir, "a.blueprint.yaml")
	save(t, a, strings.NewReplacer("TYPE", "template", "TEXT", "hi").Replace(devFlow))
	d := startDev(t, dir, "--db", db, "--no-run", "--name", "mine")
	d.until(`^a.blueprint.yaml: created`)
	d.until(`^watching `)
	save(t, a, strings.NewReplacer("TYPE", "template", "TEXT", "ho").Replace(devFlow))
	d.until(`^a.blueprint.yaml: updated: `)
	if err := os.Remove(a); err != nil {
		t.Fatal(err)
	}
	save(t, filepath.Join(dir, "b.blueprint.yaml"), strings.NewReplacer("title: A", "title: B", "TYPE", "template", "TEXT", "b").Replace(devFlow))
	d.until(`its file is gone; --prune deletes it`)
	d.until(`^b.blueprint.yaml: created`)
	d.stop()
	for _, line := range d.seen {
		if strings.Contains(line, "completed") || strings.Contains(line, "deleted") {
			t.Errorf("it says %q, want no \"completed\" and no \"deleted\"", line)
		}
	}
	wantSync(t, []string{dir, "--db", db, "--name", "mine"}, 0, "its file is gone; --prune deletes it", "1 kept")
}

// A program that starts dev reads the address from its standard output; everything else
// goes to standard error.
func TestDevTellsAProgram(t *testing.T) {
	t.Parallel()
	path := process.Path(t)
	real := filepath.Join(t.TempDir(), "real.db") // dev does not use the database named by the environment
	c := exec.Command(path, "dev", t.TempDir(), "--addr", "127.0.0.1:0", "--api-key", process.Key, "--ready-file", "-")
	var shown process.Output
	c.Stderr, c.Env = &shown, append(os.Environ(), "BLUEPRINTD_DB="+real)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), `{"baseUrl":"http://127.0.0.1:`) {
		t.Errorf("it told %q", lines.Text())
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		t.Errorf("then it told %q", lines.Text())
	}
	if err := c.Wait(); err != nil || strings.Contains(shown.String(), "baseUrl") || !strings.Contains(shown.String(), "database  in memory") {
		t.Errorf("%v %s, want no \"baseUrl\" and \"database  in memory\" in it", err, shown.String())
	}
	if _, err := os.Stat(real); err == nil {
		t.Error("it used the database that the environment names, want an error")
	}
}

// TestDevDoesNotRunSomethingElse: a file that cannot be stored is not run, and does not
// prevent others from being stored.
func TestDevDoesNotRunSomethingElse(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	dir, db := filepath.Join(folder, "flows"), filepath.Join(folder, "my.db")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file := func(name, title, text string) {
		save(t, filepath.Join(dir, name+".blueprint.yaml"), strings.NewReplacer("title: A", "title: "+title, "TYPE", "template", "TEXT", text).Replace(devFlow))
	}
	file("a", "A", "one")
	file("b", "B", "one")
	d := startDev(t, dir, "--db", db, "--prune", "--max-blueprints", "2")
	d.until(`database  .*my.db`)
	d.until(`^watching `)
	p := process.Connect(t, d.host)
	stored := at(p.Query("blueprint.list", object{"source": "sync:flows:a.blueprint.yaml"}), "data").([]any)
	p.Mutate("blueprint.update", object{"id": at(stored[0], "id"), "description": "mine"})
	file("a", "A", "two")
	d.until(`^! a.blueprint.yaml`)
	d.until(`^a.blueprint.yaml: not run, because it is not stored$`)
	file("b", "B", "two")
	d.until(`^b.blueprint.yaml: completed: .*two`)
	file("c", "C", "one")
	d.until(`^c.blueprint.yaml: not stored: `)
	d.until(`^c.blueprint.yaml: not run, because it is not stored$`)
	if err := os.Remove(filepath.Join(dir, "b.blueprint.yaml")); err != nil {
		t.Fatal(err)
	}
	d.until(`^b.blueprint.yaml: deleted$`) // after c was refused again
	file("c", "C", "two")
	d.until(`^c.blueprint.yaml: completed: .*two`)
	d.stop()
	all := strings.Join(d.seen, "\n")
	for _, once := range []string{"! a.blueprint.yaml", "c.blueprint.yaml: not stored"} {
		if strings.Count(all, once) != 1 {
			t.Errorf("it says %q %d times:\n%s", once, strings.Count(all, once), all)
		}
	}
	if strings.Contains(all, "a.blueprint.yaml: completed") {
		t.Errorf("%v, want no \"a.blueprint.yaml: completed\"", all)
	}
}

// With a clock that stands still, waits do not end, and dev prints how to advance it.
func TestDevUnderAVirtualClock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := startDev(t, dir, "--clock", "virtual=2030-01-01T00:00:00Z")
	d.until(`^watching `)
	save(t, filepath.Join(dir, "w.blueprint.yaml"), "title: W\nblueprint_map:\n  nodes:\n    - {id: w, type: wait, title: W, config: {durationMs: 3600000}}\n")
	d.until(`^w.blueprint.yaml: running; POST http://.*/clock/advance moves the clock, which is at 2030-01-01T00:00:00.000Z$`)
	p := process.Connect(t, d.host)
	if status, answer := p.Post("/clock/advance", process.Key, object{"by": "1h"}); status != 200 {
		t.Fatal(status, answer)
	}
	d.until(`^w.blueprint.yaml: completed`)
	d.stop()
}
