// Package llm asks language models. It speaks two protocols over the guarded
// client of package outbound: chat completions, POST {baseUrl}/chat/completions,
// as OpenAI publishes it and most other servers understand it, and messages,
// POST {baseUrl}/v1/messages, as Anthropic publishes it. A baseUrl is what the
// provider's own libraries take: https://api.openai.com/v1,
// https://api.anthropic.com, http://127.0.0.1:11434/v1.
//
// # Conversations
//
// A Request holds the whole conversation so far; servers remember nothing. What
// a model answered is put back into the next request as it came (Message.Raw),
// because some models insist on seeing their own reasoning and signatures
// unchanged. When the provider has changed meanwhile it is written anew from
// its text and calls.
//
// # Answers that must be JSON
//
// With a Schema the model is held to it by the provider where that works:
// response_format on the one side, output_config.format on the other. Both take
// only a part of JSON Schema. What does not fit, and servers that refuse with
// 400 or 422, are asked in words instead, which a Client remembers. Forcing a
// call of a tool, the older way, is refused by models that always think. Either
// way the answer is not checked here: JSON reads it, and the caller validates.
//
// # Failures
//
// They are *blueprint.Failure with one of the codes below, and name the host,
// what the provider said in one short line, and never a credential. What went
// wrong on the way to the server comes as outbound.Client.Do gave it.
//
//	invalid_request    the provider does not take the request (permanent)
//	unauthorized       the credentials are not accepted
//	quota_exceeded     the account has nothing left
//	rate_limited       too many requests; RetryAfter when it was told
//	context_too_long   the conversation does not fit the model (permanent)
//	provider_error     the provider failed
//	model_refused      the model, or a filter, declined to answer
//	truncated          the answer was cut off where all of it was needed
//	bad_answer         the answer is not of the protocol
//	too_large          a request or an answer is beyond MaxRequest, MaxAnswer
//	bad_config         the connection cannot be used (permanent)
package llm
