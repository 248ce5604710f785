// Package nodes is the catalogue of node types; its file listing is the list of
// them. A type is one file: a struct for its config, what it says of itself, and
// the function that runs it. Types share no state and remember nothing between
// runs.
//
// # Configs
//
// A config struct describes itself by tags, and define derives from it the JSON
// Schema of the form, the check that needs no run, and the decoding for a run:
//
//	key          the name in config
//	doc          what it is for
//	required     "true" when it must be given
//	enum         the texts that it may be, separated by |
//	default      what holds when it is not given, as JSON
//	minimum, maximum  for numbers
//	title        its name for people, when the key does not tell
//	form         what a form shows it as, when its type does not tell; see hint
//
// Before a run the strings of a config may hold templates, so a check accepts
// any string with "{{" where a number, an object or another kind of value is
// asked for, and the schema says so. In a run they have been resolved, and what
// does not fit is a failure with the code bad_config. Null stands for "not
// given" wherever a key does not take any JSON value. Keys that a type does not
// know are a warning.
//
// Texts (the type text) take any value in a run: numbers, booleans and null by
// their words, objects and arrays as JSON, as a template does inside other text.
//
// # Expressions
//
// Keys of the type expression hold the bare source and are never resolved as
// templates. Braces around the whole of it, {{ x > 1 }} or {{= x > 1 }}, are
// accepted and left out, since no expression can begin with two braces; a check
// warns of them.
//
// # Failures
//
// What a type reports by itself has one of the codes bad_config, not_boolean,
// expired, address_refused, connect_failed, connection_unavailable,
// host_not_allowed, http_status, pagination_failed, timeout, tls_failed, too_large
// and too_many_redirects. Errors of expressions pass through as they are. Only a
// bad config, a missing connection and a host that is not allowed are permanent.
// Prompts add those of package llm, schema_mismatch, too_many_steps and bad_state.
//
// Messages add rejected, recipients_rejected, login_failed and outcome_unknown
// for email, and for Slack its own errors, such as channel_not_found, or
// slack_error. What a server refuses for good is permanent. Since a message must
// not come twice, a failure says whether it may have been sent: it was not when
// the other side said no, or did not have all of it yet.
//
// Tools have the codes of package mcp, unknown_tool, and tool_failed with the
// tool's own words.
//
// Code has the codes of package script: timeout, memory_exceeded,
// output_too_large, script_error, syntax_error, sandbox_unavailable and
// sandbox_failed.
package nodes

import (
	"context"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/engine/nodes/mcp"
	"blueprintd/engine/script"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/outbound"
)

// Dependencies is what the types use of the outside.
type Dependencies struct {
	// HTTP sends the requests of blueprints. Nil means a client that reaches
	// the public internet only.
	HTTP *outbound.Client
	// MCP opens sessions with MCP servers; nil means a client over HTTP.
	MCP *mcp.Client
	// Scripts runs the code of blueprints; nil means that it cannot be run.
	Scripts *script.Pool
	// Files opens a file that came with what started a run: CodeNotFound when
	// there is none of that id. Nil means that there are none.
	Files func(ctx context.Context, authority blueprint.Authority, executionID, fileID string) (file blueprint.File, content []byte, err error)
	// Clock tells the time to reckon with; nil means the machine's.
	Clock clock.Clock
	// UserAgent names this program to other servers; "" means "blueprintd".
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
	if d.UserAgent == "" {
		d.UserAgent = "blueprintd"
	}
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
