// The server behind real proxies, nginx and Caddy, with the settings of docs/deploying.md: a sign-in,
// signed webhooks, answers that are sent in pieces, and nothing in the log about the set-up.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from './support/acme.mjs';
import { makeCertificate } from './support/mail.mjs';
import { node } from './support/maps.mjs';
import { until } from './support/poll.mjs';
import { startServer, stopAll } from './support/server.mjs';

let folder, certificate, page;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'blueprintd-e2e-proxies-'));
  certificate = await makeCertificate();
  await writeFile(join(folder, 'key.pem'), certificate.key);
  page = await readFile(fileURLToPath(new URL('../../docs/deploying.md', import.meta.url)), 'utf8');
});
after(async () => {
  await certificate?.remove();
  await rm(folder, { recursive: true, force: true });
});

/** The settings of one proxy as the page has them, with every replacement made. */
function settings(first, ...replacements) {
  const block = [...page.matchAll(/```\w+ shown\n([^]*?)```/g)].map((match) => match[1]).find((text) => text.startsWith(first));
  assert.ok(block, `no block begins with ${first}`);
  return replacements.reduce((text, [from, to]) => {
    assert.ok(text.includes(from), `${from} is missing`);
    return text.replaceAll(from, to);
  }, block);
}

const proxies = {
  nginx: {
    program: process.env.NGINX,
    words: (file) => ['-c', file, '-e', 'stderr'],
    settings: (port, upstream) => `${process.getuid() === 0 ? 'user root;' : ''} daemon off; pid ${folder}/nginx.pid; events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  ${settings('server {', ['listen 443', `listen 127.0.0.1:${port}`], ['flows.example.org', 'localhost'], ['/etc/nginx/flows.crt', certificate.file], ['/etc/nginx/flows.key', join(folder, 'key.pem')], ['127.0.0.1:8787', `127.0.0.1:${upstream}`])}
}`,
  },
  Caddy: {
    program: process.env.CADDY,
    words: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
    settings: (port, upstream) => `{
  admin off
  auto_https off
}
${settings('flows.example.org {', ['flows.example.org {', `https://localhost:${port} {\n  bind 127.0.0.1\n  tls ${certificate.file} ${folder}/key.pem`], ['127.0.0.1:8787', `127.0.0.1:${upstream}`])}`,
  },
};

for (const [name, proxy] of Object.entries(proxies)) {
  describe(`behind ${name}`, () => {
    const agent = new https.Agent({ keepAlive: true });
    let server, child, port;
    before(async () => {
      port = await freePort();
      const upstream = await freePort();
      server = await startServer({ flags: ['--addr', `127.0.0.1:${upstream}`, '--public-url', `https://localhost:${port}`, '--rate-limit', '0'], onDisk: true });
      const file = join(folder, `${name}.conf`);
      await writeFile(file, proxy.settings(port, upstream));
      child = spawn(proxy.program || assert.fail(`${name} is missing; hint: name it with ${name.toUpperCase()}`), proxy.words(file), { env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }, stdio: ['ignore', 'ignore', 'pipe'] });
      process.once('exit', () => child.kill('SIGKILL'));
      let said = '';
      child.stderr.on('data', (text) => (said += text));
      await until(`${name} answers`, async () => {
        assert.equal(child.exitCode, null, said);
        return send('GET', '/healthz').then(({ status }) => status === 200 || undefined, () => undefined);
      });
    });
    after(async () => {
      agent.destroy();
      child?.kill();
      await stopAll(server);
    });

    /** Sends a request through the proxy; each piece of the answer is given to seen as it arrives, with all so far. */
    function send(method, path, { headers, body, seen = () => {} } = {}) {
      return new Promise((resolve, reject) => {
        const request = https.request({ host: '127.0.0.1', port, path, method, servername: 'localhost', ca: certificate.cert, agent, headers: { host: `localhost:${port}`, ...headers } }, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (piece) => {
            text += piece;
            seen(text);
          });
          response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
          response.on('error', reject);
        });
        request.on('error', reject);
        request.end(body);
      });
    }
    const api = (more) => ({ authorization: `Bearer ${server.key}`, 'content-type': 'application/json', ...more });
    async function call(procedure, input) {
      const { status, text } = await send('POST', `/api/trpc/${procedure}`, { headers: api(), body: JSON.stringify({ json: input }) });
      assert.equal(status, 200, text);
      return JSON.parse(text).result.data.json;
    }
    const make = async (...nodes) => (await call('blueprint.create', { title: 'proxied', blueprint_map: { nodes } })).id;

    test('a browser signs in', async () => {
      const token = /setup\?token=(\S+)/.exec(server.said())[1];
      const { status, headers, text } = await send('POST', '/app/trpc/session.setup', {
        headers: { 'content-type': 'application/json', origin: `https://localhost:${port}` },
        body: JSON.stringify({ json: { token, email: 'ada@example.org', name: 'Ada', password: 'a heron stands in the reeds' } }),
      });
      assert.equal(status, 200, text);
      assert.ok(headers['set-cookie'].some((cookie) => cookie.startsWith('__Host-blueprintd=')));
      for (const cookie of headers['set-cookie']) assert.match(cookie, /; Secure/);
    });

    test('signed webhooks of 4 MiB arrive unchanged', async () => {
      const id = await make(node('size', 'code', { source: 'return inputData.text.length' }));
      const trigger = await call('blueprintTriggers.create', { blueprintId: id, triggerType: 'webhook', config: { secret: 'swordfish', respond: 'wait' } });
      const body = `{ "text" :\n\t"${'é'.repeat(2 << 20)}"}`;
      const signature = createHmac('sha256', 'swordfish').update(body).digest('hex');
      for (const framing of [{ 'content-length': Buffer.byteLength(body) }, { 'transfer-encoding': 'chunked' }]) {
        const { status, text } = await send('POST', `/webhooks/blueprint/${trigger.id}`, { headers: { 'content-type': 'application/json', 'x-webhook-signature': signature, ...framing }, body });
        assert.equal(status, 200, text);
        assert.equal(text.trim(), String(2 << 20));
      }
    });

    test('events arrive while the run waits for an answer', async () => {
      const ask = node('ask', 'approval-gate', { prompt: 'Ship it?' });
      const { executionId } = await call('execution.executeBlueprintWithLogging', { nodes: [ask], options: { blueprintId: await make(ask) } });
      let resumed;
      const { text } = await send('GET', `/api/trpc/execution.subscribe?input=${encodeURIComponent(JSON.stringify({ json: { executionId } }))}`, {
        headers: api({ accept: 'text/event-stream' }),
        seen: (far) => {
          if (far.includes('"status":"paused"')) resumed ??= call('execution.resume', { executionId, input: { approved: true } });
        },
      });
      await resumed;
      assert.match(text, /"status":"completed"/);
    });

    test('a line of a batch arrives before the other call ends', async () => {
      const [slowId, quickId] = [await make(node('wait', 'wait', { durationMs: 1000 })), await make(node('set', 'set', { values: {} }))];
      const pieces = [];
      const { text } = await send('POST', '/api/trpc/blueprint.execute,blueprint.execute?batch=1', {
        headers: api({ 'trpc-accept': 'application/jsonl' }), body: JSON.stringify({ 0: { json: { id: slowId } }, 1: { json: { id: quickId } } }), seen: (far) => pieces.push(far),
      });
      const [slow, quick] = ['{"json":[0,', '{"json":[1,'];
      assert.ok(text.includes(slow), text);
      assert.ok(pieces.some((far) => far.includes(quick) && !far.includes(slow)), text);
    });

    test('no batch is cut off', async () => {
      const id = await make(node('wait', 'wait', { durationMs: 5 }));
      const answers = await Promise.all(Array.from({ length: 8 }, async () => {
        const texts = [];
        for (let i = 0; i < 25; i++) {
          texts.push(await send('POST', '/api/trpc/blueprint.execute,blueprint.execute?batch=1', {
            headers: api({ 'trpc-accept': 'application/jsonl' }), body: JSON.stringify({ 0: { json: { id } }, 1: { json: { id } } }),
          }).then(({ text }) => text, ({ code }) => code));
        }
        return texts;
      }));
      assert.deepEqual(answers.flat().filter((text) => !text.includes('{"json":[0,') || !text.includes('{"json":[1,')), []);
    });

    test('nothing is wrong with the set-up', async () => {
      assert.equal((await send('GET', '/metrics')).status, 404);
      assert.doesNotMatch(server.said(), /level=WARN/);
    });
  });
}
