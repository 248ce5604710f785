// Package sandbox replaces the network: a Sandbox is an outbound.Network that answers the
// requests of nodes and connections, so that no real service is reached.
//
// # Answers
//
// The first matching rule that has not reached its number of uses answers. Otherwise a fake
// does, chosen by path and content, whatever the host: chat completions of OpenAI, messages
// of Anthropic and the models of both; an MCP server that has every tool; Slack's
// chat.postMessage, auth.test, conversations.list and conversations.info; the token endpoint
// of OAuth; a mail server. Any other request is echoed.
//
// # Calls
//
// Each request and its answer is a blueprint.Exchange in a bounded list. Credentials of
// connections are "***" in it, or left out of a URL, and so are the secrets in a token
// request.
//
// # Time and randomness
//
// Times come from the clock, ids from streams named after the requesting node, so that a
// seed and a virtual clock reproduce the answers. Delays of rules are in real time, as the
// timeouts of nodes are.
//
// # Pauses
//
// A rule may pause the run: Catalogue wraps node types so that the run waits as at a human
// node, and the answer is the node's output.
package sandbox
