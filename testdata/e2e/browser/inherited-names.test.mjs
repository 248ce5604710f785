// Names that every JavaScript object inherits, as ids and types of nodes and in URLs. They are
// shown as any others.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { signUpFirst, startBrowser } from '../support/browser.mjs';
import { connect } from '../support/clients.mjs';
import { settled } from '../support/lifelike.mjs';
import { node } from '../support/maps.mjs';
import { ended } from '../support/poll.mjs';
import { startServer, stopAll } from '../support/server.mjs';

const names = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__', '__defineGetter__'];

let server, browser, client, ada, page, flow, draft, run;

before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'] });
  client = connect(server.baseUrl, server.key);
  browser = await startBrowser(server);
  ada = await signUpFirst(browser, server);
  ({ page } = ada);
  const edges = names.slice(1).map((name, i) => ({ source: names[i], target: name }));
  flow = await client.blueprint.create.mutate({ title: 'Inherited', blueprint_map: { nodes: names.map((name) => node(name, 'template', { text: `{{inputData.of}} ${name}` }, { title: name })), edges } });
  draft = await client.blueprint.create.mutate({ title: 'Types', blueprint_map: { nodes: names.map((name) => ({ ...node(name, name, {}, { title: name }), [name === 'toString' ? 'effect' : 'onError']: name })) } });
  ({ executionId: run } = await client.execution.executeBlueprintWithLogging.mutate({ nodes: flow.blueprint_map.nodes, options: { blueprintId: flow.id, inputData: { of: 'me' } } }));
  await ended(client, run);
});
afterEach(() => browser.check());
after(() => stopAll(browser, server));

// Opens a page, which must not show a function or an error.
const go = async (path) => {
  await page.goto(path);
  await settled(page);
  await clean(path);
};
const clean = async (where) => {
  const text = await page.locator('body').innerText();
  assert.doesNotMatch(text, /native code|function |\[object|Something went wrong/, where);
};

test('as ids and types of nodes in the editor', async () => {
  for (const { id } of [flow, draft]) {
    await go(`/blueprints/${id}/edit`);
    for (const name of names) {
      await page.getByRole('group', { name: 'Canvas' }).getByRole('group', { name: new RegExp(`^([0-9]. )?${name}, `) }).first().press('Enter');
      await page.getByRole('tab', { name: 'JSON' }).waitFor();
      for (const tab of await page.getByRole('complementary').getByRole('tab').all()) {
        await tab.click();
        await clean(`${name}, ${await tab.textContent()}`);
      }
      await page.keyboard.press('Escape');
    }
  }
});

test('in runs', async () => {
  await go(`/runs/${run}`);
  for (const name of names) await go(`/runs/${run}?step=${name}`);
});

test('in URLs', async () => {
  for (const status of [400, 404]) ada.allow('', status);
  for (const name of names) {
    for (const path of ['/runs?time=', '/runs?status=', '/runs?range=', '/blueprints?sort=', '/blueprints?scope=', '/triggers/new?type=', '/connections/new?type=', '/connections?type=', '/triggers?type=', '/settings/', '/settings/audit?action=', `/blueprints/${flow.id}/`, `/runs/${run}?tab=`, `/runs/${run}?view=`]) await go(path + name);
  }
});
