// Package nodes is the catalogue of node types. A type is one file: a struct for its
// config, its description, and the function that runs it. Types share no state and
// keep none between runs.
//
// # Configs
//
// A config struct describes itself by tags, and define derives from it the JSON
// Schema of the form, the check that needs no run, and the decoding for a run:
//
//	key          the name in config
//	doc          description
//	required     "true" or absent
//	enum         allowed texts, separated by |
//	default      as JSON
//	minimum, maximum  for numbers
//	title        label, if not derived from the key
//	form         presentation in a form, if not derived from the type; see hint
//
// Before a run the strings of a config may hold templates, so a check accepts any string
// with "{{" in place of a number, an object or another kind of value, and the schema says
// so. In a run they have been resolved, and an invalid value is a failure with the code
// bad_config. Null means absent, unless any JSON value is allowed. Unknown keys warn.
//
// Texts (the type text) accept any value in a run and format it as a template does.
//
// # Expressions
//
// Keys of the type expression hold the source without braces; templates are not
// resolved in them. Braces around all of it, {{ x > 1 }} or {{= x > 1 }}, are removed
// with a warning, since no expression begins with two braces.
//
// # Failures
//
// Types report the codes bad_config, not_boolean, expired, address_refused,
// connect_failed, connection_unavailable, host_not_allowed, http_status,
// pagination_failed, timeout, tls_failed, too_large and too_many_redirects. Errors of
// expressions are unchanged. Only a bad config, a missing connection and a host that is
// not allowed are permanent. Prompts add those of package llm, schema_mismatch,
// too_many_steps and bad_state; tools those of package mcp, unknown_tool and
// tool_failed; code those of package script.
//
// Messages add rejected, recipients_rejected, login_failed and outcome_unknown for
// email, and for Slack its own errors, such as channel_not_found, or slack_error. A
// permanent refusal is permanent. Since a message must not be sent twice, a failure
// says whether it may have been: not if the server refused it or did not have all of it.
package nodes

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/engine/nodes/mcp"
	"blueprintd/engine/script"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/outbound"
)

type Dependencies struct {
	// HTTP sends the requests of blueprints; nil = a client for the public internet
	// only.
	HTTP *outbound.Client
	// MCP opens sessions with MCP servers; nil = a client over HTTP.
	MCP *mcp.Client
	// Scripts runs the code of blueprints; nil = not available.
	Scripts *script.Pool
	// Files opens a file of the delivery that started a run; CodeNotFound. May be nil.
	Files func(ctx context.Context, authority blueprint.Authority, executionID, fileID string) (file blueprint.File, content []byte, err error)
	// Clock defaults to the machine's.
	Clock clock.Clock
	// UserAgent defaults to "blueprintd".
	UserAgent string
}

// All returns every node type, sorted by name.
func All(d Dependencies) []*blueprint.NodeType {
	if d.HTTP == nil {
		d.HTTP = outbound.New(outbound.Options{})
	}
	if d.Clock == nil {
		d.Clock = clock.Real{}
	}
	d.UserAgent = cmp.Or(d.UserAgent, "blueprintd")
	if d.MCP == nil {
		d.MCP = mcp.New(d.HTTP, "dev")
	}
	all := []*blueprint.NodeType{
		aiPrompt(d),
		approvalGate(),
		code(d),
		conditional(),
		forEach(),
		subBlueprint(),
		emitEvent(),
		httpRequest(d),
		human(),
		log(),
		mcpTool(d),
		merge(),
		respond(),
		sendEmail(d),
		sendSlack(d),
		set(),
		stop(),
		switchCase(),
		template(),
		transform(),
		wait(),
	}
	slices.SortFunc(all, func(a, b *blueprint.NodeType) int { return strings.Compare(a.Type, b.Type) })
	return all
}
