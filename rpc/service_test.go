package rpc

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/ids"
	"blueprintd/rpc/trpc"
)

// New panics if an option is missing.
func TestNewRequiresOptions(t *testing.T) {
	defer func() {
		if message := fmt.Sprint(recover()); !strings.Contains(message, "Explain") {
			t.Errorf("it says %q, want \"Explain\" in it", message)
		}
	}()
	New(Options{
		Store: hours{}, Runner: struct{ Runner }{}, Triggers: struct{ Triggers }{}, Catalogue: blueprint.Catalogue{}, IDs: ids.New(nil), APIHost: func() string { return "" },
		CheckConfig: func(map[string]any, func([]any) bool) ([]blueprint.Reference, []blueprint.Issue) { return nil, nil }, Info: func() ServerInfo { return ServerInfo{} },
	})
}

// anyToken accepts every token as one user.
type anyToken string

func (e anyToken) Authenticate(context.Context, string) (blueprint.Admission, error) {
	return blueprint.Admission{Principal: blueprint.Principal{UserID: string(e)}, Scopes: blueprint.AllScopes()}, nil
}

// ask calls a procedure as a user.
func ask(t *testing.T, p trpc.Procedure, userID string, input map[string]any) (status int, text string) {
	t.Helper()
	method, body := http.MethodGet, ""
	if p.Kind == trpc.KindMutation {
		method = http.MethodPost
	}
	if input != nil {
		encoded, err := blueprint.Encode(map[string]any{"json": input})
		if err != nil {
			t.Fatal(err)
		}
		body = string(encoded)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, "/api/trpc/"+p.Name, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer key")
	w := httptest.NewRecorder()
	trpc.NewHandler([]trpc.Procedure{p}, trpc.Options{Authenticator: anyToken(userID)}).ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// TestGuardingKeys misspells each optional key that restricts rights, of all procedures. If it
// were ignored, the call would grant more than requested.
func TestGuardingKeys(t *testing.T) {
	procedures := append(Procedures(), DashboardProcedures()...)
	want := map[string][]string{
		"apiKey.create": {"scopes", "expiresAt"}, "blueprint.create": {"budget"}, "blueprint.update": {"visibility", "budget"}, "blueprint.grant": {"version"}, "blueprint.delete": {"onlyDraft"},
		"execution.executeBlueprintWithLogging": {"options.budget"}, "blueprintTriggers.create": {"config"}, "blueprintTriggers.update": {"config"},
		"blueprintTriggers.rotateSecret": {"keepPreviousFor"}, "connection.update": {"config"}, "session.delete": {"everywhere"},
	}
	for i := range procedures {
		p := &procedures[i]
		faults := func(input map[string]any) string {
			status, text := ask(t, *p, "u", input)
			if status != http.StatusBadRequest {
				t.Errorf("%s takes %v: %s, want %v", p.Name, input, text, http.StatusBadRequest)
			}
			return text
		}
		var found []string
		var look func(in reflect.Type, path string)
		look = func(in reflect.Type, path string) {
			for i := range in.NumField() {
				declared := in.Field(i)
				name, _, _ := strings.Cut(declared.Tag.Get("json"), ",")
				if declared.Type.Kind() == reflect.Struct {
					look(declared.Type, path+name+".")
				}
				words, guards := declared.Tag.Lookup("guards")
				if !guards {
					continue
				}
				found = append(found, path+name)
				wrong := []string{name + "s", strings.ToUpper(name), strings.TrimSuffix(name, "s") + "_"}
				for word := range strings.SplitSeq(words, "|") {
					wrong = append(wrong, "x-"+word, strings.ToUpper(word)+"_y")
				}
				for _, key := range wrong {
					input := map[string]any{key: "value"}
					if path != "" {
						input = map[string]any{strings.TrimSuffix(path, "."): input}
					}
					if text := faults(input); !strings.Contains(text, key) || !strings.Contains(text, `: unknown; the key is \"`+name+`\"`) || strings.Contains(text, "value") {
						t.Errorf("%s: of %s it says %s, want %q in it, %q in it and no \"value\"", p.Name, key, text, key, `: unknown; the key is \"`+name+`\"`)
					}
				}
			}
		}
		if p.Input.Kind() == reflect.Struct && p.Kind == trpc.KindMutation {
			look(p.Input, "")
		}
		if !slices.Equal(found, want[p.Name]) {
			t.Errorf("%s guards %q, want %q", p.Name, found, want[p.Name])
		}
	}
}
