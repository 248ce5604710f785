// Keys, members, connections and the audit log: each change in the dashboard takes effect
// elsewhere immediately.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { signUpFirst, signUpOther, startBrowser } from '../support/browser.mjs';
import { connect, refused } from '../support/clients.mjs';
import { settled } from '../support/lifelike.mjs';
import { startServer, stopAll } from '../support/server.mjs';

let server, browser, ada, bo, page;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'], onDisk: true });
  browser = await startBrowser(server);
  ada = await signUpFirst(browser, server);
  bo = await signUpOther(browser, server, { email: 'bo@example.org', name: 'Bo' });
  ({ page } = ada);
});
afterEach(() => browser.check());
after(() => stopAll(browser, server));

test('creates a key that works until it is revoked', async () => {
  await page.goto('/settings/keys');
  await page.getByRole('button', { name: 'New API key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Laptop of Ada');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Copy API key' }).click();
  const key = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(await dialog.getByRole('group', { name: 'API key' }).innerText(), /•{8}/, 'hidden until it is asked for');
  await dialog.getByRole('button', { name: 'Done' }).click();
  const client = connect(server.baseUrl, key);
  assert.equal((await client.blueprint.list.query()).pagination.total, 0);
  await page.reload();
  await page.getByRole('rowheader', { name: 'Laptop of Ada', exact: true }).waitFor();
  assert.equal((await page.content()).includes(key), false, 'it is never shown again');
  await page.getByRole('button', { name: 'Revoke Laptop of Ada' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('rowheader', { name: 'Laptop of Ada', exact: true }).waitFor({ state: 'detached' });
  await refused(client.blueprint.list.query(), 'UNAUTHORIZED');
});

test('applies and removes the rights of members', async () => {
  await page.goto('/settings/organizations');
  await page.getByRole('button', { name: 'New organization' }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Northwind');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await settled(page, 'Northwind');
  const organization = new URL(page.url()).pathname.split('/').pop();
  const first = connect(server.baseUrl, server.key);
  const blueprint = await first.blueprint.create.mutate({ title: 'Shared work', organization_id: organization });

  const email = page.getByRole('textbox', { name: 'Email' });
  ada.allow('organization.addMember', 404);
  await email.fill('nobody@example.org');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('alert').filter({ hasText: 'No user of this server' }).waitFor();
  await email.fill('bo@example.org');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('cell', { name: 'bo@example.org', exact: true }).waitFor();

  await bo.page.goto('/blueprints');
  await bo.page.getByRole('link', { name: 'Shared work' }).click();
  await settled(bo.page, 'Shared work');
  await bo.page.goto(`/settings/organizations/${organization}`);
  await settled(bo.page, 'Northwind');
  assert.equal(await bo.page.getByRole('button', { name: 'Rename' }).count(), 0, 'members rename nothing');

  await page.getByRole('row').filter({ hasText: 'bo@example.org' }).getByRole('combobox').selectOption('admin');
  await page.getByText('Bo is now admin').waitFor();
  await bo.page.reload();
  await bo.page.getByRole('button', { name: 'Rename' }).waitFor();

  await page.getByRole('row').filter({ hasText: 'bo@example.org' }).getByRole('button', { name: /Remove/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: /Remove/ }).click();
  await page.getByRole('cell', { name: 'bo@example.org', exact: true }).waitFor({ state: 'detached' });
  bo.allow('', 403);
  bo.allow('', 404);
  await bo.page.goto(`/blueprints/${blueprint.id}/versions`);
  await bo.page.getByRole('heading', { name: 'Blueprint not found' }).waitFor();
  assert.equal((await bo.page.content()).includes('Shared work'), false);
});

test('never shows the secrets of connections', async () => {
  await page.goto('/connections/new');
  await page.getByRole('link', { name: /^HTTP/ }).click();
  await settled(page, 'New connection: HTTP');
  ada.allow('connection.create', 400);
  await page.getByRole('textbox', { name: 'Name' }).fill('Warehouse');
  await page.getByRole('button', { name: 'Save connection' }).click();
  await page.getByRole('combobox', { name: 'Authentication' }).and(page.locator('[aria-invalid=true]')).waitFor(); // a missing value is reported at its field
  await page.getByRole('combobox', { name: 'Authentication' }).selectOption('Bearer token');
  await page.getByRole('textbox', { name: /token/i }).fill('swordfish of the test');
  await page.getByRole('button', { name: 'Add host' }).click();
  await page.getByRole('group', { name: 'Hosts' }).getByRole('textbox').fill('warehouse.example.org');
  await page.getByRole('button', { name: 'Save connection' }).click();
  await settled(page, 'Warehouse');
  await page.reload();
  await settled(page, 'Warehouse');
  assert.equal(await page.getByRole('textbox', { name: /token/i }).inputValue(), '');
  await page.getByPlaceholder('Set; type to replace').waitFor();
  assert.equal((await page.content()).includes('swordfish'), false);
});

test('lists every change in the audit log', async () => {
  await page.goto('/settings/audit');
  await settled(page, 'Audit log');
  const log = page.getByRole('table');
  for (const line of ['created the API key "Laptop of Ada"', 'revoked the API key "Laptop of Ada"', 'created the organization "Northwind"', 'added Bo as member', 'removed ', 'created the connection "Warehouse"']) {
    await log.getByText(line).first().waitFor();
  }
  assert.match(await log.innerText(), /Dashboard|dashboard/, 'and by which way');
});

test('changes the name, and the password only with the current one', async () => {
  await bo.page.goto('/settings/profile');
  await settled(bo.page, 'Profile');
  await bo.page.getByRole('textbox', { name: 'Name' }).fill('Bo Derek');
  await bo.page.getByRole('button', { name: 'Save name' }).click();
  await bo.page.getByRole('button', { name: /account of Bo Derek/ }).waitFor();
  bo.allow('session.changePassword', 400);
  bo.allow('session.changePassword', 401);
  await bo.page.getByLabel('Current password', { exact: true }).fill('not the one at all');
  await bo.page.getByLabel('New password', { exact: true }).fill('seven swans swim south again');
  await bo.page.getByRole('button', { name: 'Change password' }).click();
  await bo.page.getByLabel('Current password', { exact: true }).and(bo.page.locator('[aria-invalid=true]')).waitFor();
});
