// Package llm calls language models. It speaks two protocols over the guarded client of
// package outbound: OpenAI's chat completions, POST {baseUrl}/chat/completions, which
// most other servers support, and Anthropic's messages, POST {baseUrl}/v1/messages. A
// baseUrl is that of the provider's own libraries: https://api.openai.com/v1,
// https://api.anthropic.com, http://127.0.0.1:11434/v1.
//
// # Conversations
//
// A Request holds the whole conversation; servers are stateless. A model's message is
// sent back unchanged (Message.Raw), since some models require their own reasoning and
// signatures. If the provider has changed it is rebuilt from its text and calls.
//
// # JSON responses
//
// A Schema is enforced by the provider where possible: by response_format or
// output_config.format. Both support only a part of JSON Schema. For other schemas, and
// for servers that refuse with 400 or 422 (which a Client remembers), the schema is part
// of the prompt instead. Forcing a tool call, the older way, is refused by models that
// always think. Responses are not validated here: JSON decodes one, the caller checks.
//
// # Failures
//
// They are *blueprint.Failure with one of the codes below and name the host and the
// provider's message in one short line, never a credential. Errors of the network are
// those of outbound.Client.Do.
//
//	invalid_request    the provider does not take the request (permanent)
//	unauthorized       the credentials are not accepted
//	quota_exceeded     the account has nothing left
//	rate_limited       too many requests; RetryAfter if the provider sent it
//	context_too_long   the conversation does not fit the model (permanent)
//	provider_error     the provider failed
//	model_refused      the model, or a filter, declined to answer
//	truncated          the answer was cut off where all of it was needed
//	bad_answer         the answer is not of the protocol
//	too_large          a request or an answer is beyond MaxRequest, MaxAnswer
//	bad_config         the connection cannot be used (permanent)
package llm
