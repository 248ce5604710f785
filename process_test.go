package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"blueprintd/engine/script"
)

func TestMain(m *testing.M) {
	script.Child() // for the servers that run in this process
	// Scripts call blueprintd as people do; it is this very program.
	testscript.Main(m, map[string]func(){"blueprintd": main})
}

// binary builds the program once, as a release is built.
var binary = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "blueprintd-test")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "blueprintd")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

const testKey = "test-key-of-the-first-user"

// process is a running blueprintd.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	host  string
	ended chan error
	log   *lockedBuffer
}

var readyLine = regexp.MustCompile(`is ready on (https?://\S+)`)

// startServer runs the real binary with `serve` and waits until it is ready.
func startServer(t *testing.T, args ...string) *process {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, ended: make(chan error, 1), log: &lockedBuffer{}}
	p.cmd = exec.Command(path, append([]string{"serve", "--addr", "127.0.0.1:0", "--api-key", testKey, "--rate-limit", "0"}, args...)...)
	p.cmd.Dir = t.TempDir()
	p.cmd.Stderr = p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for p.host == "" && lines.Scan() {
		if found := readyLine.FindStringSubmatch(lines.Text()); found != nil {
			p.host = found[1]
		}
	}
	go func() {
		io.Copy(io.Discard, out)
		p.ended <- p.cmd.Wait()
	}()
	if p.host == "" {
		t.Fatalf("the server did not become ready: %v\n%s", <-p.ended, p.log)
	}
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		if t.Failed() {
			t.Logf("log of the server:\n%s", p.log)
		}
	})
	return p
}

// kill ends the process as a power cut would, and waits until it is gone.
func (p *process) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	<-p.ended
}

// stop asks the process to end and expects it to do so well.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	select {
	case err := <-p.ended:
		if err != nil {
			p.t.Fatalf("the server ended with %v\n%s", err, p.log)
		}
	case <-time.After(30 * time.Second):
		p.t.Fatal("the server did not end within 30 s of SIGTERM")
	}
}

// object is a JSON object in an answer.
type object = map[string]any

// post sends JSON and decodes the answer.
func (p *process) post(path, key string, body any, headers ...string) (int, any) {
	p.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodPost, p.host+path, bytes.NewReader(data))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return p.do(request, key)
}

func (p *process) do(request *http.Request, key string) (int, any) {
	p.t.Helper()
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	var value any
	data, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	if json.Unmarshal(data, &value) != nil {
		value = string(data)
	}
	return response.StatusCode, value
}

// mutate calls a mutation that must succeed, and query a query.
func (p *process) mutate(name string, input any) any {
	p.t.Helper()
	status, answer := p.post("/api/trpc/"+name, testKey, object{"json": input})
	return p.payload(name, status, answer)
}

func (p *process) query(name string, input any) any {
	p.t.Helper()
	data, err := json.Marshal(object{"json": input})
	if err != nil {
		p.t.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodGet, p.host+"/api/trpc/"+name+"?input="+url.QueryEscape(string(data)), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	status, answer := p.do(request, testKey)
	return p.payload(name, status, answer)
}

func (p *process) payload(name string, status int, answer any) any {
	p.t.Helper()
	if status != http.StatusOK {
		p.t.Fatalf("%s: %d %v", name, status, answer)
	}
	return at(answer, "result.data.json")
}

// at follows a path of keys into a JSON value; what is not there is nil.
func at(value any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		o, _ := value.(object)
		value = o[key]
	}
	return value
}

// until polls the status of a run, as clients do, until it is one of those wanted.
func (p *process) until(id string, wanted ...string) object {
	p.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		record, _ := p.query("execution.getExecutionStatus", object{"executionId": id}).(object)
		for _, status := range wanted {
			if record["status"] == status {
				return record
			}
		}
		if time.Now().After(deadline) {
			text, _ := json.MarshalIndent(record, "", "  ")
			p.t.Fatalf("run %s is not %v:\n%s", id, wanted, text)
		}
		<-poll.C
	}
}

// create stores a blueprint of these nodes, one after the other, and gives its id.
func (p *process) create(title string, nodes ...any) string {
	p.t.Helper()
	return at(p.mutate("blueprint.create", object{"title": title, "blueprint_map": object{"nodes": nodes}}), "id").(string)
}

func node(id, kind string, config object, more ...any) object {
	n := object{"id": id, "type": kind, "title": id, "config": config}
	for i := 0; i+1 < len(more); i += 2 {
		n[more[i].(string)] = more[i+1]
	}
	return n
}

// launch starts a logged run of a stored blueprint.
func (p *process) launch(blueprintID string, nodes ...any) string {
	p.t.Helper()
	return at(p.mutate("execution.executeBlueprintWithLogging", object{"nodes": nodes, "options": object{"blueprintId": blueprintID}}), "executionId").(string)
}
