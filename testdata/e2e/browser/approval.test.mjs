// Answers approval links as a person without an account does, on a phone.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { phone, signUpFirst, startBrowser } from '../support/browser.mjs';
import { connect } from '../support/clients.mjs';
import { settled } from '../support/lifelike.mjs';
import { node } from '../support/maps.mjs';
import { ended, reached } from '../support/poll.mjs';
import { startServer, stopAll } from '../support/server.mjs';

let server, browser, client, page, stranger;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'] });
  client = connect(server.baseUrl, server.key);
  browser = await startBrowser(server);
  ({ page } = await signUpFirst(browser, server));
  stranger = await browser.person({ viewport: phone, scheme: 'dark' });
  stranger.allow('/answer/', 410);
  stranger.allow('/answer/', 400);
});
afterEach(() => browser.check());
after(() => stopAll(browser, server));

let run, organization; // of the last copyLink

/** Starts a run that asks and opens its page; returns the link that the page copies. */
async function copyLink(ask) {
  const nodes = [ask, node('then', 'template', { text: 'answered {{nodes.ask.output}}' })];
  const blueprint = await client.blueprint.create.mutate({ title: 'Ask the shop', blueprint_map: { nodes } });
  const { executionId } = await client.execution.executeBlueprintWithLogging.mutate({ nodes, options: { blueprintId: blueprint.id } });
  [run, organization] = [executionId, blueprint.organization_id];
  await reached(client, executionId, 'paused');
  await page.goto(`/runs/${executionId}`);
  await settled(page, 'Ask the shop');
  await page.getByRole('button', { name: 'Copy approval link' }).click();
  const link = await page.getByRole('group', { name: 'Approval link' }).getByRole('code').innerText();
  await page.waitForFunction(async (wanted) => (await navigator.clipboard.readText()) === wanted, link);
  return link;
}

/** Checks what holds for each of these pages. */
async function fits() {
  const wide = await stranger.page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  assert.equal(wide[0], wide[1], 'the page is as wide as the screen');
  for (const button of await stranger.page.getByRole('button').all()) {
    const { height } = await button.boundingBox();
    assert.ok(height >= 44, `a button is ${height} pixels high`);
  }
  assert.deepEqual(await stranger.context.cookies(), []);
}

test('rejects with a comment, and the page of the run follows', async () => {
  const link = await copyLink(node('ask', 'approval-gate', { prompt: 'Pay 270 euros?\n\nIt is for prints.' }, { title: 'Approve the order' }));
  const at = stranger.page;
  await at.goto(link);
  await at.getByRole('heading', { name: 'Approve the order' }).waitFor();
  await at.getByText('It is for prints.').waitFor();
  await fits();
  await at.getByLabel('Comment').fill('Too much');
  await at.getByRole('button', { name: 'Reject' }).click();
  await at.getByRole('heading', { name: 'Thank you' }).waitFor();
  await fits();
  await page.getByRole('status').filter({ hasText: 'The run failed.' }).waitFor(); // without a reload
  await page.getByRole('alert').filter({ hasText: 'rejected: Too much' }).first().waitFor();
  await at.goBack();
  await at.getByRole('button', { name: 'Approve' }).or(at.getByRole('heading', { name: 'Already answered' })).first().waitFor();
  await at.goto(link);
  await at.getByRole('heading', { name: 'Already answered' }).waitFor();
  await page.goto(`/settings/audit?organization=${organization}`);
  await page.getByText('A person with a link').first().waitFor();
});

test('fills in the form of a question', async () => {
  const schema = { type: 'object', required: ['city', 'copies'], properties: { city: { type: 'string', title: 'City' }, copies: { type: 'integer', minimum: 1, title: 'Copies' }, gift: { type: 'boolean', title: 'A gift' } } };
  const link = await copyLink(node('ask', 'human', { prompt: 'Where to?', schema }));
  const at = stranger.page;
  await at.goto(link);
  await fits();
  await at.getByLabel('City').fill('Zürich');
  await at.getByLabel('Copies').fill('0');
  await at.getByRole('button', { name: 'Send' }).click();
  const copies = at.getByLabel('Copies');
  await copies.and(at.locator('[aria-invalid=true]')).waitFor();
  assert.ok(await copies.evaluate((field) => field === document.activeElement), 'the wrong field has the focus');
  assert.equal(await at.getByLabel('City').inputValue(), 'Zürich');
  await fits();
  await copies.fill('2');
  await at.getByLabel('A gift').check();
  await at.getByRole('button', { name: 'Send' }).click();
  await at.getByRole('heading', { name: 'Thank you' }).waitFor();
  await page.getByRole('status').filter({ hasText: 'The run completed.' }).waitFor();
  const { steps } = await ended(client, run);
  assert.deepEqual(steps[0].output, { city: 'Zürich', copies: 2, gift: true });
});
