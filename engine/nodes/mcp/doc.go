// Package mcp lists and calls the tools of Model Context Protocol servers over
// streamable HTTP.
//
// A Session lasts for one attempt of a node. Its requests go through the guarded client
// with the connection's credentials. There is no other transport: a connection is an
// address, and cannot start a program.
//
// Servers are not trusted. A response may have 10 MiB after decompression, a list of
// tools 1,000 of them in 10 MiB, and quoted messages are cut after 500 characters. An
// exchange lasts at most the connection's timeoutMs (default 60 s, at most 1 h) and
// makes at most 100 requests. Requests of a server to the client are refused.
//
// Failures are *blueprint.Failure with one of these codes:
//
//	bad_config           the connection's config is not one of an MCP server
//	connection_unavailable  the connection is of another type
//	connect_failed       no connection, or one that broke off
//	address_refused, too_many_redirects, tls_failed, timeout, too_large
//	http_status          an HTTP error that is not one of the protocol
//	mcp_error            the server refused the call or violated the protocol
//
// Errors of the connection's credentials (host_not_allowed, or a *blueprint.Pause) are
// unchanged. NotSent says that no tool was called.
package mcp
