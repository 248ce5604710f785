package nodes

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"blueprintd/blueprint"
)

type setConfig struct {
	Values map[string]any `key:"values" required:"true" doc:"The variables to write, by name."`
}

// variableName matches names that a template can begin with.
var variableName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

func set() *blueprint.NodeType {
	return define(definition[setConfig]{
		name:        "set",
		category:    "data",
		order:       1,
		starter:     `{"values": {}}`,
		quick:       true,
		title:       "Set variables",
		description: "Writes variables that all later nodes can use as {{name}}.",
		example:     `{"values": {"greeting": "Hello {{inputData.name ?? \"world\"}}", "retries": 3}}`,
		check: func(c *setConfig, r *report) {
			for _, name := range slices.Sorted(maps.Keys(c.Values)) {
				if slices.Contains(blueprint.ReservedNames, name) {
					r.issue(fmt.Sprintf("%q is a name that the service sets itself", name), "values", name)
				} else if !variableName.MatchString(name) {
					r.warn("is not a valid variable name: {{...}} allows only letters, digits and _", "values", name)
				}
			}
		},
		run: func(_ context.Context, _ *blueprint.Task, c *setConfig) (blueprint.Result, error) {
			return blueprint.Result{Output: c.Values, Variables: c.Values}, nil
		},
	})
}
