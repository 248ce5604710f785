package nodes

import (
	"context"
	"fmt"

	"blueprintd/blueprint"
	expressions "blueprintd/blueprint/expression"
)

type forEachConfig struct {
	Items       items    `key:"items" required:"true" doc:"The list, or an expression that returns one, such as input.orders."`
	Nodes       subgraph `key:"nodes" doc:"The nodes to run for each item, as in a blueprint; item and index are in scope, and the first node's input is the item."`
	Edges       subgraph `key:"edges" doc:"The edges between these nodes. Without edges, the nodes run sequentially."`
	BlueprintID string   `key:"blueprintId" form:"blueprint-id" doc:"The blueprint to run for each item, in place of nodes. The item is its inputData."`
	Concurrency *int64   `key:"concurrency" minimum:"1" maximum:"1000" default:"1" doc:"The maximum number of items that run at the same time."`
}

const maxItems = 100_000

// forEach runs a graph once for each item. The output lists those of the items, in
// order: of the last node, an object by node id for several, null for none. A failed
// item stops the others and the node.
func forEach() *blueprint.NodeType {
	kind := define(definition[forEachConfig]{
		name:        "for-each",
		category:    "flow",
		order:       3,
		waits:       "runs",
		starter:     `{"items": "input", "nodes": []}`,
		output:      `{"type": "array"}`,
		title:       "For each",
		description: "Runs nodes, or a blueprint, once for each item of a list. The output is the list of their last outputs, in the order of the items.",
		example:     `{"items": "input.names", "concurrency": 2, "nodes": [{"id": "greet", "type": "template", "title": "Greet", "config": {"text": "{{index}}: Hello {{item}}"}}]}`,
		check: func(c *forEachConfig, r *report) {
			switch given := r.given("nodes"); {
			case given == r.given("blueprintId"):
				r.issue("must have either nodes or blueprintId")
			case !given && !r.isTemplate(c.BlueprintID) && !blueprint.IsUUID(c.BlueprintID):
				r.issue("must be the id of a blueprint", "blueprintId")
			case !given && r.given("edges"):
				r.issue("require nodes", "edges")
			case given:
				if list, ok := c.Nodes.Value.([]any); ok && len(list) == 0 {
					r.issue("must hold at least one node", "nodes")
				}
			}
		},
		run: func(_ context.Context, task *blueprint.Task, c *forEachConfig) (blueprint.Result, error) {
			list, _ := c.Items.List.([]any)
			if c.Items.Source != "" {
				value, err := task.Evaluate(c.Items.Source)
				if err != nil {
					return blueprint.Result{}, err
				}
				var ok bool
				if list, ok = value.([]any); !ok {
					return blueprint.Result{}, &blueprint.Failure{Code: codeNotAList, Message: "items must be a list, not " + expressions.KindOf(value), Permanent: true}
				}
			}
			if len(list) > maxItems {
				return blueprint.Result{}, &blueprint.Failure{Code: "too_large", Message: fmt.Sprintf("items has %d items; at most %d are allowed", len(list), maxItems), Permanent: true}
			}
			if list == nil {
				list = []any{}
			}
			return blueprint.Result{Each: &blueprint.Each{Items: list, Concurrency: int(numberOr(c.Concurrency, 1))}}, nil
		},
	})
	kind.Body = func(config map[string]any) (map[string]any, []any) {
		if id, ok := config["blueprintId"].(string); ok && config["nodes"] == nil {
			run := map[string]any{"id": "run", "type": "blueprint", "title": "Run", "config": map[string]any{"blueprintId": id, "inputData": "{{item}}"}}
			return map[string]any{"nodes": []any{run}}, nil
		}
		if config["nodes"] == nil {
			return nil, nil
		}
		return map[string]any{"nodes": config["nodes"], "edges": config["edges"]}, []any{}
	}
	return kind
}

const codeNotAList = "not_a_list"
