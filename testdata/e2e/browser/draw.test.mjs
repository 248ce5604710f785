// The editor: draws a blueprint by mouse and by keyboard alone; undo, copy, export, comparison
// and restore.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, test } from 'node:test';
import { signUpFirst, startBrowser } from '../support/browser.mjs';
import { connect } from '../support/clients.mjs';
import { settled } from '../support/lifelike.mjs';
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
const idOf = () => /blueprints\/([0-9a-f-]{36})/.exec(page.url())[1];
const saved = () => page.getByRole('button', { name: 'Saved' }).waitFor();
const stored = async () => (await client.blueprint.get.query({ id: idOf() })).blueprint_map;
/** A short form of the map: types with their configs, and the edges by type. */
const inShort = (map) => {
  const type = Object.fromEntries(map.nodes.map((one) => [one.id, one.type]));
  return { nodes: map.nodes.map((one) => [one.type, one.config]).sort(), edges: (map.edges ?? []).map((one) => [type[one.source], one.sourceHandle ?? 'main', type[one.target]].join(' ')).sort() };
};
const drawn = {
  nodes: [['conditional', { condition: 'input.text == "hello"' }], ['log', { message: 'It said {{input.text}}' }], ['template', { text: 'hello' }]],
  edges: ['conditional true log', 'template main conditional'],
};

async function open(title, blueprint_map) {
  const { id } = await client.blueprint.create.mutate({ title, blueprint_map });
  await page.goto(`/blueprints/${id}/edit`);
  await canvas().waitFor();
  return id;
}

/** The position of an element once the animated view is still. */
async function atRest(locator) {
  let last;
  return until('the view stands still', async () => {
    const box = await locator.boundingBox();
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    const same = box !== null && JSON.stringify(box) === JSON.stringify(last);
    last = box;
    return same ? box : undefined;
  });
}

/** The handle on a card where edges begin (or end). It has no name because only the mouse uses it. */
const handle = async (name, way) => {
  const dot = card(name).locator(way === undefined ? '[data-handlepos=left]' : `[data-handlepos=right]${way ? `[data-handleid=${way}]` : ''}`).first();
  const box = await atRest(dot);
  return [box.x + box.width / 2, box.y + box.height / 2];
};
async function draw(from, to) {
  await page.mouse.move(...from);
  await page.mouse.down();
  await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2, { steps: 4 });
  await page.mouse.move(...to, { steps: 4 });
  await page.mouse.up();
}

test('draws with the mouse', async () => {
  await page.goto('/blueprints');
  await page.getByRole('link', { name: 'New blueprint' }).first().click();
  await page.getByRole('textbox', { name: 'Title' }).fill('Drawn by mouse');
  await page.getByRole('button', { name: 'Create and open editor' }).click();
  await page.getByText('No nodes yet').waitFor();
  await page.getByRole('button', { name: 'Add node' }).click();
  const types = page.getByRole('complementary', { name: 'Node types' });
  let place = { x: 300, y: 80 }; // right of the catalogue
  for (const name of ['Template', 'Condition', 'Log']) {
    await types.getByRole('button', { name, exact: true }).dragTo(canvas(), { targetPosition: place });
    await card(new RegExp(name)).focus();
    await page.keyboard.press('Escape'); // no node is selected, so no panel takes space
    await page.getByRole('complementary', { name: 'Settings' }).waitFor({ state: 'detached' });
    const [frame, box] = [await canvas().boundingBox(), await atRest(card(new RegExp(name)))];
    place = { x: box.x - frame.x + 60, y: box.y - frame.y + 170 }; // the next one below it, to the right
  }
  await page.getByRole('button', { name: 'Fit to view' }).click();
  // The order of the nodes is drawn with the first edge.
  await draw(await handle(/conditional/, 'true'), await handle(/log/));

  await card(/template/).click();
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('hello');
  await card(/conditional/).click();
  await page.getByRole('textbox', { name: 'Condition', exact: true }).fill('input.text == "hello"');
  await card(/log/).click();
  const message = page.getByRole('textbox', { name: 'Message', exact: true }).or(page.getByRole('combobox', { name: 'Message', exact: true }));
  await message.click();
  await page.keyboard.type('It said {{input.te');
  await page.getByRole('option', { name: /text/ }).first().click();
  await page.getByRole('button', { name: /^Issues: (No problems|\d+ warning)/ }).waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await saved();
  assert.deepEqual(inShort(await stored()), drawn);

  const places = async () => Promise.all([/template/, /conditional/, /log/].map(async (name) => {
    const { transform } = await card(name).evaluate((element) => ({ transform: element.style.transform }));
    return transform;
  }));
  const before = await places();
  await page.reload();
  await card(/log/).waitFor();
  assert.deepEqual(await places(), before);
});

test('draws with the keyboard only', async () => {
  await page.goto('/blueprints/new');
  await page.getByRole('textbox', { name: 'Title' }).focus();
  await page.keyboard.type('Drawn by keyboard');
  await page.keyboard.press('Enter');
  await page.getByText('No nodes yet').waitFor();
  await page.getByRole('button', { name: 'Add first node' }).press('Enter');
  await page.locator('input[type=search]:focus').waitFor();
  await page.getByRole('region', { name: 'Flow' }).waitFor(); // the types are loaded
  for (const [name, type] of [['template', /, template/], ['condition', /, conditional/], ['log', /, log/]]) {
    await page.keyboard.type(name); // the focus is on the search, and stays there
    await page.keyboard.press('Enter');
    await card(type).waitFor();
  }
  await card(/, log/).focus();
  await page.keyboard.press('f');
  await card(/, template/).waitFor();
  const focus = (name) => card(name).focus();
  /** Presses ArrowDown in an open list until the wanted option is selected. */
  const choose = async (wanted) => {
    const marked = page.locator('[role=option][data-combobox-selected]');
    await until(`${wanted} is marked`, async () => {
      if ((await marked.allInnerTexts()).join().toLowerCase().includes(wanted)) return true;
      await page.keyboard.press('ArrowDown');
      return undefined;
    });
    await page.keyboard.press('Enter');
    await marked.waitFor({ state: 'hidden' });
  };
  const connect = async (from, to, way) => {
    await focus(from);
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: /^Connect / });
    await dialog.waitFor();
    if (way) {
      await dialog.getByRole('combobox', { name: 'Output' }).or(dialog.getByRole('textbox', { name: 'Output' })).focus();
      await page.keyboard.press('ArrowDown');
      await choose(way);
    }
    await dialog.getByRole('combobox', { name: 'To' }).or(dialog.getByRole('textbox', { name: 'To' })).focus();
    await page.keyboard.type(to);
    await choose(to);
    await dialog.getByRole('button', { name: 'Connect', exact: true, disabled: false }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
  };
  await connect(/conditional/, 'log', 'false'); // the others are drawn already
  for (const [name, field, text] of [[/template/, 'Text', 'hello'], [/conditional/, 'Condition', 'input.text == "hello"'], [/log/, 'Message', 'It said {{input.text}}']]) {
    await focus(name);
    await page.keyboard.press('Enter');
    await page.locator('input:focus').waitFor(); // the title takes the focus when the form is shown
    await page.getByRole('textbox', { name: field, exact: true }).or(page.getByRole('combobox', { name: field, exact: true })).focus();
    await page.keyboard.type(text);
    await page.keyboard.press('Escape');
  }
  await page.keyboard.press('Control+s');
  await saved();
  const short = inShort(await stored());
  assert.deepEqual(short, { ...drawn, edges: ['conditional false log', ...drawn.edges] });
});

test('undoes, redoes, copies, pastes and deletes', async () => {
  await open('Undone', { nodes: [node('one', 'set', { values: { a: 1 } }), node('two', 'set', { values: { b: 2 } })], edges: [{ source: 'one', target: 'two' }] });
  const count = () => canvas().getByRole('group').count();
  const becomes = (wanted) => until(`${wanted} nodes`, async () => ((await count()) === wanted ? true : undefined));
  await becomes(2);
  await card(/The one node/).focus();
  await page.keyboard.press('Enter');
  await card(/The one node/).focus();
  await page.keyboard.press('Delete');
  await becomes(1);
  await page.keyboard.press('Control+z');
  await becomes(2);
  await page.keyboard.press('Control+Shift+z');
  await becomes(1);
  await page.keyboard.press('Control+z');
  await becomes(2);
  await card(/The one node/).focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Control+c');
  await page.keyboard.press('Control+v');
  await becomes(4);
  await page.keyboard.press('Control+s');
  await saved();
  const map = await stored();
  assert.equal(new Set(map.nodes.map(({ id }) => id)).size, 4);
  assert.equal(map.edges.length, 2);
  assert.deepEqual(JSON.parse(await page.evaluate(() => navigator.clipboard.readText())).nodes.length, 2);
});

test('offers to restore unsaved changes', async () => {
  await open('Left behind', { nodes: [node('one', 'set', { values: { a: 1 } })] });
  await card(/The one node/).click();
  await page.getByRole('textbox', { name: 'Title', exact: true }).fill('Renamed');
  await card(/Renamed/).waitFor();
  await until('the draft', () => page.evaluate(() => Object.values(localStorage).some((text) => text.includes('Renamed')) || undefined));
  await page.reload();
  await page.getByRole('button', { name: 'Restore changes' }).click();
  await card(/Renamed/).waitFor();
  await page.keyboard.press('Control+s');
  await saved();
});

test('imports an exported file as the same blueprint', async () => {
  const id = await open('Round trip', { nodes: [node('one', 'set', { values: { n: 1, text: 'é "quoted"' } }, { position: { x: 4.5, y: -3 } })], edges: [], extra: { kept: true } });
  await page.getByRole('button', { name: 'More actions for Round trip' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Export to file' }).click()]);
  const text = await readFile(await download.path(), 'utf8');
  await page.goto('/blueprints/new?from=file');
  await page.getByLabel('Blueprint files').setInputFiles({ name: download.suggestedFilename(), mimeType: 'application/json', buffer: Buffer.from(text) });
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.waitForURL((url) => /\/edit$/.test(url.pathname) && !url.pathname.includes(id));
  const [before, after] = await Promise.all([client.blueprint.get.query({ id }), client.blueprint.get.query({ id: idOf() })]);
  for (const key of ['title', 'description', 'tags', 'blueprint_map', 'environment_variables']) assert.deepEqual(after[key], before[key]);
});

test('compares versions and restores an old one', async () => {
  const id = await open('Versions', { nodes: [node('one', 'template', { text: 'first words' })] });
  await card(/The one node/).click();
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('second words');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+s');
  await saved();
  await page.getByRole('link', { name: 'Versions' }).click();
  await settled(page, 'Versions');
  await page.getByText('first words').first().waitFor();
  await page.getByText('second words').first().waitFor();
  await page.getByRole('list', { name: 'Versions, newest first' }).getByRole('button').last().click();
  await page.getByRole('button', { name: /Restore|Bring .*back/ }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: /Restore|Bring/ }).click();
  await until('the old text', async () => ((await client.blueprint.get.query({ id })).blueprint_map.nodes[0].config.text === 'first words' ? true : undefined));
});

test('shows a conflict when another user saved a newer version', async () => {
  const id = await open('Conflict', { nodes: [node('one', 'set', { values: { a: 1 } })] });
  await card(/The one node/).click();
  await page.getByRole('textbox', { name: 'Title', exact: true }).fill('Mine');
  await client.blueprint.update.mutate({ id, blueprint_map: { nodes: [node('one', 'set', { values: { a: 2 } }, { title: 'Theirs' })] } });
  await page.keyboard.press('Control+s');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /Save mine|Overwrite|Save over/i }).click();
  await saved();
  assert.equal((await stored()).nodes[0].title, 'Mine');
});
