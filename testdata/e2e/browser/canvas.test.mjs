// The canvas: triggers beside the nodes; nodes added at handles and on edges.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { misread } from '../support/barriers.mjs';
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
const types = () => page.getByRole('complementary', { name: 'Node types' });
const panel = () => page.getByRole('complementary', { name: 'Settings' });
const at = (x, y, one) => ({ ...one, position: { x, y } });

/** Opens a new blueprint in the editor, without the catalogue. */
async function open(title, blueprint_map) {
  const { id } = await client.blueprint.create.mutate({ title, blueprint_map });
  await page.evaluate(() => localStorage.setItem('blueprintd.editor.palette', 'closed'));
  await page.goto(`/blueprints/${id}/edit`);
  await canvas().waitFor();
  return id;
}

test('adds, pauses and deletes a trigger on the canvas, with the keyboard only', async () => {
  const id = await open('Started at night', { nodes: [at(0, 0, node('say', 'template', { text: 'hello' }))] });
  const list = () => client.blueprintTriggers.list.query({ blueprintId: id });
  await page.getByRole('button', { name: 'Add a trigger' }).waitFor();
  assert.deepEqual(await misread(page), [], 'the wire of the card that adds a trigger says nothing');
  await page.getByRole('button', { name: 'Add a trigger' }).press('Enter');
  await panel().getByRole('button', { name: /^Event/ }).press('Enter');
  await panel().getByRole('button', { name: 'Create trigger' }).press('Enter');
  const trigger = (state) => canvas().getByRole('button', { name: new RegExp(`^Trigger: When a run failed.*${state}`, 'i') });
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

test('keeps what is typed into the form of a trigger when a node is selected in between', async () => {
  const id = await open('Half done', { nodes: [at(0, 0, node('say', 'template', { text: 'hello' }))] });
  const { id: triggerId } = await client.blueprintTriggers.create.mutate({ blueprintId: id, triggerType: 'api', config: { label: 'From the shop' } });
  await page.reload();
  const trigger = canvas().getByRole('button', { name: /^Trigger: From the shop/ });
  await trigger.click();
  const label = () => panel().getByRole('textbox', { name: 'Label' });
  await label().fill('From the web shop');
  await card(/The say node/).click();
  await panel().getByRole('textbox', { name: 'Text', exact: true }).waitFor();
  await trigger.click();
  assert.equal(await label().inputValue(), 'From the web shop');
  await panel().getByRole('button', { name: 'Save trigger' }).click();
  await canvas().getByRole('button', { name: /^Trigger: From the web shop/ }).waitFor();
  assert.equal((await client.blueprintTriggers.getDetails.query({ triggerId })).config.label, 'From the web shop');
});

const search = () => page.getByRole('dialog', { name: 'Add a node' });
const choose = async (name) => {
  await search().getByRole('searchbox', { name: 'Search node types' }).fill(name);
  await page.keyboard.press('Enter');
  await search().waitFor({ state: 'detached' });
  await panel().getByRole('textbox', { name: 'Title' }).waitFor(); // which moves the view
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

const plus = async (name) => {
  const button = page.getByRole('button', { name: `Add a node after ${name}`, exact: true });
  await centre(button); // once the view is still
  await button.click();
};

test('draws a new blueprint with the buttons of its handles', async () => {
  await open('Drawn by handles', { nodes: [] });
  await page.getByRole('button', { name: 'Add first node' }).click();
  await page.getByRole('searchbox', { name: 'Search node types' }).fill('condition');
  await page.keyboard.press('Enter');
  await plus('Condition, true');
  await choose('template');
  await plus('Condition, false');
  await choose('log');
  await plus('Template');
  await choose('log');
  assert.deepEqual((await saved()).edges, ['conditional false log', 'conditional true template', 'template main log_2']);
});

test('finds a node by what it is called elsewhere, and leads the focus from its search to it', async () => {
  await open('Searched', { nodes: [at(0, 0, node('a', 'set', { values: {} }))] });
  await plus('The a node');
  await search().getByRole('searchbox').waitFor();
  await page.keyboard.press('Escape');
  await card(/The a node/).and(page.locator(':focus')).waitFor();
  await plus('The a node');
  await choose('if');
  await card(/, conditional/).and(page.locator(':focus')).waitFor();
  // Its button is beside the panel, not below it.
  const [x, y] = await centre(page.getByRole('button', { name: 'Add a node after Condition, true', exact: true }));
  assert.equal(await page.evaluate(([left, top]) => document.elementFromPoint(left, top).closest('[data-plus]')?.ariaLabel, [x, y]), 'Add a node after Condition, true');
});

test('dragging a node selects it, but opens no panel and leaves the view', async () => {
  await open('Dragged', { nodes: [at(0, 0, node('a', 'set', { values: {} })), at(0, 180, node('b', 'log', { message: 'x' }))], edges: [{ source: 'a', target: 'b' }] });
  const grab = async (name, by) => {
    const [, y] = await centre(card(name).getByText(name));
    const x = (await card(name).boundingBox()).x + 30;
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x, y + by / 2, { steps: 4 });
    await page.mouse.move(x, y + by, { steps: 4 });
    await page.mouse.up();
  };
  const still = await card(/The b node/).boundingBox();
  await grab(/The a node/, 96);
  await page.getByRole('toolbar', { name: 'Selection' }).getByText('The a node').waitFor();
  assert.equal(await panel().count(), 0);
  assert.deepEqual(await card(/The b node/).boundingBox(), still);
  await page.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: 'Settings' }).click();
  await panel().getByRole('textbox', { name: 'Title' }).waitFor();

  // With the panel open, it follows the selection.
  await grab(/The b node/, 96);
  await until('the other node in the panel', async () => (await panel().getByRole('textbox', { name: 'Title' }).inputValue()) === 'The b node' || undefined);
  await page.keyboard.press('Escape');
  await panel().waitFor({ state: 'detached' });
  await grab(/The a node/, -96);
  await card(/The a node/).click();
  await panel().getByRole('textbox', { name: 'Title' }).waitFor();
});

test('a drag that begins on a trigger moves the view and opens nothing', async () => {
  const id = await open('Pulled', { nodes: [at(0, 0, node('say', 'template', { text: 'hello' }))] });
  await client.blueprintTriggers.create.mutate({ blueprintId: id, triggerType: 'api', config: { label: 'From the shop' } });
  await page.reload();
  const trigger = canvas().getByRole('button', { name: /^Trigger: From the shop/ });
  const [x, y] = await centre(trigger);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 30, y + 40, { steps: 4 });
  await page.mouse.up();
  assert.deepEqual((await centre(trigger)).map(Math.round), [x + 30, y + 40].map(Math.round));
  assert.equal(await panel().count(), 0);
  await trigger.click();
  await panel().getByRole('textbox', { name: 'Label' }).waitFor();
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

  await page.getByRole('button', { name: 'Add node' }).click();
  const box = await canvas().boundingBox();
  const [toX, toY] = await middle();
  await types().getByRole('button', { name: 'Wait', exact: true }).dragTo(canvas(), { targetPosition: { x: toX - box.x, y: toY - box.y } });
  await card(/Wait/).waitFor();
  assert.deepEqual((await saved()).edges, ['a main wait', 'wait main b']);
});

test('shows five nodes and their trigger at a readable size on a screen of 1280 pixels', async () => {
  const row = Array.from({ length: 5 }, (_, index) => at(index * 312, 0, node(`n${index}`, 'log', { message: 'x' })));
  const id = await open('Five', { nodes: row });
  await client.blueprintTriggers.create.mutate({ blueprintId: id, triggerType: 'api', config: {} });
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.reload();
  await canvas().getByRole('button', { name: /^Trigger: / }).waitFor();
  const sizes = [];
  for (const { title } of row) {
    const box = await card(title).boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 1280, `${title} is visible: ${JSON.stringify(box)}`);
    sizes.push(await card(title).getByText(title).evaluate((element) => (parseFloat(getComputedStyle(element).fontSize) * element.getBoundingClientRect().width) / element.offsetWidth));
  }
  assert.ok(Math.min(...sizes) >= 10, `the titles are at least 10 pixels high: ${sizes}`);
  const top = (await canvas().boundingBox()).y;
  assert.ok(top <= 60, `one row is above the canvas, which begins at ${top}`);
  await page.setViewportSize({ width: 1440, height: 900 });
});

test('remembers the widths of the catalogue and the panel, and that the catalogue is open', async () => {
  await open('Widths', { nodes: [at(0, 0, node('say', 'template', { text: 'hello' }))] });
  const toggle = page.getByRole('button', { name: 'Add node' });
  await toggle.click();
  const width = async (locator) => (await locator.boundingBox()).width;
  const before = await width(types());
  await page.getByRole('separator', { name: 'Width: Node types' }).press('ArrowRight');
  await card(/The say node/).click();
  const edge = await page.getByRole('separator', { name: 'Width: Settings' }).boundingBox();
  await page.mouse.move(edge.x + 4, edge.y + 200);
  await page.mouse.down();
  await page.mouse.move(edge.x - 96, edge.y + 200, { steps: 4 });
  await page.mouse.up();
  const wide = await width(panel());
  assert.equal(await width(types()), before + 24);
  assert.ok(wide >= 470, `the panel was dragged wider: ${wide}`);
  await page.reload();
  await card(/The say node/).waitFor();
  assert.deepEqual([await width(types()), await width(panel())], [before + 24, wide]);
  await toggle.click();
  await types().waitFor({ state: 'detached' });
});

test('keeps notes and groups in the blueprint, without a meaning for its runs', async () => {
  const id = await open('Noted', { nodes: [at(0, 0, node('a', 'set', { values: { n: 1 } })), at(320, 0, node('b', 'log', { message: 'x' })), at(320, 160, node('c', 'log', { message: 'x' }))], edges: [{ source: 'a', target: 'b' }, { source: 'a', target: 'c' }] });
  await card(/The b node/).focus();
  await page.keyboard.press('n');
  await page.keyboard.type('Ask the shop first');
  await card(/The b node/).focus();
  await page.keyboard.press('Control+a');
  await card(/The a node/).press('Space'); // all but this one
  await page.keyboard.press('g');
  await page.getByRole('textbox', { name: 'Title of the group' }).fill('Answers');
  const { map } = await saved();
  assert.equal(map.notes[0].text, 'Ask the shop first');
  assert.deepEqual(map.groups.map(({ title, nodes }) => [title, nodes]), [['Answers', ['b', 'c']]]);
  assert.deepEqual((await client.blueprint.validate.mutate({ blueprint_map: map })).issues.filter(({ message }) => /notes|groups/.test(JSON.stringify(message))), []);
  const { executionId } = await client.execution.executeBlueprintWithLogging.mutate({ ...map, options: { blueprintId: id } });
  await until('the end of the run', async () => (await client.execution.getExecutionStatus.query({ executionId })).status === 'completed' || undefined);

  // Dragging the title moves the nodes of the group, in one step.
  const before = map.nodes.map(({ position }) => position);
  const [x, y] = await centre(page.getByRole('button', { name: 'Ungroup Answers' }));
  await page.mouse.move(x - 40, y);
  await page.mouse.down();
  for (const step of [2, 4, 8, 40, 80]) await page.mouse.move(x - 40, y + step);
  await page.mouse.up();
  const { map: moved } = await saved();
  const by = moved.nodes.map(({ position }, index) => position.y - before[index].y);
  assert.ok(by[0] === 0 && by[1] > 0 && by[1] === by[2], `moved by ${by}`);
  await page.reload();
  assert.equal(await page.getByRole('textbox', { name: 'Note' }).inputValue(), 'Ask the shop first');
  await page.getByRole('button', { name: 'Delete note' }).press('Enter');
  await page.getByRole('button', { name: 'Ungroup Answers' }).press('Enter');
  const { map: bare } = await saved();
  assert.deepEqual([bare.notes, bare.groups, bare.nodes.length], [undefined, undefined, 3]);
});

test('what a key or a button opens has the focus at once, so that no typed character is lost', async () => {
  await open('Typed quickly', { nodes: [at(0, 0, node('a', 'log', { message: 'x' }))] });
  // In one task of the page: nothing can happen between the key and the answer.
  const focusAfterKey = (locator, key) =>
    locator.evaluate((element, name) => {
      element.focus();
      element.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
      return document.activeElement.ariaLabel ?? document.activeElement.placeholder;
    }, key);
  assert.equal(await focusAfterKey(card(/The a node/), 'n'), 'Note');
  assert.match(await focusAfterKey(card(/The a node/), 'a'), /^Search/);
  await page.getByRole('toolbar', { name: 'Editor' }).getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Variables' }).click();
  const named = await page
    .getByRole('button', { name: 'Add variable' })
    .evaluate((button) => {
      button.click();
      return [document.activeElement.value, String(getSelection())];
    });
  assert.deepEqual(named, ['variable', 'variable']);
});

test('aligns and distributes the selected nodes, and copies them to another blueprint', async () => {
  await open('Crooked', { nodes: [at(0, 0, node('a', 'set', { values: {} })), at(312, 40, node('b', 'log', { message: '{{nodes.a.output}}' })), at(800, 80, node('c', 'log', { message: 'x' }))], edges: [{ source: 'a', target: 'b' }, { source: 'b', target: 'c' }] });
  const action = async (name) => {
    await page.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name }).click();
  };
  await card(/The a node/).focus();
  await page.keyboard.press('Control+a');
  await action('Align top');
  await action('Distribute horizontally');
  assert.deepEqual((await saved()).map.nodes.map(({ position }) => [position.x, position.y]), [[0, 0], [400, 0], [800, 0]]);
  await page.getByRole('button', { name: 'Undo distribute nodes' }).click();
  await page.getByRole('button', { name: 'Undo align nodes' }).click();
  assert.deepEqual((await saved()).map.nodes.map(({ position }) => [position.x, position.y]), [[0, 0], [312, 40], [800, 80]]);
  await card(/The b node/).focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Control+c');
  await page.getByRole('toolbar', { name: 'Selection' }).getByText('3 nodes').waitFor();
  await open('Another', { nodes: [at(0, 0, node('a', 'log', { message: 'here before' }))] });
  await card(/The a node/).focus();
  await page.keyboard.press('Control+v');
  await card(/The c node/).waitFor();
  const { map, edges } = await saved();
  assert.deepEqual(edges.filter((edge) => edge.includes(' b') || edge.startsWith('b')), ['a_2 main b', 'b main c']);
  assert.equal(map.nodes.find(({ id }) => id === 'b').config.message, '{{nodes.a_2.output}}', 'references follow the new id');
});

const grouped = () => ({
  nodes: [at(0, 0, node('a', 'set', { values: {} })), at(312, 120, node('b', 'log', { message: 'x' })), at(800, 0, node('c', 'log', { message: 'x' }))], edges: [{ source: 'a', target: 'b' }, { source: 'b', target: 'c' }],
  notes: [{ id: 'n1', text: 'Ask the shop first', position: { x: 16, y: 88 }, size: { width: 200, height: 80 } }, { id: 'n2', text: 'Elsewhere', position: { x: 0, y: 400 }, size: { width: 200, height: 80 } }],
  groups: [{ id: 'g', title: 'Answers', nodes: ['a', 'b'] }],
});

test('copies a group with its note, and a selected note, to another blueprint', async () => {
  await open('With notes', grouped());
  await page.getByRole('textbox', { name: 'Title of the group' }).waitFor();
  await card(/The a node/).focus();
  await page.keyboard.press('Control+a');
  await page.getByRole('toolbar', { name: 'Selection' }).getByText('3 nodes and 2 notes').waitFor();
  await card(/The c node/).press('Space'); // all but this one
  await page.getByRole('toolbar', { name: 'Selection' }).getByText('2 nodes and 2 notes').waitFor();
  await page.keyboard.press('Control+c');
  await open('Without notes', { nodes: [at(0, 0, node('z', 'log', { message: 'here before' }))] });
  await card(/The z node/).focus();
  await page.keyboard.press('Control+v');
  await card(/The b node/).waitFor();
  await page.getByRole('toolbar', { name: 'Selection' }).getByText('2 nodes and 2 notes').waitFor();
  const { map } = await saved();
  assert.deepEqual(map.groups.map(({ title, nodes }) => [title, nodes]), [['Answers', ['a', 'b']]]);
  assert.deepEqual(map.notes.map(({ text }) => text), ['Ask the shop first', 'Elsewhere']);
  await page.keyboard.press('Delete');
  assert.deepEqual((await saved()).map.notes, undefined, 'selected notes are deleted with the nodes');
  await page.keyboard.press('Control+z');
  assert.equal((await saved()).map.notes.length, 2);
});

test('shows notes and groups on the pages of runs and versions', async () => {
  const map = grouped();
  const id = await open('Noted run', map);
  const { executionId } = await client.execution.executeBlueprintWithLogging.mutate({ nodes: map.nodes, edges: map.edges, options: { blueprintId: id } });
  await until('the end of the run', async () => (await client.execution.getExecutionStatus.query({ executionId })).status === 'completed' || undefined);
  await client.blueprint.update.mutate({ id, blueprint_map: { ...map, nodes: [...map.nodes, at(800, 200, node('d', 'log', { message: 'x' }))] } });
  for (const path of [`/runs/${executionId}`, `/blueprints/${id}/versions`]) {
    await page.goto(path);
    await page.getByRole('note', { name: 'Note' }).getByText('Ask the shop first').waitFor();
    await page.getByText('Answers', { exact: true }).waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Note' }).count(), 0, 'they are only read');
  }
});

test('shows a note below five nodes in the first view of a run, with readable nodes, on a screen of 1280 pixels', async () => {
  const nodes = Array.from({ length: 5 }, (_, index) => at(index * 312, 0, node(`n${index}`, 'log', { message: 'x' })));
  const notes = [{ id: 'below', text: 'Ask the shop first', position: { x: 640, y: 180 }, size: { width: 240, height: 120 } }];
  const { id } = await client.blueprint.create.mutate({ title: 'Noted below', blueprint_map: { nodes, notes } });
  const { executionId } = await client.execution.executeBlueprintWithLogging.mutate({ nodes, options: { blueprintId: id } });
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`/runs/${executionId}`);
  const graph = page.getByRole('group', { name: 'Blueprint with step statuses' });
  const note = graph.getByRole('note', { name: 'Note' });
  await note.getByText('Ask the shop first').waitFor();
  const frame = await graph.boundingBox();
  for (const one of [note, ...nodes.map(({ title }) => graph.getByRole('group', { name: title }))]) {
    const box = await one.boundingBox();
    assert.ok(box.x >= frame.x && box.y >= frame.y && box.x + box.width <= frame.x + frame.width && box.y + box.height <= frame.y + frame.height, `${JSON.stringify(box)} is within ${JSON.stringify(frame)}`);
  }
  const size = await graph.getByText(nodes[0].title).evaluate((element) => (parseFloat(getComputedStyle(element).fontSize) * element.getBoundingClientRect().width) / element.offsetWidth);
  assert.ok(size >= 9, `the titles are ${size} pixels high`);
  await page.setViewportSize({ width: 1440, height: 900 });
});

test('acts on the dashed edges of a sequence: selects, inserts, splits, reorders and deletes', async () => {
  await open('In a row', { nodes: [at(0, 0, node('a', 'set', { values: {} })), at(312, 0, node('b', 'log', { message: 'x' })), at(624, 0, node('c', 'log', { message: 'y' }))] });
  const between = async (one, other) => {
    const [from, to] = [await centre(card(one).locator('[data-handlepos=right]').first()), await centre(card(other).locator('[data-handlepos=left]').first())];
    return [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];
  };
  const bar = page.getByRole('toolbar', { name: 'Selection' });
  await page.mouse.click(...(await between(/The a node/, /The b node/)));
  await bar.getByText('a → b, in order').waitFor();
  await bar.getByRole('button', { name: 'Insert a node' }).click();
  await types().getByRole('searchbox', { name: 'Search node types' }).fill('template');
  await page.keyboard.press('Enter');
  await card(/Template/).waitFor();
  assert.deepEqual((await saved()).ids, ['a', 'template', 'b', 'c']);

  // A node that is dropped on a dashed edge runs there.
  await page.getByRole('button', { name: 'Undo add Template' }).click();
  await page.getByRole('button', { name: 'Close node types' }).click();
  await card(/The c node/).click();
  await panel().getByRole('textbox', { name: 'Title' }).waitFor(); // which moves the view
  const [x, y] = await between(/The a node/, /The b node/);
  await page.mouse.move(...(await centre(card(/The c node/).getByText('The c node'))));
  await page.mouse.down();
  await page.mouse.move(x + 10, y + 40, { steps: 4 });
  await page.mouse.move(x, y, { steps: 4 });
  await page.mouse.up();
  assert.deepEqual((await saved()).ids, ['a', 'c', 'b']);
  await page.getByRole('button', { name: /^Undo insert/ }).click();

  await page.mouse.click(...(await between(/The b node/, /The c node/)));
  await bar.getByText('b → c, in order').waitFor();
  await page.keyboard.press('Delete');
  await page.getByText('The order is now drawn as edges.').waitFor();
  assert.deepEqual((await saved()).edges, ['a main b']);
});

test('adds a node before another one with the button of its input', async () => {
  await open('Before', { nodes: [at(0, 0, node('a', 'set', { values: {} })), at(400, 0, node('b', 'log', { message: 'x' }))], edges: [{ source: 'a', target: 'b' }] });
  const before = async (name) => {
    const button = page.getByRole('button', { name: `Add a node before ${name}`, exact: true });
    await card(name).hover();
    await centre(button);
    await button.click();
    await search().getByText(`Before “${name}”`).waitFor();
  };
  await before('The b node');
  await choose('template');
  assert.deepEqual((await saved()).edges, ['a main template', 'template main b']);
  await before('The a node');
  await choose('wait');
  const { map, edges } = await saved();
  assert.deepEqual(edges, ['a main template', 'template main b', 'wait main a']);
  const x = (id) => map.nodes.find((one) => one.id === id).position.x;
  assert.ok(x('wait') < x('a') && x('a') < x('template') && x('template') < x('b'), 'they stand in the order in which they run');
});

test('shows on the card that its output is pinned, and names masked values before it runs a node', async () => {
  const map = { nodes: [at(0, 0, node('key', 'template', { text: 'Bearer {{inputData.password}} {{token}}' })), at(320, 0, node('use', 'template', { text: 'With {{input.text}}' }))], edges: [{ source: 'key', target: 'use' }] };
  const id = await open('Masked', map);
  await client.blueprint.update.mutate({ id, environment_variables: [{ name: 'token', secret: true, default: 'correct-horse-battery' }] });
  const { executionId } = await client.execution.executeBlueprintWithLogging.mutate({ ...map, options: { blueprintId: id, inputData: { password: 'correct-horse-battery' } } });
  await until('the end of the run', async () => (await client.execution.getExecutionStatus.query({ executionId })).status === 'completed' || undefined);
  await page.reload();
  await card(/The key node/).click();
  await page.getByRole('button', { name: 'Run this node' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run this node?' });
  await dialog.getByText('The data of this run has *** in place of masked values: inputData.password. The nodes get ***.').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  assert.equal((await client.execution.listRuns.query({ blueprintId: id })).runs.length, 1, 'nothing ran');
  await page.getByRole('button', { name: 'Pin the output' }).click();
  await card(/The key node.*output pinned/).waitFor();
  await page.reload();
  await card(/The key node.*output pinned/).getByText('Pinned').waitFor();
  await card(/The key node/).click();
  await page.getByRole('button', { name: 'Unpin the output' }).click();
  await card(/The key node.*output pinned/).waitFor({ state: 'detached' });
});

test('has the version and the favourite in the row of the editor, on a screen of 1280 pixels', async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  const id = await open('A blueprint with quite a long title', { nodes: [at(0, 0, node('say', 'template', { text: 'hello' }))] });
  await page.getByTitle('Version', { exact: true }).getByText('v1.0.0').waitFor();
  await page.getByRole('button', { name: /^Favourite/ }).click();
  await until('the favourite', async () => (await client.blueprint.get.query({ id })).is_favorited || undefined);
  const top = (await canvas().boundingBox()).y;
  assert.ok(top <= 60, `one row is above the canvas, which begins at ${top}`);
  await page.setViewportSize({ width: 1440, height: 900 });
});

test('does not offer to add a trigger before it knows the triggers', async () => {
  const id = await open('Slow', { nodes: [at(0, 0, node('say', 'template', { text: 'hello' }))] });
  await client.blueprintTriggers.create.mutate({ blueprintId: id, triggerType: 'api', config: {} });
  let answer;
  const waits = new Promise((go) => { answer = go; });
  await page.route(/blueprintTriggers\.list(?!All)/, async (route) => {
    await waits;
    await route.continue();
  });
  await page.reload();
  await card(/The say node/).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Add a trigger' }).count(), 0);
  answer();
  await canvas().getByRole('button', { name: /^Trigger: / }).waitFor();
  await page.getByRole('button', { name: 'Add a trigger' }).waitFor();
  await page.unrouteAll({ behavior: 'wait' });
});
