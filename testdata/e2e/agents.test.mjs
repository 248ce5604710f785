// A scripted agent builds, breaks, repairs and tests five blueprints with the tools of
// /mcp, through the official client of the Model Context Protocol.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { connect } from './support/clients.mjs';
import { edge } from './support/maps.mjs';
import { startServer, stopAll } from './support/server.mjs';

let server, owner, agent;

/** Connects the official client with a new key. */
async function connected(scopes) {
  const { key } = await owner.apiKey.create.mutate({ name: `agent with ${scopes}`, scopes });
  const client = new Client({ name: 'e2e', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.apiHost}/mcp`), { requestInit: { headers: { Authorization: `Bearer ${key}` } } }));
  return client;
}

before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'] });
  owner = connect(server.baseUrl, server.key);
  agent = await connected(['write']);
});
after(async () => {
  await agent?.close();
  await stopAll(server);
});

/** Calls a tool that must succeed; the text is the structured content. */
async function call(name, args = {}) {
  const { isError, structuredContent, content } = await agent.callTool({ name, arguments: args });
  assert.notEqual(isError, true, JSON.stringify(structuredContent));
  assert.deepEqual(JSON.parse(content[0].text), structuredContent);
  return structuredContent;
}

/** Calls a tool that must be refused. */
async function refused(name, args = {}) {
  const { isError, structuredContent } = await agent.callTool({ name, arguments: args });
  assert.equal(isError, true, JSON.stringify(structuredContent));
  return structuredContent.error;
}

const add = (id, type, config, more = {}) => ({ op: 'add_node', node: { id, type, config }, ...more });
const connectAll = (...edges) => edges.map((one) => ({ op: 'add_edge', edge: one }));

// Each is built by changes; then a change breaks it, which is found by validation or by a run, and another repairs it.
const blueprints = [
  {
    title: 'Prices',
    build: [
      add('get', 'http-request', { url: 'https://shop.example.com/prices/{{inputData.item}}' }),
      add('total', 'transform', { expression: 'input.body.price * inputData.count' }),
    ],
    input: { item: 'tea', count: 3 },
    fakes: { 'shop.example.com': { status: 200, body: { price: 2 } } },
    output: 6,
    break: [{ op: 'change_node', id: 'total', node: { type: 'transfrom' } }],
    found: /unknown node type "transfrom".*did you mean "transform"/,
    repair: [{ op: 'change_node', id: 'total', node: { type: 'transform' } }],
  },
  {
    title: 'Approvals',
    build: [
      add('ask', 'approval-gate', { prompt: 'Pay {{inputData.total}}?' }),
      add('pay', 'template', { text: 'paid' }),
      add('decline', 'template', { text: 'declined' }),
      ...connectAll(edge('ask', 'pay', 'approved'), edge('ask', 'decline', 'rejected')),
    ],
    input: { total: 5 },
    fakes: { ask: { output: { approved: false } } },
    output: { text: 'declined' },
    break: [{ op: 'remove_node', id: 'decline' }, add('refuse', 'http-request', { url: 'https://bank.example.com/no' }), ...connectAll(edge('ask', 'refuse', 'rejected'))],
    found: /no fake for GET https:\/\/bank\.example\.com\/no; add fakes: \{"bank\.example\.com"/,
    repair: [{ op: 'remove_node', id: 'refuse' }, add('decline', 'template', { text: 'declined' }, { after: 'pay' }), ...connectAll(edge('ask', 'decline', 'rejected'))],
  },
  {
    title: 'Lines',
    build: [add('lines', 'for-each', { items: 'inputData.orders', nodes: [] }), add('lines/line', 'template', { text: '{{index}}: {{item.name}}' })],
    input: { orders: [{ name: 'tea' }, { name: 'milk' }] },
    output: [{ text: '0: tea' }, { text: '1: milk' }],
    break: [{ op: 'change_node', id: 'lines/line', node: { config: { text: '{{item.nme | upper}}' } } }],
    found: /upper|nme/,
    repair: [{ op: 'change_node', id: 'lines[*]/line', node: { config: { text: '{{index}}: {{item.name}}' } } }],
  },
  {
    title: 'Languages',
    build: [
      add('route', 'switch', { value: '{{inputData.country}}', cases: [{ equals: 'de', handle: 'german' }] }),
      add('german', 'template', { text: 'Guten Tag' }),
      add('english', 'template', { text: 'Hello' }),
      ...connectAll(edge('route', 'german', 'german'), edge('route', 'english', 'default')),
    ],
    input: { country: 'de' },
    output: { text: 'Guten Tag' },
    break: [{ op: 'change_node', id: 'route', node: { config: { cases: [{ equals: 'de' }] } } }],
    found: /handle/,
    repair: [{ op: 'change_node', id: 'route', node: { config: { cases: [{ equals: 'de', handle: 'german' }] } } }],
  },
  {
    title: 'Slugs',
    build: [
      { op: 'set_variable', variable: { name: 'separator', type: 'string', default: '-' } },
      add('slug', 'code', { source: "return inputData.title.toLowerCase().split(/\\W+/).filter(Boolean).join(variables.separator)" }),
      add('link', 'template', { text: '/{{input}}{{separator}}' }),
    ],
    input: { title: 'Hello, World' },
    output: { text: '/hello-world-' },
    break: [{ op: 'remove_variable', name: 'separator' }],
    found: /separator/,
    repair: [{ op: 'set_variable', variable: { name: 'separator', type: 'string', default: '-' } }],
  },
];

describe('an agent', () => {
  test('reads what it needs', async () => {
    assert.match(agent.getInstructions(), /build_list_node_types/);
    const { tools } = await agent.listTools();
    assert.ok(tools.every(({ name, description, inputSchema }) => name.startsWith('build_') && description && inputSchema.type === 'object'));
    const { nodeTypes } = await call('build_list_node_types');
    for (const { type } of nodeTypes) {
      const { configSchema, example } = await call('build_get_node_type', { type });
      assert.equal(configSchema.type, 'object');
      const { valid, issues } = await call('build_validate', { blueprint_map: { nodes: [{ id: 'it', type, title: 'It', config: example }] } });
      assert.ok(valid, JSON.stringify(issues));
    }
    const { resources } = await agent.listResources();
    for (const { uri, mimeType } of resources) {
      const { contents: [{ text }] } = await agent.readResource({ uri });
      assert.ok(mimeType === 'text/markdown' ? text.startsWith('# ') : JSON.parse(text).$schema, uri);
    }
    assert.ok(resources.some(({ uri }) => uri === 'blueprintd://docs/agents'));
  });

  for (const { title, build, input, fakes, output, break: breaking, found, repair } of blueprints) {
    test(`builds, breaks, repairs and tests "${title}"`, async () => {
      let { id, version } = await call('build_create_draft', { title });
      const edit = async (changes) => {
        const made = await call('build_edit_draft', { id, version, changes });
        ({ version } = made);
        return made;
      };
      const run = (more) => call('build_run_sandbox', { id, input, ...(fakes && { fakes }), ...more });

      const built = await edit(build);
      assert.equal(built.valid, true, JSON.stringify(built.issues));
      const good = await run({ saveAs: `${title} as built` });
      assert.deepEqual([good.status, good.output], ['completed', output], JSON.stringify(good));

      const broken = await edit(breaking);
      const bad = await run();
      assert.match(JSON.stringify(broken.issues, null, 1).replaceAll('\\"', '"') + JSON.stringify(bad.error ?? {}).replaceAll('\\"', '"'), found);
      const failing = await call('build_run_tests', { id, tests: good.test });
      assert.equal(failing.failed, 1, JSON.stringify([failing, bad]));

      const repaired = await edit(repair);
      assert.equal(repaired.valid, true, JSON.stringify(repaired.issues));
      const passing = await call('build_run_tests', { id, tests: good.test });
      assert.deepEqual([passing.passed, passing.failed], [1, 0], JSON.stringify(passing));

      const stale = await refused('build_edit_draft', { id, version: broken.version, changes: [{ op: 'set_title', title: 'Late' }] });
      assert.equal(stale.code, 'CONFLICT');
      assert.match(stale.hint, /build_get_blueprint/);
      const proposed = await call('build_propose', { id, version, note: `Does what "${title}" says.` });
      assert.notEqual(proposed.version, version);
      const { draft, triggers } = await call('build_get_blueprint', { id });
      assert.deepEqual([draft.proposed, triggers], [true, []]);
    });
  }

  test('leaves no run and no call behind', async () => {
    assert.deepEqual((await owner.execution.listRuns.query({})).runs, []);
    const { entries } = await owner.auditLog.list.query({ limit: 100 });
    const ours = entries.filter(({ detail }) => detail.tool);
    assert.ok(ours.length >= 25);
    assert.ok(ours.every(({ detail }) => detail.key === 'agent with write' && detail.tool.startsWith('build_')), JSON.stringify(ours[0]));
  });

  test('does not change what is live', async () => {
    const { id } = await owner.blueprint.create.mutate({ title: 'Live', blueprint_map: { nodes: [{ id: 't', type: 'template', title: 'T', config: { text: 'live' } }] } });
    const error = await refused('build_edit_draft', { id, version: '1.0.0', changes: [{ op: 'remove_node', id: 't' }] });
    assert.equal(error.code, 'CONFLICT');
    assert.match(error.hint, /build_create_draft with from/);
    const draft = await call('build_create_draft', { from: id });
    assert.deepEqual(draft.draft, { of: id, fromVersion: '1.0.0', proposed: false });
    await call('build_delete_draft', { id: draft.id });
    assert.equal((await owner.blueprint.get.query({ id })).version, '1.0.0');
  });
});

test('a key without the scope write', async () => {
  const runner = await connected(['run']);
  try {
    assert.deepEqual((await runner.listTools()).tools, []);
    const { isError, structuredContent } = await runner.callTool({ name: 'build_create_draft', arguments: { title: 'x' } });
    assert.deepEqual([isError, structuredContent.error.code], [true, 'FORBIDDEN']);
  } finally {
    await runner.close();
  }
});
