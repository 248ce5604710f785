// What each user can see: a signed-out one, a viewer of a public blueprint, an editor, and a former
// editor.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, test } from 'node:test';
import { signUpFirst, signUpOther, startBrowser } from '../support/browser.mjs';
import { connect } from '../support/clients.mjs';
import { settled } from '../support/lifelike.mjs';
import { node } from '../support/maps.mjs';
import { startServer, stopAll } from '../support/server.mjs';

let server, browser, client, bo, ada, open, closed;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'], onDisk: true });
  client = connect(server.baseUrl, server.key);
  browser = await startBrowser(server);
  ada = await signUpFirst(browser, server);
  bo = await signUpOther(browser, server, { email: 'bo@example.org', name: 'Bo' });
  const make = (title) => client.blueprint.create.mutate({
    title, blueprint_map: { nodes: [node('say', 'template', { text: 'hello' })] },
    environment_variables: [{ name: 'token', type: 'string', secret: true, default: 'swordfish' }],
  });
  open = await make('Open to all');
  closed = await make('For us alone');
  await client.blueprint.update.mutate({ id: open.id, visibility: 'public', status: 'published' });
  await client.blueprintTriggers.create.mutate({ blueprintId: open.id, triggerType: 'manual', config: {} });
});
afterEach(() => browser.check());
after(() => stopAll(browser, server));

test('shows only the sign-in page to signed-out users', async () => {
  const stranger = await browser.person();
  stranger.allow('', 401);
  for (const path of ['/', '/blueprints', `/blueprints/${open.id}/edit`, '/runs', '/triggers', '/connections', '/settings/keys', '/settings/audit', `/blueprints/${closed.id}/share`]) {
    await stranger.page.goto(path);
    await settled(stranger.page, 'Sign in');
    const text = await stranger.page.content();
    for (const word of ['Open to all', 'For us alone', 'ada@example.org']) assert.equal(text.includes(word), false, `${path} tells ${word}`);
  }
});

test('lets others view and run a public blueprint, but not change it', async () => {
  const { page } = bo;
  await page.goto('/blueprints?scope=public');
  await page.getByRole('link', { name: 'Open to all' }).click();
  await settled(page, 'Open to all');
  await page.goto(`/blueprints/${open.id}/edit`);
  await page.getByText('View only').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Add node' }).count(), 0);
  await page.getByRole('group', { name: /The say node/ }).press('Delete');
  await page.getByRole('group', { name: /The say node/ }).waitFor();
  assert.equal((await page.content()).includes('swordfish'), false);
  await page.goto(`/blueprints/${open.id}/triggers`);
  await settled(page, 'Open to all');
  await page.getByText('Only managers of this blueprint can see its triggers.').waitFor();
  await page.getByRole('button', { name: 'More actions for Open to all' }).click();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Export to file' }).click()]);
  const exported = JSON.parse(await readFile(await file.path(), 'utf8'));
  assert.equal(exported.title, 'Open to all');
  assert.equal(exported.triggers, undefined); // only managers may read them
  await page.goto(`/blueprints/${open.id}/versions`);
  await settled(page, 'Open to all');
  assert.equal(await page.getByRole('button', { name: /Restore|Bring back/ }).count(), 0);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('dialog', { name: 'Start run' }).getByRole('button', { name: 'Start' }).click();
  await page.waitForURL(/\/runs\/exec_/);
  await page.getByRole('status').filter({ hasText: 'The run completed.' }).waitFor();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByText('Only its managers can save them.').waitFor();
  for (const name of [/Save as test/, /Export run/]) assert.equal(await page.getByRole('menuitem', { name }).isDisabled(), true);
  await page.keyboard.press('Escape');
  const run = new URL(page.url()).pathname;
  await ada.page.goto(run); // managers of the blueprint see its runs
  await settled(ada.page, 'Open to all');
});

test('hides a private blueprint from others', async () => {
  const { page } = bo;
  bo.allow('', 404);
  bo.allow('', 403);
  const { executionId } = await client.blueprint.execute.mutate({ id: closed.id });
  for (const path of [`/blueprints/${closed.id}/edit`, `/blueprints/${closed.id}/runs`, `/blueprints/${closed.id}/share`, `/runs/${executionId}`]) {
    await page.goto(path);
    await settled(page);
    await page.getByRole('heading', { name: /^(Blueprint|Run) not found$/ }).waitFor();
    const { x } = await page.getByRole('heading', { level: 1 }).boundingBox();
    assert.ok(x >= (await page.getByRole('navigation').first().boundingBox()).width, `${path}: the heading begins at ${x}`);
    assert.equal((await page.content()).includes('For us alone'), false, path);
  }
});

test('lets a collaborator edit until removed', async () => {
  const { page } = ada;
  await page.goto(`/blueprints/${closed.id}/share`);
  await page.getByRole('textbox', { name: 'Email of an account on this server' }).fill('bo@example.org');
  await page.getByRole('button', { name: 'Add' }).first().click();
  await page.getByRole('button', { name: /Remove Bo/ }).waitFor();
  await bo.page.goto(`/blueprints/${closed.id}/edit`);
  await settled(bo.page, 'For us alone');
  await bo.page.getByRole('button', { name: 'Add node' }).waitFor();
  await page.getByRole('button', { name: /Remove Bo/ }).click();
  const sure = page.getByRole('dialog');
  await sure.getByRole('button', { name: /Remove|Take/ }).click();
  await page.getByRole('button', { name: /Remove Bo/ }).waitFor({ state: 'detached' });
  await bo.page.reload();
  await bo.page.getByRole('heading', { name: 'Blueprint not found' }).waitFor();
  await bo.page.getByRole('link', { name: 'All blueprints' }).waitFor();
  assert.equal((await bo.page.content()).includes('For us alone'), false);
});
