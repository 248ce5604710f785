package api

import (
	"net/http"

	"blueprintd/rpc/trpc"
)

// columns are the principals with a valid key, in the order of the letters of a line.
// Each cell is also tried without a key and with a malformed, an unknown and a revoked
// key: always 401.
//
// former was once a collaborator and a member; viewer has run the public blueprint.
// The creator is a plain member of the organization that owns the blueprints.
var columns = []string{"stranger", "viewer", "former", "editor", "c.admin", "member", "o.admin", "o.owner", "creator"}

// grid is the expected outcome of a procedure: for each target a letter for each column.
// Blanks are for readability.
//
//	.  done
//	s  done, and the secrets of the target are in the response
//	r  done, and the secrets of the target are null in the response
//	x  a list with the target in it, without secrets
//	t  the same, known only by its title or its tag
//	o  a list with the caller's own run of the target in it and no other
//	-  a list without the target
//	?  the record with the status not_found
//	b  400, f 403, n 404, c 409
type grid map[string]string

// The targets. Of the team's blueprints one is private, one public, and one deleted; the
// stranger's is private.
//
//	ours       private, of the organization; runs are the creator's
//	public     the same and public
//	viewed     the same as public; runs are the viewer's
//	theirs     the stranger's, in their personal workspace
//	deleted    like ours, and deleted
//	unknown    a well-formed id of nothing
//	malformed  not an id
//	none       for inputs without an id
var (
	seen = grid{
		"ours":      "fff ss sss s",
		"public":    "rrr ss sss s",
		"theirs":    "sff ff fff f",
		"deleted":   "nnn nn nnn n",
		"unknown":   "nnn nn nnn n",
		"malformed": "bbb bb bbb b",
	}
	executed     = seen.with("ours", "fff .. ... .").with("public", "... .. ... .").with("theirs", ".ff ff fff f")
	managed      = executed.with("public", "fff .. ... .")
	managedSeen  = seen.with("public", "fff ss sss s")
	administered = managed.with("ours", "fff f. f.. .").with("public", "fff f. f.. .")
	// Runs: the user who started them, and users who can manage the blueprint.
	runStatus = grid{
		"ours":      "??? .. ... .",
		"public":    "??? .. ... .",
		"viewed":    "?.? .. ... .",
		"theirs":    ".?? ?? ??? ?",
		"deleted":   "??? ?? ??? .",
		"unknown":   "??? ?? ??? ?",
		"malformed": "??? ?? ??? ?",
	}
	runReached = grid{
		"ours":      "nnn .. ... .",
		"public":    "nnn .. ... .",
		"viewed":    "n.n .. ... .",
		"theirs":    ".nn nn nnn n",
		"deleted":   "nnn nn nnn .",
		"unknown":   "nnn nn nnn n",
		"malformed": "nnn nn nnn n",
	}
	// Firings: users who can manage the blueprint of their trigger.
	// Exports contain the blueprint: users who can manage it.
	runExported   = runReached.with("viewed", "nfn ff fff f").with("deleted", "nnn nn nnn f")
	firingReached = runReached.with("deleted", "nnn nn nnn n").with("viewed", "nnn .. ... .")
	// A deleted blueprint's runs were cancelled with it.
	runChanged = runReached.with("deleted", "nnn nn nnn c")
	anybody    = grid{"none": "... .. ... ."}
	// Connections: the creator is a member of the organization that owns them.
	used = grid{
		"ours":      "fff ff ... .",
		"theirs":    ".ff ff fff f",
		"deleted":   "nnn nn nnn n",
		"unknown":   "nnn nn nnn n",
		"malformed": "bbb bb bbb b",
	}
	usedSeen   = used.with("ours", "fff ff rrr r").with("theirs", "rff ff fff f")
	membership = grid{
		"ours":      "fff ff ... .",
		"theirs":    ".ff ff fff f",
		"unknown":   "fff ff fff f",
		"malformed": "bbb bb bbb b",
	}
)

func (g grid) with(target, line string) grid {
	changed := grid{target: line}
	for other, its := range g {
		if other != target {
			changed[other] = its
		}
	}
	return changed
}

// row is one way to call a procedure, or one plain route.
type row struct {
	name   string // the procedure, or method and path
	how    string // distinguishes rows of one procedure
	grid   grid
	input  func(x *target, column string) object
	path   func(x *target) string // of a plain route
	spoils bool                   // a success leaves a target that cannot be used again
	keeps  bool                   // a mutation that changes nothing even if permitted
	fresh  bool                   // its targets must be the newest
}

func byID(x *target, _ string) object         { return object{"id": x.blueprint} }
func byBlueprint(x *target, _ string) object  { return object{"blueprintId": x.blueprint} }
func byWebhook(x *target, _ string) object    { return object{"triggerId": x.webhook} }
func byRun(x *target, _ string) object        { return object{"executionId": x.run} }
func byFiring(x *target, _ string) object     { return object{"firingId": x.firing} }
func byConnection(x *target, _ string) object { return object{"id": x.connection} }
func byPrivate(x *target, _ string) object    { return object{"id": x.private} }
func nothing(*target, string) object          { return object{} }

func listing(scope string) func(*target, string) object {
	return func(x *target, _ string) object { return object{"scope": scope, "search": x.marks[0]} }
}

func executing(nodes func(x *target) []any) func(*target, string) object {
	return func(x *target, _ string) object {
		return object{"nodes": nodes(x), "options": object{"blueprintId": x.blueprint, "inputData": object{}}}
	}
}

var matrix = []row{
	{name: "blueprint.list", how: "own", input: listing("own"), grid: grid{
		"ours": "--- -- --- s", "public": "--- -- --- s", "theirs": "s-- -- --- -", "deleted": "--- -- --- -",
	}},
	{name: "blueprint.list", how: "shared", input: listing("shared"), grid: grid{
		"ours": "--- ss sss -", "public": "--- ss sss -", "theirs": "--- -- --- -", "deleted": "--- -- --- -",
	}},
	{name: "blueprint.list", how: "public", input: listing("public"), grid: grid{
		"ours": "--- -- --- -", "public": "rrr ss sss -", "theirs": "--- -- --- -", "deleted": "--- -- --- -",
	}},
	{name: "blueprint.listSummaries", how: "all", input: listing("all"), grid: grid{
		"ours": "--- tt ttt t", "public": "--- tt ttt t", "theirs": "t-- -- --- -", "deleted": "--- -- --- -",
	}},
	{name: "blueprint.listSummaries", how: "public", input: listing("public"), grid: grid{
		"ours": "--- -- --- -", "public": "ttt tt ttt -", "theirs": "--- -- --- -", "deleted": "--- -- --- -",
	}},
	{name: "blueprint.listSummaries", how: "of an organization", fresh: true, input: func(x *target, _ string) object {
		return object{"organizationId": x.organization, "sort": "created"}
	}, grid: membership.with("ours", "fff ff ttt t").with("theirs", "tff ff fff f")},
	{name: "blueprint.listTags", input: nothing, grid: grid{
		"ours": "--- tt ttt t", "public": "--- tt ttt t", "theirs": "t-- -- --- -", "deleted": "--- -- --- -",
	}},
	{name: "blueprint.get", grid: seen, input: byID},
	{name: "blueprint.versions", grid: managedSeen, input: byID},
	{name: "blueprint.getAuthority", grid: executed.with("theirs", ".ff ff fff f"), input: byID},
	{name: "blueprint.listGrants", grid: anybody, input: nothing},
	{name: "blueprint.grant", grid: executed, input: byID},
	{name: "blueprint.grant", how: "unknown version", grid: executed.with("ours", "fff nn nnn n").with("public", "nnn nn nnn n").with("theirs", "nff ff fff f"), input: func(x *target, _ string) object {
		return object{"id": x.blueprint, "version": "9.9.9"}
	}},
	{name: "blueprint.revokeGrant", grid: executed, input: byID},
	{name: "blueprint.create", how: "in an organization", grid: membership, input: func(x *target, _ string) object {
		return object{"title": "made", "organization_id": x.organization}
	}},
	{name: "blueprint.create", how: "at home", grid: anybody, input: func(*target, string) object { return object{"title": "made"} }},
	{name: "blueprint.update", how: "title", grid: managedSeen, input: func(x *target, column string) object {
		return object{"id": x.blueprint, "title": "new title by " + column}
	}},
	{name: "blueprint.update", how: "map and variables", grid: managedSeen, input: func(x *target, column string) object {
		return object{
			"id": x.blueprint, "blueprint_map": object{"nodes": []any{node("by "+column, "merge", object{})}},
			"environment_variables": []any{object{"name": "token", "secret": true, "default": nil}},
		}
	}, spoils: true},
	{name: "blueprint.update", how: "visibility", grid: managedSeen.with("ours", "fff fs fss s").with("public", "fff fs fss s"), input: func(x *target, _ string) object {
		return object{"id": x.blueprint, "visibility": map[bool]string{true: "private", false: "public"}[x.kind == "public"]}
	}, spoils: true},
	{name: "blueprint.update", how: "source", grid: managedSeen, input: func(x *target, column string) object {
		return object{"id": x.blueprint, "source": "sync:matrix:" + x.blueprint + ":" + column}
	}},
	{name: "blueprint.delete", grid: administered, input: byID, spoils: true},
	{name: "blueprint.validate", grid: anybody, keeps: true, input: func(*target, string) object { return object{"blueprint_map": object{"nodes": []any{}}} }},
	{name: "blueprint.evaluateExpressions", how: "over data", grid: anybody, keeps: true, input: func(*target, string) object { return evaluating(nil, "1") }},
	{name: "blueprint.evaluateExpressions", how: "over a run", grid: runReached.with("viewed", "n.n ff fff f"), keeps: true, input: func(x *target, _ string) object {
		return evaluating(object{"executionId": x.run}, "inputData")
	}},
	{name: "blueprint.execute", grid: executed, input: byID},

	{name: "execution.executeBlueprintWithLogging", how: "stored nodes", grid: executed, input: executing((*target).nodes)},
	{name: "execution.executeBlueprintWithLogging", how: "other nodes", grid: managed, input: executing(func(*target) []any {
		return []any{node("mine", "template", object{"text": "{{token}}"})}
	})},
	{name: "execution.getExecutionStatus", grid: runStatus, input: byRun},
	{name: "execution.getRecord", grid: runReached, input: byRun},
	{name: "execution.getExchanges", grid: runReached, input: byRun},
	{name: "execution.export", grid: runExported, input: byRun},
	{name: "execution.exportTest", grid: runExported, input: byRun},
	{name: "execution.subscribe", grid: runReached, input: byRun},
	{name: "execution.getExecutionLogs", input: byBlueprint, fresh: true, grid: grid{
		"ours":      "fff xx xxx x",
		"public":    "--- xx xxx x",
		"viewed":    "-o- xx xxx x",
		"theirs":    "xff ff fff f",
		"deleted":   "nnn nn nnn n",
		"unknown":   "nnn nn nnn n",
		"malformed": "bbb bb bbb b",
	}},
	{name: "execution.listRecentExecutions", input: func(*target, string) object { return object{"limit": 100} }, fresh: true, grid: grid{
		"ours":    "--- xx xxx x",
		"public":  "--- xx xxx x",
		"viewed":  "-x- xx xxx x",
		"theirs":  "x-- -- --- -",
		"deleted": "--- -- --- x",
	}},
	{name: "execution.listRecentExecutions", how: "of an organization", fresh: true, input: func(x *target, _ string) object {
		return object{"limit": 100, "organizationId": x.organization}
	}, grid: grid{
		"ours":      "fff ff xxx x",
		"public":    "fff ff xxx x",
		"viewed":    "fff ff xxx x",
		"theirs":    "xff ff fff f",
		"deleted":   "fff ff --- x",
		"unknown":   "fff ff fff f",
		"malformed": "bbb bb bbb b",
	}},
	{name: "execution.listRuns", input: func(*target, string) object { return object{"limit": 100} }, fresh: true, grid: grid{
		"ours":    "--- xx xxx x",
		"public":  "--- xx xxx x",
		"viewed":  "-x- xx xxx x",
		"theirs":  "x-- -- --- -",
		"deleted": "--- -- --- x",
	}},
	{name: "execution.listRuns", how: "of a blueprint", input: byBlueprint, fresh: true, grid: grid{
		"ours":      "fff xx xxx x",
		"public":    "--- xx xxx x",
		"viewed":    "-o- xx xxx x",
		"theirs":    "xff ff fff f",
		"deleted":   "nnn nn nnn n",
		"unknown":   "nnn nn nnn n",
		"malformed": "bbb bb bbb b",
	}},
	{name: "execution.listRuns", how: "of a trigger", input: byWebhook, grid: seen.with("ours", "fff -- --- -").with("public", "--- -- --- -").with("theirs", "-ff ff fff f")},
	{name: "execution.listRuns", how: "of an organization", fresh: true, input: func(x *target, _ string) object {
		return object{"limit": 100, "organizationId": x.organization}
	}, grid: grid{
		"ours":      "fff ff xxx x",
		"public":    "fff ff xxx x",
		"viewed":    "fff ff xxx x",
		"theirs":    "xff ff fff f",
		"deleted":   "fff ff --- x",
		"unknown":   "fff ff fff f",
		"malformed": "bbb bb bbb b",
	}},
	{name: "execution.listRuns", how: "that wait", fresh: true, input: func(*target, string) object { return object{"status": "paused"} }, grid: grid{
		"ours": "--- tt ttt t", "public": "--- tt ttt t", "viewed": "-t- tt ttt t", "theirs": "t-- -- --- -", "deleted": "--- -- --- -",
	}},
	{name: "execution.listRuns", how: "by id", input: func(x *target, _ string) object { return object{"search": x.run} }, grid: runReached.with("ours", "--- xx xxx x").with("public", "--- xx xxx x").
		with("viewed", "-x- xx xxx x").with("theirs", "x-- -- --- -").with("deleted", "--- -- --- x").with("unknown", "--- -- --- -").with("malformed", "--- -- --- -")},
	{name: "execution.getStatistics", how: "of a blueprint", grid: managed, input: byBlueprint},
	{name: "execution.getStatistics", how: "of an organization", grid: membership, input: func(x *target, _ string) object { return object{"organizationId": x.organization} }},
	{name: "execution.getStatistics", how: "of all", grid: anybody, input: nothing},
	{name: "execution.resume", how: "human", grid: runChanged, spoils: true, input: func(x *target, _ string) object {
		return object{"executionId": x.human, "input": object{"answer": 1}}
	}},
	{name: "execution.resume", how: "approval", grid: runChanged.with("viewed", "nfn .. ... ."), spoils: true, input: func(x *target, _ string) object {
		return object{"executionId": x.approval, "input": object{"approved": true}}
	}},
	{name: "execution.cancel", grid: runChanged, spoils: true, input: func(x *target, _ string) object { return object{"executionId": x.human} }},
	// A deleted blueprint cannot be run again, even by users who see the old run.
	{name: "execution.retry", grid: runReached.with("deleted", "nnn nn nnn n"), input: func(x *target, _ string) object {
		return object{"executionId": x.run, "fromNodeId": "choose"}
	}},
	// Nor does anyone edit data that they cannot see.
	{name: "execution.fork", grid: runReached.with("viewed", "n.n ff fff f").with("deleted", "nnn nn nnn n"), input: func(x *target, _ string) object {
		return object{"executionId": x.run, "fromNodeId": "choose", "input": object{}}
	}},

	{name: "blueprintTriggers.list", grid: managedSeen, input: byBlueprint},
	{name: "blueprintTriggers.listAll", fresh: true, input: nothing, grid: grid{
		"ours": "--- ss sss s", "public": "--- ss sss s", "theirs": "s-- -- --- -", "deleted": "--- -- --- -",
	}},
	{name: "blueprintTriggers.listAll", how: "of an organization", fresh: true, input: func(x *target, _ string) object { return object{"organizationId": x.organization} },
		grid: membership.with("ours", "fff ff sss s").with("theirs", "sff ff fff f")},
	{name: "blueprintTriggers.getDetails", grid: managedSeen, input: byWebhook},
	{name: "blueprintTriggers.getWebhookUrl", grid: managedSeen, input: byWebhook},
	{name: "blueprintTriggers.history", grid: managed, input: byWebhook},
	{name: "blueprintTriggers.preview", grid: anybody, input: func(*target, string) object { return object{"cron": "0 0 * * *"} }},
	{name: "blueprintTriggers.create", grid: managed, input: func(x *target, _ string) object {
		return object{"blueprintId": x.blueprint, "triggerType": "manual"}
	}},
	{name: "blueprintTriggers.update", grid: managedSeen, input: func(x *target, column string) object {
		return object{"triggerId": x.webhook, "config": object{"note": column}}
	}},
	{name: "blueprintTriggers.delete", grid: managed, input: byWebhook, spoils: true},
	{name: "blueprintTriggers.fire", grid: managed, input: byWebhook},
	{name: "blueprintTriggers.explain", grid: firingReached, input: byFiring},
	{name: "blueprintTriggers.redeliver", grid: firingReached, input: byFiring},
	{name: "blueprintTriggers.redeliver", how: "several", grid: managed, input: func(x *target, _ string) object {
		return object{"triggerId": x.api, "decision": "started", "from": "2000-01-01T00:00:00Z", "limit": 1, "again": true}
	}},
	{name: "blueprintTriggers.rotateSecret", grid: managed, input: byWebhook, spoils: true},

	{name: "mcpTool.list", input: nothing, fresh: true, grid: grid{
		"ours": "--- tt ttt t", "public": "--- tt ttt t", "theirs": "t-- -- --- -", "deleted": "--- -- --- -",
	}},
	// The creator's own is enabled already; they name the webhook, which is not a tool.
	{name: "mcpTool.enable", grid: executed.with("ours", "fff .. ... b").with("public", "... .. ... b").with("theirs", "bff ff fff f"), input: func(x *target, column string) object {
		if x.people[column].ID == x.owner.ID {
			return byWebhook(x, column)
		}
		return object{"triggerId": x.api}
	}},
	{name: "mcpTool.disable", grid: executed, input: func(x *target, _ string) object { return object{"triggerId": x.api} }},

	{name: "apiKey.list", input: nothing, grid: grid{"ours": "--- -- --- x", "theirs": "x-- -- --- -"}},
	{name: "apiKey.create", grid: anybody, input: func(*target, string) object { return object{"name": "made"} }},
	{name: "apiKey.revoke", spoils: true, input: func(x *target, _ string) object { return object{"id": x.key} }, grid: grid{
		"ours":      "nnn nn nnn .",
		"theirs":    ".nn nn nnn n",
		"unknown":   "nnn nn nnn n",
		"malformed": "nnn nn nnn n",
	}},

	{name: "connection.list", input: nothing, grid: grid{
		"ours": "--- -- rrr r", "theirs": "r-- -- --- -", "deleted": "--- -- --- -",
	}},
	{name: "connection.list", how: "of an organization", input: func(x *target, _ string) object { return object{"organizationId": x.organization} }, grid: grid{
		"ours":      "fff ff rrr r",
		"theirs":    "rff ff fff f",
		"deleted":   "fff ff --- -",
		"unknown":   "fff ff fff f",
		"malformed": "bbb bb bbb b",
	}},
	{name: "connection.get", grid: usedSeen, input: byConnection},
	{name: "connection.get", how: "somebody's own", grid: usedSeen.with("ours", "fff ff fff r"), input: byPrivate},
	{name: "connection.create", how: "in an organization", grid: membership, input: func(x *target, _ string) object { return connectionOf(x, x.organization) }},
	{name: "connection.create", how: "of one's own", grid: anybody, input: func(x *target, _ string) object { return connectionOf(x, "") }},
	{name: "connection.update", grid: usedSeen.with("ours", "fff ff frr r"), input: func(x *target, column string) object {
		name := "new"
		if len(x.marks) > 0 {
			name = x.marks[0]
		}
		return object{"id": x.connection, "name": name + " by " + column}
	}},
	// The connection's type has no sign-in, so that permitted users get 400.
	{name: "connection.signIn", grid: used.with("ours", "fff ff bbb b").with("theirs", "bff ff fff f"), input: byConnection},
	{name: "connection.listTypes", grid: anybody, input: nothing},
	{name: "node.types", grid: anybody, input: nothing},
	{name: "server.getInfo", grid: anybody, input: nothing},
	{name: "server.getStatus", how: "of a server of somebody else", grid: grid{"none": "fff ff fff f"}, input: nothing},
	{name: "connection.delete", grid: used.with("ours", "fff ff f.. ."), input: byConnection, spoils: true},
	{name: "connection.delete", how: "somebody's own", grid: used.with("ours", "fff ff fff ."), input: byPrivate, spoils: true},
	{name: "connection.test", grid: used, input: byConnection},

	{name: "POST /v1/triggers/{triggerId}/fire", grid: managed, input: nothing, path: func(x *target) string { return "/v1/triggers/" + x.api + "/fire" }},
	// A trigger of another type has no such address.
	{name: "POST /v1/triggers/{triggerId}/fire", how: "a webhook", input: nothing, path: func(x *target) string { return "/v1/triggers/" + x.webhook + "/fire" },
		grid: managed.with("ours", "fff nn nnn n").with("public", "fff nn nnn n").with("theirs", "nff ff fff f")},
	{name: "POST /clock/advance", grid: grid{"none": "fff ff fff f"}, keeps: true, input: func(*target, string) object { return object{"by": "0s"} }, path: func(*target) string { return "/clock/advance" }},
}

// changes reports whether the call changes something if it is permitted.
func (r row) changes(kinds map[string]trpc.Kind) bool {
	return !r.keeps && (r.path != nil || kinds[r.name] == trpc.KindMutation)
}

// statuses are the letters of refusals.
var statuses = map[rune]int{'b': http.StatusBadRequest, 'f': http.StatusForbidden, 'n': http.StatusNotFound, 'c': http.StatusConflict}
