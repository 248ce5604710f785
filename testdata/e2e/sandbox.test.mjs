// serve --sandbox as the backend of a client under test: the official tRPC client receives
// injected faults like those of a real server, and calls of its blueprints are answered by
// fakes and listed.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createTRPCClient, httpBatchLink, httpBatchStreamLink, httpLink, retryLink, TRPCClientError } from '@trpc/client';
import superjson from 'superjson';
import { node } from './support/maps.mjs';
import { startServer, stopAll } from './support/server.mjs';

let server, client, headers;
const using = (...links) => createTRPCClient({ links });
const to = () => ({ url: server.baseUrl, headers, transformer: superjson });

async function sandbox(method, path, body) {
  const response = await fetch(`${server.apiHost}/sandbox${path}`, { method, headers: { ...headers, 'content-type': 'application/json' }, body: body && JSON.stringify(body) });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text);
}
const rules = (...list) => sandbox('PUT', '/rules', { rules: list });
const calls = async (query = '') => (await sandbox('GET', `/calls${query}`)).calls;
const run = async (...nodes) => {
  const { id } = await client.blueprint.create.mutate({ title: 'In a box', blueprint_map: { nodes } });
  return client.blueprint.execute.mutate({ id });
};
const connection = async (type, config) => (await client.connection.create.mutate({ name: type, type, config })).id;

before(async () => {
  server = await startServer({ flags: ['--sandbox'] });
  headers = { authorization: `Bearer ${server.key}` };
  client = using(httpLink(to()));
});
beforeEach(() => sandbox('DELETE', ''));
after(() => stopAll(server));

describe('faults of procedures', () => {
  test('429 with Retry-After, then success', async () => {
    await rules({ match: { procedure: 'server.getInfo' }, times: 2, answer: { status: 429, headers: { 'Retry-After': '3' } } });
    const seen = [];
    const patient = using(
      retryLink({ retry: ({ error, attempts }) => { seen.push([error.data.code, error.data.httpStatus, error.data.path, error.shape.code, error.meta.response.headers.get('retry-after')]); return attempts <= 3; }, retryDelayMs: () => 1 }),
      httpLink(to()),
    );
    const info = await patient.server.getInfo.query();
    assert.equal(info.sandbox, true);
    const refusal = ['TOO_MANY_REQUESTS', 429, 'server.getInfo', -32029, '3'];
    assert.deepEqual(seen, [refusal, refusal]);
  });

  for (const [name, link] of [['batch', httpBatchLink], ['streamed batch', httpBatchStreamLink]]) {
    test(`one failed call of a ${name}`, async () => {
      await rules({ match: { procedure: 'blueprint.*' }, times: 1, answer: { status: 503, body: { message: 'the runner is away' } } });
      const batch = using(link(to()));
      const [bad, good] = await Promise.allSettled([batch.blueprint.get.query({ id: '00000000-0000-4000-8000-000000000000' }), batch.server.getInfo.query()]);
      assert.equal(bad.status, 'rejected');
      assert(bad.reason instanceof TRPCClientError);
      assert.deepEqual([bad.reason.message, bad.reason.data?.httpStatus], ['the runner is away', 503]);
      assert.equal(good.value?.sandbox, true);
    });
  }

  test('a failed call starts no run', async () => {
    const { id } = await client.blueprint.create.mutate({ title: 'Not run', blueprint_map: { nodes: [node('t', 'template', { text: 'x' })] } });
    await rules({ match: { procedure: 'blueprint.execute' }, answer: { status: 503 } });
    await assert.rejects(client.blueprint.execute.mutate({ id }), (error) => error.data.code === 'SERVICE_UNAVAILABLE');
    const { logs } = await client.execution.getExecutionLogs.query({ blueprintId: id });
    assert.deepEqual(logs, []);
  });

  for (const answer of [{ close: true }, { close: true, status: 200, body: { half: 'an answer' } }]) {
    test(`a broken connection: ${JSON.stringify(answer)}`, async () => {
      await rules({ match: { procedure: 'server.getInfo' }, times: 1, answer });
      await assert.rejects(client.server.getInfo.query(), (error) => error instanceof TRPCClientError && error.data === undefined);
      assert.equal((await client.server.getInfo.query()).sandbox, true);
    });
  }

  test('a delayed response meets the timeout of the client', async () => {
    await rules({ match: { procedure: 'server.getInfo' }, answer: { delayMs: 5000 } });
    await assert.rejects(client.server.getInfo.query(undefined, { signal: AbortSignal.timeout(100) }));
  });
});

describe('fakes', () => {
  test('an echo, overridden by a rule', async () => {
    const get = node('get', 'http-request', { url: 'https://api.example.com/orders?page=2' });
    const echo = await run(get);
    assert.deepEqual([echo.result.output.body.method, echo.result.output.body.query], ['GET', { page: '2' }]);
    await rules({ match: { host: 'api.example.com' }, times: 1, answer: { status: 404 } });
    const missing = await run(get);
    assert.match(missing.result.error.message, /answered 404/);
    const listed = await calls('?host=api.example.com');
    assert.deepEqual(listed.map(({ nodeId, nodeType, request, response }) => [nodeId, nodeType, request.method, request.url, response.status]), [
      ['get', 'http-request', 'GET', 'https://api.example.com/orders?page=2', 200],
      ['get', 'http-request', 'GET', 'https://api.example.com/orders?page=2', 404],
    ]);
  });

  test('a pause, answered as a human would', async () => {
    await rules({ match: { nodeType: 'http-request' }, answer: { pause: { prompt: 'Is it fine?' } } });
    const { executionId } = await run(node('get', 'http-request', { url: 'https://api.example.com/' }));
    const paused = await client.execution.getExecutionStatus.query({ executionId });
    assert.deepEqual([paused.status, paused.awaitingInput.nodeId, paused.awaitingInput.prompt], ['paused', 'get', 'Is it fine?']);
    await client.execution.resume.mutate({ executionId, input: { fine: true } });
    let ended = await client.execution.getExecutionStatus.query({ executionId });
    for (let i = 0; ended.status === 'running' && i < 100; i++) ended = await client.execution.getExecutionStatus.query({ executionId });
    assert.deepEqual([ended.status, ended.steps[0].output], ['completed', { fine: true }]);
  });

  test('a chat model, with both protocols', async () => {
    for (const provider of ['openai', 'anthropic']) {
      const connectionId = await connection('ai-provider', { provider, apiKey: 'sk-nobody' });
      const { result } = await run(node('ask', 'ai-prompt', {
        connectionId, model: 'any', prompt: 'Who are you?', responseSchema: { type: 'object', properties: { name: { type: 'string' }, sure: { type: 'boolean' } }, required: ['name', 'sure'], additionalProperties: false },
      }));
      assert.deepEqual(result.output.json, { name: 'text', sure: true }, provider);
      assert(result.output.usage.inputTokens > 0);
    }
  });

  test('Slack, and a refusal by a rule', async () => {
    const connectionId = await connection('slack', { botToken: 'xoxb-nobody' });
    const post = node('post', 'send-slack', { connectionId, channel: '#general', text: 'Hello' });
    const first = await run(post), second = await run(post);
    assert.equal(first.result.output.channel, 'C0GENERAL');
    assert(first.result.output.ts < second.result.output.ts);
    await rules({ match: { nodeType: 'send-slack' }, answer: { body: { ok: false, error: 'channel_not_found' } } });
    assert.equal((await run(post)).result.error.code, 'channel_not_found');
    assert.equal((await client.connection.test.mutate({ id: connectionId })).ok, true);
  });

  test('mail with STARTTLS', async () => {
    const connectionId = await connection('smtp', { host: 'mail.example.com', port: 587, username: 'u', password: 'p', tls: 'starttls', from: 'Shop <shop@example.com>' });
    const { success } = await run(node('send', 'send-email', { connectionId, to: 'ada@example.org', subject: 'Ünïcode', text: 'Hello Ada' }));
    assert.equal(success, true);
    const [{ request, response }] = await calls('?nodeType=send-email');
    assert.deepEqual([request.method, request.url, request.headers.to, request.headers.subject, request.body.trim(), response.status],
      ['MAIL', 'smtp://mail.example.com:587', 'ada@example.org', 'Ünïcode', 'Hello Ada', 250]);
  });

  test('a signed webhook to a trigger of the sandbox', async () => {
    const { id } = await client.blueprint.create.mutate({ title: 'Pushed', blueprint_map: { nodes: [node('t', 'template', { text: '{{inputData.ref}}' })] } });
    const trigger = await client.blueprintTriggers.create.mutate({ blueprintId: id, triggerType: 'webhook', config: { secret: 'shared', preset: 'github' } });
    const { request, response } = await sandbox('POST', '/send', { webhook: trigger.id, body: { ref: 'refs/heads/main' } });
    assert.match(request.headers['x-hub-signature-256'], /^sha256=[0-9a-f]{64}$/);
    assert.deepEqual([response.status, response.body.success], [202, true], JSON.stringify(response));
  });

  test('verifies expectations', async () => {
    await sandbox('PUT', '/expectations', { expect: [{ match: { host: 'api.example.com' }, times: 1, request: { body: { n: 1 } } }] });
    assert.equal((await sandbox('POST', '/verify')).met, false);
    await run(node('post', 'http-request', { method: 'POST', url: 'https://api.example.com/', body: { n: 1, more: true } }));
    assert.deepEqual(await sandbox('POST', '/verify'), { met: true, unmet: [] });
    await sandbox('PUT', '/expectations', { expect: [] });
  });
});
