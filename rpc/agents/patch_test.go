package agents

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func decoded(t *testing.T, text string) any {
	t.Helper()
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func encoded(t *testing.T, value any) string {
	t.Helper()
	data, err := blueprint.Encode(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestChanges(t *testing.T) {
	const start = `{"title": "T", "blueprint_map": {"nodes": [{"id": "a", "config": {"x": 1, "y": {"z": 2}}}, {"id": "l", "config": {"nodes": [{"id": "i"}]}}, {"id": "b"}],
		"edges": [{"source": "a", "target": "l"}, {"source": "l", "target": "b", "sourceHandle": "done"}]}, "environment_variables": [{"name": "v", "default": 1}]}`
	for name, test := range map[string]struct{ changes, want string }{
		"merge a config":       {`[{"op": "change_node", "id": "a", "node": {"config": {"x": null, "y": {"w": [1]}}}}]`, `[{"change":"changed","keys":["config.x","config.y"],"node":"a"}]`},
		"inner node":           {`[{"op": "change_node", "id": "l[2]/i", "node": {"type": "set"}}]`, `[{"change":"changed","keys":["config.nodes"],"node":"l"}]`},
		"remove with edges":    {`[{"op": "remove_node", "id": "l"}]`, `[{"change":"removed","node":"l"},{"change":"removed","edge":"a[main] -> l"},{"change":"removed","edge":"l[done] -> b"}]`},
		"move to the front":    {`[{"op": "move_node", "id": "b", "before": "a"}]`, `[{"change":"moved","node":"b"},{"change":"moved","node":"a"},{"change":"moved","node":"l"}]`},
		"position":             {`[{"op": "move_node", "id": "b", "position": {"x": 1, "y": 2}}]`, `[{"change":"changed","keys":["position"],"node":"b"}]`},
		"edges":                {`[{"op": "remove_edge", "edge": {"source": "a", "target": "l"}}, {"op": "add_edge", "edge": {"source": "a", "target": "b"}}]`, `[{"change":"removed","edge":"a[main] -> l"},{"change":"added","edge":"a[main] -> b"}]`},
		"variables":            {`[{"op": "set_variable", "variable": {"name": "v"}}, {"op": "set_variable", "variable": {"name": "w"}}]`, `[{"change":"changed","keys":["default"],"variable":"v"},{"change":"added","variable":"w"}]`},
		"remove a variable":    {`[{"op": "remove_variable", "name": "v"}]`, `[{"change":"removed","variable":"v"}]`},
		"title":                {`[{"op": "set_title", "title": "U"}]`, `[{"change":"changed","title":"U"}]`},
		"add, change, connect": {`[{"op": "add_node", "node": {"id": "c"}}, {"op": "change_node", "id": "c", "node": {"type": "set"}}, {"op": "add_edge", "edge": {"source": "b", "target": "c"}}]`, `[{"change":"added","node":"c"},{"change":"added","edge":"b[main] -> c"}]`},
		"add and remove":       {`[{"op": "add_node", "node": {"id": "l/c"}}, {"op": "remove_node", "id": "l/c"}]`, `null`},
	} {
		t.Run(name, func(t *testing.T) {
			row := decoded(t, start).(map[string]any)
			before, now := planOf(deepCopy(row).(map[string]any)), planOf(row)
			if err := now.apply(decoded(t, test.changes).([]any)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, encoded(t, difference(before, now))); diff != "" {
				t.Errorf("the difference (-want +got):\n%s", diff)
			}
		})
	}
}

// A node cannot be put beside one of another loop.
func TestOtherLoop(t *testing.T) {
	const start = `{"blueprint_map": {"nodes": [{"id": "i"}, {"id": "l", "config": {"nodes": [{"id": "i"}, {"id": "j"}]}}]}}`
	for changes, want := range map[string]string{
		`[{"op": "add_node", "node": {"id": "x"}, "after": "l/i"}]`:   `"l/i" is in another loop than the node`,
		`[{"op": "add_node", "node": {"id": "l/x"}, "after": "l/i"}]`: "",
		`[{"op": "add_node", "node": {"id": "l/x"}, "after": "i"}]`:   "",
		`[{"op": "move_node", "id": "i", "before": "l[1]/j"}]`:        `"l[1]/j" is in another loop than the node`,
		`[{"op": "move_node", "id": "l/j", "before": "l[1]/i"}]`:      "",
	} {
		t.Run(changes, func(t *testing.T) {
			err := planOf(decoded(t, start).(map[string]any)).apply(decoded(t, changes).([]any))
			if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

// A change never writes into the content that it was made from.
func TestMergeCopies(t *testing.T) {
	patch := decoded(t, `{"a": {"b": [1]}}`)
	merged := merge(map[string]any{}, patch).(map[string]any)
	merged["a"].(map[string]any)["b"] = "changed"
	if got := encoded(t, patch); got != `{"a":{"b":[1]}}` {
		t.Errorf("the patch is now %s", got)
	}
}

func TestLocated(t *testing.T) {
	m := decoded(t, `{"nodes": [{"id": "a"}, {"id": "l", "config": {"nodes": [{"id": "i", "config": {}}]}}]}`).(map[string]any)
	for path, want := range map[string]string{
		`["blueprint_map", "nodes", 0, "type"]`:                                           `{"key":"type","message":"m","nodeId":"a","path":"blueprint_map.nodes[0].type"}`,
		`["blueprint_map", "nodes", 1, "config", "items"]`:                                `{"key":"config.items","message":"m","nodeId":"l","path":"blueprint_map.nodes[1].config.items"}`,
		`["blueprint_map", "nodes", 1, "config", "nodes", 0, "config", "cases", 2, "to"]`: `{"key":"config.cases[2].to","message":"m","nodeId":"l/i","path":"blueprint_map.nodes[1].config.nodes[0].config.cases[2].to"}`,
		`["blueprint_map", "edges", 0]`:                                                   `{"message":"m","path":"blueprint_map.edges[0]"}`,
		`["blueprint_map", "nodes", 9, "type"]`:                                           `{"message":"m","path":"blueprint_map.nodes[9].type"}`,
		`["environment_variables", 0, "name"]`:                                            `{"message":"m","path":"environment_variables[0].name"}`,
	} {
		t.Run(path, func(t *testing.T) {
			if got := encoded(t, located(map[string]any{"message": "m", "path": decoded(t, path)}, m)); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestBounded(t *testing.T) {
	for name, test := range map[string]struct {
		value string
		want  string
	}{
		"small": {`"éé"`, `"éé"`},
		"large": {`"ééééé"`, `{"bytes":12,"start":"\"éé","truncated":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := encoded(t, bounded(decoded(t, test.value), 6)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
