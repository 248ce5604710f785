// Plain HTTP requests, sent byte for byte, and their responses in a form for comparing two
// servers.
import http from 'node:http';
import net from 'node:net';

/** Sends a request to the host and returns {status, headers, text}. */
export function send(apiHost, { method, path, headers = {}, body, http10 }) {
  const { hostname, port } = new URL(apiHost);
  if (http10) return sendOld({ hostname, port, method, path, headers });
  // Node omits the length where a body is unusual (GET, DELETE, OPTIONS).
  if (body !== undefined && !headers['transfer-encoding']) headers = { ...headers, 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const request = http.request({ hostname, port, method, path, headers, agent: false }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(parts).toString() }));
      response.on('error', reject);
    });
    request.on('error', reject); // no effect after the response: the promise is settled by then
    request.end(body);
  });
}

// HTTP/1.0, which Node's own client does not support: the body ends with the connection.
function sendOld({ hostname, port, method, path, headers }) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname);
    let text = '';
    socket.on('data', (part) => (text += part));
    socket.on('error', reject);
    socket.on('end', () => {
      const [head, ...rest] = text.split('\r\n\r\n');
      const [first, ...lines] = head.split('\r\n');
      const pairs = lines.map((line) => /^([^:]+): *(.*)$/.exec(line).slice(1));
      resolve({
        status: Number(first.split(' ')[1]),
        headers: Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value])),
        text: rest.join('\r\n\r\n'),
      });
    });
    socket.write(`${method} ${path} HTTP/1.0\r\n${Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  });
}

/** The compared parts of a response: status, two headers, and the body as data. */
export function comparable({ status, headers, text }, request) {
  const contentType = headers['content-type'];
  const answer = { status, contentType, allow: headers.allow, body: readBody(text, contentType, request) };
  if (contentType === 'text/event-stream') answer.cacheControl = headers['cache-control'];
  return answer;
}

function readBody(text, contentType, { headers = {} }) {
  if (text === '') return '';
  if (contentType === 'text/event-stream') return readEvents(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    if (Object.values(headers).includes('application/jsonl')) return readStream(text);
    if (contentType.startsWith('text/plain')) return text;
    throw new Error(`neither JSON nor a stream (${error.message}): ${text.slice(0, 300)}`);
  }
}

// Server-sent events: [{event, id, data}], without keep-alives.
function readEvents(text) {
  const events = text.split(/\n\n+/).filter(Boolean).map((block) => {
    const fields = block.split('\n').filter(Boolean).map((line) => /^(\w+): ?(.*)$/.exec(line).slice(1));
    const event = Object.fromEntries(fields);
    if (event.data) event.data = JSON.parse(event.data);
    return event;
  });
  return events.filter(({ event }) => event !== 'ping');
}

// A streamed batch: one JSON document a line. The first names the chunk of each call's result;
// a chunk may refer to others. Returns the results by index, independent of the chunks.
function readStream(text) {
  if (!text.endsWith('\n')) throw new Error('every line of a stream ends with a newline');
  const [head, ...chunks] = text.split('\n').filter(Boolean).map((line) => JSON.parse(line).json);
  const byId = new Map(chunks.map(([id, ...rest]) => [id, rest]));
  const resolve = ([tree, ...references]) => {
    const value = tree[0];
    for (const [key, , id] of references) {
      if (!byId.has(id)) throw new Error(`the stream ended before chunk ${id} came`);
      const [failed, chunk] = byId.get(id);
      const part = failed ? { rejected: chunk } : resolve(chunk);
      if (key === null) return part;
      value[key] = part;
    }
    return value;
  };
  return Object.fromEntries(Object.entries(head).map(([index, value]) => [index, resolve(value)]));
}
