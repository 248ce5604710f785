// Package mcp offers blueprints as tools over the Model Context Protocol
// (streamable HTTP).
//
// Handler is stateless: each request stands for itself, as the caller whose key
// came with it, and there are no sessions that could be taken over. It offers
// tools/list and tools/call, one JSON-RPC message in each POST, answered as
// JSON. A tool is an active api trigger of a published blueprint: the caller's own,
// or another user's that the caller enabled with mcpTool.enable. Its name is the
// trigger's label, or else the blueprint's title, in lower case with hyphens; that
// of another user's ends in _by_ and the first 8 characters of the owner's id. A
// second one of a name gets -2. Nobody but the caller changes the name of a tool:
// it is stored when the trigger is created or enabled.
//
// A call starts a run as the trigger's own address does, and waits for it. A caller
// who cannot manage the blueprint runs it under their own authority instead. The
// result has the run's output as structured content ({"output": value} when it
// is no object) and as text. What went wrong, the arguments too, is a result
// with isError, so that a model can read it and mend its call. A run that
// paused or takes longer is no error: the text tells its id and status.
package mcp
