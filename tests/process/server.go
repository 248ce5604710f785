// Package process holds what the tests of the real program share: they run it as a process,
// call its procedures, and read its cost from /proc. Serve, Run and the like are for tests,
// mainly package e2e; Program, Client and Memory are for the tools crash, faults, overload
// and bench, which handle failures themselves.
package process

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	blueprintd "blueprintd/clients/go"
	"blueprintd/clients/go/program"
)

// Key is the API key of the owner of every server that Serve starts.
const Key = "test-key-of-the-first-user"

const (
	startTimeout = time.Minute
	stopTimeout  = 30 * time.Second
	runTimeout   = 30 * time.Second
)

// Path returns the path of the program, which is built from the present sources
// at the first call.
func Path(t testing.TB) string {
	t.Helper()
	path, err := program.Built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Result is the outcome of a command.
type Result struct {
	Code     int // exit code
	Out, Err string
}

// Said returns the whole output of the command, standard output first.
func (r Result) Said() string { return r.Out + r.Err }

// Run runs a command of the program to its end, without any input.
func Run(t testing.TB, args ...string) Result {
	t.Helper()
	return RunProgram(t, Path(t), args...)
}

// RunProgram is Run with another build of the program.
func RunProgram(t testing.TB, path string, args ...string) Result {
	t.Helper()
	var out, err bytes.Buffer
	command := exec.CommandContext(t.Context(), path, args...)
	command.Stdout, command.Stderr = &out, &err
	var ended *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &ended) {
		t.Fatalf("blueprintd %q: %v", args, err)
	}
	return Result{command.ProcessState.ExitCode(), out.String(), err.String()}
}

// Command runs a command that must succeed and returns what it printed to its
// standard output.
func Command(t testing.TB, args ...string) string {
	t.Helper()
	r := Run(t, args...)
	if r.Code != 0 {
		t.Fatalf("blueprintd %q: exit code %d\n%s", args, r.Code, r.Said())
	}
	return r.Out
}

// Server is a running server of a test. Its methods end the test if something
// goes wrong.
type Server struct {
	*program.Process // nil of Connect
	T                testing.TB
	Host             string  // http://host:port
	Log              *Output // the standard error
}

// Serve runs `blueprintd serve` on a free port with a known key and without a
// rate limit, and waits until it is ready. It is killed at the end of the test at
// the latest.
func Serve(t testing.TB, args ...string) *Server {
	t.Helper()
	return ServeWith(t, nil, args...)
}

// ServeWith is Serve with settings, NAME=VALUE, besides the environment of the test.
func ServeWith(t testing.TB, settings []string, args ...string) *Server {
	t.Helper()
	return ServeProgram(t, Path(t), settings, args...)
}

// ServeProgram is ServeWith with another build of the program.
func ServeProgram(t testing.TB, path string, settings []string, args ...string) *Server {
	t.Helper()
	s := &Server{T: t, Log: &Output{}}
	var err error
	s.Process, err = program.Start(program.Command{
		Path: path, Folder: t.TempDir(), Env: append(os.Environ(), settings...), Errors: s.Log, Ready: program.ServerReady,
		Args: append([]string{"serve", "--addr", "127.0.0.1:0", "--api-key", Key, "--rate-limit", "0", "--until-eof"}, args...),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("log of the server:\n%s", s.Log)
		}
	})
	if s.Host, err = s.Address(t.Context(), startTimeout); err != nil {
		t.Fatalf("the server: %v", err)
	}
	return s
}

// Connect returns a server that was started elsewhere, with Key as its key.
func Connect(t testing.TB, host string) *Server { return &Server{T: t, Host: host, Log: &Output{}} }

// Stop asks the server to end and expects it to do so without an error.
func (s *Server) Stop() {
	s.T.Helper()
	if err := s.Process.Stop(stopTimeout); err != nil {
		s.T.Fatalf("the server ended with %v\n%s", err, s.Log)
	}
}

// Post sends JSON and returns the status and the decoded response. Headers are alternating
// names and values; a key of "" sends none.
func (s *Server) Post(path, key string, body any, headers ...string) (status int, answer any) {
	s.T.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		s.T.Fatal(err)
	}
	request, err := http.NewRequestWithContext(s.T.Context(), http.MethodPost, s.Host+path, bytes.NewReader(data))
	if err != nil {
		s.T.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return s.Do(request, key)
}

// Do makes a request and returns the status and the response: decoded if it is JSON, else
// as text.
func (s *Server) Do(request *http.Request, key string) (status int, answer any) {
	s.T.Helper()
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.T.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	if json.Unmarshal(data, &answer) != nil {
		answer = string(data)
	}
	return response.StatusCode, answer
}

func (s *Server) client() *blueprintd.Client { return &blueprintd.Client{Address: s.Host, Key: Key} }

// Mutate calls a mutation and returns its result.
func (s *Server) Mutate(procedure string, input any) (answer any) {
	s.T.Helper()
	if err := s.client().Mutate(s.T.Context(), procedure, input, &answer); err != nil {
		s.T.Fatal(err)
	}
	return answer
}

// Query calls a query and returns its result.
func (s *Server) Query(procedure string, input any) (answer any) {
	s.T.Helper()
	if err := s.client().Query(s.T.Context(), procedure, input, &answer); err != nil {
		s.T.Fatal(err)
	}
	return answer
}

// Until waits until a run has one of these states and returns its record.
func (s *Server) Until(executionID string, wanted ...string) (record Object) {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(s.T.Context(), runTimeout)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		record, _ = s.Query("execution.getExecutionStatus", Object{"executionId": executionID}).(Object)
		for _, status := range wanted {
			if record["status"] == status {
				return record
			}
		}
		if !Pause(ctx, pause) {
			text, _ := json.MarshalIndent(record, "", "  ")
			s.T.Fatalf("run %s is not %v:\n%s", executionID, wanted, text)
		}
	}
}

// Create stores a blueprint of these nodes, one after the other, and returns its id.
func (s *Server) Create(title string, nodes ...any) string {
	s.T.Helper()
	return At(s.Mutate("blueprint.create", Object{"title": title, "blueprint_map": Object{"nodes": nodes}}), "id").(string)
}

// Launch starts a logged run of a stored blueprint and returns its id.
func (s *Server) Launch(blueprintID string, nodes ...any) string {
	s.T.Helper()
	return At(s.Mutate("execution.executeBlueprintWithLogging", Object{"nodes": nodes, "options": Object{"blueprintId": blueprintID}}), "executionId").(string)
}

// Object is a JSON object.
type Object = map[string]any

// Node returns a node of a blueprint whose title is its id. More fields are alternating
// names and values.
func Node(id, kind string, config Object, more ...any) Object {
	n := Object{"id": id, "type": kind, "title": id, "config": config}
	for i := 0; i+1 < len(more); i += 2 {
		n[more[i].(string)] = more[i+1]
	}
	return n
}

// Output collects the writes of several goroutines.
type Output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends p.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String returns what was written so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// File returns the path of a file of the repository, for any working directory below it.
func File(t testing.TB, path string) string {
	t.Helper()
	folder, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(folder, "go.mod")); missing == nil {
			return filepath.Join(folder, filepath.FromSlash(path))
		}
		if folder == filepath.Dir(folder) {
			err = errors.New("no folder above the working directory has a go.mod")
		}
		folder = filepath.Dir(folder)
	}
	t.Fatal(err)
	return ""
}

// AwaitFile reads a file that is about to be written.
func AwaitFile(t testing.TB, path string) []byte {
	t.Helper()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for range 1000 {
		if data, err := os.ReadFile(path); err == nil {
			return data
		}
		<-poll.C
	}
	t.Fatalf("there is no %s", path)
	return nil
}

// ContainsAll reports whether all parts are in text.
func ContainsAll(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// HexHMAC returns the signature of a webhook in hexadecimal digits.
func HexHMAC(secret, body string) string {
	made := hmac.New(sha256.New, []byte(secret))
	made.Write([]byte(body))
	return hex.EncodeToString(made.Sum(nil))
}

// Pause waits, and reports whether ctx did not end before. The programs that test the
// executable from outside share no package with it, so it is not clock.Sleep.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Program returns the absolute path of the program under test: the given one, or one that
// it builds.
func Program(ctx context.Context, given, folder string, flags ...string) (string, error) {
	if given != "" {
		return filepath.Abs(given)
	}
	return Build(ctx, folder, "blueprintd", flags...)
}

// Build compiles a program of the module in the working directory into a folder
// and returns its path. flags are those of go build.
func Build(ctx context.Context, folder, program string, flags ...string) (string, error) {
	path := filepath.Join(folder, filepath.Base(program))
	return path, BuildIn(ctx, "", path, append(flags, program)...)
}

// BuildIn compiles a program of the module in a folder, "" for the working
// directory, into a file. args are flags of go build and the program.
func BuildIn(ctx context.Context, folder, path string, args ...string) error {
	command := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-o", path}, args)...)
	command.Dir, command.Env = folder, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// Memory returns the resident memory of a process in bytes, and its peak since the start or
// since ForgetPeak.
func Memory(pid int) (resident, peak int64, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(data)) {
		name, rest, _ := strings.Cut(line, ":")
		into := map[string]*int64{"VmRSS": &resident, "VmHWM": &peak}[name]
		if into == nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		if err != nil {
			return 0, 0, err
		}
		*into = n << 10
	}
	if resident == 0 {
		return 0, 0, fmt.Errorf("/proc/%d/status has no size", pid)
	}
	return resident, peak, nil
}

// ForgetPeak resets the peak memory of a process. If the kernel refuses, peaks are those
// since the start.
func ForgetPeak(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}
