package api

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/servertest"
)

// open are all routes that need no key, with their status without one for a request of
// their method; closed are the plain routes that need one. The procedures are in the
// matrix.
var (
	open = map[string]int{
		"GET /{$}":                        http.StatusOK,
		"GET /sandbox/authorize":          http.StatusNotFound,   // on a server without a sandbox
		"GET /oauth/start":                http.StatusBadRequest, // without a ticket
		"GET /oauth/callback":             http.StatusBadRequest, // without a state
		"/answer/{token...}":              http.StatusNotFound,   // of a link that was not made
		"GET /healthz":                    http.StatusOK,
		"GET /readyz":                     http.StatusOK,
		"GET /metrics":                    http.StatusOK, // for callers on this machine
		"GET /openapi.json":               http.StatusOK,
		"/docs":                           http.StatusOK,
		"/docs/":                          http.StatusOK,
		"GET /schemas/{file}":             http.StatusNotFound, // of a file that does not exist
		"/webhooks/blueprint/{triggerId}": http.StatusNotFound, // of a trigger that does not exist
		"/webhooks/slack/{triggerId}":     http.StatusNotFound,
		"/webhooks/":                      http.StatusNotFound,
		"/":                               http.StatusNotFound,
	}
	closed = []string{"/mcp", "/v1/triggers/{triggerId}/fire", "/clock", "/clock/advance", "/files/{id}", "/sandbox", "/sandbox/calls", "/sandbox/rules", "/sandbox/expectations", "/sandbox/verify", "/sandbox/send"}
)

// routeScopes are the scopes that keys need for plain routes of the matrix.
var routeScopes = map[string]blueprint.KeyScope{
	"POST /v1/triggers/{triggerId}/fire": blueprint.ScopeRun,
	"POST /clock/advance":                blueprint.ScopeAdmin,
}

// TestOpenRoutes calls every mounted route without a key.
func TestOpenRoutes(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	unknown := s.IDs.UUID()
	nobody := servertest.Caller{Server: s}
	mounted := mountedRoutes(t)
	if want := slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(open)), closed))); !slices.Equal(mounted, want) {
		t.Errorf("mounted are %q, the tables have %q", mounted, want)
	}
	for _, pattern := range mounted {
		_, path, found := strings.Cut(pattern, " ")
		if !found {
			path = pattern
		}
		path = strings.NewReplacer("{triggerId}", unknown, "{$}", "").Replace(path)
		if path == "/" && pattern == "/" {
			path = "/nothing/is/here"
		}
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
			answer := nobody.Send(t, method, path, "")
			want, isOpen := open[pattern]
			wrong := false
			switch {
			case !isOpen:
				wrong = answer.Status != http.StatusUnauthorized
			case strings.HasPrefix(pattern, "GET ") && method != http.MethodGet:
				wrong = answer.Status != http.StatusNotFound && answer.Status != http.StatusMethodNotAllowed
			case strings.HasPrefix(pattern, "/docs") && method != http.MethodGet:
				wrong = answer.Status != http.StatusMethodNotAllowed
			case strings.HasPrefix(pattern, "/webhooks/") && method != http.MethodPost:
				wrong = answer.Status != http.StatusMethodNotAllowed
			default:
				wrong = answer.Status != want
			}
			if wrong {
				t.Errorf("%s %s: %d %s", method, path, answer.Status, answer.Text)
			}
			if strings.Contains(answer.Text, testKey) {
				t.Errorf("%s %s reveals the key, want no %q", method, path, testKey)
			}
		}
	}
	for _, procedure := range s.RPC.Procedures() {
		if procedure.Public {
			t.Errorf("%s is open to everybody", procedure.Name)
		}
	}
}

// mountedRoutes parses the patterns of the mux from the source, sorted.
func mountedRoutes(t *testing.T) (patterns []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), "../../server/routes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if method, ok := call.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(method.Sel.Name, "Handle") && len(call.Args) == 2 {
			literal, ok := call.Args[0].(*ast.BasicLit)
			if !ok {
				patterns = append(patterns, triggerRoutes(t, call.Args[0])...)
				return true
			}
			pattern, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			patterns = append(patterns, pattern)
		}
		return true
	})
	slices.Sort(patterns)
	return patterns
}

// triggerRoutes returns the paths of all trigger kinds for the pattern kind.Path.
func triggerRoutes(t *testing.T, pattern ast.Expr) (paths []string) {
	t.Helper()
	if path, ok := pattern.(*ast.SelectorExpr); !ok || path.Sel.Name != "Path" {
		t.Fatal("a route is mounted under neither a literal nor the path of a trigger kind")
	}
	for _, kind := range blueprint.TriggerKinds() {
		if kind.Path != "" {
			paths = append(paths, kind.Path)
		}
	}
	return paths
}
