// The page of a run: details beside graph and timeline, links to steps, failures, items, long waits.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { again, phone, signUpFirst, startBrowser } from '../support/browser.mjs';
import { connect } from '../support/clients.mjs';
import { settled } from '../support/lifelike.mjs';
import { edge, node } from '../support/maps.mjs';
import { ended, reached } from '../support/poll.mjs';
import { startServer, stopAll } from '../support/server.mjs';

const secret = 'sk_live_abcdefghijklmnop';
let server, browser, client, ada, page, shop, orders;
before(async () => {
  // A shop that declines broken cards.
  shop = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      const fine = !body.includes('"broken"');
      response.writeHead(fine ? 200 : 422, { 'content-type': 'application/json', 'x-request-id': 'req_8812' });
      response.end(JSON.stringify(fine ? { paid: true } : { message: 'The card was declined' }));
    });
  });
  await new Promise((listening) => shop.listen(0, '127.0.0.1', listening));
  server = await startServer({ flags: ['--rate-limit', '0', '--allow-net', '127.0.0.1/32', '--clock', 'virtual=2030-01-01T00:00:00Z'] });
  client = connect(server.baseUrl, server.key);
  browser = await startBrowser(server);
  ada = await signUpFirst(browser, server);
  page = ada.page;
  orders = await client.blueprint.create.mutate({
    title: 'Orders',
    environment_variables: [{ name: 'key', type: 'string', secret: true, default: secret }],
    blueprint_map: {
      nodes: [
        node('order', 'set', { values: { id: '{{inputData.id}}', card: '{{inputData.card}}' } }),
        node('charge', 'http-request', { method: 'POST', url: `http://127.0.0.1:${shop.address().port}/charges?expand=customer`, headers: { authorization: 'Bearer {{key}}' }, body: '{{input}}' }),
        node('letter', 'template', { text: 'Order {{nodes.order.output.id}} is paid' }),
      ],
      edges: [edge('order', 'charge'), edge('charge', 'letter')],
    },
  });
});
afterEach(() => browser.check());
after(async () => {
  await stopAll(browser, server);
  shop.close();
});

const run = async (blueprint, inputData = {}) => (await client.execution.executeBlueprintWithLogging.mutate({ ...blueprint.blueprint_map, options: { blueprintId: blueprint.id, inputData } })).executionId;
const advance = (by) => fetch(`${server.apiHost}/clock/advance`, { method: 'POST', headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }, body: JSON.stringify({ by }) });
const step = (name, on = page) => on.getByRole('treeitem', { name });
const details = (on = page) => on.getByRole('region', { name: 'Selected step' });

/** Fails unless an element is wholly within the window. */
async function inWindow(element, on = page) {
  const box = await element.boundingBox();
  const { width, height } = on.viewportSize();
  assert.ok(box && box.y >= 0 && box.y + box.height <= height && box.x >= 0 && box.x + box.width <= width, `${JSON.stringify(box)} is not within ${width} × ${height}`);
}

test('shows input, error, and the failed step with its response and request, in one window', async () => {
  const failed = await run(orders, { id: '1042', card: 'broken' });
  await ended(client, failed);
  for (const viewport of [{ width: 1440, height: 900 }, { width: 1280, height: 800 }]) {
    const one = await again(browser, ada, { viewport });
    await one.page.goto(`/runs/${failed}`);
    await settled(one.page, 'Orders');
    await inWindow(one.page.getByRole('group', { name: 'Input of the run' }), one.page);
    await one.page.getByRole('group', { name: 'Input of the run' }).getByText('"1042"').waitFor();
    await one.page.getByRole('alert').filter({ hasText: 'The run failed' }).getByText(/answered 422/).waitFor();
    await inWindow(details(one.page).getByRole('heading', { name: 'The charge node' }), one.page);
    await inWindow(details(one.page).locator(".."), one.page); // it scrolls inside
    await inWindow(step(/The charge node: failed/, one.page), one.page);
    const exchange = details(one.page).getByRole('region', { name: 'Failed exchange' });
    await exchange.getByText('Status 422').waitFor();
    await exchange.getByText('req_8812').waitFor();
    await exchange.getByText('"The card was declined"').waitFor();
    await exchange.getByText(`POST http://127.0.0.1:${shop.address().port}/charges?expand=customer`).waitFor();
    await exchange.getByText('"broken"').waitFor();
    assert.equal((await one.page.content()).includes(secret), false, 'the page contains the secret');
    await details(one.page).getByRole('button', { name: 'Close step' }).click();
    await details(one.page).waitFor({ state: 'detached' });
    await one.close();
  }
});

test('links to a step, by keyboard alone', async () => {
  const good = await run(orders, { id: '1041', card: 'visa' });
  await ended(client, good);
  await page.goto(`/runs/${good}`);
  await settled(page, 'Orders');
  await page.getByRole('group', { name: 'Result of the run' }).getByText('"Order 1041 is paid"').waitFor();
  await page.getByRole('tree', { name: 'Steps over time' }).focus();
  await page.keyboard.press('ArrowDown');
  await details().getByRole('heading', { name: 'The order node' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await details().getByRole('heading', { name: 'The charge node' }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('step'), 'charge');
  await details().getByRole('button', { name: 'Copy a link to this step' }).press('Enter');
  const link = await page.evaluate(() => navigator.clipboard.readText());
  await page.goto('/runs');
  await page.goto(link);
  await details().getByRole('heading', { name: 'The charge node' }).waitFor();
  await details().getByRole('group', { name: 'Output of charge' }).getByText('200').waitFor();
});

test('shows the selected step in a sheet on a phone', async () => {
  const good = await run(orders, { id: '1041', card: 'visa' });
  await ended(client, good);
  const one = await again(browser, ada, { viewport: phone });
  await one.page.goto(`/runs/${good}`);
  await settled(one.page, 'Orders');
  await step(/The letter node: completed/, one.page).click();
  const sheet = one.page.getByRole('dialog', { name: 'Selected step' });
  await sheet.getByRole('group', { name: 'Output of letter' }).getByText(/Order 1041 is paid/).waitFor();
  await one.page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'detached' });
  assert.equal(new URL(one.page.url()).searchParams.has('step'), false);
  await one.close();
});

test('names items by their value and compresses a long wait', async () => {
  const blueprint = await client.blueprint.create.mutate({
    title: 'Reminders',
    blueprint_map: {
      nodes: [
        node('each', 'for-each', { items: [{ id: 7, name: 'Ada Lovelace' }, { id: 8, name: 'Grace Hopper' }], nodes: [node('text', 'template', { text: 'Dear {{item.name}}' }), node('note', 'log', { message: '{{input.text}}' })] }),
        node('hosts', 'for-each', { items: ['alpha.example.org'], nodes: [node('ping', 'template', { text: 'ping {{item}}' })] }),
        node('pause', 'wait', { durationMs: 3_600_000 }),
        node('end', 'set', { values: { done: true } }),
      ],
    },
  });
  const id = await run(blueprint);
  await page.goto(`/runs/${id}`);
  await settled(page, 'Reminders');
  await step(/The pause node: (running|waits)/).waitFor();
  await advance('1h');
  await reached(client, id, 'completed');
  await step(/The end node: completed/).waitFor();
  await step(/Ada Lovelace \[0\]/).waitFor();
  await step(/Grace Hopper \[1\]/).waitFor();
  await step(/alpha\.example\.org · The ping node \[0\]/).waitFor();
  await step(/Grace Hopper/).click();
  await details().getByRole('heading', { name: 'Grace Hopper' }).waitFor();
  // The wait would otherwise leave the other steps no room.
  const box = async (name) => (await step(name).locator('[data-status]').last().boundingBox());
  const [wait, end] = [await box(/The pause node/), await box(/The end node/)];
  const axis = await page.getByRole('tree', { name: 'Steps over time' }).boundingBox();
  assert.ok(wait.width < 0.6 * axis.width && end.x > wait.x, `the wait takes ${wait.width} of ${axis.width}, and the end is at ${end.x}`);
});

test('compares a failed run with the last good one, and with any other', async () => {
  const good = await run(orders, { id: '1041', card: 'visa' });
  await ended(client, good);
  const { nodes, edges } = orders.blueprint_map;
  const part = await run({ id: orders.id, blueprint_map: { nodes: nodes.slice(0, 1) } }, { id: '1041', card: 'visa' });
  await ended(client, part); // a run of one node, which is newer and no good comparison
  const changed = await client.blueprint.update.mutate({ id: orders.id, blueprint_map: { edges, nodes: nodes.map((one) => (one.id === 'letter' ? { ...one, config: { text: 'Order {{nodes.order.output.id}} is paid, thanks' } } : one)) } });
  const failed = await run(changed, { id: '1042', card: 'broken' });
  await ended(client, failed);
  await page.goto(`/runs/${failed}`);
  await settled(page, 'Orders');
  await page.getByRole('link', { name: 'Compare with the last completed run' }).click();
  await settled(page, 'Compare runs');
  assert.equal(new URL(page.url()).searchParams.get('with'), good);
  await page.getByRole('region', { name: 'Other run' }).getByText('Completed').waitFor();
  await page.getByRole('region', { name: 'This run' }).getByText('Failed', { exact: true }).waitFor();
  const input = page.getByRole('region', { name: 'Input' });
  for (const value of ['1041', '1042', 'visa', 'broken']) await input.getByText(value).waitFor();
  const steps = page.getByRole('region', { name: 'Steps' });
  const charge = steps.getByRole('group').filter({ hasText: 'The charge node' });
  await charge.getByText('failed', { exact: false }).first().waitFor();
  await charge.getByText(/answered 422/).waitFor();
  await page.getByRole('link', { name: 'Compare the versions' }).click();
  await settled(page, 'Orders');
  assert.match(page.url(), /versions\?from=1\.0\.0&to=1\.1\.0/);
  await page.goBack();

  // The same input and version: only times differ.
  const again = await run(changed, { id: '1042', card: 'broken' });
  await ended(client, again);
  await page.goto(`/runs/${again}`);
  await settled(page, 'Orders');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Compare with another run' }).click();
  await settled(page, 'Compare runs');
  await page.getByRole('combobox', { name: 'Compare with' }).click();
  await page.getByRole('option', { name: new RegExp(failed.slice(-8)) }).click();
  await page.getByText('Both ran version 1.1.0.').waitFor();
  await input.getByText('No difference').waitFor();
  await steps.getByText('All steps are equal').waitFor();
  await steps.getByText('Show 3 equal steps').click();
  await steps.getByText('The letter node').waitFor();
});

test('forks a run from a step with edited input, and links both runs', async () => {
  const failed = await run(orders, { id: '1042', card: 'broken' });
  await ended(client, failed);
  await advance('1m');
  await page.goto(`/runs/${failed}`);
  await settled(page, 'Orders');
  await details().getByRole('button', { name: 'Run again from here' }).click();
  const dialog = page.getByRole('dialog', { name: 'Retry this run' });
  const input = dialog.getByRole('textbox', { name: 'Input of this step' });
  assert.deepEqual(JSON.parse(await input.inputValue()), { card: 'broken', id: '1042' });
  await input.fill('{"card": "visa", "id": "1042"}');
  await dialog.getByRole('button', { name: 'Fork' }).press('Enter');
  await page.waitForURL((url) => url.pathname.startsWith('/runs/exec_') && !url.pathname.endsWith(failed));
  await page.getByRole('status').filter({ hasText: 'The run completed.' }).waitFor();
  const forked = new URL(page.url()).pathname.split('/').pop();
  await page.getByRole('group', { name: 'Result of the run' }).getByText(/Order 1042 is paid/).waitFor();
  await step(/The order node: completed, kept from the earlier run/).waitFor();
  await step(/The charge node: completed/).click();
  await details().getByRole('heading', { name: 'Input, edited for this run' }).waitFor();
  const origin = page.getByRole('definition').filter({ hasText: 'at The charge node' });
  await origin.getByRole('link', { name: new RegExp(failed.slice(-8)) }).waitFor();

  await origin.getByRole('link', { name: 'Compare' }).click();
  await settled(page, 'Compare runs');
  await page.getByRole('region', { name: 'Other run' }).getByText('Failed', { exact: true }).waitFor();
  const charge = page.getByRole('region', { name: 'Steps' }).getByRole('group').filter({ hasText: 'The charge node' });
  await charge.getByText('broken').waitFor();
  await charge.getByText('visa').waitFor();

  await page.goto(`/runs/${failed}`);
  await settled(page, 'Orders');
  const list = page.getByRole('definition').filter({ has: page.getByRole('link', { name: new RegExp(forked.slice(-8)) }) });
  await list.getByText('completed').waitFor();
  await list.getByRole('link', { name: new RegExp(forked.slice(-8)) }).click();
  await page.getByRole('group', { name: 'Result of the run' }).getByText(/Order 1042 is paid/).waitFor();
});

test('shows the latest retries of a run, and older ones on demand', async () => {
  const failed = await run(orders, { id: '1043', card: 'broken' });
  await ended(client, failed);
  for (let i = 0; i < 12; i++) await ended(client, (await client.execution.retry.mutate({ executionId: failed })).executionId);
  await page.goto(`/runs/${failed}`);
  await settled(page, 'Orders');
  const list = page.getByRole('definition').filter({ has: page.getByRole('link', { name: 'Compare', exact: true }) });
  await list.getByRole('button', { name: 'Show older' }).waitFor();
  assert.equal(await list.getByRole('link', { name: 'Compare', exact: true }).count(), 10);
  await list.getByRole('button', { name: 'Show older' }).click();
  await list.getByRole('link', { name: 'Compare', exact: true }).nth(11).waitFor();
  await list.getByRole('button', { name: 'Show older' }).waitFor({ state: 'detached' });
});
