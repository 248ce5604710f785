// The main job with the keyboard alone: a blueprint with a trigger and three nodes is created, drawn,
// configured, saved and run, and its approval answered. The focus is always visible and never lost.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { signUpFirst, startBrowser } from '../support/browser.mjs';
import { connect } from '../support/clients.mjs';
import { keyboardOf } from '../support/keys.mjs';
import { settled } from '../support/lifelike.mjs';
import { startServer, stopAll } from '../support/server.mjs';

let server, browser, client, page, keys;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'] });
  client = connect(server.baseUrl, server.key);
  browser = await startBrowser(server);
  ({ page } = await signUpFirst(browser, server));
  keys = keyboardOf(page);
});
afterEach(() => browser.check());
after(() => stopAll(browser, server));

const canvas = () => page.getByRole('group', { name: 'Canvas' });
const card = (name) => canvas().getByRole('group', { name });
const panel = () => page.getByRole('complementary', { name: 'Settings' });
const field = (name) => page.getByRole('textbox', { name, exact: true }).or(page.getByRole('combobox', { name, exact: true }));

test('creates a blueprint, draws it, saves it', async () => {
  await page.goto('/blueprints');
  await settled(page, 'Blueprints');
  await keys.tabTo(page.getByRole('main').getByRole('link', { name: 'New blueprint' }));
  await keys.press('Enter');
  await settled(page, 'New blueprint');
  await keys.tabTo(page.getByRole('textbox', { name: 'Title' }));
  await keys.type('By keyboard');
  await keys.press('Enter');
  await keys.has(page.getByRole('heading', { level: 1, name: 'By keyboard' }));
  await keys.tabTo(page.getByRole('button', { name: 'Add first node' }));
  await keys.press('Enter');
  await page.getByRole('searchbox', { name: 'Search node types' }).waitFor();
  await page.getByRole('region', { name: 'Flow' }).waitFor(); // the types are loaded
  for (const [word, type] of [['template', /, template/], ['approval', /, approval-gate/], ['log', /, log/]]) {
    await keys.type(word);
    await keys.press('Enter');
    await card(type).waitFor();
  }

  // An order becomes edges with the first one that is drawn.
  await keys.tabTo(card(/, approval-gate/), 'Shift+Tab');
  await keys.press('c');
  const dialog = page.getByRole('dialog', { name: /^Connect / });
  await keys.has(dialog.getByRole('combobox', { name: 'To' }));
  await keys.type('log');
  await page.getByRole('option', { name: 'Log' }).and(page.locator('[data-combobox-selected]')).waitFor();
  await keys.press('Enter');
  await keys.tabTo(dialog.getByRole('button', { name: 'Connect', exact: true }));
  await keys.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await keys.has(card(/, approval-gate/));

  for (const [name, label, text] of [[/, template/, 'Text', 'an order of 240 EUR'], [/, approval-gate/, 'Prompt', 'Ship {{nodes.template.output.text}}?'], [/, log/, 'Message', 'Shipped']]) {
    await keys.tabTo(card(name), name.source.includes('template') ? 'Shift+Tab' : 'Tab');
    await keys.press('Enter');
    await keys.has(panel().getByRole('textbox', { name: 'Title' }));
    await keys.tabTo(field(label));
    await keys.type(text);
    await keys.press('Escape');
    await keys.has(card(name)); // the panel leads back to the canvas
  }
  await keys.press('Control+s');
  await page.getByRole('button', { name: 'Saved' }).waitFor();
});

test('adds a trigger', async () => {
  await keys.tabTo(page.getByRole('button', { name: 'Add a trigger' }), 'Shift+Tab');
  await keys.press('Enter');
  await keys.tabTo(panel().getByRole('button', { name: /^Event/ }));
  await keys.press('Enter');
  await keys.tabTo(panel().getByRole('button', { name: 'Create trigger' }));
  await keys.press('Enter');
  await canvas().getByRole('button', { name: /^Trigger: When a run failed/ }).waitFor();
  await keys.rests();
});

test('runs it, opens the run and approves', async () => {
  await keys.press('Control+Enter');
  const dialog = page.getByRole('dialog', { name: 'Start run' });
  await keys.has(dialog.getByRole('button', { name: 'Start' }));
  await keys.press('Enter');
  await keys.rests();
  await keys.tabTo(page.getByRole('status', { name: 'Last run' }).getByRole('link'), 'Shift+Tab');
  await keys.press('Enter');
  await settled(page, 'By keyboard');
  const box = page.getByRole('region', { name: 'Waiting for approval: Approval' });
  await box.getByText('Ship an order of 240 EUR?').waitFor();
  await keys.tabTo(box.getByRole('textbox', { name: 'Comment' }));
  await keys.type('Fine');
  await keys.tabTo(box.getByRole('button', { name: 'Approve' }));
  await keys.press('Enter');
  await page.getByRole('status').filter({ hasText: 'The run completed.' }).waitFor();
  await keys.rests();
});
