// The canvas: triggers beside the nodes; nodes added at handles and on edges.
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

const search = () => page.getByRole('dialog', { name: 'Add a node' });
const choose = async (name) => {
  await search().getByRole('searchbox', { name: 'Search node types' }).fill(name);
  await page.keyboard.press('Enter');
  await search().waitFor({ state: 'detached' });
};
const saved = async () => {
  await page.keyboard.press('Control+s');
  await page.getByRole('button', { name: 'Saved' }).waitFor();
  const { blueprint_map: map } = await client.blueprint.get.query({ id: /blueprints\/([0-9a-f-]{36})/.exec(page.url())[1] });
  return { map, ids: map.nodes.map(({ id }) => id), edges: (map.edges ?? []).map((one) => `${one.source} ${one.sourceHandle ?? 'main'} ${one.target}`).sort() };
};
/** The centre of an element once the view is still. */
const centre = async (locator) => {
  let last;
  const box = await until('the view stands still', async () => {
    const now = await locator.boundingBox();
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    const same = now !== null && JSON.stringify(now) === JSON.stringify(last);
    last = now;
    return same ? now : undefined;
  });
  return [box.x + box.width / 2, box.y + box.height / 2];
};

test('draws a new blueprint with the buttons of its handles', async () => {
  await open('Drawn by handles', { nodes: [] });
  await page.getByRole('button', { name: 'Add first node' }).click();
  await page.getByRole('searchbox', { name: 'Search node types' }).fill('condition');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Add a node after Condition, true' }).click();
  await choose('template');
  await page.getByRole('button', { name: 'Add a node after Condition, false' }).click();
  await choose('log');
  await page.getByRole('button', { name: 'Add a node after Template' }).click();
  await choose('log');
  assert.deepEqual((await saved()).edges, ['conditional false log', 'conditional true template', 'template main log_2']);
});

test('adds a node where an edge is dropped on the empty canvas', async () => {
  await open('Dropped edge', { nodes: [at(0, 0, node('a', 'set', { values: {} })), at(320, 0, node('b', 'log', { message: 'x' }))], edges: [{ source: 'a', target: 'b' }] });
  const [x, y] = await centre(card(/The a node/).locator('[data-handlepos=right]'));
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 60, y + 150, { steps: 5 });
  await page.mouse.up();
  await search().getByText('After “The a node”').waitFor();
  await choose('template');
  const { map, edges } = await saved();
  assert.deepEqual(edges, ['a main b', 'a main template']);
  assert.ok(map.nodes.at(-1).position.y > 100, 'it stands where the edge was dropped');
});

test('splits an edge by dropping a type on it, and a node that has no edges', async () => {
  await open('Split', { nodes: [at(0, 0, node('a', 'set', { values: {} })), at(480, 0, node('b', 'log', { message: 'x' })), at(0, 200, node('loose', 'template', { text: 'hello' }))], edges: [{ source: 'a', target: 'b' }] });
  const middle = async () => {
    const [from, to] = [await centre(card(/The a node/).locator('[data-handlepos=right]')), await centre(card(/The b node/).locator('[data-handlepos=left]'))];
    return [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];
  };
  const [x, y] = await middle();
  await page.mouse.move(...(await centre(card(/The loose node/).getByText('The loose node'))));
  await page.mouse.down();
  await page.mouse.move(x + 10, y + 40, { steps: 4 });
  await page.mouse.move(x, y, { steps: 4 });
  await page.mouse.up();
  assert.deepEqual((await saved()).edges, ['a main loose', 'loose main b']);
  await page.keyboard.press('Control+z');
  assert.deepEqual((await saved()).edges, ['a main b'], 'moving and splitting are one step');

  const box = await canvas().boundingBox();
  const [toX, toY] = await middle();
  await page.getByRole('complementary', { name: 'Node types' }).getByRole('button', { name: 'Wait', exact: true }).dragTo(canvas(), { targetPosition: { x: toX - box.x, y: toY - box.y } });
  await card(/Wait/).waitFor();
  assert.deepEqual((await saved()).edges, ['a main wait', 'wait main b']);
});
