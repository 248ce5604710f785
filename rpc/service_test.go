package rpc

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// TestProcedures keeps the list of procedures, with what each takes and gives.
func TestProcedures(t *testing.T) {
	service := &Service{}
	checkGolden(t, "procedures.golden", Describe(NewHandler(service.Procedures(), Options{Authenticator: testKeys{}}).Procedures()))
}

// TestGuardingKeys misspells each optional key that narrows rights, of all
// procedures. Ignored, the misspelled one would grant more than was asked for.
func TestGuardingKeys(t *testing.T) {
	service := &Service{}
	procedures := append(service.Procedures(), service.SessionProcedures()...)
	want := map[string][]string{
		"apiKey.create": {"scopes", "expiresAt"}, "blueprint.create": {"budget"}, "blueprint.update": {"visibility", "budget"}, "blueprint.grant": {"version"},
		"execution.executeBlueprintWithLogging": {"options.budget"}, "blueprintTriggers.create": {"config"}, "blueprintTriggers.update": {"config"},
		"blueprintTriggers.rotateSecret": {"keepPreviousFor"}, "connection.update": {"config"}, "session.delete": {"everywhere"},
	}
	for i := range procedures {
		p := &procedures[i]
		faults := func(input map[string]any) string {
			_, err := p.call(t.Context(), &Caller{}, rawInput{value: input, present: true})
			if blueprint.CodeOf(err) != blueprint.CodeBadRequest {
				t.Errorf("%s takes %v: %v", p.Name, input, err)
			}
			return err.Error()
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
					if text := faults(input); !strings.Contains(text, pathText([]any{key})+`: unknown; the key is "`+name+`"`) || strings.Contains(text, "value") {
						t.Errorf("%s: of %s it says %s", p.Name, key, text)
					}
				}
			}
		}
		if p.Input.Kind() == reflect.Struct && p.Kind == Mutation {
			look(p.Input, "")
		}
		if !slices.Equal(found, want[p.Name]) {
			t.Errorf("%s guards %q, want %q", p.Name, found, want[p.Name])
		}
	}
}
