// A small HTTP service on loopback, for nodes to call. It records every call and responds as
// the suite says.
import { once } from 'node:events';
import http from 'node:http';

/** answer(call) returns {status, body}; by default, every call gets 200 {"ok":true}. */
export async function startService(answer = () => ({})) {
  const calls = [];
  const server = http.createServer((request, response) => {
    let text = '';
    request.on('data', (part) => (text += part));
    request.on('end', () => {
      const call = { method: request.method, path: request.url, headers: request.headers, key: request.headers['idempotency-key'], text };
      calls.push(call);
      const { status = 200, body = { ok: true } } = answer(call, calls);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  server.keepAliveTimeout = 0; // a suite that compiles may not use its connection for long
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    calls,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
