package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blueprintd/clients/go/program"
	"blueprintd/tests/process"
)

// projectTest is a test of a user's project. It approves a run, moves the clock, reads the
// runs and the calls, and looks at an error.
const projectTest = `package app

import (
	"errors"
	"testing"
	"time"

	"example.org/app/internal/flows"
	"example.org/app/internal/flows/blueprintdtest"
)

func TestOrder(t *testing.T) {
	server := blueprintdtest.Start(t)
	id := server.CreateFile("order.blueprint.yaml")
	run := server.ExecuteWith(id, blueprintdtest.Input{InputData: map[string]any{"product": "gold"}})
	if run.Status != "paused" || run.AwaitingInput.Prompt != "Buy gold?" {
		t.Fatalf("the run is %+v", run)
	}
	if e := server.Resume(run.ID, map[string]any{"approved": true}); e.Status != "completed" || string(e.Step("done").Output) != ` + "`{\"text\":\"bought gold\"}`" + ` {
		t.Errorf("the run is %+v", e)
	}
	if fired := server.Advance(48 * time.Hour); fired != 2 {
		t.Errorf("%d runs in two days", fired)
	}
	if runs := server.Runs(id); len(runs) != 3 || runs[0].TriggerType != "scheduled" {
		t.Errorf("the runs are %+v", runs)
	}
	client := &flows.Client{Address: server.APIHost, Key: server.APIKey}
	var refused *flows.Error
	if _, err := client.Execute(t.Context(), "none", nil); !errors.As(err, &refused) || refused.Code != "BAD_REQUEST" || len(refused.Issues) != 1 {
		t.Errorf("%v", err)
	}
}
`

const projectBlueprint = `title: Order
blueprint_map:
  nodes:
    - {id: approve, type: approval-gate, title: Approve, config: {prompt: 'Buy {{inputData.product ?? "nothing"}}?'}}
    - {id: done, type: template, title: Done, config: {text: 'bought {{inputData.product ?? "nothing"}}'}}
triggers:
  - {triggerType: scheduled, config: {cron: 0 7 * * *}}
`

// TestGoSDK makes a Go project from nothing but the executable and runs its tests without a
// network, in a module that declares an older version of the language.
func TestGoSDK(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":               "module example.org/app\n\ngo 1.18\n",
		"app_test.go":          projectTest,
		"order.blueprint.yaml": projectBlueprint,
	} {
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	written := process.Run(t, "sdk", "go", filepath.Join(project, "internal", "flows"))
	if written.Code != 0 || !strings.Contains(written.Out, `import "example.org/app/internal/flows/blueprintdtest"`) {
		t.Fatalf("exit code %d: %s", written.Code, written.Said())
	}
	for _, step := range [][]string{{"go", "test", "-count=1", "./..."}, {"go", "vet", "./..."}, {"gofmt", "-l", "internal"}} {
		command := exec.CommandContext(t.Context(), step[0], step[1:]...)
		command.Dir = project
		command.Env = append(os.Environ(), program.Variable+"="+process.Path(t), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off")
		out, err := command.CombinedOutput()
		if err != nil || step[0] == "gofmt" && len(out) > 0 {
			t.Errorf("%s: %v\n%s", strings.Join(step, " "), err, out)
		}
	}
	sum, err := os.ReadFile(filepath.Join(project, "go.mod"))
	if err != nil || strings.Contains(string(sum), "require") {
		t.Errorf("%v, go.mod is %q, want one that requires nothing", err, sum)
	}
}

// cachedTest is a test of a user's project that reads a seed file and two blueprint files.
const cachedTest = `package app

import (
	"testing"

	"example.org/app/internal/flows/blueprintdtest"
)

func TestFiles(t *testing.T) {
	server := blueprintdtest.Start(t, blueprintdtest.WithSeedFile("shop.seed.yaml"))
	if run := server.Execute(server.CreateFile("parent.blueprint.yaml"), nil); run.Status != "completed" {
		t.Errorf("the run is %+v", run)
	}
}
`

// TestGoSDKCache checks that "go test" runs the tests of a project again when only a file
// changed that the server reads, not the process of the test.
func TestGoSDKCache(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	edits := 0
	// write backdates the files: "go test" does not cache the result of a test that opened a
	// file modified within the last two seconds.
	write := func(name, text string) {
		t.Helper()
		edits++
		path := filepath.Join(project, name)
		at := time.Now().Add(time.Duration(edits-1000) * time.Minute)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	child := "title: Child\nblueprint_map:\n  nodes:\n    - {id: greet, type: template, title: Greet, config: {text: Hello}}\n"
	parent := "title: Parent\nblueprint_map:\n  nodes:\n    - {id: call, type: blueprint, title: Call, config: {blueprintId: {$blueprint: child.blueprint.yaml}}}\n"
	seed := "users:\n  - {email: ada@example.org}\n"
	write("go.mod", "module example.org/app\n\ngo 1.24\n")
	write("app_test.go", cachedTest)
	write("child.blueprint.yaml", child)
	write("parent.blueprint.yaml", parent)
	write("shop.seed.yaml", seed)
	if written := process.Run(t, "sdk", "go", filepath.Join(project, "internal", "flows")); written.Code != 0 {
		t.Fatalf("exit code %d: %s", written.Code, written.Said())
	}
	test := func() string {
		t.Helper()
		command := exec.CommandContext(t.Context(), "go", "test", "-vet=off", ".")
		command.Dir = project
		command.Env = append(os.Environ(), program.Variable+"="+process.Path(t), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off")
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("go test: %v\n%s", err, out)
		}
		return string(out)
	}
	test()
	if out := test(); !strings.Contains(out, "(cached)") {
		t.Fatalf("nothing changed: %s, want \"(cached)\" in it", out)
	}
	for _, step := range []struct{ name, text string }{
		{"parent.blueprint.yaml", strings.Replace(parent, "Parent", "Other", 1)},
		{"child.blueprint.yaml", strings.Replace(child, "Hello", "Hi", 1)},
		{"shop.seed.yaml", strings.Replace(seed, "ada", "grace", 1)},
	} {
		write(step.name, step.text)
		if out := test(); strings.Contains(out, "(cached)") {
			t.Errorf("%s changed: %s, want no \"(cached)\" in it", step.name, out)
		}
	}
}
