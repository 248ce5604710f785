package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var loopback = outbound.New(outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})

// connectionTo is a connection to a server in this process, with a token.
func connectionTo(url string, more ...string) *blueprint.OpenConnection {
	config := map[string]any{"url": url, "auth": map[string]any{"type": "bearer", "token": "s3cret-token"}}
	for i := 0; i+1 < len(more); i += 2 {
		value, _ := blueprint.Decode([]byte(more[i+1]))
		config[more[i]] = value
	}
	return &blueprint.OpenConnection{
		ID: "c", Name: "tools", Type: blueprint.ConnectionMCPServer, Config: config,
		Authorize: func(_ context.Context, r *http.Request) error {
			if !strings.HasPrefix(r.URL.String(), url) {
				return &blueprint.Failure{Code: "host_not_allowed", Message: "not this one", Permanent: true, NotSent: true}
			}
			r.Header.Set("Authorization", "Bearer s3cret-token")
			return nil
		},
	}
}

// seen remembers the requests that a server got.
type seen struct {
	mu   sync.Mutex
	list []string
}

func (s *seen) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.list = append(s.list, fmt.Sprint(r.Method, " ", r.Header.Get("Authorization"), " ", r.Header.Get("Mcp-Protocol-Version")))
		s.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

// tooled is a real server with a few tools.
func tooled() *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "Workshop", Version: "1"}, &sdk.ServerOptions{PageSize: 2})
	object := json.RawMessage(`{"type":"object","properties":{"n":{"type":"number","maximum":12345678901234567890}}}`)
	add := func(name string, handler sdk.ToolHandler) {
		server.AddTool(&sdk.Tool{Name: name, Description: "does " + name, InputSchema: object}, handler)
	}
	add("echo", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(r.Params.Arguments)}}}, nil
	})
	add("structured", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{StructuredContent: json.RawMessage(`{"n":12345678901234567890.10}`)}, nil
	})
	add("broken", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "no\nway"}}}, nil
	})
	add("refused", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, errors.New("never mind")
	})
	return server
}

func TestRealServers(t *testing.T) {
	for _, stateless := range []bool{true, false} {
		for _, asJSON := range []bool{true, false} {
			t.Run(fmt.Sprintf("stateless %v, JSON %v", stateless, asJSON), func(t *testing.T) {
				tools := tooled()
				handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return tools }, &sdk.StreamableHTTPOptions{Stateless: stateless, JSONResponse: asJSON})
				var requests seen
				server := httptest.NewServer(requests.handler(handler))
				defer server.Close()
				session, err := New(loopback, "1.2.3").Open(t.Context(), connectionTo(server.URL))
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				if session.Server() != "Workshop" {
					t.Errorf("server %q, want Workshop", session.Server())
				}
				for range 2 {
					list, err := session.Tools(t.Context())
					var names []string
					for _, tool := range list {
						names = append(names, tool.Name)
					}
					if err != nil || !slices.Equal(names, []string{"broken", "echo", "refused", "structured"}) || list[1].Description != "does echo" {
						t.Errorf("tools %v, %v; want %v and Description does echo", list, err, []string{"broken", "echo", "refused", "structured"})
					}
					if got, _ := blueprint.Encode(list[0].InputSchema); !strings.Contains(string(got), ":12345678901234567890") {
						t.Errorf("schema %s, want \":12345678901234567890\" in it", got)
					}
				}
				for _, call := range []struct{ tool, arguments, want string }{
					{"echo", `{"n":1.50,"s":"<é>"}`, `{"Structured":null,"Content":[{"text":"{\"n\":1.50,\"s\":\"<é>\"}","type":"text"}],"IsError":false}`},
					{"structured", `{}`, `{"Structured":{"n":12345678901234567890.10},"Content":[],"IsError":false}`},
					{"broken", `{}`, `{"Structured":null,"Content":[{"text":"no\nway","type":"text"}],"IsError":true}`},
				} {
					t.Run(call.tool, func(t *testing.T) {
						arguments, _ := blueprint.Decode([]byte(call.arguments))
						result, err := session.Call(t.Context(), call.tool, arguments.(map[string]any))
						if got, _ := blueprint.Encode(result); err != nil || string(got) != call.want {
							t.Errorf("%s, %v; want %v", got, err, call.want)
						}
					})
				}
				_, err = session.Call(t.Context(), "refused", nil)
				wantFailure(t, err, "mcp_error", false, "never mind")
				session.Close()
				for _, request := range requests.list {
					if !strings.Contains(request, " Bearer s3cret-token ") {
						t.Errorf("request %q, want \" Bearer s3cret-token \" in it", request)
					}
				}
			})
		}
	}
}

func wantFailure(t *testing.T, err error, code string, notSent bool, text string) {
	t.Helper()
	var f *blueprint.Failure
	if !errors.As(err, &f) || f.Code != code || f.NotSent != notSent || !strings.Contains(f.Message, text) {
		t.Errorf("got %#v, want %s, not sent: %v, with %q", err, code, notSent, text)
	}
	if err != nil && strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a secret is revealed: %v", err)
	}
}

// A token that a server no longer takes is replaced once, and the request sent
// again; nothing is done twice.
func TestRenewed(t *testing.T) {
	for _, useful := range []bool{true, false} {
		token, called, renewed := "old", 0, 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "new" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			stub(func(w http.ResponseWriter, _ *http.Request, _, id string) {
				called++
				result(w, id, fine)
			}).ServeHTTP(w, r)
		}))
		connection := connectionTo(server.URL)
		connection.Authorize = func(_ context.Context, r *http.Request) error { r.Header.Set("Authorization", token); return nil }
		connection.Renew = func(context.Context) error {
			renewed++
			if useful {
				token = "new"
			}
			return nil
		}
		session, err := New(loopback, "1").Open(t.Context(), connection)
		if !useful {
			wantFailure(t, err, "http_status", true, "401")
		} else if err != nil {
			t.Error(err)
		} else {
			if _, err := session.Call(t.Context(), "x", nil); err != nil || called != 1 || renewed != 1 {
				t.Errorf("%v, called %d times, renewed %d times; want 1 and 1", err, called, renewed)
			}
			session.Close()
		}
		server.Close()
	}
}
