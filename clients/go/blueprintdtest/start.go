package blueprintdtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	blueprintd "blueprintd/clients/go"
	"blueprintd/clients/go/program"
)

// The maximum real time that a server may take to start and to stop. It allows for machines
// that run many tests at once; normally both take milliseconds.
const (
	startPatience = time.Minute
	stopPatience  = 20 * time.Second
	callPatience  = time.Minute
)

// Server is a running server. Its fields do not change.
type Server struct {
	URL     string // of the procedures: http://127.0.0.1:port/api/trpc
	APIHost string // http://127.0.0.1:port
	APIKey  string // of the server's owner
	PID     int    // of the server's process
	Seed    Seed   // the content created from the seed file

	// Client calls the procedures without failing the test.
	Client *blueprintd.Client

	t       testing.TB
	process *program.Process // nil if it was not started here
	log     *tail
	program string
}

// Start starts a server and waits until it is ready. The server stops when the test ends.
// Its log is shown if the test has failed.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	var s settings
	for _, option := range options {
		option(&s)
	}
	path, err := program.Find(s.binary)
	if err == nil && s.seed != "" {
		err = touch(s.seed)
	}
	if err != nil {
		t.Fatalf("blueprintdtest: %v", err)
	}
	server, err := launch(path, s.arguments())
	if err != nil {
		t.Fatalf("blueprintdtest: %v", err)
	}
	server.t = t
	t.Cleanup(server.end)
	return server
}

// firstLine matches the line in which a server prints its addresses.
var firstLine = regexp.MustCompile(`^(.*)\n`)

// launch starts the program and waits for the line with its addresses.
func launch(path string, args []string) (_ *Server, err error) {
	s := &Server{APIKey: Key, program: path, log: &tail{}}
	s.process, err = program.Start(program.Command{Path: path, Args: args, Env: environment(), Errors: s.log, Ready: firstLine})
	if err != nil {
		return nil, fmt.Errorf("%s cannot be started: %w", path, err)
	}
	line, err := s.process.Address(context.Background(), startPatience)
	var ready struct {
		BaseURL string `json:"baseUrl"`
		APIHost string `json:"apiHost"`
		PID     int    `json:"pid"`
		Seed    Seed   `json:"seed"`
	}
	if err == nil {
		err = json.Unmarshal([]byte(line), &ready)
	}
	if err != nil {
		s.process.Kill()
		return nil, fmt.Errorf("%s did not become ready: %w; is it as new as this package?\n%s%s", path, err, line, s.log)
	}
	s.URL, s.APIHost, s.PID, s.Seed = ready.BaseURL, ready.APIHost, ready.PID, ready.Seed
	s.Client = newClient(s.APIHost, s.APIKey)
	return s, nil
}

// newClient returns a client with connections of its own.
func newClient(address, key string) *blueprintd.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	return &blueprintd.Client{Address: address, Key: key, HTTP: &http.Client{Transport: transport, Timeout: callPatience}}
}

// environment returns the environment of this process without the settings of servers,
// because a service container used by the tests is configured with the same variables.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(setting string) bool { return strings.HasPrefix(setting, "BLUEPRINTD_") })
}

// end stops the server at the end of its test.
func (s *Server) end() {
	err := s.stop()
	switch {
	case err != nil:
		s.t.Errorf("blueprintdtest: the server ended badly: %v\n%s", err, s.log)
	case s.t.Failed():
		s.t.Logf("log of the server:\n%s", s.log)
	}
}

// stop ends the server in the same way as the end of the test's process, and waits for it.
func (s *Server) stop() error {
	s.Client.HTTP.CloseIdleConnections()
	s.process.CloseInput()
	if !s.process.Gone(stopPatience) {
		s.process.Kill()
		return fmt.Errorf("it did not stop within %s: %v", stopPatience, s.process.Err)
	}
	return s.process.Err
}

// Logs returns the last 256 KiB of the server's log.
func (s *Server) Logs() string { return s.log.String() }

// Seed is the content created from a seed file (WithSeedFile), in the order of the file.
type Seed struct {
	Users []struct {
		Email string `json:"email"`
		ID    string `json:"id"`
	} `json:"users"`
	Organizations []struct {
		Name string `json:"name"`
		ID   string `json:"id"`
	} `json:"organizations"`
	Connections []struct {
		Name string `json:"name"`
		ID   string `json:"id"`
	} `json:"connections"`
	Blueprints []struct {
		Title    string `json:"title"`
		ID       string `json:"id"`
		Triggers []struct {
			ID   string `json:"id"`
			Type string `json:"triggerType"`
			URL  string `json:"url"` // of a webhook, else ""
		} `json:"triggers"`
	} `json:"blueprints"`
}

// Connect uses a running server, such as a service container. The server is not stopped at
// the end of the test, and has no Logs, PID and Seed. CreateFile also needs the program on
// this machine.
func Connect(t testing.TB, url, apiKey string) *Server {
	t.Helper()
	host := strings.TrimSuffix(strings.TrimRight(url, "/"), "/api/trpc")
	s := &Server{URL: host + "/api/trpc", APIHost: host, APIKey: apiKey, Client: newClient(host, apiKey), t: t, log: &tail{}}
	t.Cleanup(s.Client.HTTP.CloseIdleConnections)
	return s
}

// mostLog is the number of bytes of a log that are kept. Twice as much may be in memory.
const mostLog = 256 << 10

// tail keeps the end of the data written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write appends p and drops the oldest data.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - 2*mostLog; extra > 0 {
		t.text = append(t.text[:0], t.text[len(t.text)-mostLog:]...)
	}
	return len(p), nil
}

// String returns the kept data.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text[max(0, len(t.text)-mostLog):])
}
