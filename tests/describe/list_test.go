package describe

import (
	"context"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/rpc"
	"blueprintd/rpc/trpc"
	"blueprintd/triggers"
)

var update = flag.Bool("update", false, "write the golden file")

// TestProcedures compares the committed list of procedures.
func TestProcedures(t *testing.T) {
	compare(t, "testdata/procedures.golden", List(rpc.Procedures()))
}

// compare compares a generated text with a committed file, which -update writes first.
func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs; run make goldens (-want +got):\n%s", path, diff)
	}
}

// TestTriggerEndpoints tests that the address of every trigger kind is described.
func TestTriggerEndpoints(t *testing.T) {
	for _, kind := range triggers.Kinds() {
		if kind.Path == "" {
			continue
		}
		path, _ := plainPaths()[kind.Path].(object)
		operation, _ := path["post"].(object)
		responses, _ := operation["responses"].(object)
		if operation["operationId"] == nil || len(responses) == 0 {
			t.Errorf("%s: the description of POST %s is %v, want an operation with responses", kind.Type, kind.Path, operation)
		}
	}
}

func TestWords(t *testing.T) {
	var names []string
	for _, p := range rpc.Procedures() {
		names = append(names, p.Name)
	}
	for name := range procedureWords {
		if !slices.Contains(names, name) {
			t.Errorf("words.go describes %s, which does not exist", name)
		}
	}
}

func TestListOfShapes(t *testing.T) {
	type testNode struct {
		Name     string   `json:"name" check:"required"`
		Children []string `json:"children"`
	}
	type tree struct {
		Left  *tree          `json:"left,omitempty"`
		Value map[string]int `json:"value"`
		At    blueprint.Time `json:"at"`
		Note  *string        `json:"note"`
		Inner struct{ Plain bool }
		skip  int
		blueprint.Label
	}
	got := List([]trpc.Procedure{trpc.Public(trpc.Mutation("shape.all", blueprint.ScopeRead, func(context.Context, *trpc.Caller, struct {
		Page  int                 `json:"page" check:"min=1,default=1"`
		Node  testNode            `json:"node" check:"required"`
		Ids   []string            `json:"ids" check:"max=3" each:"uuid"`
		Maybe trpc.Optional[bool] `json:"maybe" check:"nullable"`
		Out   int                 `json:"-"`
	}) (tree, error) {
		return tree{skip: 1}, nil
	}))})
	want := "public mutation shape.all {page?: int(min=1 default=1), node: {name: string, children?: [string]}, ids?: [string](max=3 each uuid), maybe?: boolean(nullable)}" +
		" -> {left?: describe.tree, value: {*: int}, at: blueprint.Time, note: string(or null), Inner: {Plain: boolean}, id: string, name: string, slug: string}\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
