package process

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestClient(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer k" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, `{"result":{"data":{"json":{"id":%q}}}}`, r.URL.Path+" "+r.FormValue("input")+string(body))
	}))
	defer server.Close()
	c, ctx := NewClient(server.URL, "k", server.Client()), context.Background()
	input := map[string]any{"a": 1}
	for what, a := range map[string]Answer{"query": c.Query(ctx, "p", input), "mutation": c.Mutate(ctx, "p", input)} {
		t.Run(what, func(t *testing.T) {
			if got := a.Text("id"); got != `/api/trpc/p {"json":{"a":1}}` {
				t.Errorf("a %s: %s, want /api/trpc/p {\"json\":{\"a\":1}}", what, a)
			}
		})
	}
	if id, err := c.Create(ctx, "p", input); err != nil || id == "" {
		t.Errorf("made %q, %v", id, err)
	}
	c.Key = "another"
	if _, err := c.Create(ctx, "p", input); err == nil || !strings.HasPrefix(err.Error(), "p: 401 {") {
		t.Errorf("refused: %v, want an error and \"p: 401 {\" at the start", err)
	}
	c.Open("")
	if a := c.Query(ctx, "p", nil); a.OK() || a.Err != ErrDown {
		t.Errorf("down: %s", a)
	}
}
