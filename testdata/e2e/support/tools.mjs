// A small MCP server over streamable HTTP, without sessions: one tool that counts its calls.
import { startService } from './service.mjs';

const tool = { name: 'weather', description: 'Returns the weather of a city.', inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } };

/** Starts it; cities are the arguments of its calls. */
export async function startTools() {
  const cities = [];
  const answers = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'Weather station', version: '1' } }),
    'tools/list': () => ({ tools: [tool] }),
    'tools/call': ({ arguments: { city } }) => {
      cities.push(city);
      return { content: [{ type: 'text', text: `It rains in ${city}.` }] };
    },
  };
  const service = await startService(({ method, text }) => {
    if (method !== 'POST') return { status: 405 };
    const { id, method: name, params } = JSON.parse(text);
    if (id === undefined) return { status: 202 };
    const answer = answers[name];
    return { body: { jsonrpc: '2.0', id, ...(answer ? { result: answer(params) } : { error: { code: -32601, message: 'unknown' } }) } };
  });
  return { ...service, cities };
}
