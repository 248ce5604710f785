// Package sandbox is the outside world in a box: a Sandbox stands where the
// network would be (outbound.Options.Instead) and answers whatever nodes and
// connections send, so that nothing real is ever reached.
//
// # Who answers
//
// First the rules, in their order: the first one that fits and has not answered
// as often as it may. Else a fake that knows what is asked, by its path and what
// it holds, whatever its host: the chat completions of OpenAI, the messages of
// Anthropic and the models of both; an MCP server that has every tool; Slack's
// chat.postMessage, auth.test, conversations.list and conversations.info; the
// token endpoint of OAuth; a mail server. Any other request is told what it was:
// an echo.
//
// # What is kept
//
// Each message and its answer is a blueprint.Exchange in a bounded list. What a
// connection adds to prove itself is "***" in it, or is left out of an address,
// and so are the secrets in a request for a token. Anything else stands there as
// it was sent, a secret that a blueprint puts into a body by itself too.
//
// # Time and chance
//
// Instants come from the clock, ids from streams that are named for the node
// that asks, so a seed and a virtual clock give the same answers again. Delays
// of rules pass in real time whatever the clock, as the time-outs of nodes do: a
// virtual clock moves on when they are over.
//
// # Pauses
//
// An answer may be a question. Catalogue wraps node types so that the run pauses
// with it as at a human node, and the answer is the node's output.
package sandbox
