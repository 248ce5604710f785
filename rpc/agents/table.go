package agents

var (
	blueprintID = text("id of the blueprint")
	draftID     = text("id of the draft")
	madeFrom    = text("the version of the draft that you read; refused if it has changed since")
	fakes       = object(`answers by node id ("loop[*]/id" in a loop) or host: {"output": ...} replaces a node or answers its person, {"status": 200, "body": ...} answers HTTP, {"error": "..."} fails; a list answers in turn`)
)

var change = map[string]any{
	"type": "object", "required": []any{"op"}, "additionalProperties": false,
	"properties": map[string]any{
		"op":          oneOf("", "add_node", "change_node", "remove_node", "move_node", "add_edge", "remove_edge", "set_variable", "remove_variable", "set_title", "set_description"),
		"id":          text("node to change, remove or move; loop/id for a node in a loop"),
		"node":        object("add_node: {id, type, title?, config, ...}; change_node: a merge patch, in which null removes a member"),
		"before":      text("add_node, move_node: the node that comes next"),
		"after":       text("add_node, move_node: the node that comes before"),
		"position":    object("move_node: {x, y} in the editor"),
		"edge":        object("{source, target, sourceHandle?}"),
		"variable":    object("{name, type, default?, required?, secret?}"),
		"name":        text("variable to remove"),
		"title":       text(""),
		"description": text(""),
	},
}

// table lists the tools.
var table = []Tool{
	{
		Name: "build_list_node_types", Title: "List node types", Reads: true, run: listNodeTypes,
		Description: "List the types of nodes with a line about each.",
		Input:       takes(map[string]any{"search": text("words that all occur")}),
	},
	{
		Name: "build_get_node_type", Title: "Get a node type", Reads: true, run: getNodeType,
		Description: "Get the config schema, the handles and an example of a node type.",
		Input:       takes(map[string]any{"type!": text("such as http-request")}),
	},
	{
		Name: "build_search_blueprints", Title: "Search blueprints", Reads: true, run: searchBlueprints,
		Description: "Find blueprints by words in their titles and descriptions.",
		Input: takes(map[string]any{
			"search": text("part of a title or description"), "scope": oneOf("default: own and shared", "all", "own", "shared", "public", "favorites"),
			"drafts": map[string]any{"type": "boolean", "description": "only drafts of agents"}, "page": whole("from 1", 1, 1_000_000), "limit": whole("default 20", 1, 100),
		}),
	},
	{
		Name: "build_get_blueprint", Title: "Get a blueprint", Reads: true, run: getBlueprint,
		Description: "Get a blueprint with its map, variables, version and triggers. Without edges, the nodes run in their order.",
		Input:       takes(map[string]any{"id!": blueprintID, "version": text("an earlier version"), "nodes": list("only the nodes with these ids", text(""))}),
	},
	{
		Name: "build_create_draft", Title: "Create a draft", run: createDraft,
		Description: "Create a draft: a new blueprint, or with from a copy of one to propose changes to. Nothing starts a draft.",
		Input: takes(map[string]any{
			"title": text("required without from"), "description": text(""), "from": text("id of the blueprint to change"),
			"blueprint_map": object("{nodes: [{id, type, title?, config}], edges?: [{source, target, sourceHandle?}]}"), "environment_variables": list("", object("{name, type, default?, required?, secret?}")),
			"organization_id": text("the organization it belongs to; default: your workspace"),
		}),
	},
	{
		Name: "build_edit_draft", Title: "Edit a draft", run: editDraft,
		Description: "Change a draft by node id. All changes are made, in their order, or none. Returns the new version and the issues.",
		Input: takes(map[string]any{
			"id!": draftID, "version!": madeFrom,
			"changes!": map[string]any{"type": "array", "minItems": number(1), "maxItems": number(maxChanges), "items": change, "description": "what to change"},
		}),
	},
	{
		Name: "build_delete_draft", Title: "Delete a draft", run: deleteDraft,
		Description: "Delete a draft.",
		Input:       takes(map[string]any{"id!": draftID}),
	},
	{
		Name: "build_validate", Title: "Validate a blueprint", Reads: true, run: validate,
		Description: "List errors and warnings with their node, key and path. Pass id or blueprint_map.",
		Input:       takes(map[string]any{"id": blueprintID, "blueprint_map": object("{nodes, edges?}"), "environment_variables": list("", object(""))}),
	},
	{
		Name: "build_run_sandbox", Title: "Run in the sandbox", Reads: true, run: runSandbox,
		Description: "Run a blueprint without any effect outside. Fakes answer its calls; one without a fake fails and says which to give. Times pass at once.",
		Input: takes(map[string]any{
			"id!": blueprintID, "input": anything("the input data"), "variables": object("values by name"), "fakes": fakes, "clock": text("start of the clock, RFC 3339"),
			"saveAs": text("name of a test to return: this run with its results as expectations"), "nodes": list("only the steps of these nodes, with larger values", text("")),
		}),
	},
	{
		Name: "build_run_tests", Title: "Run tests", Reads: true, run: runTests,
		Description: "Run a test file against a blueprint in the sandbox. The server stores no tests; keep the file in your project.",
		Input: takes(map[string]any{
			"id!": blueprintID, "tests!": text(`YAML or JSON: {"blueprint": any name, "tests": [{"name", "inputData"?, "variables"?, "stubs"?: as fakes, "expect": {"status", "output"?, "steps"?, "calls"?}}]}`),
			"files": map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}, "description": "contents of the cassettes that the tests name"},
		}),
	},
	{
		Name: "build_save_test", Title: "Save a run as a test", Reads: true, run: saveTest,
		Description: "Get a stored run as files: blueprint, test and, if it was recorded, cassette.",
		Input:       takes(map[string]any{"executionId!": text("id of the run")}),
	},
	{
		Name: "build_list_runs", Title: "List runs", Reads: true, run: listRuns,
		Description: "List runs, newest first.",
		Input: takes(map[string]any{
			"blueprintId": blueprintID, "status": oneOf("", "running", "paused", "completed", "failed"), "search": text("part of a title or id"), "limit": whole("default 10", 1, 100), "cursor": text("next of the answer before"),
		}),
	},
	{
		Name: "build_get_run", Title: "Get a run", Reads: true, run: getRun,
		Description: "Get a run with the input, output and error of each step; large values are cut.",
		Input:       takes(map[string]any{"executionId!": text("id of the run"), "nodes": list("only the steps of these nodes, with larger values", text(""))}),
	},
	{
		Name: "build_explain", Title: "Explain", Reads: true, run: explain,
		Description: "Explain why a run failed or started, what a firing did, or what a trigger did last. Pass one id.",
		Input:       takes(map[string]any{"executionId": text(""), "firingId": text(""), "triggerId": text("")}),
	},
	{
		Name: "build_propose", Title: "Propose a draft", run: propose,
		Description: "Propose a draft for publishing. A person reviews it in the dashboard and applies it.",
		Input:       takes(map[string]any{"id!": draftID, "version!": madeFrom, "note!": map[string]any{"type": "string", "minLength": number(1), "maxLength": number(10_000), "description": "what changes and why; becomes the draft's description"}}),
	},
}
