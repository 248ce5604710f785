// Package mcp asks servers of the Model Context Protocol for their tools and calls
// them, over streamable HTTP.
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
package mcp
