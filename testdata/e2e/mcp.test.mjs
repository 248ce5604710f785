// The Model Context Protocol in both directions: blueprints call the tools of
// the reference server, and the official client and the inspector call
// blueprints at /mcp.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { connect } from './support/clients.mjs';
import { startEverything } from './support/everything.mjs';
import { node } from './support/maps.mjs';
import { ended, reached } from './support/poll.mjs';
import { startServer, stopAll } from './support/server.mjs';

let server, everything, client;
before(async () => {
  everything = await startEverything();
  server = await startServer({ flags: ['--rate-limit', '0', '--allow-net', '127.0.0.1/32', '--sync-timeout', '2s'] });
  client = connect(server.baseUrl, server.key);
});
after(() => stopAll(server, everything));

describe('blueprints call tools', () => {
  let connection;
  before(async () => {
    connection = await client.connection.create.mutate({ name: 'everything', type: 'mcp-server', config: { url: everything.url, timeoutMs: 20_000 } });
  });

  /** Runs one mcp-tool node; returns its step and the record of the run. */
  async function call(tool, args, more = {}) {
    const { id } = await client.blueprint.create.mutate({
      title: tool, blueprint_map: { nodes: [node('tool', 'mcp-tool', { connectionId: connection.id, tool, arguments: args }, more)] },
    });
    const { executionId } = await client.execution.executeBlueprintWithLogging.mutate({
      nodes: (await client.blueprint.get.query({ id })).blueprint_map.nodes, options: { blueprintId: id },
    });
    const status = await ended(client, executionId);
    const { logs: [record] } = await client.execution.getExecutionLogs.query({ blueprintId: id });
    return { status, step: status.steps[0], record };
  }

  test('tests the connection', async () => {
    const tried = await client.connection.test.mutate({ id: connection.id });
    assert.equal(tried.ok, true, tried.message);
    assert.match(tried.message, /everything/);
  });

  test('plain content', async () => {
    const { step, record } = await call('echo', { message: 'hi' });
    assert.deepEqual(step.output, { content: [{ type: 'text', text: 'Echo: hi' }] });
    assert.deepEqual([record.usedMcpServers, record.mcpServerCount, record.mcpServerNames], [true, 1, ['mcp-servers/everything']]);
  });

  test('numbers', async () => {
    const { step } = await call('get-sum', { a: 2, b: 3.5 });
    assert.match(step.output.content[0].text, /5\.5/);
  });

  test('structured content', async () => {
    const { step } = await call('get-structured-content', { location: 'Chicago' });
    assert.deepEqual(step.output, { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 });
  });

  test('progress before the result', async () => {
    const { step } = await call('trigger-long-running-operation', { duration: 1, steps: 4 });
    assert.match(step.output.content[0].text, /completed/i);
  });

  test('tool error', async () => {
    const { status, step, record } = await call('get-structured-content', { location: 'Atlantis' });
    assert.equal(status.status, 'failed');
    assert.ok(['tool_failed', 'mcp_error'].includes(step.error.code), step.error.code);
    assert.match(step.error.message, /location/);
    assert.deepEqual(record.mcpServerNames, ['mcp-servers/everything']);
  });

  test('unknown tool', async () => {
    const { step } = await call('ecko', {});
    assert.equal(step.error.code, 'unknown_tool');
    assert.match(step.error.message, /no tool "ecko".*echo/);
  });

  test('time limit', async () => {
    const { step } = await call('trigger-long-running-operation', { duration: 60, steps: 2 }, { timeoutMs: 500 });
    assert.equal(step.status, 'failed');
    assert.match(step.error.code, /timeout/);
  });
});

describe('blueprints are tools', () => {
  const greet = { label: 'Say Hello', inputSchema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } };
  const tools = {
    Greetings: [greet, node('t', 'transform', { expression: '{"hello": inputData.name}' })],
    'List of three': [{}, node('t', 'transform', { expression: '[1, 2, 3]' })],
    Doomed: [{}, node('s', 'stop', { failed: true, message: 'never' })],
    Patient: [{}, node('h', 'human', { prompt: '?' })],
    Slow: [{}, node('w', 'wait', { durationMs: 60_000 })],
  };
  const triggers = {};
  let key; // that may run blueprints, and not build them
  before(async () => {
    ({ key } = await client.apiKey.create.mutate({ name: 'runs blueprints', scopes: ['run'] }));
    for (const [title, [config, ...nodes]] of Object.entries(tools)) {
      const { id } = await client.blueprint.create.mutate({ title, description: `About ${title}`, status: 'published', blueprint_map: { nodes } });
      triggers[title] = await client.blueprintTriggers.create.mutate({ blueprintId: id, triggerType: 'api', config });
    }
  });

  describe('the official client', () => {
    let mcp;
    before(async () => {
      mcp = new Client({ name: 'e2e', version: '1' });
      const requestInit = { headers: { Authorization: `Bearer ${key}` } };
      await mcp.connect(new StreamableHTTPClientTransport(new URL(`${server.apiHost}/mcp`), { requestInit }));
    });
    after(() => mcp?.close());

    test('lists the tools', async () => {
      assert.equal(mcp.getServerVersion().name, 'blueprintd');
      const { tools: found } = await mcp.listTools();
      assert.deepEqual(found.map(({ name }) => name), ['say-hello', 'list-of-three', 'doomed', 'patient', 'slow']);
      const { description, inputSchema } = found[0];
      assert.deepEqual({ description, inputSchema }, { description: 'About Greetings', inputSchema: greet.inputSchema });
    });

    test('calls them', async () => {
      const hello = await mcp.callTool({ name: 'say-hello', arguments: { name: 'Ann' } });
      assert.deepEqual(hello.structuredContent, { hello: 'Ann' });
      assert.deepEqual(hello.content, [{ type: 'text', text: '{"hello":"Ann"}' }]);
      const { firings: [firing] } = await client.blueprintTriggers.history.query({ triggerId: triggers.Greetings.id });
      assert.deepEqual([firing.source, firing.decision], ['api', 'started']);
      const list = await mcp.callTool({ name: 'list-of-three', arguments: {} });
      assert.deepEqual([list.structuredContent, list.content[0].text], [{ output: [1, 2, 3] }, '[1,2,3]']);
    });

    test('receives errors', async () => {
      const bad = await mcp.callTool({ name: 'say-hello', arguments: { name: 5 } });
      assert.equal(bad.isError, true);
      assert.match(bad.content[0].text, /arguments\.name/);
      const doomed = await mcp.callTool({ name: 'doomed', arguments: {} });
      assert.equal(doomed.isError, true);
      assert.match(doomed.content[0].text, /node s: never/);
      await assert.rejects(mcp.callTool({ name: 'nothing', arguments: {} }), /unknown tool "nothing".*tools\/list/);
    });

    test('receives progress', async () => {
      for (const [name, status] of [['patient', 'paused'], ['slow', 'running']]) {
        const { isError, structuredContent, content } = await mcp.callTool({ name, arguments: {} });
        assert.notEqual(isError, true);
        assert.equal(structuredContent.status, status);
        assert.ok(content[0].text.includes(structuredContent.executionId));
        await reached(client, structuredContent.executionId, status);
        await client.execution.cancel.mutate({ executionId: structuredContent.executionId });
      }
    });

    test('needs a key', async () => {
      const stranger = new Client({ name: 'e2e', version: '1' });
      const requestInit = { headers: { Authorization: 'Bearer not-the-key' } };
      await assert.rejects(stranger.connect(new StreamableHTTPClientTransport(new URL(`${server.apiHost}/mcp`), { requestInit })), /401|UNAUTHORIZED/i);
    });
  });

  describe('the inspector', () => {
    let home;
    before(async () => (home = await mkdtemp(join(tmpdir(), 'blueprintd-e2e-'))));
    after(() => rm(home, { recursive: true, force: true }));
    const program = fileURLToPath(new URL('node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url));

    /** Runs it once; returns its exit status and its output as JSON. */
    const inspect = (...words) => new Promise((resolve) => {
      const all = [program, '--cli', `${server.apiHost}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${key}`, ...words];
      const environment = { PATH: process.env.PATH, HOME: home, MCP_CATALOG_PATH: join(home, 'catalog.json') };
      execFile(process.execPath, all, { env: environment, timeout: 60_000 }, (error, stdout, stderr) => {
        resolve({ code: error?.code ?? 0, stderr, answer: stdout.trim() && JSON.parse(stdout) });
      });
    });

    test('lists and calls', async () => {
      const { answer: { tools: found } } = await inspect('--method', 'tools/list');
      assert.deepEqual(found.map(({ name }) => name), ['say-hello', 'list-of-three', 'doomed', 'patient', 'slow']);
      const { code, answer, stderr } = await inspect('--method', 'tools/call', '--tool-name', 'say-hello', '--tool-arg', 'name=Ann');
      assert.equal(code, 0, stderr);
      assert.deepEqual(answer.structuredContent, { hello: 'Ann' });
      const failed = await inspect('--method', 'tools/call', '--tool-name', 'say-hello');
      assert.deepEqual([failed.answer.isError, failed.code !== 0], [true, true]);
    });
  });

  test('a blueprint calls a blueprint', async () => {
    const own = await client.connection.create.mutate({
      name: 'ourselves', type: 'mcp-server', config: { url: `${server.apiHost}/mcp`, auth: { type: 'bearer', token: server.key } },
    });
    const { id } = await client.blueprint.create.mutate({
      title: 'Asks', blueprint_map: { nodes: [node('ask', 'mcp-tool', { connectionId: own.id, tool: 'say-hello', arguments: { name: 'Ben' } })] },
    });
    const { success, result } = await client.blueprint.execute.mutate({ id });
    assert.deepEqual([success, result.output], [true, { hello: 'Ben' }], JSON.stringify(result));
  });
});

test('refuses pages of other origins', async () => {
  for (const [origin, status] of [['https://evil.example', 403], [server.apiHost, 200]]) {
    const answer = await fetch(`${server.apiHost}/mcp`, {
      method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      headers: { Origin: origin, Authorization: `Bearer ${server.key}`, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    });
    assert.equal(answer.status, status, await answer.text());
  }
});
