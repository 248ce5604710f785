// Two providers of language models on loopback. They record the requests and respond in the
// full format that OpenAI and Anthropic document, with the content that the suite puts into
// `says`: texts, {calls: [{id, name, arguments}]}, or {status, error}.
import { startService } from './service.mjs';

/** A chat completion in the format of OpenAI. */
function completion(model, { text = null, calls }) {
  return {
    id: 'chatcmpl-1', object: 'chat.completion', created: 1_770_000_000, model, service_tier: 'default', system_fingerprint: 'fp_1',
    choices: [{
      index: 0, logprobs: null, finish_reason: calls ? 'tool_calls' : 'stop',
      message: {
        role: 'assistant', content: text, refusal: null, annotations: [],
        ...(calls && { tool_calls: calls.map((call) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.arguments) } })) }),
      },
    }],
    usage: {
      prompt_tokens: 40, completion_tokens: 7, total_tokens: 47,
      prompt_tokens_details: { cached_tokens: 30, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
    },
  };
}

/** A message in the format of Anthropic. */
function message(model, { text, calls }) {
  const content = [{ type: 'thinking', thinking: '', signature: 'c2lnbmVk' }];
  if (text !== undefined) content.push({ type: 'text', text, citations: null });
  for (const call of calls ?? []) content.push({ type: 'tool_use', id: call.id, name: call.name, input: call.arguments, caller: { type: 'direct' } });
  return {
    id: 'msg_1', type: 'message', role: 'assistant', model, content, container: null,
    stop_reason: calls ? 'tool_use' : 'end_turn', stop_sequence: null, stop_details: null,
    usage: {
      input_tokens: 5, output_tokens: 7, cache_creation_input_tokens: 5, cache_read_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 0 }, server_tool_use: null, service_tier: 'standard',
    },
  };
}

/** Starts both. says.push(...) queues responses; calls are the received requests. */
export async function startModels() {
  const says = [];
  const service = await startService(({ path, text }) => {
    const answer = says.shift();
    if (answer === undefined) return { status: 500, body: { error: { message: 'asked once too often' } } };
    if (answer.status) return { status: answer.status, body: { type: 'error', error: answer.error } };
    const given = typeof answer === 'string' ? { text: answer } : answer;
    const { model } = JSON.parse(text);
    return { body: path.endsWith('/chat/completions') ? completion(model, given) : message(model, given) };
  });
  return { ...service, says, asked: () => service.calls.map(({ text }) => JSON.parse(text)) };
}
