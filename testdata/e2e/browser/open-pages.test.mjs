// Every page that needs no account (setup, sign-in at a service, approval links, forms of
// webhooks, the documentation) in light and dark, on a desktop and a phone: axe reports nothing, no name reads badly,
// nothing is wider than the screen, and a picture is stored in the folder SCREENSHOTS, or a
// temporary one.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { barriers, misread, wider } from '../support/barriers.mjs';
import { desktop, phone, setupLink, startBrowser } from '../support/browser.mjs';
import { connect } from '../support/clients.mjs';
import { startIdentity } from '../support/identity.mjs';
import { settled } from '../support/lifelike.mjs';
import { node } from '../support/maps.mjs';
import { reached } from '../support/poll.mjs';
import { startServer, stopAll } from '../support/server.mjs';
import { startService } from '../support/service.mjs';

let server, browser, identity, receiver, client, folder, pages;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0', '--allow-net', '127.0.0.0/8'], onDisk: true });
  identity = await startIdentity({ redirectUri: `${server.apiHost}/oauth/callback` });
  receiver = await startService();
  browser = await startBrowser(server);
  client = connect(server.baseUrl, server.key);
  folder = process.env.SCREENSHOTS || await mkdtemp(join(tmpdir(), 'blueprintd-screenshots-'));
  await mkdir(folder, { recursive: true });
  pages = await makePages();
});
afterEach(() => browser.check());
after(() => stopAll(browser, server, identity, receiver));

/** A form with every control, longer than a screen. */
const order = {
  type: 'object', title: 'Order a print', description: 'We print on paper and on canvas.\n\nA print is ready after three days.',
  required: ['name', 'email', 'size', 'copies', 'terms'],
  properties: {
    name: { type: 'string', title: 'Name' },
    email: { type: 'string', format: 'email', title: 'Email', description: 'We write to you when the print is ready.' },
    size: { type: 'string', title: 'Size', enum: ['A3', 'A2', 'A1'] },
    extras: { type: 'array', title: 'Extras', items: { type: 'string', enum: ['Frame', 'Glass', 'A signature of the artist'] } },
    copies: { type: 'integer', title: 'Copies', minimum: 1, maximum: 20 },
    day: { type: 'string', format: 'date', title: 'Needed by' },
    message: { type: 'string', title: 'Message', maxLength: 2000 },
    terms: { type: 'boolean', title: 'I accept the terms' },
  },
};

/** Starts a run and returns what it waits for. */
async function waiting(...nodes) {
  const { id } = await client.blueprint.create.mutate({ title: 'Prints', blueprint_map: { nodes } });
  const { executionId } = await client.execution.executeBlueprintWithLogging.mutate({ nodes, options: { blueprintId: id } });
  const { awaitingInput } = await reached(client, executionId, 'paused');
  return { executionId, ...awaitingInput };
}

/** The link of a question, which is answered with `answer` if that is given. */
async function question(ask, answer) {
  const { executionId } = await waiting(node('send', 'http-request', { method: 'POST', url: receiver.url, body: '{{nodes.ask.link}}' }), ask);
  if (answer) await client.execution.resume.mutate({ executionId, input: answer });
  return receiver.calls.at(-1).text;
}

async function makePages() {
  const gate = node('ask', 'approval-gate', { prompt: 'Order 1042 is worth 270 EUR. Ship it?\n\nIt has a frame and glass, and the customer has ordered twice before.' }, { title: 'Approve the order' });
  const approval = await question(gate);
  const answered = await question(gate, { approved: true });
  const human = await question(node('ask', 'human', { prompt: 'What shall we print?', schema: order }, { title: 'Choose the print' }));
  const { id: blueprintId } = await client.blueprint.create.mutate({ title: 'Prints', blueprint_map: { nodes: [node('greet', 'template', { text: 'Welcome' })] } });
  const { id: triggerId } = await client.blueprintTriggers.create.mutate({ blueprintId, triggerType: 'webhook', config: { form: order } });
  const { url: form } = await client.blueprintTriggers.getWebhookUrl.query({ triggerId });
  const connection = await client.connection.create.mutate({ name: 'Notes of the office', type: 'oauth2', config: identity.config() });
  const { url: consent } = await waiting(node('fetch', 'http-request', { url: `${identity.api}/notes`, connectionId: connection.id }));
  await server.command('user', 'add', '--email', 'bo@example.org', '--name', 'Bo');
  const [, password] = /token=(\S+)/.exec(await server.command('user', 'link', '--email', 'bo@example.org'));

  const send = (page) => page.getByRole('button', { name: 'Send' }).click();
  return [
    { name: 'setup', path: setupLink(server), heading: 'Welcome to blueprintd' },
    { name: 'setup-refused', path: setupLink(server), heading: 'Welcome to blueprintd', then: async (page) => {
      await page.getByLabel('Password', { exact: true }).fill('short');
      await page.getByRole('button', { name: 'Get started' }).click();
      await page.getByLabel('Password', { exact: true }).and(page.locator('[aria-invalid=true]')).waitFor();
    } },
    { name: 'setup-password', path: `/setup?token=${password}`, heading: /password/i },
    { name: 'setup-unknown', path: '/setup?token=unknown', heading: 'Invalid or expired link' },
    { name: 'sign-in-wrong', path: '/signin', heading: 'Sign in', then: async (page) => {
      await page.getByRole('textbox', { name: 'Email', exact: true }).fill('ada@example.org');
      await page.getByLabel('Password', { exact: true }).fill('not the password');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('alert').filter({ hasText: 'Wrong email or password' }).waitFor();
    } },
    { name: 'approval', path: approval, heading: 'Approve the order' },
    { name: 'approval-answered', path: answered, heading: 'Already answered' },
    { name: 'approval-unknown', path: '/answer/unknown', heading: 'This link is not valid' },
    { name: 'question', path: human, heading: 'Choose the print' },
    { name: 'question-refused', path: human, heading: 'Choose the print', then: async (page) => {
      await page.getByLabel('Copies').fill('21');
      await page.locator('form').evaluate((form) => { form.noValidate = true; });
      await send(page);
      await page.locator('[aria-invalid=true]').first().waitFor();
    } },
    { name: 'form', path: form, heading: 'Order a print' },
    { name: 'form-refused', path: form, heading: 'Order a print', then: async (page) => {
      await page.locator('form').evaluate((one) => { one.noValidate = true; });
      await send(page);
      await page.getByRole('alert').waitFor();
    } },
    { name: 'form-unknown', path: `${form.slice(0, -4)}0000`, heading: 'No form here' },
    { name: 'consent', path: consent, heading: /Sign in/ },
    { name: 'consent-unknown', path: '/oauth/callback?state=unknown', heading: null },
    { name: 'docs', path: '/docs', heading: 'Documentation' },
    ...['getting-started', 'dashboard', 'nodes', 'api', 'benchmarks'].map((topic) => ({ name: `docs-${topic}`, path: `/docs/${topic}`, heading: null, once: true })),
    { name: 'docs-search', path: '/docs?q=retry', heading: 'Search' },
    { name: 'docs-nothing', path: '/docs?q=xylophone', heading: 'Search' },
    { name: 'docs-unknown', path: '/docs/unknown', heading: 'Page not found' },
  ];
}

describe('every page without an account', { concurrency: 2 }, () => {
  for (const scheme of ['light', 'dark']) {
    for (const [screen, viewport] of Object.entries({ desktop, phone })) {
      test(`${scheme}, ${screen}`, async (t) => {
        const found = [];
        const { page, allow } = await browser.person({ scheme, viewport });
        allow('/'); // many of these pages have the status of an error
        for (const { name, path, heading, then, once } of pages) {
          if (once && scheme === 'dark') continue; // they are long, and have the colours of the others
          await page.goto(path);
          await settled(page, heading);
          await then?.(page);
          const fullPage = !name.startsWith('docs-'); // some of those are a hundred screens long
          await page.screenshot({ path: join(folder, `${name}-${screen}-${scheme}.png`), fullPage, animations: 'disabled', caret: 'hide' });
          for (const barrier of await barriers(page)) found.push(`${name}: ${barrier}`);
          for (const line of await misread(page)) found.push(`${name}: badly read: ${line}`);
          const excess = await wider(page);
          if (excess > 0) found.push(`${name}: ${excess} px wider than the screen`);
        }
        t.diagnostic(`the pictures are in ${folder}`);
        assert.deepEqual(found, [], found.join('\n'));
      });
    }
  }
});
