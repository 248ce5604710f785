package describe

// words describe a procedure in the OpenAPI document.
type words struct {
	summary string
	// example is an input that works, as JSON, with the ids of ExampleIDs; "" for
	// procedures without input.
	example string
}

// ExampleIDs are the ids used in examples, by the kind of object.
var ExampleIDs = map[string]string{
	"blueprint":    "6f1d5c9e-58b1-4a52-9d0c-6a7d3f6f0b01",
	"trigger":      "6f1d5c9e-58b1-4a52-9d0c-6a7d3f6f0b02",
	"organization": "6f1d5c9e-58b1-4a52-9d0c-6a7d3f6f0b03",
	"user":         "6f1d5c9e-58b1-4a52-9d0c-6a7d3f6f0b04",
	"connection":   "6f1d5c9e-58b1-4a52-9d0c-6a7d3f6f0b05",
	"category":     "6f1d5c9e-58b1-4a52-9d0c-6a7d3f6f0b06",
	"sign-in":      "6f1d5c9e-58b1-4a52-9d0c-6a7d3f6f0b07", // an OAuth connection
	"webhook":      "6f1d5c9e-58b1-4a52-9d0c-6a7d3f6f0b08", // a trigger with a secret
	"execution":    "exec_1893456000000_01jz8w1e0q5k7m9n2p4r6t8v0x",
	"paused":       "exec_1893456000000_01jz8w1e0q5k7m9n2p4r6t8v0y", // an execution that waits for approval
	"failed":       "exec_1893456000000_01jz8w1e0q5k7m9n2p4r6t8v0z",
	"firing":       "01JZ8W1E0Q5K7M9N2P4R6T8V0X",
	"key":          "01JZ8W1E0Q5K7M9N2P4R6T8V0Y",
}

// routerWords describe the routers.
var routerWords = map[string]string{
	"apiKey":            "API keys of the caller.",
	"auditLog":          "The audit log: who changed what, and when.",
	"blueprint":         "Blueprints: graphs of nodes, and their runs.",
	"blueprintTriggers": "What starts a blueprint, and the ledger of firings.",
	"category":          "Categories of an organization's blueprints.",
	"collaborator":      "Users with whom a blueprint is shared.",
	"connection":        "Credentials and addresses of other services.",
	"execution":         "Runs: start, follow, resume, cancel and retry them.",
	"mcpTool":           "The api triggers that /mcp offers to the caller.",
	"node":              "The types of nodes.",
	"organization":      "Organizations and their members.",
	"server":            "The server itself.",
	"user":              "The caller's own account.",
}

const (
	exampleMap    = `{"nodes": [{"id": "greet", "type": "template", "title": "Greet", "config": {"text": "Hello {{name ?? \"world\"}}"}}]}`
	theBlueprint  = `"6f1d5c9e-58b1-4a52-9d0c-6a7d3f6f0b01"`
	theTrigger    = `"6f1d5c9e-58b1-4a52-9d0c-6a7d3f6f0b02"`
	theTeam       = `"6f1d5c9e-58b1-4a52-9d0c-6a7d3f6f0b03"`
	theUser       = `"6f1d5c9e-58b1-4a52-9d0c-6a7d3f6f0b04"`
	theConnection = `"6f1d5c9e-58b1-4a52-9d0c-6a7d3f6f0b05"`
	theCategory   = `"6f1d5c9e-58b1-4a52-9d0c-6a7d3f6f0b06"`
	theSignIn     = `"6f1d5c9e-58b1-4a52-9d0c-6a7d3f6f0b07"`
	theWebhook    = `"6f1d5c9e-58b1-4a52-9d0c-6a7d3f6f0b08"`
	theRun        = `"exec_1893456000000_01jz8w1e0q5k7m9n2p4r6t8v0x"`
	thePaused     = `"exec_1893456000000_01jz8w1e0q5k7m9n2p4r6t8v0y"`
	theFailed     = `"exec_1893456000000_01jz8w1e0q5k7m9n2p4r6t8v0z"`
	theFiring     = `"01JZ8W1E0Q5K7M9N2P4R6T8V0X"`
	theKey        = `"01JZ8W1E0Q5K7M9N2P4R6T8V0Y"`

	runExample = `{"executionId": ` + theRun + `}`
)

// procedureWords describe every procedure.
var procedureWords = map[string]words{
	"apiKey.create": {"Create an API key; only this response contains the key", `{"name": "laptop", "scopes": ["read", "run"], "expiresAt": "2099-01-01T00:00:00Z"}`},
	"apiKey.list":   {"List the caller's API keys, without the keys themselves", ``},
	"apiKey.revoke": {"Revoke an API key, with immediate effect", `{"id": ` + theKey + `}`},

	"auditLog.list": {"List the audit log, newest first", `{"limit": 20}`},

	"blueprint.create":              {"Create a blueprint", `{"title": "Hello", "blueprint_map": ` + exampleMap + `}`},
	"blueprint.delete":              {"Delete a blueprint and cancel its runs", `{"id": ` + theBlueprint + `}`},
	"blueprint.evaluateExpressions": {"Evaluate templates, expressions and conditions over given data, or over that of a run as the caller may see it", `{"expressions": [{"text": "Dear {{input.name}}"}, {"text": "input.total > 100", "language": "expression"}], "data": {"input": {"name": "Ada", "total": 120}}}`},
	"blueprint.execute":             {"Run a blueprint and wait for the result", `{"id": ` + theBlueprint + `, "variables": {"name": "Ada"}}`},
	"blueprint.favorite":            {"Mark a blueprint as a favorite", `{"id": ` + theBlueprint + `}`},
	"blueprint.get":                 {"Get a blueprint", `{"id": ` + theBlueprint + `}`},
	"blueprint.list":                {"List blueprints, newest first", `{"page": 1, "limit": 20, "search": "hello"}`},
	"blueprint.listSummaries":       {"List blueprints without their maps, with their last runs and counts", `{"scope": "all", "sort": "updated"}`},
	"blueprint.listTags":            {"List the tags of the blueprints that the caller sees", ``},
	"blueprint.getAuthority":        {"Get the users whose connections and sign-ins a blueprint uses", `{"id": ` + theBlueprint + `}`},
	"blueprint.grant":               {"Grant a version by another author the use of your connections and sign-ins in your runs", `{"id": ` + theBlueprint + `}`},
	"blueprint.listGrants":          {"List the versions that you have granted", ""},
	"blueprint.revokeGrant":         {"Revoke all your grants for a blueprint", `{"id": ` + theBlueprint + `}`},
	"blueprint.rate":                {"Rate a blueprint; 0 removes the rating", `{"id": ` + theBlueprint + `, "rating": 4.5}`},
	"blueprint.setCategories":       {"Set the categories of a blueprint", `{"id": ` + theBlueprint + `, "categoryIds": []}`},
	"blueprint.unfavorite":          {"Remove a blueprint from the favorites", `{"id": ` + theBlueprint + `}`},
	"blueprint.update":              {"Change a blueprint; a new map makes a new minor version", `{"id": ` + theBlueprint + `, "title": "Hello again"}`},
	"blueprint.validate":            {"Validate a map without storing it", `{"blueprint_map": ` + exampleMap + `}`},
	"blueprint.versions":            {"List the versions of a blueprint's map", `{"id": ` + theBlueprint + `}`},

	"blueprintTriggers.create":        {"Attach a trigger to a blueprint", `{"blueprintId": ` + theBlueprint + `, "triggerType": "scheduled", "config": {"cron": "0 9 * * 1-5", "timezone": "Europe/Zurich"}}`},
	"blueprintTriggers.delete":        {"Delete a trigger", `{"triggerId": ` + theTrigger + `}`},
	"blueprintTriggers.explain":       {"Explain a firing: what was received, what it led to, and why", `{"firingId": ` + theFiring + `}`},
	"blueprintTriggers.fire":          {"Fire a trigger of any type by hand", `{"triggerId": ` + theTrigger + `, "inputData": {"name": "Ada"}}`},
	"blueprintTriggers.getDetails":    {"Get a trigger with its URL, its next tick and its last firing", `{"triggerId": ` + theTrigger + `}`},
	"blueprintTriggers.getWebhookUrl": {"Get the URL and the secret of a webhook trigger", `{"triggerId": ` + theWebhook + `}`},
	"blueprintTriggers.history":       {"List the firing ledger of a trigger, newest first", `{"triggerId": ` + theTrigger + `, "limit": 20}`},
	"blueprintTriggers.list":          {"List the triggers of a blueprint", `{"blueprintId": ` + theBlueprint + `}`},
	"blueprintTriggers.listAll":       {"List the triggers of all blueprints", `{"type": "api", "active": true}`},
	"blueprintTriggers.preview":       {"List the next ticks of a schedule", `{"cron": "0 9 * * 1-5", "timezone": "Europe/Zurich", "count": 3}`},
	"blueprintTriggers.redeliver":     {"Run stored deliveries again", `{"firingId": ` + theFiring + `}`},
	"blueprintTriggers.rotateSecret":  {"Replace the secret of a trigger; the previous one stays valid for keepPreviousFor", `{"triggerId": ` + theWebhook + `, "keepPreviousFor": "24h"}`},
	"blueprintTriggers.update":        {"Change, activate or deactivate a trigger", `{"triggerId": ` + theTrigger + `, "isActive": false}`},

	"category.create": {"Create a category", `{"name": "Reports"}`},
	"category.delete": {"Delete a category", `{"id": ` + theCategory + `}`},
	"category.list":   {"List the categories of an organization", `{"organizationId": ` + theTeam + `}`},

	"collaborator.add":    {"Share a blueprint with a user, or change their role", `{"blueprintId": ` + theBlueprint + `, "email": "ada@example.org", "role": "editor"}`},
	"collaborator.list":   {"List the collaborators of a blueprint", `{"blueprintId": ` + theBlueprint + `}`},
	"collaborator.remove": {"Remove a collaborator from a blueprint", `{"blueprintId": ` + theBlueprint + `, "userId": ` + theUser + `}`},

	"connection.create":    {"Create a connection; its secrets are never returned", `{"name": "Shop", "type": "http", "config": {"auth": {"type": "bearer", "token": "s3cr3t-token"}, "hosts": ["api.example.org"]}}`},
	"connection.delete":    {"Delete a connection", `{"id": ` + theConnection + `}`},
	"connection.get":       {"Get a connection, with secrets as null", `{"id": ` + theConnection + `}`},
	"connection.list":      {"List connections, with secrets as null", `{"organizationId": ` + theTeam + `}`},
	"connection.listTypes": {"List the types of connections, with the schemas of their configs", ``},
	"connection.signIn":    {"Get the URL where the caller signs in for an OAuth connection", `{"id": ` + theSignIn + `}`},
	"connection.test":      {"Test a connection with the cheapest real request", `{"id": ` + theConnection + `}`},
	"connection.update":    {"Change a connection; null removes a member of the config", `{"id": ` + theConnection + `, "name": "Shop in Basel"}`},

	"execution.cancel":                      {"Cancel a run", `{"executionId": ` + thePaused + `, "reason": "not needed any more"}`},
	"execution.executeBlueprintWithLogging": {"Start a run and return as soon as it is stored; poll execution.getExecutionStatus for the result", `{"nodes": [{"id": "greet", "type": "template", "title": "Greet", "config": {"text": "Hello"}}], "options": {"blueprintId": ` + theBlueprint + `}}`},
	"execution.export":                      {"Export a run with its blueprint and its exchanges as one portable object", runExample},
	"execution.exportTest":                  {"Turn a run into a test: files for `blueprintd test`", runExample},
	"execution.getExchanges":                {"Get the requests and responses of a recorded run", runExample},
	"execution.getExecutionLogs":            {"List the runs of a blueprint as log records, newest first", `{"blueprintId": ` + theBlueprint + `, "limit": 20}`},
	"execution.getExecutionStatus":          {"Get the status record of a run; an unknown id has the status not_found", runExample},
	"execution.getRecord":                   {"Get the log record of a run", runExample},
	"execution.getStatistics":               {"Count runs by hour or day", `{"blueprintId": ` + theBlueprint + `, "bucket": "day"}`},
	"execution.listRecentExecutions":        {"List the runs of all blueprints as log records, newest first", `{"limit": 20}`},
	"execution.listRuns":                    {"List runs page by page, with filters", `{"status": "completed", "limit": 20}`},
	"execution.resume":                      {"Answer a run that is waiting for input; it continues in the background", `{"executionId": ` + thePaused + `, "input": {"approved": true}}`},
	"execution.fork":                        {"Start a new run of an ended one from a node that ran, with another input; the nodes before it keep their results", `{"executionId": ` + theFailed + `, "fromNodeId": "end", "input": {"order": 1043}}`},
	"execution.retry":                       {"Retry a failed run: run the nodes that did not complete", `{"executionId": ` + theFailed + `}`},
	"execution.subscribe":                   {"Follow a run by server-sent events", runExample},

	"mcpTool.list":    {"List the caller's tools, and the api triggers of others that they could enable as tools", ``},
	"mcpTool.enable":  {"Offer another user's api trigger on /mcp", `{"triggerId": ` + theTrigger + `}`},
	"mcpTool.disable": {"Stop offering an api trigger on /mcp", `{"triggerId": ` + theTrigger + `}`},

	"node.types": {"List the types of nodes, with the schemas of their configs", ``},

	"organization.addMember":    {"Add a member, or change their role", `{"organizationId": ` + theTeam + `, "email": "grace@example.org", "role": "member"}`},
	"organization.create":       {"Create an organization; the caller becomes its owner", `{"name": "Shop"}`},
	"organization.list":         {"List the caller's organizations", ``},
	"organization.members":      {"List the members of an organization", `{"organizationId": ` + theTeam + `}`},
	"organization.removeMember": {"Remove a member", `{"organizationId": ` + theTeam + `, "userId": ` + theUser + `}`},
	"organization.update":       {"Rename an organization", `{"organizationId": ` + theTeam + `, "name": "Shop"}`},

	"server.getInfo":   {"Get the version, the limits and the clock of the server", ``},
	"server.getStatus": {"Get the state of the server: checks, queue, disk, processes and the runs of the last 24 hours; for its owner only", ``},
	"user.update":      {"Change the caller's name", `{"name": "Ada"}`},
}
