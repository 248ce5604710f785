// Debian's Firefox: every page in light and dark, from a desktop to a phone, without an error and without
// barriers, and the main job from the sign-in to the answers of people without an account.
// SCREENSHOTS=folder stores a picture of every page.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { barriers, wider } from '../support/barriers.mjs';
import { desktop, laptop, PASSWORD, phone, signUpFirst, startBrowser } from '../support/browser.mjs';
import { makeLifelike, pagesOf, settled, visit } from '../support/lifelike.mjs';
import { edge, node } from '../support/maps.mjs';
import { ended, reached } from '../support/poll.mjs';
import { startServer, stopAll } from '../support/server.mjs';

const folder = process.env.SCREENSHOTS;

let server, browser, data, page, stranger;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'] });
  data = await makeLifelike(server);
  browser = await startBrowser(server, { inFirefox: true });
  ({ page } = await signUpFirst(browser, server));
  stranger = await browser.person({ viewport: phone });
  if (folder) await mkdir(folder, { recursive: true });
});
afterEach(() => browser.check());
after(() => stopAll(browser, server));

const picture = async (of, name, which = 'light') => {
  // Hiding the caret would add a style element, which the policy of the pages forbids.
  if (folder) await of.screenshot({ path: join(folder, `firefox-${name}-${which}.png`), fullPage: true, caret: 'initial' });
};

describe('every page', () => {
  after(async () => {
    await page.evaluate(() => localStorage.setItem('blueprintd-color-scheme', 'light'));
    await page.setViewportSize(desktop);
  });
  for (const scheme of ['light', 'dark']) {
    for (const [screen, viewport] of Object.entries({ desktop, laptop, phone: { width: 390, height: 844 } })) {
      if (screen === 'laptop' && scheme === 'dark') continue; // the colours are the same as on a desktop
      test(`${scheme}, ${screen}`, async () => {
        const thorough = scheme === 'light' ? screen === 'desktop' : screen === 'phone'; // both schemes, and both sizes
        const found = [];
        await page.setViewportSize(viewport);
        await page.evaluate((value) => localStorage.setItem('blueprintd-color-scheme', value), scheme);
        for (const one of pagesOf(data)) {
          await visit(page, one);
          assert.equal(await page.evaluate(() => document.documentElement.dataset.mantineColorScheme), scheme);
          await picture(page, `${one.name}-${screen}`, scheme);
          if (thorough) for (const barrier of await barriers(page)) found.push(`${one.name}: ${barrier}`);
          const excess = await wider(page);
          if (excess > 0) found.push(`${one.name}: ${excess} px wider than the screen`);
        }
        assert.deepEqual(found, [], found.join('\n'));
      });
    }
  }
});

test('signs in', async () => {
  const person = await browser.person();
  person.allow('session.get', 401);
  await person.page.goto('/signin');
  await settled(person.page, 'Sign in');
  await picture(person.page, 'sign-in');
  await person.page.getByLabel('Email').fill('ada@example.org');
  await person.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await person.page.keyboard.press('Enter');
  await settled(person.page, 'Blueprints');
});

test('draws a blueprint with the keyboard, saves it and runs it', async () => {
  await page.bringToFront(); // only the page in front has the focus
  await page.goto('/blueprints/new');
  await page.getByRole('textbox', { name: 'Title' }).fill('Drawn in Firefox');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Add first node' }).press('Enter');
  await page.locator('input[type=search]:focus').waitFor();
  await page.getByRole('region', { name: 'Flow' }).waitFor(); // the types are loaded
  await page.keyboard.type('template');
  await page.keyboard.press('Enter');
  const card = page.getByRole('group', { name: 'Canvas' }).getByRole('group', { name: /, template/ });
  await card.waitFor();
  await card.focus();
  await page.keyboard.press('Enter');
  await page.locator('input:focus').waitFor(); // the title takes the focus when the form is shown
  await page.getByRole('textbox', { name: 'Text', exact: true }).or(page.getByRole('combobox', { name: 'Text', exact: true })).focus();
  await page.keyboard.type('hello from Firefox');
  await page.keyboard.press('Control+s');
  await page.getByRole('button', { name: 'Saved' }).waitFor();
  await picture(page, 'drawn');
  await page.getByRole('link', { name: 'Runs', exact: true }).last().press('Enter');
  await settled(page, 'Drawn in Firefox');
  await page.getByRole('button', { name: 'Run', exact: true }).press('Enter');
  await page.getByRole('dialog', { name: 'Start run' }).getByRole('button', { name: 'Start' }).press('Enter');
  await page.waitForURL(/\/runs\/exec_/);
  await page.getByRole('status').filter({ hasText: 'The run completed.' }).waitFor();
  await page.getByText('hello from Firefox').first().waitFor();
  await picture(page, 'run');
});

test('answers an approval link', async () => {
  const { client } = data;
  const nodes = [node('ask', 'approval-gate', { prompt: 'Pay 270 euros?' }, { title: 'Approve the order' }), node('then', 'set', { values: { paid: true } })];
  const { id } = await client.blueprint.create.mutate({ title: 'Pay', blueprint_map: { nodes, edges: [edge('ask', 'then', 'approved')] } });
  const { executionId } = await client.blueprint.execute.mutate({ id });
  await reached(client, executionId, 'paused');
  await page.goto(`/runs/${executionId}`);
  await page.getByRole('button', { name: 'Copy approval link' }).click();
  const link = await page.getByRole('group', { name: 'Approval link' }).getByRole('code').innerText();
  await stranger.page.goto(link);
  await stranger.page.getByRole('heading', { name: 'Approve the order' }).waitFor();
  await picture(stranger.page, 'approval-link');
  await stranger.page.getByLabel('Comment').fill('Fine');
  await stranger.page.getByRole('button', { name: 'Approve' }).click();
  await stranger.page.getByRole('heading', { name: 'Thank you' }).waitFor();
  await page.getByRole('status').filter({ hasText: 'The run completed.' }).waitFor(); // without a reload
  assert.equal((await ended(client, executionId)).steps[0].output.comment, 'Fine');
});

test('submits the form of a webhook', async () => {
  const { client } = data;
  const { id: blueprintId } = await client.blueprint.create.mutate({ title: 'Signups', blueprint_map: { nodes: [node('greet', 'template', { text: 'Welcome, {{inputData.name}}' })] } });
  const form = { type: 'object', title: 'Join the tour', required: ['name'], properties: { name: { type: 'string', title: 'Name' }, agreed: { type: 'boolean', title: 'I bring shoes' } } };
  const { id: triggerId } = await client.blueprintTriggers.create.mutate({ blueprintId, triggerType: 'webhook', config: { form } });
  const { url } = await client.blueprintTriggers.getWebhookUrl.query({ triggerId });
  const at = stranger.page;
  await at.goto(url);
  await at.getByRole('heading', { name: 'Join the tour' }).waitFor();
  await picture(at, 'form');
  await at.getByLabel('Name').pressSequentially('Zoe', { delay: 800 }); // a form that is sent within two seconds is refused
  await at.getByLabel('I bring shoes').check();
  await at.getByRole('button', { name: 'Send' }).click();
  await at.getByRole('heading', { name: 'Thank you' }).waitFor();
  await page.goto(`/blueprints/${blueprintId}/runs`);
  await page.getByRole('link', { name: /^Run …/ }).first().click();
  await page.getByText('Welcome, Zoe').first().waitFor();
});

test('reads the documentation', async () => {
  await page.goto('/docs');
  await page.getByRole('searchbox').fill('approval');
  await page.keyboard.press('Enter');
  await page.getByRole('main').getByRole('link', { name: /approval/i }).first().click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await picture(page, 'docs');
});
