// The editor's information is correct: problems, the saved state, the last run, the effect of
// an edge, versions.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { signUpFirst, startBrowser } from '../support/browser.mjs';
import { connect } from '../support/clients.mjs';
import { settled } from '../support/lifelike.mjs';
import { edge, node } from '../support/maps.mjs';
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
const stored = () => client.blueprint.get.query({ id: idOf() });
const issues = (text) => page.getByRole('button', { name: `Issues: ${text}` }).waitFor();
const save = () => page.getByRole('button', { name: 'Save', exact: true }).click();
const saved = () => page.getByRole('button', { name: 'Saved' }).waitFor();
const at = (x, y, one) => ({ ...one, position: { x, y } });

async function open(title, blueprint_map, more = {}) {
  const { id } = await client.blueprint.create.mutate({ title, blueprint_map, ...more });
  await page.goto(`/blueprints/${id}/edit`);
  await canvas().waitFor();
  return id;
}

const three = () => ({ nodes: [at(0, 0, node('check', 'conditional', { condition: 'inputData.ok' })), at(320, 0, node('ask', 'approval-gate', { prompt: 'Go on?' })), at(640, 0, node('end', 'template', { text: 'reached' }))] });

test('keeps the order of conditions when it converts the order to edges', async () => {
  await open('Kept order', three());
  await card(/check/).focus();
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog', { name: /^Connect / });
  await dialog.getByRole('combobox', { name: 'To' }).or(dialog.getByRole('textbox', { name: 'To' })).fill('end');
  await page.getByRole('option', { name: /end/ }).click();
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByText(/^The order is now drawn as edges. Adds a stop node that fails the run if “The ask node” is rejected.$/).waitFor();
  await save();
  await saved();
  const { edges } = (await stored()).blueprint_map;
  assert.deepEqual(edges.slice(0, 3).map((one) => [one.source, one.sourceHandle, one.target]), [['check', 'true', 'ask'], ['ask', 'approved', 'end'], ['ask', 'rejected', 'rejected']]);
});

test('draws no edge into an order with an approval in a for-each body', async () => {
  await open('Body', { nodes: [at(0, 0, node('each', 'for-each', { items: '[1]', nodes: three().nodes }))] });
  await card(/each/).dblclick();
  await card(/check/).focus();
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog', { name: /^Connect / });
  await dialog.getByRole('combobox', { name: 'To' }).or(dialog.getByRole('textbox', { name: 'To' })).fill('end');
  await page.getByRole('option', { name: /end/ }).click();
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByText('In a for-each body, a rejection fails only its item. Edges cannot express that.').waitFor();
  await page.getByText('runs in order').waitFor();
});

test('reports an empty URL', async () => {
  await open('Empty', { nodes: [at(0, 0, node('call', 'http-request', { method: 'GET', url: '' }))] });
  await issues('1 error');
  await card(/call/).click();
  await page.getByRole('combobox', { name: 'URL', exact: true }).or(page.getByRole('textbox', { name: 'URL', exact: true })).fill('https://example.com');
  await issues('No problems');
});

test('reports an edge from an unknown output', async () => {
  await open('No way', { nodes: [at(0, 0, node('a', 'set', { values: {} })), at(320, 0, node('b', 'log', { message: 'x' }))], edges: [edge('a', 'b', 'bogus')] });
  await issues('1 warning');
});

test('links nodes, triggers and connections to their documentation', async () => {
  await open('Documented', { nodes: [at(0, 0, node('say', 'template', { text: 'hello' }))] });
  await card(/say/).click();
  const link = () => page.getByRole('link', { name: /^Documentation/ });
  assert.equal(await link().getAttribute('target'), '_blank');
  const fetched = async (path) => {
    const response = await fetch(server.apiHost + path);
    assert.equal(response.status, 200, path);
    return response.text();
  };
  assert.equal(await link().getAttribute('href'), '/docs/nodes#template');
  const nodes = await fetched('/docs/nodes');
  for (const { type } of await client.node.types.query()) assert.match(nodes, new RegExp(`<h3 id="${type}"`), `the section of ${type}`);
  for (const path of ['/triggers/new?type=webhook', '/connections/new?type=http']) {
    await page.goto(path);
    assert.match(await fetched(await link().getAttribute('href')), /<h1/, path);
  }
});

test('reports JSON that is not applied, blocks saving and keeps the text', async () => {
  const id = await open('Half JSON', { nodes: [at(0, 0, node('call', 'http-request', { url: 'https://example.com', method: 'POST', body: { a: 1 } })), at(320, 0, node('end', 'log', { message: 'x' }))] });
  await issues('No problems');
  await card(/call/).click();
  const body = () => page.getByRole('textbox', { name: 'Body', exact: true });
  await body().fill('{"a": 2');
  await page.getByText(/Not applied: invalid JSON/).waitFor();
  await issues('1 error');
  await card(/end/).click({ position: { x: 40, y: 30 } }); // the panel covers its middle
  await page.getByRole('heading', { name: 'Node The end node' }).waitFor();
  await page.getByRole('textbox', { name: 'Title', exact: true }).fill('The last');
  await save();
  await page.getByText(/^Not saved: a field is marked/).waitFor();
  assert.equal((await stored()).version, '1.0.0');
  assert.equal(await body().inputValue(), '{"a": 2', 'the field is shown again, with what was typed');
  await body().fill('{"a": 3}');
  await issues('No problems');
  await save();
  await saved();
  const now = await client.blueprint.get.query({ id });
  assert.deepEqual([now.blueprint_map.nodes[0].config.body, now.blueprint_map.nodes[1].title], [{ a: 3 }, 'The last']);
});

test('saves the node JSON as shown', async () => {
  await open('Whole node', { nodes: [at(0, 0, node('say', 'template', { text: 'before' }))] });
  await card(/say/).click();
  await page.getByRole('tab', { name: 'JSON' }).click();
  const box = page.getByRole('textbox', { name: 'Node as JSON' });
  const text = await box.inputValue();
  await box.fill(text.replace('"before"', '"after"'));
  await page.keyboard.press('Control+s');
  await saved();
  assert.equal((await stored()).blueprint_map.nodes[0].config.text, 'after');
  await box.fill(text.replace('"say"', '"other"'));
  await page.getByText(/Not applied: the ID must stay "say"/).waitFor();
  await page.getByRole('button', { name: 'Reset' }).click();
  await issues('No problems');
});

test('saves a key that is still being typed', async () => {
  await open('A key', { nodes: [at(0, 0, node('facts', 'set', { values: { one: 1 } }))] });
  await card(/facts/).click();
  const key = page.getByRole('textbox', { name: 'Values, key 1' });
  await key.fill('first');
  await page.keyboard.press('Control+s');
  await saved();
  assert.deepEqual((await stored()).blueprint_map.nodes[0].config.values, { first: 1 });
});

test('shows the last stored run as the last run', async () => {
  const { id, blueprint_map } = await client.blueprint.create.mutate({ title: 'Ran before', blueprint_map: { nodes: [at(0, 0, node('say', 'template', { text: 'said {{inputData.what}}' }))] } });
  await client.execution.executeBlueprintWithLogging.mutate({ ...blueprint_map, options: { blueprintId: id, inputData: { what: 'hello' } } });
  await page.goto(`/blueprints/${id}/edit`);
  await card(/say/).click();
  await page.getByRole('tab', { name: 'Last run' }).click();
  await page.getByRole('tabpanel', { name: 'Last run' }).getByText('said hello').waitFor();
});

/** A blueprint with a completed run whose input is {"who": "Ada"}. */
async function ran(title) {
  const map = { nodes: [at(0, 0, node('person', 'transform', { expression: '{"name": inputData.who, "age": 36}' })), at(320, 0, node('hello', 'template', { text: 'Hello' })), at(640, 0, node('bye', 'template', { text: 'after {{nodes.hello.output.text}}' }))], edges: [edge('person', 'hello'), edge('hello', 'bye')] };
  const id = await open(title, map);
  const { executionId } = await client.execution.executeBlueprintWithLogging.mutate({ ...map, options: { blueprintId: id, inputData: { who: 'Ada' } } });
  await until('the end of the run', async () => (await client.execution.getExecutionStatus.query({ executionId })).status === 'completed' || undefined);
  await page.reload();
  await card(/hello/).click();
  return { id, executionId };
}

test('inserts the path of a value of the last run with a click, and shows the value', async () => {
  await ran('Clicked data');
  const text = page.getByRole('textbox', { name: 'Text', exact: true });
  await text.click();
  await page.keyboard.press('End');
  await page.keyboard.type(' ');
  await page.getByRole('button', { name: 'Insert input.name' }).click();
  await page.keyboard.type('!');
  assert.equal(await text.inputValue(), 'Hello {{input.name}}!');
  await page.getByText('Last run: Hello Ada!').waitFor();
});

test('shows the value of an expression as it is typed, or why it has none', async () => {
  await ran('Evaluated');
  const text = page.getByRole('textbox', { name: 'Text', exact: true });
  await text.fill('{{= upper(input.name) + "!" }}');
  await page.getByText('Last run: "ADA!"').waitFor();
  await text.fill('{{input.name}} is {{= input.age * 2 }}');
  await page.getByText('Last run: Ada is 72').waitFor();
  await text.fill('{{= input.name * 2 }}');
  await page.getByText('Last run: fails at column 16: * cannot take a string and a number').waitFor();
  await card(/person/).click();
  const expression = page.getByRole('textbox', { name: 'Expression', exact: true });
  await expression.fill('len(inputData.who) > 2');
  await page.getByText('Last run: true').waitFor();
});

test('says that a node fails with a condition that is neither true nor false, as the run does', async () => {
  const { id } = await client.blueprint.create.mutate({ title: 'Not boolean', blueprint_map: { nodes: [at(0, 0, node('check', 'conditional', { condition: 'inputData.total' }))] } });
  const { executionId } = await client.blueprint.execute.mutate({ id, inputData: { total: 5 } });
  const { error } = (await client.execution.getExecutionStatus.query({ executionId })).steps[0];
  assert.equal(error.message, 'condition: must be true or false, and is a number');
  await page.goto(`/blueprints/${id}/edit`);
  await card(/check/).click();
  await page.getByText('Last run: 5').waitFor();
  await page.getByText('The node fails with this value: must be true or false, and is a number').waitFor();
  await page.getByRole('textbox', { name: 'Condition', exact: true }).fill('inputData.total > 4');
  await page.getByText('Last run: true').waitFor();
  await page.getByText(/The node fails/).waitFor({ state: 'hidden' });
});

test('says that the value of a secret variable is not shown', async () => {
  const nodes = [at(0, 0, node('check', 'conditional', { condition: 'carrier_key == "s3cret"' })), at(320, 0, node('call', 'template', { text: 'Bearer {{carrier_key}}' }))];
  await open('Secret', { nodes }, { environment_variables: [{ name: 'carrier_key', secret: true, default: 's3cret' }] });
  for (const name of [/check/, /call/]) {
    await card(name).click();
    await page.getByText('Not shown: carrier_key is a secret variable').waitFor();
  }
});

test('runs one node as it is edited, and from a node on, with the data of a chosen run', async () => {
  const { id, executionId } = await ran('In part');
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Good day {{input.name}}, {{inputData.who}}');
  const runs = async () => (await client.execution.listRuns.query({ blueprintId: id })).runs.map((run) => run.executionId);
  const newest = async (known) => {
    const run = await until('another run', async () => (await runs()).find((one) => !known.includes(one)));
    return until('its end', async () => {
      const status = await client.execution.getExecutionStatus.query({ executionId: run });
      return status.status === 'completed' ? status : undefined;
    });
  };
  const view = () => page.locator('.react-flow__viewport').evaluate((element) => element.style.transform);
  const before = await view();
  await page.getByRole('button', { name: 'Run this node' }).click();
  const one = await newest([executionId]);
  await page.getByRole('status', { name: 'Last run' }).getByText('Completed').waitFor();
  assert.equal(await view(), before, 'the node stays where it is');
  assert.deepEqual(one.steps.map(({ nodeId, output }) => [nodeId, output]), [['person', { name: 'Ada', age: 36 }], ['hello', { text: 'Good day Ada, Ada' }]]);
  assert.equal((await stored()).version, '1.0.0', 'nothing is saved');
  await page.getByRole('combobox', { name: 'Run', exact: true }).selectOption(executionId);
  await page.getByRole('button', { name: 'Run from here' }).click();
  const two = await newest([executionId, one.id]);
  assert.deepEqual(two.steps.at(-1).output, { text: 'after Good day Ada, Ada' });
});

test('uses a pinned output in place of that of the run', async () => {
  const { id, executionId } = await ran('Pinned');
  await card(/person/).click();
  await page.getByRole('button', { name: 'Pin the output' }).click();
  await page.getByText(/^The output is pinned in this browser/).waitFor();
  await client.execution.executeBlueprintWithLogging.mutate({ ...(await client.blueprint.get.query({ id })).blueprint_map, options: { blueprintId: id, inputData: { who: 'Bo' } } });
  await page.reload();
  await card(/hello/).click();
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Hello {{input.name}}');
  await page.getByText('Last run: Hello Ada').waitFor();
  const known = (await client.execution.listRuns.query({ blueprintId: id })).runs.map((run) => run.executionId);
  await page.getByRole('button', { name: 'Run this node' }).click();
  const run = await until('another run', async () => (await client.execution.listRuns.query({ blueprintId: id })).runs.find((one) => !known.includes(one.executionId)));
  const steps = await until('its end', async () => {
    const status = await client.execution.getExecutionStatus.query({ executionId: run.executionId });
    return status.status === 'completed' ? status.steps : undefined;
  });
  assert.deepEqual(steps.at(-1).output, { text: 'Hello Ada' });
  assert.ok(known.includes(executionId));
});

test('saves before it leaves, if asked to', async () => {
  const id = await open('Saved on leaving', { nodes: [at(0, 0, node('say', 'template', { text: 'one' }))] });
  await card(/say/).click();
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('two');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Triggers' }).click();
  await page.getByRole('dialog', { name: 'Unsaved changes' }).getByRole('button', { name: 'Save and leave' }).click();
  await page.waitForURL((url) => url.pathname === '/triggers');
  assert.equal((await client.blueprint.get.query({ id })).blueprint_map.nodes[0].config.text, 'two');
});

test('deletes the selected edge with Delete', async () => {
  await open('An edge', { nodes: [at(0, 0, node('a', 'set', { values: {} })), at(400, 0, node('b', 'log', { message: 'x' }))], edges: [edge('a', 'b')] });
  const [from, to] = [await card(/The a node/).boundingBox(), await card(/The b node/).boundingBox()];
  const y = await canvas().locator('[data-handlepos=right]').first().boundingBox();
  await page.mouse.click((from.x + from.width + to.x) / 2, y.y + y.height / 2);
  await page.getByRole('toolbar', { name: 'Selection' }).getByText('a → b').waitFor();
  await page.keyboard.press('Delete');
  await page.getByRole('toolbar', { name: 'Selection' }).waitFor({ state: 'detached' });
  await save();
  await saved();
  assert.deepEqual((await stored()).blueprint_map.edges, []);
});

test('creates no version for publishing or moving nodes', async () => {
  const id = await open('Versions', { nodes: [at(0, 0, node('say', 'template', { text: 'one' }))] });
  await card(/say/).click();
  await card(/say/).press('ArrowRight');
  await save();
  await saved();
  await page.goto(`/blueprints/${id}/share`);
  const asked = page.waitForRequest((request) => request.url().includes('blueprint.update'));
  await page.getByRole('button', { name: 'Publish' }).click();
  assert.deepEqual(Object.keys(JSON.parse((await asked).postData()).json ?? JSON.parse((await asked).postData())[0]?.json ?? {}).sort(), ['id', 'status']);
  await page.goto(`/blueprints/${id}/versions`);
  await settled(page, 'Versions');
  const rows = page.getByRole('list', { name: 'Versions, newest first' }).getByRole('button');
  assert.equal(await rows.count(), 1);
  assert.match(await rows.first().innerText(), /1\.0\.0\s*to 1\.1\.1\s*Current/i);
});
