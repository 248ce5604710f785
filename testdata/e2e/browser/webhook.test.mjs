// Creates and watches triggers in the dashboard, with real deliveries.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { after, afterEach, before, test } from 'node:test';
import { promisify } from 'node:util';
import { signUpFirst, startBrowser } from '../support/browser.mjs';
import { connect } from '../support/clients.mjs';
import { settled } from '../support/lifelike.mjs';
import { node } from '../support/maps.mjs';
import { startServer, stopAll } from '../support/server.mjs';
import { deliver } from '../support/webhooks.mjs';

const run = promisify(execFile);

let server, browser, client, page, allow, blueprint;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'] });
  client = connect(server.baseUrl, server.key);
  browser = await startBrowser(server);
  ({ page, allow } = await signUpFirst(browser, server));
  blueprint = await client.blueprint.create.mutate({ title: 'Orders', blueprint_map: { nodes: [node('say', 'template', { text: 'order {{inputData.order}}' })] } });
});
afterEach(() => browser.check());
after(() => stopAll(browser, server));

const secret = 'a secret of the test, long enough';
const address = () => page.getByRole('group', { name: 'URL' }).getByRole('code').innerText();
const sign = (body, by = secret) => ({ 'x-webhook-signature': `sha256=${createHmac('sha256', by).update(body).digest('hex')}` });
const ledgerRow = (decision) => page.getByRole('row').filter({ hasText: decision });
const copied = () => page.evaluate(() => navigator.clipboard.readText());

test('creates a webhook whose curl command works as copied', async () => {
  await page.goto(`/blueprints/${blueprint.id}/triggers`);
  await page.getByRole('link', { name: /^Webhook/ }).click();
  await settled(page, 'New trigger: Webhook');
  await page.getByRole('textbox', { name: 'Secret' }).fill(secret);
  await page.getByRole('button', { name: 'Create trigger' }).click();
  await page.waitForURL(/\/triggers\/[0-9a-f-]+\?tab=use/);
  await settled(page, 'Webhook, signed with a secret');
  await page.getByRole('button', { name: 'Copy curl command' }).click();
  const { stdout } = await run('sh', ['-c', (await copied()).replace(/^curl /, 'curl --silent --show-error ')]);
  assert.match(stdout, /exec_\d+/);
  await page.getByRole('button', { name: 'Send test delivery' }).click();
  await page.getByText(/202|accepted|started/i).first().waitFor();
});

test('adds each delivery to the ledger live, with the reason of a refusal', async () => {
  await page.getByRole('link', { name: 'Ledger' }).click();
  await ledgerRow('Started').first().waitFor();
  const before = await ledgerRow('Started').count();
  const url = await address();
  const body = JSON.stringify({ order: 1042 });
  const answer = await deliver(url, body, sign(body));
  assert.equal(answer.status, 202);
  await ledgerRow('Started').nth(before).waitFor(); // without a reload
  assert.equal((await deliver(url, body, sign(body, 'another secret'))).status, 401);
  await ledgerRow('Refused').first().waitFor();
  await ledgerRow('Refused').first().getByRole('button').or(ledgerRow('Refused').first().getByRole('link')).first().click();
  const drawer = page.getByRole('dialog', { name: 'Outcome' });
  await drawer.getByText('A delivery was refused').waitFor();
  await drawer.getByText('"order": 1042').waitFor();
  assert.equal((await drawer.innerText()).includes(secret), false, 'the secret is nowhere');
  await drawer.getByRole('button', { name: 'Close' }).click();
});

test('links a delivery to its run', async () => {
  await ledgerRow('Started').first().getByRole('link', { name: /^(Run )?…/ }).press('Enter');
  await settled(page, 'Orders');
  await page.getByRole('status').filter({ hasText: 'The run completed.' }).waitFor();
  await page.getByRole('treeitem', { name: /The say node: completed/ }).click();
  await page.getByText('order 1042').first().waitFor();
  await page.goBack();
});

test('delivers again', async () => {
  await settled(page, 'Webhook, signed with a secret');
  const before = await page.getByRole('row').count();
  await ledgerRow('Started').first().getByRole('rowheader').getByRole('button').click();
  const drawer = page.getByRole('dialog', { name: 'Outcome' });
  await drawer.getByRole('button', { name: 'Deliver again' }).click();
  await page.getByRole('dialog', { name: 'Deliver again?' }).getByRole('button', { name: 'Deliver again' }).click(); // it has run already
  await page.getByRole('row').filter({ hasText: 'Redelivery' }).waitFor();
  assert.equal(await page.getByRole('row').count(), before + 1);
  await page.goto(page.url().split('?')[0]);
});

test('refuses deliveries while a trigger is paused', async () => {
  const url = await address();
  const body = '{"order":7}';
  const done = page.locator('[aria-busy=false]'); // the button changes before the server has responded
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Activate' }).and(done).waitFor();
  assert.notEqual((await deliver(url, body, sign(body))).status, 202);
  await page.getByRole('button', { name: 'Activate' }).click();
  await page.getByRole('button', { name: 'Pause' }).and(done).waitFor();
  assert.equal((await deliver(url, body, sign(body))).status, 202);
});

test('shows the next runs of a schedule', async () => {
  await page.goto(`/triggers/new?type=scheduled&blueprint=${blueprint.id}`);
  await settled(page, 'New trigger: Schedule');
  await page.getByRole('textbox', { name: 'Cron expression' }).fill('30 7 1 1 *');
  await page.getByText(/1 Jan|January/).first().waitFor();
  await page.getByRole('img', { name: /Next 10 runs, from .* 1 Jan 2\d{3}, 07:30/ }).waitFor();
  allow('blueprintTriggers.preview', 400);
  await page.getByRole('textbox', { name: 'Cron expression' }).fill('61 * * * *');
  await page.getByRole('textbox', { name: 'Cron expression' }).and(page.locator('[aria-invalid=true]')).waitFor();
  await page.getByRole('textbox', { name: 'Cron expression' }).fill('30 2 * * *');
  await page.getByRole('button', { name: 'Next clock change' }).click();
  await page.getByText(/March|Mar|October|Oct/).first().waitFor();
  await page.getByRole('button', { name: 'Create trigger' }).click();
  await page.waitForURL(/\/triggers\/[0-9a-f-]+/);
  await page.goto('/triggers');
  await page.getByRole('link', { name: 'Every day at 02:30, Europe/Berlin' }).waitFor();
});
