// Fifty hostile texts in every stored field, and in the output of runs. Every page shows them
// as text: nothing is executed or requested, and the content security policy blocks nothing.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { signUpFirst, startBrowser } from '../support/browser.mjs';
import { connect } from '../support/clients.mjs';
import { hostile } from '../support/hostile.mjs';
import { settled } from '../support/lifelike.mjs';
import { node } from '../support/maps.mjs';
import { ended, reached, until } from '../support/poll.mjs';
import { startServer, stopAll } from '../support/server.mjs';
import { deliver } from '../support/webhooks.mjs';

let server, browser, client, ada, page;
const stored = { blueprints: [], organizations: [], triggers: [], connections: [], runs: [] };
const all = hostile.join('\n');
const byPlace = Object.fromEntries(hostile.map((text, i) => [`field_${i}`, text]));
// Also as keys: own members of any name.
const byName = JSON.parse(`{${hostile.map((text) => `${JSON.stringify(text)}:${JSON.stringify(text)}`).join(',')}}`);

/** One call without the official client, which refuses some of these names itself. */
async function call(procedure, input) {
  const response = await fetch(`${server.baseUrl}/${procedure}`, { method: 'POST', headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }, body: JSON.stringify({ json: input }) });
  const body = await response.json();
  if (body.error) throw Object.assign(new Error(body.error.json.message), { data: body.error.json.data });
  return body.result.data.json;
}

/** Stores what the server accepts; what it refuses cannot be shown. Returns what was stored. */
async function storeAll(make) {
  const made = [];
  for (const [i, text] of hostile.entries()) {
    try {
      made.push(await make(text, i));
    } catch (error) {
      if (!['BAD_REQUEST', 'CONFLICT'].includes(error.data?.code)) throw error;
    }
  }
  return made;
}

before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'] });
  client = connect(server.baseUrl, server.key);
  browser = await startBrowser(server);
  ada = await signUpFirst(browser, server);
  ({ page } = ada);
  ada.context.on('request', (request) => { if (new URL(request.url()).pathname.endsWith('/canary')) ada.wrong.push(`it ran: ${request.url()}`); });
});
afterEach(async () => {
  const ran = await page.evaluate(() => ({ xss: window.__xss, polluted: {}.xss }));
  assert.deepEqual(ran, { xss: undefined, polluted: undefined });
  await browser.check();
});
after(() => stopAll(browser, server));

// Follows links within the page, so that it loads once.
const go = async (path) => {
  await page.evaluate((to) => history.pushState(null, '', to), path);
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await settled(page);
};

test('stores everything unchanged', async () => {
  stored.organizations = await storeAll((name) => call('organization.create', { name }));
  await storeAll((name) => call('category.create', { name }));
  await storeAll((name) => call('apiKey.create', { name }));
  stored.blueprints = await storeAll((title, i) => call('blueprint.create', {
    title, description: all.slice(0, 1900), tags: [title.slice(0, 40), hostile[(i + 7) % 50].slice(0, 40)], status: i % 2 ? 'published' : 'draft',
    environment_variables: [{ name: `v${i}`, type: 'string', default: title, description: title }],
    blueprint_map: { nodes: [{ id: title, type: title, title, config: { [title]: title, text: title } }, node('plain', 'template', { text: title })], note: title },
  }));
  stored.connections = await storeAll((name) => call('connection.create', { name, type: 'http', config: { auth: 'header', headerName: 'X-Key', headerValue: name, allowedHosts: ['example.org'] } }).catch(() => call('connection.create', { name, type: 'slack', config: { botToken: 'xoxb-1' } })));
  assert.ok(stored.blueprints.length >= 45 && stored.organizations.length >= 45 && stored.connections.length >= 45, JSON.stringify([stored.blueprints.length, stored.organizations.length, stored.connections.length]));
  const big = await call('blueprint.create', {
    title: all.slice(0, 190).replaceAll('\n', ' '),
    blueprint_map: {
      nodes: [
        ...hostile.map((text, i) => node(`n${i}`, 'template', { text: `{{inputData.field_${i}}}` }, { title: text, description: text })),
        node('keys', 'transform', { expression: 'inputData.names' }),
        node('say', 'log', { message: '{{inputData.all}}' }),
        node('html', 'set', { values: { html: '{{inputData.all}}', link: '{{inputData.field_30}}' } }),
        node('ask', 'human', { prompt: '{{inputData.all}}', schema: { type: 'object', title: hostile[0], properties: Object.fromEntries(hostile.map((text, i) => [`p${i}`, { type: 'string', title: text, description: text, enum: [text, 'fine'], default: text }])) } }),
      ],
    },
    environment_variables: hostile.map((text, i) => ({ name: `v${i}`, type: 'string', default: text, description: text })),
  });
  await call('blueprint.update', { id: big.id, blueprint_map: { nodes: hostile.map((text, i) => node(`m${i}`, 'set', { values: { a: text } }, { title: text })) } });
  const broken = await call('blueprint.create', { title: hostile[3], blueprint_map: { nodes: [node('halt', 'stop', { failed: true, message: '{{inputData.all}}' }, { title: hostile[5] })] } });
  const gate = await call('blueprint.create', { title: hostile[0], blueprint_map: { nodes: [node('ask', 'approval-gate', { prompt: '{{inputData.all}}' }, { title: hostile[9] })] } });
  const inputData = { ...byPlace, names: byName, all };
  const run = async (of, nodes) => (await call('execution.executeBlueprintWithLogging', { nodes, options: { blueprintId: of.id, inputData } })).executionId;
  stored.runs = [await run(big, big.blueprint_map.nodes), await run(gate, gate.blueprint_map.nodes), await run(broken, broken.blueprint_map.nodes)];
  await reached(client, stored.runs[0], 'paused', 'failed');
  await reached(client, stored.runs[1], 'paused');
  await ended(client, stored.runs[2]);
  stored.big = big;

  stored.triggers = await storeAll((label) => call('blueprintTriggers.create', { blueprintId: broken.id, triggerType: 'api', config: { label } }));
  stored.webhook = await call('blueprintTriggers.create', { blueprintId: broken.id, triggerType: 'webhook', config: { secret: 'a secret of the test' } });
  const { url } = await client.blueprintTriggers.getWebhookUrl.query({ triggerId: stored.webhook.id });
  const plain = hostile.filter((text) => /^[ -~]+$/.test(text));
  await deliver(url, JSON.stringify({ ...byPlace, ...byName }), { 'x-webhook-signature': plain[0], 'user-agent': plain[3], 'x-evil': plain[5], 'webhook-id': plain[1] });
  await deliver(url, `<html>${all}`, { 'content-type': 'text/html' });
  await call('user.update', { name: hostile[3] });
});

test('shows it as text in lists', async () => {
  await page.goto('/blueprints');
  for (const path of [
    '/blueprints?page=2', '/blueprints?page=3', '/blueprints?scope=own', `/blueprints?search=${encodeURIComponent(hostile[0])}`, `/blueprints?tag=${encodeURIComponent(hostile[3].slice(0, 40))}`, '/runs', '/runs?status=paused',
    '/triggers', '/triggers?page=2', '/triggers?page=3', '/connections', '/settings/keys', '/settings/organizations', '/settings/audit', '/settings/audit?page=2', '/settings/audit?page=3', '/settings/profile', '/blueprints/new', '/triggers/new?type=webhook', '/connections/new',
  ]) await go(path);
  await go('/blueprints');
  await page.getByRole('button', { name: /^Organization:/ }).click();
  await page.getByRole('menuitemradio').nth(45).waitFor();
  await page.keyboard.press('Escape');
});

test('shows each title unchanged', async () => {
  for (const { id, title } of stored.blueprints) {
    await go(`/blueprints/${id}/share`);
    await until(`the title ${title}`, async () => ((await page.getByRole('heading', { level: 1 }).first().textContent()).trim() === title.trim() ? true : undefined));
  }
});

test('shows it as text in nodes, variables and issues of editors', async () => {
  for (const { id } of [stored.big, ...stored.blueprints.slice(0, 6)]) {
    await go(`/blueprints/${id}/edit`);
    await page.getByRole('group', { name: 'Canvas' }).waitFor();
    await page.getByRole('group', { name: 'Canvas' }).getByRole('group').first().press('Enter');
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.getByRole('button', { name: /^Issues:/ }).click();
    await page.getByRole('complementary', { name: 'Settings' }).getByText('Variables').click();
  }
  for (const tab of ['versions', 'runs', 'triggers', 'share']) await go(`/blueprints/${stored.big.id}/${tab}`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('dialog', { name: 'Start run' }).getByRole('textbox').first().waitFor();
  await page.keyboard.press('Escape');
});

test('shows it as text in outputs, errors, logs, prompts and forms of runs', async () => {
  for (const id of stored.runs) {
    await go(`/runs/${id}`);
    const steps = page.getByRole('treeitem');
    await steps.first().waitFor();
    for (let i = 0; i < Math.min(await steps.count(), 6); i++) await steps.nth(i).click();
    await steps.last().click();
  }
  for (const step of ['keys', 'html', 'say', 'ask']) {
    await go(`/runs/${stored.runs[0]}?step=${step}`);
    await page.getByText(hostile[0]).first().waitFor();
  }
});

test('shows it as text in deliveries to triggers', async () => {
  for (const { id } of stored.triggers.slice(0, 12)) await go(`/triggers/${id}?tab=use`);
  await go(`/triggers/${stored.webhook.id}`);
  const rows = page.getByRole('row');
  await rows.nth(1).waitFor();
  for (let i = 1; i <= 2; i++) {
    await rows.nth(i).getByRole('rowheader').getByRole('button').click();
    const drawer = page.getByRole('dialog', { name: 'Outcome' });
    await drawer.getByRole('heading', { name: 'Details' }).waitFor();
    await drawer.getByRole('button', { name: 'Close' }).click();
    await drawer.waitFor({ state: 'detached' });
  }
});

test('shows it as text in settings and connections', async () => {
  for (const { id } of stored.connections.slice(0, 12)) await go(`/connections/${id}`);
  for (const { id } of stored.organizations.slice(0, 12)) await go(`/settings/organizations/${id}`);
  await go('/settings/audit');
  const lines = page.getByRole('row').getByRole('button');
  for (let i = 0; i < Math.min(await lines.count(), 8); i++) await lines.nth(i).click();
});

test('ignores it in URLs', async () => {
  for (const status of [400, 404]) ada.allow('', status);
  for (const text of [hostile[3], '__proto__', '%E0%A4%A', '..%2f..%2fcanary']) {
    const part = text.startsWith('%') || text.startsWith('..') ? text : encodeURIComponent(text);
    for (const path of [`/runs/${part}`, `/blueprints/${part}/edit`, `/blueprints/${part}`, `/triggers/${part}`, `/connections/${part}`, `/runs?search=${part}&status=${part}`, `/blueprints?scope=${part}&sort=${part}`, `/triggers/new?type=${part}`]) await go(path);
  }
  for (const to of ['javascript:window.__xss=1', '//127.0.0.1:1/canary', 'https://127.0.0.1:1/', '/\\127.0.0.1:1', 'data:text/html,x']) {
    await page.goto(`/signin?to=${encodeURIComponent(to)}`);
    await settled(page);
    assert.equal(new URL(page.url()).origin, server.apiHost);
  }
});

test('imports a hostile file as text', async () => {
  await go('/blueprints/new?from=file');
  await page.getByLabel('Blueprint files').setInputFiles(hostile.slice(0, 8).map((text, i) => ({
    name: `${text.replaceAll('/', '_')}.json`, mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify({ title: text, description: all, tags: [text], blueprint_map: { nodes: [{ id: text, type: text, title: text, config: byName }] }, environment_variables: [{ name: text, type: text }], triggers: [{ triggerType: 'webhook', config: { [text]: text } }], [text]: i })),
  })));
  await page.getByText(hostile[0]).first().waitFor();
});
