// What an agent proposes at /mcp, reviewed and applied by a person in the dashboard.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { signUpFirst, startBrowser } from '../support/browser.mjs';
import { connect } from '../support/clients.mjs';
import { node } from '../support/maps.mjs';
import { startServer, stopAll } from '../support/server.mjs';

let server, browser, ada, client, agent;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'] });
  client = connect(server.baseUrl, server.key);
  browser = await startBrowser(server);
  ada = await signUpFirst(browser, server);
  const { key } = await client.apiKey.create.mutate({ name: 'the agent', scopes: ['write'] });
  agent = new Client({ name: 'e2e', version: '1' });
  await agent.connect(new StreamableHTTPClientTransport(new URL(`${server.apiHost}/mcp`), { requestInit: { headers: { Authorization: `Bearer ${key}` } } }));
});
afterEach(() => browser.check());
after(async () => {
  await agent?.close();
  await stopAll(browser, server);
});

/** Calls a tool that must succeed. */
async function call(name, args) {
  const { isError, structuredContent } = await agent.callTool({ name, arguments: args });
  assert.notEqual(isError, true, JSON.stringify(structuredContent));
  return structuredContent;
}

/** Proposes a draft of a blueprint whose node says something else. */
async function propose(from, text, note) {
  const draft = await call('build_create_draft', { from });
  const edited = await call('build_edit_draft', { id: draft.id, version: draft.version, changes: [{ op: 'change_node', id: 'say', node: { config: { text } } }] });
  await call('build_propose', { id: draft.id, version: edited.version, note });
  return draft.id;
}

test('applies a proposed change after a comparison', async () => {
  const { page } = ada;
  const { id } = await client.blueprint.create.mutate({ title: 'Greeting', blueprint_map: { nodes: [node('say', 'template', { text: 'good day' })] } });
  const draft = await propose(id, 'good evening', 'It is late.');
  await page.goto(`/blueprints/${draft}/edit`);
  await page.getByText('Proposed by an agent').waitFor();
  await page.getByRole('link', { name: 'Review changes' }).click();
  await page.getByRole('heading', { name: 'From 1.0.0 to the draft' }).waitFor();
  await page.getByText('It is late.').waitFor();
  await page.getByText('good evening').first().waitFor();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Version 1.1.0 of "Greeting" is live').waitFor();
  const after = await client.blueprint.get.query({ id });
  assert.deepEqual([after.version, after.title, after.blueprint_map.nodes[0].config.text], ['1.1.0', 'Greeting', 'good evening']);
  const { entries } = await client.auditLog.list.query({ limit: 100 });
  const applied = entries.find(({ action, targetId }) => action === 'draft.apply' && targetId === id);
  assert.deepEqual([applied.via, applied.actorName, applied.detail.draft], ['dashboard', 'Ada Lovelace', draft]);
  assert.equal(entries.find(({ detail }) => detail.tool === 'build_propose').detail.key, 'the agent');
  await page.goto('/settings/audit');
  await page.getByText('applied a draft').or(page.getByText('applied the draft "Greeting"')).first().waitFor();
});

test('discards a proposed change', async () => {
  const { page } = ada;
  const { id } = await client.blueprint.create.mutate({ title: 'Farewell', blueprint_map: { nodes: [node('say', 'template', { text: 'bye' })] } });
  await propose(id, 'see you', 'Friendlier.');
  await page.goto(`/blueprints/${id}/versions`);
  await page.getByText('Change proposed by an agent of Ada Lovelace').waitFor();
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  await page.getByText('The draft is deleted', { exact: true }).waitFor();
  await page.getByRole('list', { name: 'Versions, newest first' }).waitFor();
  await page.getByText('Friendlier.').waitFor({ state: 'detached' }); // once the list is fetched again
  assert.equal((await client.blueprint.get.query({ id })).version, '1.0.0');
});

test('publishes a new blueprint', async () => {
  const { page } = ada;
  const draft = await call('build_create_draft', { title: 'Made by an agent', blueprint_map: { nodes: [{ id: 'say', type: 'template', config: { text: 'new' } }] } });
  await call('build_propose', { id: draft.id, version: draft.version, note: 'Says new.' });
  await page.goto(`/blueprints/${draft.id}/edit`);
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
  await page.getByText(/of "Made by an agent" is live/).waitFor();
  const after = await client.blueprint.get.query({ id: draft.id });
  assert.deepEqual([after.status, after.tags], ['published', []]);
});
