// Starts, watches, answers, cancels and retries runs in the dashboard.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { signUpFirst, startBrowser } from '../support/browser.mjs';
import { connect } from '../support/clients.mjs';
import { settled } from '../support/lifelike.mjs';
import { failing, node, question } from '../support/maps.mjs';
import { reached } from '../support/poll.mjs';
import { startServer, stopAll } from '../support/server.mjs';

let server, browser, client, page, allow;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'] });
  client = connect(server.baseUrl, server.key);
  browser = await startBrowser(server);
  ({ page, allow } = await signUpFirst(browser, server));
});
afterEach(() => browser.check());
after(() => stopAll(browser, server));

const make = (title, blueprint_map, more) => client.blueprint.create.mutate({ title, blueprint_map, ...more });
const shows = (status) => page.getByRole('status').filter({ hasText: status }).waitFor();
const step = (name) => page.getByRole('treeitem', { name });

/** Starts a run from the Runs tab of a blueprint; fill may fill in the dialog. The run's page is open then. */
async function start(blueprint, fill) {
  await page.goto(`/blueprints/${blueprint.id}/runs`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Start run' });
  await fill?.(dialog);
  await dialog.getByRole('button', { name: 'Start' }).click();
  await page.waitForURL(/\/runs\/exec_/);
  await settled(page, blueprint.title);
}
const runId = () => new URL(page.url()).pathname.split('/').pop();

test('passes variables and input to the run and shows its outputs', async () => {
  const blueprint = await make('Greeting', { nodes: [node('greet', 'template', { text: '{{who}} orders {{inputData.count}}' }), node('shout', 'transform', { expression: 'upper(input.text)' })] }, {
    environment_variables: [{ name: 'who', type: 'string', required: true }, { name: 'token', type: 'string', secret: true, default: 'open sesame' }],
  });
  await start(blueprint, async (dialog) => {
    await dialog.getByRole('button', { name: 'Start' }).click();
    await dialog.getByRole('textbox', { name: /^who/ }).and(page.locator('[aria-invalid=true]')).waitFor(); // it is required
    await dialog.getByRole('textbox', { name: /^who/ }).fill('Zoë');
    await dialog.getByRole('textbox', { name: 'Input' }).fill('{"count": 12345678901234567890}');
  });
  await shows('The run completed.');
  await step(/The shout node: completed/).click();
  await page.getByText('ZOË ORDERS 12345678901234567890').first().waitFor();
  assert.match(page.url(), /step=shout|shout/);
  await page.reload();
  await page.getByText('ZOË ORDERS 12345678901234567890').first().waitFor();
});

test('shows the progress of a run and cancels it', async () => {
  const blueprint = await make('Slow', { nodes: [node('before', 'set', { values: { a: 1 } }), node('long', 'wait', { durationMs: 600_000 }), node('after', 'set', { values: { b: 1 } })] });
  await start(blueprint);
  await step(/The before node: completed/).waitFor();
  await step(/The long node: (running|waits)/).waitFor();
  await page.getByRole('group', { name: /The long node, wait, (running|paused)/ }).waitFor();
  await page.getByRole('button', { name: 'Cancel run' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').first().fill('took too long');
  await dialog.getByRole('button', { name: /^Cancel (the )?run/ }).click();
  await shows('The run failed.');
  await page.getByRole('alert').filter({ hasText: 'took too long' }).first().waitFor();
});

test('shows where and why a run failed, and retries from a node', async () => {
  const blueprint = await make('Failing', failing);
  await start(blueprint);
  await shows('The run failed.');
  await page.getByRole('alert').filter({ hasText: 'nothing more to do' }).first().waitFor();
  const first = runId();
  await page.getByRole('button', { name: 'Retry' }).click();
  const dialog = page.getByRole('dialog');
  if (await dialog.getByRole('combobox').count()) await dialog.getByRole('combobox').first().click().then(() => page.getByRole('option', { name: /halt/ }).first().click()).catch(() => undefined);
  await dialog.getByRole('button', { name: /Retry|Run/ }).last().click();
  await page.waitForURL((url) => url.pathname.startsWith('/runs/exec_') && !url.pathname.endsWith(first));
  await shows('The run failed.');
  await page.getByRole('link', { name: new RegExp(first.slice(-8)) }).or(page.getByText(/again|retry of|Retry of/i)).first().waitFor();
});

test('approves and rejects', async () => {
  const blueprint = await make('Approval', {
    nodes: [node('ask', 'approval-gate', { prompt: 'May it?' }), node('yes', 'set', { values: { said: 'yes' } }), node('no', 'set', { values: { said: 'no' } })],
    edges: [{ source: 'ask', target: 'yes', sourceHandle: 'approved' }, { source: 'ask', target: 'no', sourceHandle: 'rejected' }],
  });
  for (const [button, taken, left] of [['Approve', 'yes', 'no'], ['Reject', 'no', 'yes']]) {
    await start(blueprint);
    const box = page.getByRole('region', { name: 'Waiting for approval: The ask node' });
    await box.getByText('May it?').waitFor();
    await page.getByRole('link', { name: /Runs.*1 wait/ }).or(page.getByTitle('1 waiting for input')).first().waitFor();
    await box.getByRole('textbox', { name: 'Comment' }).fill(`I say ${taken}`);
    await box.getByRole('button', { name: button }).click();
    await shows('The run completed.');
    await step(new RegExp(`The ${taken} node: completed`)).waitFor();
    await step(new RegExp(`The ${left} node: skipped`)).waitFor();
    const status = await client.execution.getExecutionStatus.query({ executionId: runId() });
    assert.equal(status.steps.find(({ nodeId }) => nodeId === 'ask').output.comment, `I say ${taken}`);
  }
});

test('submits a form and shows invalid fields', async () => {
  const blueprint = await make('Form', question);
  allow('execution.resume', 400);
  await start(blueprint);
  const box = page.getByRole('region', { name: 'Waiting for input: The ask node' });
  await box.getByText('How many, stranger?').waitFor();
  await box.getByRole('textbox', { name: /count/i }).fill('11');
  await box.getByRole('button', { name: 'Submit' }).click();
  await box.locator('[aria-invalid=true]').waitFor();
  await box.getByRole('textbox', { name: /count/i }).fill('4');
  await box.getByRole('button', { name: 'Submit' }).click();
  await shows('The run completed.');
  assert.deepEqual((await client.execution.getExecutionStatus.query({ executionId: runId() })).steps.at(-1).output, 8);
});

test('updates the run list and finds older runs', async () => {
  const blueprint = await make('Listed', { nodes: [node('one', 'set', { values: { a: 1 } })] });
  await page.goto(`/runs?blueprint=${blueprint.id}`);
  await settled(page, 'Runs');
  const { executionId } = await client.blueprint.execute.mutate({ id: blueprint.id });
  await page.getByRole('link', { name: 'Listed' }).first().waitFor(); // without a reload
  await page.getByRole('combobox', { name: /status/i }).selectOption('failed');
  await page.getByRole('rowheader', { name: /Listed/ }).waitFor({ state: 'detached' });
  assert.match(page.url(), /status=failed/);
  await page.goto('/runs');
  await page.getByRole('searchbox').fill(executionId);
  await page.getByRole('table').getByRole('link', { name: 'Listed' }).waitFor();
  await reached(client, executionId, 'completed');
});
