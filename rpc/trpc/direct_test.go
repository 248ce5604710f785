package trpc

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

type directInput struct {
	ID    string `json:"id" check:"required"`
	Count int    `json:"count" check:"min=1,default=3"`
}

type directOutput struct {
	ID    string `json:"id"`
	Count int    `json:"count"`
	Tool  string `json:"tool"`
}

// A direct call has the scopes and the checks of a request, and names its tool.
func TestDirectCalls(t *testing.T) {
	var noted []string
	write := Mutation("x.write", blueprint.ScopeWrite, func(_ context.Context, caller *Caller, in directInput) (directOutput, error) {
		caller.Note("x", in.ID, nil)
		return directOutput{in.ID, in.Count, caller.Tool}, nil
	})
	write.Around(func(ctx context.Context, caller *Caller, call func(context.Context) (any, error)) (any, error) {
		out, err := call(ctx)
		noted = append(noted, caller.Tool+" "+caller.Noted.ID)
		return out, err
	})
	h := NewHandler([]Procedure{
		write,
		Query("x.list", blueprint.ScopeRead, func(context.Context, *Caller, struct{}) ([]string, error) { return nil, nil }),
		Query("x.panic", blueprint.ScopeRead, func(context.Context, *Caller, struct{}) (string, error) { panic("a secret detail") }),
		Query("x.admin", blueprint.ScopeAdmin, func(context.Context, *Caller, struct{}) (string, error) { return "", nil }),
		Subscription("x.watch", blueprint.ScopeRead, func(context.Context, *Caller, struct{}, func(string) error) error { return nil }),
	}, Options{Authenticator: testKeys{}})
	for name, test := range map[string]struct {
		procedure string
		input     map[string]any
		want      string // the result as JSON, or else the code and a part of the message
	}{
		"defaults":       {"x.write", map[string]any{"id": "a"}, `{"count":3,"id":"a","tool":"build_x"}`},
		"Go numbers":     {"x.write", map[string]any{"id": "a", "count": 7}, `{"count":7,"id":"a","tool":"build_x"}`},
		"empty list":     {"x.list", nil, `[]`},
		"invalid input":  {"x.write", map[string]any{"count": 0}, "BAD_REQUEST id: required; count: "},
		"other scope":    {"x.admin", nil, `FORBIDDEN this API key lacks the scope "admin"`},
		"a panic":        {"x.panic", nil, "INTERNAL_SERVER_ERROR internal error"},
		"a subscription": {"x.watch", nil, "NOT_FOUND No procedure found"},
		"nothing":        {"x.none", nil, "NOT_FOUND No procedure found"},
	} {
		t.Run(name, func(t *testing.T) {
			noted = nil
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", nil)
			if err != nil {
				t.Fatal(err)
			}
			caller := &Caller{Admission: blueprint.Admission{Scopes: blueprint.KeyScopes{blueprint.ScopeWrite}}, Request: r}
			out, err := h.Call(t.Context(), caller, "build_x", test.procedure, test.input)
			got := ""
			if err != nil {
				got = string(blueprint.CodeOf(err)) + " " + err.Error()
			} else if data, err := blueprint.Encode(out); err == nil {
				got = string(data)
			}
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if caller.Noted.ID != "" || caller.Tool != "" {
				t.Errorf("the call changed its caller: %+v", caller)
			}
			if test.procedure == "x.write" && err == nil && (len(noted) != 1 || noted[0] != "build_x a") {
				t.Errorf("noted %q, want one entry of the tool", noted)
			}
		})
	}
}
