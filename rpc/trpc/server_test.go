package trpc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
)

const someID = "6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412"

// testServer serves the test procedures on loopback.
type testServer struct {
	*httptest.Server
	handler *Handler
	logs    *logBuffer
	gates   map[string]chan struct{} // test.gate waits for the one it names
	entered chan string              // test.gate and test.hang send their names when they run
	left    chan error               // test.hang sends the cause of the end of its context
}

func newTestServer(t *testing.T, change func(*Options)) *testServer {
	t.Helper()
	s := &testServer{
		logs:    &logBuffer{},
		gates:   map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{}), "c": make(chan struct{})},
		entered: make(chan string, 16),
		left:    make(chan error, 16),
	}
	options := Options{Authenticator: testKeys{}, Logger: slog.New(slog.NewTextHandler(s.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	if change != nil {
		change(&options)
	}
	s.handler = NewHandler(s.procedures(), options)
	s.Server = httptest.NewServer(s.handler)
	t.Cleanup(s.Close)
	return s
}

// testKeys accepts two keys; a third makes it fail.
type testKeys struct{}

func (testKeys) Authenticate(_ context.Context, token string) (blueprint.Admission, error) {
	switch token {
	case "good":
		return blueprint.Admission{Principal: blueprint.Principal{UserID: "user-1", KeyID: "key-1"}, Scopes: blueprint.AllScopes()}, nil
	case "other":
		return blueprint.Admission{Principal: blueprint.Principal{UserID: "user-2", KeyID: "key-2"}, Scopes: blueprint.AllScopes()}, nil
	case "broken":
		return blueprint.Admission{}, errors.New("disk I/O error on /var/keys")
	}
	return blueprint.Admission{}, blueprint.Errorf(blueprint.CodeUnauthorized, "API key unknown or revoked")
}

// logBuffer keeps log lines for tests to look at.
type logBuffer struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (b *logBuffer) Write(data []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.Write(data)
}

func (b *logBuffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.String()
}

type testListInput struct {
	Page   int     `json:"page" check:"min=1,default=1"`
	Limit  int     `json:"limit" check:"min=1,max=100,default=20"`
	Status *string `json:"status" check:"enum=draft|published"`
}

type testListOutput struct {
	Page  int `json:"page"`
	Limit int `json:"limit"`
}

type testCreateInput struct {
	Title       string         `json:"title" check:"required,min=1"`
	Description *string        `json:"description"`
	Tags        []string       `json:"tags"`
	Owner       *string        `json:"owner" check:"uuid"`
	Map         map[string]any `json:"map"`
}

type testCreateOutput struct {
	Title       string         `json:"title"`
	Description *string        `json:"description"`
	Tags        []string       `json:"tags"`
	Map         map[string]any `json:"map,omitempty"`
}

type testFailInput struct {
	Code    blueprint.Code `json:"code" check:"required"`
	Message string         `json:"message"`
	RetryMS int            `json:"retryMs"`
}

type testGateInput struct {
	Name string `json:"name" check:"required"`
}

type testWatchInput struct {
	Fail        string  `json:"fail"`
	LastEventID *string `json:"lastEventId"`
}

func (s *testServer) procedures() []Procedure {
	return []Procedure{
		Query("test.list", blueprint.ScopeRead, func(_ context.Context, _ *Caller, in testListInput) (testListOutput, error) {
			return testListOutput{in.Page, in.Limit}, nil
		}),
		Query("test.get", blueprint.ScopeRead, func(_ context.Context, _ *Caller, in struct {
			ID string `json:"id" check:"required,uuid"`
		}) (map[string]string, error) {
			return map[string]string{"id": in.ID}, nil
		}),
		Mutation("test.create", blueprint.ScopeRead, func(_ context.Context, _ *Caller, in testCreateInput) (testCreateOutput, error) {
			return testCreateOutput{in.Title, in.Description, in.Tags, in.Map}, nil
		}),
		Query("test.echo", blueprint.ScopeRead, func(_ context.Context, _ *Caller, in any) (any, error) { return in, nil }),
		Mutation("test.store", blueprint.ScopeRead, func(_ context.Context, _ *Caller, in any) (any, error) { return in, nil }),
		Query("test.nothing", blueprint.ScopeRead, func(context.Context, *Caller, struct{}) (struct{}, error) { return struct{}{}, nil }),
		Query("test.fail", blueprint.ScopeRead, func(_ context.Context, _ *Caller, in testFailInput) (any, error) {
			return nil, fmt.Errorf("wrapped: %w", &blueprint.Error{
				Code: in.Code, Message: in.Message, RetryAfter: time.Duration(in.RetryMS) * time.Millisecond,
				Err: errors.New("cause with a secret"),
			})
		}),
		Query("test.break", blueprint.ScopeRead, func(context.Context, *Caller, struct{}) (any, error) {
			return nil, errors.New("table blueprints is locked")
		}),
		Query("test.panic", blueprint.ScopeRead, func(context.Context, *Caller, struct{}) (any, error) { panic("nil map of secrets") }),
		Query("test.abort", blueprint.ScopeRead, func(context.Context, *Caller, struct{}) (any, error) { panic(http.ErrAbortHandler) }),
		Query("test.unencodable", blueprint.ScopeRead, func(context.Context, *Caller, struct{}) (any, error) { return func() {}, nil }),
		Query("test.cross", blueprint.ScopeRead, func(context.Context, *Caller, struct{}) (any, error) {
			return nil, &blueprint.Error{Code: blueprint.CodeBadRequest, Issues: []blueprint.Issue{
				IssueAt("ends before it starts", "range", 1, "end"), IssueAt("too small"),
			}}
		}),
		Query("test.whoami", blueprint.ScopeRead, func(_ context.Context, caller *Caller, _ struct{}) (map[string]string, error) {
			return map[string]string{"user": caller.UserID, "key": caller.KeyID, "via": caller.Via}, nil
		}),
		Query("test.gate", blueprint.ScopeRead, func(ctx context.Context, _ *Caller, in testGateInput) (string, error) {
			s.entered <- in.Name
			select {
			case <-s.gates[in.Name]:
				return in.Name, nil
			case <-ctx.Done():
				s.left <- ctx.Err()
				return "", ctx.Err()
			}
		}),
		Public(Query("test.open", blueprint.ScopeRead, func(_ context.Context, caller *Caller, _ struct{}) (string, error) { return "hi" + caller.UserID, nil })),
		Public(Mutation("test.login", blueprint.ScopeRead, func(_ context.Context, caller *Caller, _ struct{}) (bool, error) {
			caller.Header.Add("Set-Cookie", "session=1")
			return true, nil
		})),
		Subscription("test.watch", blueprint.ScopeRead, func(_ context.Context, _ *Caller, in testWatchInput, emit func(any) error) error {
			if err := emit(map[string]any{"n": 1, "since": in.LastEventID}); err != nil {
				return err
			}
			switch in.Fail {
			case "refuse":
				return blueprint.Errorf(blueprint.CodeForbidden, "not yours any more")
			case "break":
				return errors.New("cursor lost")
			case "panic":
				panic("watcher")
			case "unencodable":
				return emit(func() {})
			}
			return emit("<last>")
		}),
		Subscription("test.twice", blueprint.ScopeRead, func(_ context.Context, _ *Caller, _ struct{}, emit func(any) error) error {
			s.entered <- "twice"
			<-s.gates["a"]
			err := emit("second")
			s.left <- err
			return err
		}),
		Subscription("test.hang", blueprint.ScopeRead, func(ctx context.Context, _ *Caller, _ struct{}, _ func(any) error) error {
			s.entered <- "hang"
			<-ctx.Done()
			s.left <- context.Cause(ctx)
			return ctx.Err()
		}),
	}
}

// wireAnswer is an HTTP response with its body.
type wireAnswer struct {
	status int
	header http.Header
	body   string
}

// raw sends the exact bytes of one request and reads the response. Lines end
// in \n here; a Host header and, with a body, its length are added.
func (s *testServer) raw(t *testing.T, head, body string) wireAnswer {
	t.Helper()
	connection, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	lines := strings.Split(strings.TrimSpace(head), "\n")
	lines[0] += " HTTP/1.1"
	lines = append(lines, "Host: test", "Connection: close")
	if body != "" {
		lines = append(lines, fmt.Sprintf("Content-Length: %d", len(body)))
	}
	if _, err := io.WriteString(connection, strings.Join(lines, "\r\n")+"\r\n\r\n"+body); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(lines[0], " ")
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return wireAnswer{response.StatusCode, response.Header, string(text)}
}

// wireError returns the expected encoding of an error. An empty path means none, "-" the
// empty path.
func wireError(message string, code blueprint.Code, path string) string {
	return `{"error":{"json":` + bareError(message, code, path) + `}}`
}

func bareError(message string, code blueprint.Code, path string) string {
	encoded, _ := blueprint.Encode(message)
	data := fmt.Sprintf(`"code":%q,"httpStatus":%d`, code, code.HTTPStatus())
	if path != "" {
		data += fmt.Sprintf(`,"path":%q`, strings.TrimPrefix(path, "-"))
	}
	return fmt.Sprintf(`{"message":%s,"code":%d,"data":{%s}}`, encoded, code.Number(), data)
}

func wireData(payload string) string { return `{"result":{"data":{"json":` + payload + `}}}` }
