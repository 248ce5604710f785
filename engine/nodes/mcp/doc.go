// Package mcp speaks the Model Context Protocol over streamable HTTP, in both
// directions: Client asks servers for their tools, Handler offers ours.
//
// # As a client
//
// A Session is opened for one attempt of a node and closed at its end. Every
// request of it goes through the guarded client with the connection's own
// credentials. There is no other transport: a connection is an address, and
// nothing in it can start a program.
//
// What a server says is data from a stranger. An answer may have 10 MiB after
// decompression, a list of tools 1,000 of them in 10 MiB, and what a server
// wants to have in a message is cut after 500 characters. An exchange lasts as
// long as the connection's timeoutMs says (60 s unless set, 1 h at most), and
// makes at most 100 requests. Nobody answers what a server asks of a client.
//
// Failures are *blueprint.Failure with one of these codes:
//
//	bad_config           the connection's config is not one of an MCP server
//	connection_unavailable  the connection is of another type
//	connect_failed       no connection, or one that broke off
//	address_refused, too_many_redirects, tls_failed, timeout, too_large
//	http_status          an answer that is none of the protocol
//	mcp_error            the server refused, or broke the protocol
//
// Errors of whoever adds the credentials (host_not_allowed, or a
// *blueprint.Pause) pass as they are. NotSent says that no tool was called.
//
// # As a server
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
