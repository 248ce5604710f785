// The canvas: triggers beside the nodes.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { signUpFirst, startBrowser } from '../support/browser.mjs';
import { connect } from '../support/clients.mjs';
import { node } from '../support/maps.mjs';
import { until } from '../support/poll.mjs';
import { startServer, stopAll } from '../support/server.mjs';

let server, browser, client, page;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'] });
  client = connect(server.baseUrl, server.key);
  browser = await startBrowser(server);
  ({ page } = await signUpFirst(browser, server));
});
afterEach(() => browser.check());
after(() => stopAll(browser, server));

const canvas = () => page.getByRole('group', { name: 'Canvas' });
const card = (name) => canvas().getByRole('group', { name });
const panel = () => page.getByRole('complementary', { name: 'Settings' });
const at = (x, y, one) => ({ ...one, position: { x, y } });

async function open(title, blueprint_map) {
  const { id } = await client.blueprint.create.mutate({ title, blueprint_map });
  await page.goto(`/blueprints/${id}/edit`);
  await canvas().waitFor();
  return id;
}

test('adds, pauses and deletes a trigger on the canvas, with the keyboard only', async () => {
  const id = await open('Started at night', { nodes: [at(0, 0, node('say', 'template', { text: 'hello' }))] });
  const list = () => client.blueprintTriggers.list.query({ blueprintId: id });
  await page.getByRole('button', { name: 'Add a trigger' }).press('Enter');
  await panel().getByRole('button', { name: /^Event/ }).press('Enter');
  await panel().getByRole('button', { name: 'Create trigger' }).press('Enter');
  const trigger = (state) => canvas().getByRole('button', { name: `Trigger: When a run failed, ${state}` });
  await trigger('active').waitFor();
  assert.deepEqual((await list()).map((one) => [one.trigger_type, one.config.event, one.is_active]), [['event', 'execution.failed', true]]);

  // It stands left of the node that it starts.
  const [first, second] = [await trigger('active').boundingBox(), await card(/The say node/).boundingBox()];
  assert.ok(first.x + first.width < second.x, `${first.x} + ${first.width} is not left of ${second.x}`);

  await panel().getByRole('switch', { name: 'Active' }).press('Space');
  await trigger('paused').waitFor();
  await until('the pause', async () => (await list())[0].is_active === false || undefined);
  await trigger('paused').press('Tab');
  await card(/The say node/).press('Shift+Tab');
  await trigger('paused').press('Enter');
  await panel().getByRole('button', { name: 'Delete trigger' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
  await trigger('paused').waitFor({ state: 'detached' });
  assert.deepEqual(await list(), []);
  assert.equal((await client.blueprint.get.query({ id })).version, '1.0.0', 'triggers are not part of the blueprint');
});
