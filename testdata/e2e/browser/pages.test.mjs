// Every page in light and dark, on a desktop, a laptop, a tablet and a phone: axe reports nothing
// serious, nothing is wider than the screen, all headers are equally high, and a picture is
// stored in the folder SCREENSHOTS, or a temporary one.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { barriers, wider } from '../support/barriers.mjs';
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

/** What opens on a page: dialogs, panels, menus. */
const states = [
  { name: 'blueprint-menu', on: 'blueprints', open: (page) => page.getByRole('button', { name: /ctions? (for|of)|^More/ }).first().click(), shown: (page) => page.getByRole('menu') },
  { name: 'editor-node', on: 'editor', open: (page) => page.getByRole('group', { name: /Read the order/ }).press('Enter'), shown: (page) => page.getByRole('textbox', { name: 'Title' }) },
  { name: 'editor-keys', on: 'editor', open: (page) => page.getByRole('group', { name: /Read the order/ }).press('?'), shown: (page) => page.getByRole('dialog', { name: 'Keyboard shortcuts' }) },
  { name: 'run-dialog', on: 'blueprint-runs', open: (page) => page.getByRole('button', { name: 'Run', exact: true }).click(), shown: (page) => page.getByRole('dialog') },
  { name: 'palette', on: 'runs', open: (page) => page.keyboard.press('Control+k'), shown: (page) => page.getByRole('listbox', { name: 'Results' }) },
  { name: 'key-dialog', on: 'settings-keys', open: (page) => page.getByRole('button', { name: 'New API key' }).click(), shown: (page) => page.getByRole('dialog', { name: 'New API key' }) },
];

describe('every page', { concurrency: 2 }, () => {
  for (const scheme of ['light', 'dark']) {
    for (const [screen, viewport] of Object.entries({ desktop, laptop, tablet, phone })) {
      if (['laptop', 'tablet'].includes(screen) && scheme === 'dark') continue; // the colours are the same as on a desktop
      test(`${scheme}, ${screen}`, async (t) => {
        const found = [];
        const look = async (page, name) => {
          await page.screenshot({ path: join(folder, `${name}-${screen}-${scheme}.png`), fullPage: true, animations: 'disabled', caret: 'hide' });
          for (const barrier of await barriers(page)) found.push(`${name}: ${barrier}`);
          const excess = await wider(page);
          if (excess > 0) found.push(`${name}: ${excess} px wider than the screen`);
          const header = await page.locator('main header').first().boundingBox();
          if (viewport.width >= laptop.width && !/^(long|editor|sign-in)/.test(name) && (header.y !== 72 || header.height !== 36)) found.push(`${name}: the header is ${header.height} px high at ${header.y}, want 36 at 72`);
        };
        const { page } = await again(browser, ada, { scheme, viewport });
        for (const one of pages) {
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
        t.diagnostic(`${pages.length + 1} pictures are in ${folder}`);
        assert.deepEqual(found, [], found.join('\n'));
      });
    }
  }
});
