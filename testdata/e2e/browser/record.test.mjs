// Recorded runs: their traffic is shown, saved as a test and as a file that another machine
// shows. Everything runs in a sandbox with a virtual clock, and the dashboard says so.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { barriers, wider } from '../support/barriers.mjs';
import { again, desktop, phone, signUpFirst, startBrowser } from '../support/browser.mjs';
import { connect } from '../support/clients.mjs';
import { settled } from '../support/lifelike.mjs';
import { node } from '../support/maps.mjs';
import { ended } from '../support/poll.mjs';
import { startServer, stopAll } from '../support/server.mjs';

const secret = 'sk-planted-0123456789abcdef';
let server, browser, client, ada, page, folder, shop, run;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'blueprintd-record-'));
  server = await startServer({ flags: ['--rate-limit', '0', '--sandbox', '--clock', 'virtual=2030-03-30T12:00:00Z'] });
  client = connect(server.baseUrl, server.key);
  browser = await startBrowser(server);
  ada = await signUpFirst(browser, server);
  ({ page } = ada);
  await sandbox('PUT', '/sandbox/rules', { rules: [{ match: { nodeId: 'stock' }, answer: { status: 404, body: { left: 0, exact: 1 } } }] });
  const smtp = await client.connection.create.mutate({ name: 'Post', type: 'smtp', config: { host: 'mail.example.com', port: 587, username: 'u', password: 'p', tls: 'starttls', from: 'Shop <shop@example.com>' } });
  shop = await client.blueprint.create.mutate({
    title: 'Ship the order', environment_variables: [{ name: 'token', type: 'string', secret: true, default: secret }, { name: 'city', type: 'string', default: 'Lisbon' }],
    blueprint_map: {
      nodes: [
        node('order', 'http-request', { method: 'POST', url: 'https://api.example.com/orders?page=2&api_key={{token}}', headers: { authorization: 'Bearer {{token}}', 'x-city': '{{city}}' }, body: { id: 1042, total: 129.5 } }),
        node('stock', 'http-request', { url: 'https://stock.example.com/articles/77', expectStatus: [404] }),
        node('letter', 'send-email', { connectionId: smtp.id, to: 'grace@example.org', subject: 'Your order is on its way', text: 'Dear Grace,\nit goes to {{city}}.' }),
      ],
    },
  });
});
afterEach(() => browser.check());
after(async () => {
  await stopAll(browser, server);
  await rm(folder, { recursive: true, force: true });
});

async function sandbox(method, path, body) {
  const response = await fetch(server.apiHost + path, { method, headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }, body: body && JSON.stringify(body) });
  assert.equal(response.status, 200, await response.clone().text());
  return response.json();
}
const traffic = () => page.getByRole('region', { name: 'Traffic' });
const rows = () => traffic().getByRole('list', { name: 'Exchanges, oldest first' }).getByRole('button', { expanded: false });

/** The files that the browser saves after a click: names and texts, in order. */
async function saved(count, click) {
  const downloads = [];
  const note = (download) => downloads.push(download);
  page.on('download', note);
  await click();
  while (downloads.length < count) downloads.push(...(await page.waitForEvent('download').then(() => [], () => assert.fail(`only ${downloads.length} files came`))));
  page.off('download', note);
  return Object.fromEntries(await Promise.all(downloads.map(async (one) => [one.suggestedFilename(), await readFile(await one.path(), 'utf8')])));
}

test('shows in the header that the server is a sandbox with a virtual clock', async () => {
  await page.getByRole('button', { name: 'Sandbox: no real services' }).click();
  await page.getByText(`${server.apiHost}/sandbox/calls`).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^Virtual clock: 30 Mar 2030/ }).click();
  await page.getByText('/clock/advance').waitFor();
  await page.keyboard.press('Escape');
});

test('offers to record a run that was not recorded', async () => {
  const { executionId } = await client.execution.executeBlueprintWithLogging.mutate({ ...shop.blueprint_map, options: { blueprintId: shop.id, variables: { city: 'Porto' }, inputData: { n: 1 } } });
  await ended(client, executionId);
  await page.goto(`/runs/${executionId}`);
  await settled(page, 'Ship the order');
  await traffic().scrollIntoViewIfNeeded();
  await traffic().getByText('This run was not recorded').waitFor();
  await traffic().getByRole('button', { name: 'Record a new run' }).click();
  const dialog = page.getByRole('dialog', { name: 'Start run' });
  assert.equal(await dialog.getByRole('switch', { name: 'Record traffic' }).isChecked(), true);
  assert.equal(await dialog.getByRole('textbox', { name: /^city/ }).inputValue(), 'Porto');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Record a new run' }).and(page.locator(':focus')).waitFor();
});

test('shows the traffic of a recorded run', async () => {
  await page.goto(`/blueprints/${shop.id}/runs`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Start run' });
  await dialog.getByRole('switch', { name: 'Record traffic' }).check();
  await dialog.getByRole('button', { name: 'Start' }).click();
  await page.waitForURL(/\/runs\/exec_/);
  run = new URL(page.url()).pathname.split('/').pop();
  await page.getByRole('status').filter({ hasText: 'The run completed.' }).waitFor();
  await traffic().scrollIntoViewIfNeeded();
  await rows().nth(2).waitFor();
  assert.equal(await rows().count(), 3);
  const texts = await rows().allInnerTexts();
  assert.match(texts[0], /The order node[\s\S]*POST[\s\S]*api\.example\.com\/orders\?page=2[\s\S]*200/);
  assert.match(texts[1], /GET[\s\S]*stock\.example\.com\/articles\/77[\s\S]*404/);
  assert.match(texts[2], /MAIL[\s\S]*to grace@example\.org: Your order is on its way[\s\S]*250/);

  await rows().first().click();
  await traffic().getByRole('heading', { name: 'Request' }).waitFor();
  await traffic().getByText('129.5').first().waitFor();
  await traffic().getByRole('button', { name: 'Copy as curl' }).click();
  const curl = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(curl, /^curl -X POST 'https:\/\/api\.example\.com\/orders\?page=2&api_key=\*\*\*' /);
  assert.match(curl, /--data-raw '\{"id":1042,"total":129\.5\}'/);
  assert.equal(curl.includes(secret), false);
  await rows().last().click();
  await traffic().getByText('it goes to Lisbon.').waitFor();
  await traffic().getByText('Failed (1)').click();
  assert.match(page.url(), /calls=failed/);
  assert.equal((await page.content()).includes(secret), false);
});

test('links steps to their traffic and back', async () => {
  await page.goto(`/runs/${run}?step=stock`);
  await page.getByRole('button', { name: '1 exchange with other services' }).click();
  await traffic().getByText('1 exchange of stock').waitFor();
  assert.match(page.url(), /traffic=stock/);
  await page.getByRole('heading', { name: 'Traffic' }).and(page.locator(':focus')).waitFor();
  await rows().first().click();
  await traffic().getByRole('button', { name: 'Go to step' }).click();
  await traffic().getByRole('button', { name: 'Show all steps' }).click();
  await rows().nth(1).waitFor();
});

test('saves a run as a test that passes', async () => {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: /Save as test/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Save as test' });
  await dialog.getByRole('button', { name: /ship-the-order\.test\.yaml/, expanded: false }).click();
  await dialog.getByRole('region', { name: 'Content of ship-the-order.test.yaml' }).getByText('cassette: ship-the-order.cassette.json').waitFor();
  const files = await saved(3, () => dialog.getByRole('button', { name: 'Download all' }).click());
  assert.deepEqual(Object.keys(files).sort(), ['ship-the-order.blueprint.yaml', 'ship-the-order.cassette.json', 'ship-the-order.test.yaml']);
  for (const [name, text] of Object.entries(files)) {
    assert.equal(text.includes(secret), false, name);
    await writeFile(join(folder, name), text);
  }
  const said = await promisify(execFile)(process.env.BLUEPRINTD, ['test', folder]);
  assert.match(said.stdout + said.stderr, /1 passed|pass/i);
  const [one] = Object.keys(await saved(1, () => dialog.getByRole('button', { name: 'Download ship-the-order.blueprint.yaml' }).click()));
  assert.equal(one, 'ship-the-order.blueprint.yaml');
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('button', { name: 'More actions' }).and(page.locator(':focus')).waitFor();
});

test('exports a run that opens elsewhere without server actions', async () => {
  await page.getByRole('button', { name: 'More actions' }).click();
  const files = await saved(1, () => page.getByRole('menuitem', { name: /Export run/ }).click());
  const text = files['ship-the-order.run.json'];
  assert.equal(JSON.parse(text).format, 'blueprintd-run/1');
  assert.equal(text.includes(secret), false);
  const file = join(folder, 'ship-the-order.run.json');
  await writeFile(file, text);
  const viewer = spawn(process.env.BLUEPRINTD, ['open', file, '--json'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    let said = '';
    for await (const part of viewer.stdout.iterator({ destroyOnReturn: false })) if (URL.canParse(/"url":\s*"([^"]+)"/.exec(said += part)?.[1])) break;
    const { url } = JSON.parse(said);
    const other = await startBrowser({ ...server, apiHost: new URL(url).origin });
    try {
      const guest = await other.person();
      guest.allow('', 403);
      await guest.page.goto(url);
      await settled(guest.page, 'Ship the order');
      const there = guest.page.getByRole('region', { name: 'Traffic' });
      await there.scrollIntoViewIfNeeded();
      await there.getByText('api.example.com/orders').waitFor();
      await look(guest.page, 'viewer', desktop);
      await guest.page.getByRole('button', { name: 'Retry' }).click();
      await guest.page.getByRole('dialog').getByRole('button', { name: 'Retry' }).click();
      await guest.page.getByRole('alert').filter({ hasText: 'nothing can be changed or started here' }).waitFor();
      await other.check();
    } finally {
      await other.stop();
    }
  } finally {
    viewer.kill();
  }
});

test('records all runs of a trigger', async () => {
  await page.goto(`/triggers/new?type=api&blueprint=${shop.id}`);
  await page.getByRole('switch', { name: 'Record traffic' }).check();
  await page.getByRole('button', { name: 'Create trigger' }).click();
  await page.waitForURL(/\/triggers\/(?!new)/);
  const id = new URL(page.url()).pathname.split('/').pop();
  assert.equal((await client.blueprintTriggers.getDetails.query({ triggerId: id })).config.record, true);
  await page.goto(`/triggers/${id}/edit`);
  assert.equal(await page.getByRole('switch', { name: 'Record traffic' }).isChecked(), true);
});

test('shows times relative to the server clock, also after it is advanced', async () => {
  await page.goto('/runs');
  await page.getByRole('row').filter({ hasText: 'Ship the order' }).getByText('just now').first().waitFor();
  await sandbox('POST', '/clock/advance', { by: '2h' });
  await page.getByRole('row').filter({ hasText: 'Ship the order' }).getByText('2 hours ago').first().waitFor();
  await page.getByRole('button', { name: /^Virtual clock: 30 Mar 2030/ }).waitFor();
  await page.goto(`/triggers/new?type=scheduled&blueprint=${shop.id}`);
  await page.getByRole('textbox', { name: 'Cron expression' }).fill('30 2 * * *');
  await page.getByRole('combobox', { name: 'Time zone' }).click();
  await page.getByRole('combobox', { name: 'Time zone' }).fill('Europe/Berlin');
  await page.getByRole('option', { name: /Europe\/Berlin/ }).click();
  await page.getByRole('button', { name: 'Next clock change' }).click();
  await page.getByRole('img', { name: /Runs around the clock change, .*31 Mar 2030/ }).waitFor();
});

test('distinguishes warnings from errors, and saves with warnings', async () => {
  const blueprint = await client.blueprint.create.mutate({ title: 'Doubtful', blueprint_map: { nodes: [node('say', 'template', { text: 'Hello {{nobody}}' })] }, environment_variables: [{ name: 'unused', type: 'string', default: 'x' }] });
  await page.goto(`/blueprints/${blueprint.id}/edit`);
  await page.getByRole('button', { name: /^Issues:.*warning/ }).click();
  await page.getByRole('heading', { name: /warning/ }).waitFor();
  await page.getByRole('img', { name: 'Warning' }).first().waitFor();
  await look(page, 'issues', desktop);
});

/** Takes a screenshot and checks accessibility. */
async function look(where, name, viewport, scheme = 'light') {
  const pictures = process.env.SCREENSHOTS;
  if (pictures) {
    await mkdir(pictures, { recursive: true });
    await where.screenshot({ path: join(pictures, `record-${name}-${viewport === phone ? 'phone' : 'desktop'}-${scheme}.png`), fullPage: true, animations: 'disabled', caret: 'hide' });
  }
  assert.deepEqual(await barriers(where), [], name);
  assert.ok(await wider(where) <= 0, `${name} is wider than the screen`);
}

describe('every page', () => {
  for (const scheme of ['light', 'dark']) {
    for (const viewport of [desktop, phone]) {
      test(`${scheme}, ${viewport.width} px`, async () => {
        const person = await again(browser, ada, { scheme, viewport });
        const { page: screen } = person;
        await screen.goto(`/runs/${run}?traffic=order`);
        await settled(screen, 'Ship the order');
        const shown = screen.getByRole('region', { name: 'Traffic' });
        await shown.getByRole('button', { name: 'Show all steps' }).click();
        const list = shown.getByRole('list', { name: 'Exchanges, oldest first' }).getByRole('button', { expanded: false });
        await list.nth(2).waitFor();
        await list.last().click();
        await list.first().click();
        await look(screen, 'traffic', viewport, scheme);
        await screen.getByRole('button', { name: 'More actions' }).click();
        await screen.getByRole('menuitem').first().waitFor();
        await look(screen, 'menu', viewport, scheme);
        await screen.getByRole('menuitem', { name: /Save as test/ }).click();
        await screen.getByRole('button', { name: /\.test\.yaml/, expanded: false }).click();
        await look(screen, 'test', viewport, scheme);
        await screen.keyboard.press('Escape');
        await screen.getByRole('dialog').waitFor({ state: 'detached' });
        await screen.getByRole('button', { name: /^Sandbox/ }).click();
        await screen.getByText('This server is a sandbox').waitFor();
        await look(screen, 'sandbox', viewport, scheme);
        await screen.keyboard.press('Escape');
        await screen.goto(`/blueprints/${shop.id}/runs`);
        await screen.getByRole('button', { name: 'Run', exact: true }).click();
        await screen.getByRole('dialog', { name: 'Start run' }).getByText('Record traffic').waitFor();
        await look(screen, 'dialog', viewport, scheme);
        await person.close();
      });
    }
  }
});
