// Every page in light and dark, on a desktop, a laptop, a tablet and a phone: axe reports nothing
// serious, no name reads badly, nothing is wider than the screen, all headers are equally high, the texts of a row stand
// on one line, and a picture is stored in the folder SCREENSHOTS, or a temporary one.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { barriers, crooked, misread, wider } from '../support/barriers.mjs';
import { again, desktop, laptop, phone, tablet, signUpFirst, startBrowser } from '../support/browser.mjs';
import { makeLifelike, pagesOf, settled, visit } from '../support/lifelike.mjs';
import { node } from '../support/maps.mjs';
import { startServer, stopAll } from '../support/server.mjs';

let server, browser, ada, pages, folder;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'] });
  browser = await startBrowser(server);
  ada = await signUpFirst(browser, server);
  const data = await makeLifelike(server);
  pages = [...pagesOf(data), ...await pagesOfLongWords(data)];
  folder = process.env.SCREENSHOTS || await mkdtemp(join(tmpdir(), 'blueprintd-screenshots-'));
  await mkdir(folder, { recursive: true });
  for (const { name, ...one } of states) pages.push({ ...pages.find((page) => page.name === one.on), ...one, name });
});

/** Elements whose names no single line contains. */
async function pagesOfLongWords({ client, organization }) {
  const word = 'Donaudampfschifffahrtsgesellschaftskapitaenswitwenrente'.repeat(2);
  const { id } = await client.blueprint.create.mutate({
    title: word, description: word, tags: [word.slice(0, 50)], organization_id: organization.id,
    blueprint_map: { nodes: [node(word, 'log', { message: word }, { title: word })] },
    environment_variables: [{ name: word, type: 'string', default: word, description: word }],
  });
  const { id: triggerId } = await client.blueprintTriggers.create.mutate({ blueprintId: id, triggerType: 'api', config: { label: word } });
  await client.apiKey.create.mutate({ name: word.slice(0, 100) });
  return [
    ['long-edit', `/blueprints/${id}/edit`], ['long-runs', `/blueprints/${id}/runs`], ['long-triggers', `/blueprints/${id}/triggers`],
    ['long-versions', `/blueprints/${id}/versions?to=1.0.0`], ['long-share', `/blueprints/${id}/share`], ['long-trigger', `/triggers/${triggerId}`],
  ].map(([name, path]) => ({ name, path, heading: word }));
}
afterEach(() => browser.check());
after(() => stopAll(browser, server));

/** What opens on a page: dialogs, panels, menus; `wide`: not on a phone. */
const press = (role, name, more) => (page) => page.getByRole(role, { name, ...more }).first().click();
const dialog = (name) => (page) => page.getByRole('dialog', name && { name });
const menu = (page) => page.getByRole('menu');
const onCard = (key) => (page) => page.getByRole('group', { name: /Read the order/ }).press(key);
/** A menu item, behind a button. */
const item = (button, name) => async (page) => {
  await page.getByRole('button', { name: button }).first().click();
  await page.getByRole('menuitem', { name }).click();
};
const states = [
  { name: 'blueprint-menu', on: 'blueprints', open: press('button', /ctions? (for|of)|^More/), shown: menu },
  { name: 'account-menu', on: 'blueprints', open: press('button', /^AL, account/), shown: menu },
  { name: 'scheme-menu', on: 'blueprints', open: press('button', /^Colour scheme/), shown: menu },
  { name: 'organization-menu', on: 'blueprints', open: press('button', /^Organization/), shown: menu },
  { name: 'blueprint-delete', on: 'blueprint-share', open: press('button', 'Delete blueprint'), shown: dialog() },
  { name: 'editor-node', on: 'editor', open: onCard('Enter'), shown: (page) => page.getByRole('textbox', { name: 'Title' }) },
  { name: 'editor-keys', on: 'editor', open: onCard('?'), shown: dialog('Keyboard shortcuts') },
  { name: 'editor-connect', on: 'editor', open: onCard('c'), shown: dialog(/^Connect /) },
  { name: 'editor-rename', on: 'editor', open: onCard('F2'), shown: dialog(/^Rename/) },
  { name: 'editor-types', on: 'editor', open: onCard('a'), shown: (page) => page.getByRole('region', { name: 'Services' }) },
  { name: 'editor-menu', on: 'editor', open: (page) => page.getByRole('toolbar', { name: 'Editor' }).getByRole('button', { name: 'More actions' }).click(), shown: menu },
  { name: 'editor-variables', on: 'editor', open: async (page) => {
    await page.getByRole('toolbar', { name: 'Editor' }).getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Variables' }).click();
  }, shown: (page) => page.getByText('carrier_key') },
  { name: 'editor-issues', on: 'editor', open: press('button', /^Issues/), shown: (page) => page.locator('#editor-panel') },
  { name: 'editor-trigger', on: 'editor', open: press('button', /^Trigger: /), shown: (page) => page.getByRole('button', { name: 'Save trigger' }) },
  { name: 'editor-new-trigger', on: 'editor', open: press('button', 'Add a trigger'), shown: (page) => page.getByRole('list', { name: 'Trigger types' }) },
  { name: 'run-dialog', on: 'blueprint-runs', open: press('button', 'Run', { exact: true }), shown: dialog() },
  { name: 'palette', on: 'runs', open: (page) => page.keyboard.press('Control+k'), shown: (page) => page.getByRole('listbox', { name: 'Results' }) },
  { name: 'run-table', on: 'runs', open: press('button', 'Show table'), shown: (page) => page.getByRole('region', { name: 'Runs over time, as a table' }) },
  { name: 'run-menu', on: 'run-failed', open: press('button', 'More actions'), shown: menu },
  { name: 'run-retry', on: 'run-failed', open: press('button', 'Retry'), shown: dialog() },
  { name: 'run-test', on: 'run-completed', open: item('More actions', /Save as test/), shown: (page) => page.getByRole('button', { name: 'Download all' }) },
  { name: 'run-again', wide: true, on: 'run-failed', open: press('button', 'Run again from here'), shown: dialog() },
  { name: 'run-cancel', on: 'run-approval', open: press('button', 'Cancel run'), shown: dialog() },
  { name: 'run-link', on: 'run-approval', open: press('button', 'Copy approval link'), shown: (page) => page.getByRole('group', { name: 'Approval link' }) },
  { name: 'trigger-menu', on: 'trigger-webhook', open: press('button', 'More actions'), shown: menu },
  { name: 'trigger-fire', on: 'trigger-webhook', open: press('button', 'Fire'), shown: dialog('Fire trigger') },
  { name: 'trigger-rotate', on: 'trigger-webhook', open: item('More actions', 'Rotate secret'), shown: dialog('Rotate secret') },
  { name: 'trigger-redeliver', on: 'trigger-webhook', open: press('button', 'Redeliver several'), shown: dialog('Redeliver several') },
  { name: 'trigger-firing', on: 'trigger-webhook', open: (page) => page.getByRole('rowheader').first().getByRole('button').click(), shown: dialog('Outcome') },
  { name: 'trigger-list', on: 'trigger-times', open: press('button', 'List'), shown: (page) => page.getByRole('button', { name: 'List', expanded: true }) },
  { name: 'connection-form', on: 'connection-new', open: press('link', /^OAuth 2/), shown: (page) => page.getByRole('textbox', { name: 'Name' }) },
  { name: 'connection-delete', on: 'connection', open: press('button', 'Delete'), shown: dialog() },
  { name: 'key-dialog', on: 'settings-keys', open: press('button', 'New API key'), shown: dialog('New API key') },
  { name: 'key-revoke', on: 'settings-keys', open: press('button', /^Revoke/), shown: dialog() },
  { name: 'organization-dialog', on: 'settings-organizations', open: press('button', 'New organization'), shown: dialog() },
  { name: 'audit-details', on: 'settings-audit', open: press('button', /^Details/), shown: (page) => page.getByRole('button', { name: /^Details/, expanded: true }) },
];

describe('every page', { concurrency: 2 }, () => {
  for (const scheme of ['light', 'dark']) {
    for (const [screen, viewport] of Object.entries({ desktop, laptop, tablet, phone })) {
      if (['laptop', 'tablet'].includes(screen) && scheme === 'dark') continue; // the colours are the same as on a desktop
      test(`${scheme}, ${screen}`, async (t) => {
        const opened = scheme === 'light' ? screen === 'desktop' : screen === 'phone'; // both schemes, and both sizes
        const found = [];
        const look = async (page, name) => {
          await page.screenshot({ path: join(folder, `${name}-${screen}-${scheme}.png`), fullPage: true, animations: 'disabled', caret: 'hide' });
          for (const barrier of await barriers(page)) found.push(`${name}: ${barrier}`);
          if (opened) for (const line of await misread(page)) found.push(`${name}: badly read: ${line}`);
          const excess = await wider(page);
          if (excess > 0) found.push(`${name}: ${excess} px wider than the screen`);
          if (viewport.width < laptop.width) return;
          for (const row of await crooked(page)) found.push(`${name}: a crooked row: ${row}`);
          if (/^(long|editor|sign-in)/.test(name)) return;
          const { y, height } = await page.locator('main header').first().evaluate((header) => ({ y: header.getBoundingClientRect().top + scrollY, height: header.clientHeight }));
          if (y !== 72 || height !== 36) found.push(`${name}: the header is ${height} px high at ${y}, want 36 at 72`);
        };
        const { page } = await again(browser, ada, { scheme, viewport });
        for (const one of pages) {
          if (one.open && !opened || one.wide && screen === 'phone') continue;
          await visit(page, one);
          if (one.open) {
            await one.open(page);
            await one.shown(page).first().waitFor();
          }
          await look(page, one.name);
        }
        const stranger = await browser.person({ scheme, viewport });
        stranger.allow('session.get', 401);
        await stranger.page.goto('/signin');
        await settled(stranger.page, 'Sign in');
        await look(stranger.page, 'sign-in');
        t.diagnostic(`the pictures are in ${folder}`);
        assert.deepEqual(found, [], found.join('\n'));
      });
    }
  }

  test('an open menu stays on the screen when the size of the screen changes', async () => {
    const { page } = await again(browser, ada, { viewport: phone });
    await visit(page, pages.find((one) => one.name === 'account-menu'));
    await press('button', /^AL, account/)(page);
    await menu(page).first().waitFor();
    for (const size of [{ width: 1, height: 1 }, phone]) await page.setViewportSize(size);
    const excesses = [];
    for (let frame = 0; frame < 30; frame++) {
      await page.evaluate(() => new Promise(requestAnimationFrame));
      excesses.push(await wider(page));
    }
    assert.equal(Math.max(...excesses.slice(10)), 0, `pixels by which the page is wider than the screen in ${excesses.length} frames: ${excesses}`);
  });
});
