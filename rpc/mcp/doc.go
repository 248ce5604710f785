// Package mcp offers blueprints as tools over the Model Context Protocol
// (streamable HTTP).
//
// Handler is stateless and without sessions: each request has the authority of its own
// key. It offers tools and resources, one JSON-RPC message in each POST, answered as JSON.
//
// A key with the scope write is offered the tools of package agents, with which a language
// model builds blueprints. The resources are the documentation and the JSON Schemas.
//
// For a key with the scope run, a tool is an active api trigger of a published blueprint: the caller's own, or
// another user's that the caller enabled with mcpTool.enable. Its name is the trigger's
// label, or else the blueprint's title, in lower case with hyphens; the name of another
// user's tool ends in _by_ and the first 8 characters of the owner's id. A second tool of
// the same name gets -2. The name is stored when the trigger is created or enabled, so that
// only the caller can change it.
//
// A call starts a run as the trigger's own endpoint does, and waits for it. A caller who
// cannot manage the blueprint runs it under their own authority instead. The result has the
// run's output as structured content, as {"output": value} unless it is an object, and as
// text. Failures and bad arguments are results with isError, so that a model can read them
// and fix its call. A run that is paused or takes longer is a result with its id and
// status.
package mcp
