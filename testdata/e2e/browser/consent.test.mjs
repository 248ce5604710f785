// Consent: the authority of triggers, grants, tools of other users, keys with fewer scopes; and
// the stored evidence of a failed call.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { signUpFirst, signUpOther, startBrowser } from '../support/browser.mjs';
import { connect, refused } from '../support/clients.mjs';
import { settled } from '../support/lifelike.mjs';
import { node } from '../support/maps.mjs';
import { ended } from '../support/poll.mjs';
import { startServer, stopAll } from '../support/server.mjs';

let server, browser, shop, ada, bo, client, other;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0', '--allow-net', '127.0.0.1/32'], onDisk: true });
  client = connect(server.baseUrl, server.key);
  browser = await startBrowser(server);
  ada = await signUpFirst(browser, server);
  bo = await signUpOther(browser, server, { email: 'bo@example.org', name: 'Bo' });
  other = connect(server.baseUrl, await server.command('key', 'create', '--user', 'bo@example.org', '--name', 'e2e'));
  const listener = createServer((request, response) => {
    response.writeHead(500, { 'content-type': 'application/json' });
    response.end('{"reason":"no stock"}');
  });
  await new Promise((resolve) => { listener.listen(0, '127.0.0.1', resolve); });
  shop = { url: `http://127.0.0.1:${listener.address().port}/orders`, stop: () => new Promise((resolve) => { listener.close(resolve); listener.closeAllConnections(); }) };
});
afterEach(() => browser.check());
after(() => stopAll(browser, server, shop));

const make = (title, ...nodes) => client.blueprint.create.mutate({ title, blueprint_map: { nodes } });

test('creates a read-only key that expires in a week', async () => {
  const { page } = ada;
  await page.goto('/settings/keys');
  await page.getByRole('button', { name: 'New API key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Dashboard on the wall');
  await dialog.getByRole('combobox', { name: 'Access' }).selectOption('Read');
  await dialog.getByRole('combobox', { name: 'Expires' }).selectOption('In 7 days');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByRole('button', { name: 'Copy API key' }).click();
  const key = connect(server.baseUrl, await page.evaluate(() => navigator.clipboard.readText()));
  await dialog.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row').filter({ hasText: 'Dashboard on the wall' });
  await row.getByRole('cell', { name: 'Read', exact: true }).waitFor();
  const listed = (await client.apiKey.list.query()).find(({ name }) => name === 'Dashboard on the wall');
  assert.deepEqual(listed.scopes, ['read']);
  assert.ok(Math.abs(Date.parse(listed.expiresAt) - Date.now() - 7 * 86_400_000) < 600_000, listed.expiresAt);
  await key.blueprint.list.query();
  await refused(key.blueprint.create.mutate({ title: 'No' }), 'FORBIDDEN');
});

test('fires a manual trigger with input data', async () => {
  const { page } = ada;
  const blueprint = await make('By hand', node('say', 'template', { text: 'order {{inputData.order}}' }));
  const trigger = await client.blueprintTriggers.create.mutate({ blueprintId: blueprint.id, triggerType: 'manual', config: {} });
  await page.goto(`/triggers/${trigger.id}`);
  await page.getByText('you (Ada Lovelace)').waitFor();
  await page.getByRole('navigation', { name: 'Trigger pages' }).getByRole('link', { name: 'Fire the trigger' }).click();
  const form = page.getByRole('region', { name: 'Fire the trigger' });
  await form.getByRole('textbox', { name: 'Input data' }).fill('[1]');
  await form.getByText('Must be a JSON object: { … }.').waitFor();
  await form.getByRole('textbox', { name: 'Input data' }).fill('{"order": 1042}');
  await form.getByRole('button', { name: 'Fire', exact: true }).click();
  await form.getByRole('link', { name: 'View run' }).click();
  await page.waitForURL(/\/runs\/exec_/);
  const run = await ended(client, /exec_\w+/.exec(page.url())[0]);
  assert.deepEqual(run.steps[0].output, { text: 'order 1042' });
});

test('shows the request and the response of a failed call', async () => {
  const { page } = ada;
  const blueprint = await make('Orders', node('post', 'http-request', { method: 'POST', url: shop.url, body: { id: '{{inputData.id}}' } }));
  const { executionId } = await client.execution.executeBlueprintWithLogging.mutate({ ...blueprint.blueprint_map, options: { blueprintId: blueprint.id, inputData: { id: 7 } } });
  await ended(client, executionId);
  await page.goto(`/runs/${executionId}?step=post`);
  const exchange = page.getByRole('region', { name: 'Failed exchange' });
  await exchange.getByText(`POST ${shop.url}`).waitFor();
  await exchange.getByText('Status 500').waitFor();
  await exchange.getByText('no stock').waitFor();
});

test('asks for a grant of another user\'s version, then continues the run', async () => {
  const { page } = ada;
  const secret = await make('Private prices', node('price', 'set', { values: { price: 12 } }));
  const shared = await make('Shared offer', node('offer', 'template', { text: 'The offer' }));
  const trigger = await client.blueprintTriggers.create.mutate({ blueprintId: shared.id, triggerType: 'manual', config: {} });
  await client.collaborator.add.mutate({ blueprintId: shared.id, email: 'bo@example.org', role: 'editor' });
  await other.blueprint.update.mutate({ id: shared.id, blueprint_map: { nodes: [node('prices', 'blueprint', { blueprintId: secret.id }), ...shared.blueprint_map.nodes] } });

  await bo.page.goto(`/triggers/${trigger.id}`);
  await bo.page.getByText('Not granted by Ada Lovelace').waitFor();

  const { executionId } = await client.blueprintTriggers.fire.mutate({ triggerId: trigger.id });
  assert.equal((await ended(client, executionId)).steps[0].error.code, 'needs_grant');
  await page.goto(`/runs/${executionId}`);
  const note = page.getByRole('region', { name: /^Grant version/ });
  await note.getByText('Grant version 1.1.0 by Bo').waitFor();
  await note.getByText('“Private prices”').waitFor();
  await note.getByText('Changes since version 1.0.0, which you wrote or granted').waitFor();
  await note.getByText('Added “The prices node”').waitFor();
  await note.getByRole('button', { name: 'Show changes' }).click();
  await note.getByText('+ Added').first().waitFor();
  await note.getByRole('button', { name: 'Grant version 1.1.0 and retry' }).click();
  await page.waitForURL((url) => !url.pathname.includes(executionId));
  await page.getByRole('status').filter({ hasText: 'The run completed.' }).waitFor();

  await page.goto('/settings/grants');
  const row = page.getByRole('row').filter({ hasText: 'Shared offer' });
  await row.getByRole('cell', { name: '1.1.0' }).waitFor();
  await row.getByRole('button', { name: 'Revoke grants for Shared offer' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No grants', { exact: true }).waitFor();
  assert.deepEqual(await client.blueprint.listGrants.query(), []);

  await page.goto(`/triggers/${trigger.id}`);
  await note.getByRole('button', { name: 'Grant version 1.1.0' }).click();
  await note.waitFor({ state: 'detached' });
  assert.equal((await client.blueprint.listGrants.query())[0].version, '1.1.0');
});

test('enables an MCP tool of another user', async () => {
  const { page } = ada;
  const offered = await other.blueprint.create.mutate({ title: 'Weather of Bo', status: 'published', blueprint_map: { nodes: [node('say', 'template', { text: 'sunny' })] } });
  const { id } = await other.blueprintTriggers.create.mutate({ blueprintId: offered.id, triggerType: 'api', config: { label: 'Weather' } });
  await other.collaborator.add.mutate({ blueprintId: offered.id, email: 'ada@example.org', role: 'editor' });
  const tool = async () => (await client.mcpTool.list.query()).find(({ triggerId }) => triggerId === id);
  await page.goto('/settings/tools');
  await settled(page, 'MCP tools');
  const { name, enabled } = await tool();
  assert.equal(enabled, false);
  await page.getByRole('switch', { name: `Enable ${name}` }).click();
  await page.getByText(`${name} enabled`).waitFor();
  assert.equal((await tool()).enabled, true);
  await page.getByRole('switch', { name: `Enable ${name}` }).click();
  await page.getByText(`${name} disabled`).waitFor();
  assert.equal((await tool()).enabled, false);
});
