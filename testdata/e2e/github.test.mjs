// The main use case, end to end: GitHub's deliveries start runs of one blueprint, which branches on
// the event, calls a service, and asks a user before a pull request is merged.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import { connect, connectBatching, refused } from './support/clients.mjs';
import { edge, node, unknownId } from './support/maps.mjs';
import { ended, reached } from './support/poll.mjs';
import { startServer, stopAll } from './support/server.mjs';
import { startService } from './support/service.mjs';
import { shape } from './support/shapes.mjs';
import { deliver, githubHeaders } from './support/webhooks.mjs';

const secret = "It's a Secret to Everybody";

// One of GitHub's own examples per delivery: every action of every event.
const examples = createRequire(import.meta.url)('@octokit/webhooks-examples');
const deliveries = examples.flatMap(({ name, examples: payloads }) => payloads.map((payload) => ({ event: name, payload })));
const isOpened = ({ event, payload }) => event === 'pull_request' && payload.action === 'opened';

/** A node that posts what happened to a path of the service. */
const tell = (id, path, body) => node(id, 'http-request', {
  method: 'POST', url: `{{service}}/${path}`, headers: { 'x-delivery': '{{trigger.headers["x-github-delivery"]}}' }, body,
});

const workflow = {
  nodes: [
    node('route', 'switch', {
      value: '{{trigger.headers["x-github-event"]}}',
      cases: [
        { equals: 'pull_request', handle: 'pull-request' },
        { when: 'trigger.headers["x-github-event"] in ["push", "create", "delete"]', handle: 'code' },
        { equals: 'issues', handle: 'issue' },
      ],
    }),
    node('opened', 'conditional', { condition: 'inputData.action == "opened"' }),
    tell('announce', 'announcements', { title: '{{inputData.pull_request.title}}', number: '{{inputData.number}}' }),
    node('gate', 'approval-gate', { prompt: 'Merge #{{inputData.number}} of {{inputData.repository.full_name}}?' }),
    tell('merge', 'merges', { number: '{{inputData.number}}', comment: '{{input.comment ?? ""}}' }),
    tell('close', 'closings', { number: '{{inputData.number}}', comment: '{{input.comment ?? ""}}' }),
    tell('note', 'notes', { action: '{{inputData.action}}' }),
    tell('code', 'code', { ref: '{{inputData.ref}}', by: '{{inputData.sender.login}}' }),
    tell('issue', 'issues', { action: '{{inputData.action}}', title: '{{inputData.issue.title}}' }),
    tell('other', 'others', { event: '{{trigger.headers["x-github-event"]}}', action: '{{inputData.action ?? null}}' }),
  ],
  edges: [
    edge('route', 'opened', 'pull-request'), edge('route', 'code', 'code'), edge('route', 'issue', 'issue'), edge('route', 'other', 'default'),
    edge('opened', 'announce', 'true'), edge('opened', 'note', 'false'), edge('announce', 'gate'),
    edge('gate', 'merge', 'approved'), edge('gate', 'close', 'rejected'),
  ],
};

let server, service, client, blueprint, trigger, url;
before(async () => {
  service = await startService();
  server = await startServer({ flags: ['--rate-limit', '0', '--allow-net', '127.0.0.0/8'] });
  client = connect(server.baseUrl, server.key);
  blueprint = await client.blueprint.create.mutate({
    title: 'What happens on GitHub', blueprint_map: workflow,
    environment_variables: [{ name: 'service', default: service.url, required: true }],
  });
  trigger = await client.blueprintTriggers.create.mutate({ blueprintId: blueprint.id, triggerType: 'webhook', config: { secret } });
  ({ url } = await client.blueprintTriggers.getWebhookUrl.query({ triggerId: trigger.id }));
});
after(() => stopAll(server, service));

/** Sends one example as GitHub does and stores its delivery ID and execution ID in it. */
async function send(delivery) {
  const body = JSON.stringify(delivery.payload);
  delivery.id = randomUUID();
  const answer = await deliver(url, body, await githubHeaders(delivery.event, body, secret, delivery.id));
  assert.equal(answer.status, 202, `${delivery.event}: ${answer.text}`);
  assert.deepEqual(Object.keys(answer.body).sort(), ['executionId', 'firingId', 'success']);
  assert.equal(answer.body.success, true);
  Object.assign(delivery, answer.body);
}

/** Processes the items, eight at a time. */
async function together(items, work) {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

// The expected run with these steps completed and all others skipped.
const stepsOf = (status, wanted) => Object.fromEntries(status.steps.filter((step) => step.status === wanted).map((step) => [step.nodeId, step]));

const path = { push: 'code', create: 'code', delete: 'code', issues: 'issue' };
const calls = (executionId) => service.calls.filter(({ key }) => key?.startsWith(`${executionId}/`));

test('accepts every delivery and starts a run', async () => {
  assert.ok(new Set(deliveries.map(({ event }) => event)).size >= 50, 'at least fifty kinds of event');
  assert.ok(deliveries.filter(isOpened).length >= 4, 'enough pull requests to decide on');
  await together(deliveries, send);
  assert.equal(new Set(deliveries.map(({ executionId }) => executionId)).size, deliveries.length, 'one run each');
});

test('completes runs without input on the branch of their event', async () => {
  // Hundreds of queries at once: the URL must stay within the limit of servers.
  const batching = connectBatching(server.baseUrl, server.key, { maxURLLength: 8000 });
  await Promise.all(deliveries.filter((delivery) => !isOpened(delivery)).map(async ({ event, payload, id, executionId }) => {
    const status = shape('status', await ended(batching, executionId));
    assert.equal(status.status, 'completed', `${event}: ${JSON.stringify(status.steps.filter(({ error }) => error))}`);
    assert.deepEqual([status.progress, status.totalSteps, status.failedSteps], [100, workflow.nodes.length, 0]);
    const last = event === 'pull_request' ? 'note' : path[event] ?? 'other';
    const expected = event === 'pull_request' ? ['route', 'opened', last] : ['route', last];
    assert.deepEqual(Object.keys(stepsOf(status, 'completed')), expected, event);
    assert.equal(Object.keys(stepsOf(status, 'skipped')).length, workflow.nodes.length - expected.length);

    const [call, ...more] = calls(executionId);
    assert.equal(more.length, 0, 'one call');
    assert.deepEqual([call.key, call.headers['x-delivery']], [`${executionId}/${last}`, id]);
    const told = JSON.parse(call.text);
    if (last === 'note') assert.deepEqual(told, { action: payload.action });
    if (last === 'code') assert.deepEqual(told, { ref: payload.ref, by: payload.sender.login });
    if (last === 'issue') assert.deepEqual(told, { action: payload.action, title: payload.issue.title });
    if (last === 'other') assert.deepEqual(told, { event, action: payload.action ?? null });
  }));
});

test('waits for approval of an opened pull request and continues as decided', async () => {
  const opened = deliveries.filter(isOpened);
  await Promise.all(opened.map(async ({ payload, executionId }, index) => {
    const status = shape('status', await reached(client, executionId, 'paused'));
    assert.deepEqual(
      [status.awaitingInput.nodeId, status.awaitingInput.kind, status.awaitingInput.prompt],
      ['gate', 'approval', `Merge #${payload.number} of ${payload.repository.full_name}?`],
    );
    assert.deepEqual(calls(executionId).map(({ path, text }) => [path, JSON.parse(text)]), [['/announcements', { title: payload.pull_request.title, number: payload.number }]]);

    const approved = index % 2 === 0;
    const comment = approved ? 'well done' : 'not this way';
    await refused(client.execution.resume.mutate({ executionId, input: { approved: 'perhaps' } }), 'BAD_REQUEST');
    await client.execution.resume.mutate({ executionId, input: { approved, comment } });
    const end = await ended(client, executionId);
    assert.equal(end.status, 'completed');
    assert.deepEqual(stepsOf(end, 'completed').gate.output, { approved, comment });
    assert.deepEqual(Object.keys(stepsOf(end, 'completed')), ['route', 'opened', 'announce', 'gate', approved ? 'merge' : 'close']);
    const [, call] = calls(executionId);
    assert.equal(call.key, `${executionId}/${approved ? 'merge' : 'close'}`);
    assert.equal(call.path, approved ? '/merges' : '/closings');
    assert.deepEqual(JSON.parse(call.text), { number: payload.number, comment });
    await refused(client.execution.resume.mutate({ executionId, input: { approved: !approved } }), 'CONFLICT');
  }));
});

test('calls the service once per step, each with its own key', () => {
  const opened = deliveries.filter(isOpened).length;
  assert.equal(service.calls.length, deliveries.length + opened, 'one call a run, two for each opened pull request');
  assert.ok(service.calls.every(({ key }) => key), 'every call has an Idempotency-Key');
  assert.equal(new Set(service.calls.map(({ key }) => key)).size, service.calls.length, 'and none comes twice');
});

test('reads the record of every run', async () => {
  const logs = [];
  for (let more = true; more;) {
    const page = await client.execution.getExecutionLogs.query({ blueprintId: blueprint.id, limit: 100, offset: logs.length });
    assert.equal(page.total, page.logs.length);
    logs.push(...page.logs);
    more = page.logs.length > 0;
  }
  assert.equal(logs.length, deliveries.length);
  const byExecution = new Map(logs.map((record) => [record.executionData.executionId, record]));
  for (const { executionId, firingId, event } of deliveries) {
    const record = shape('executionLog', byExecution.get(executionId));
    assert.deepEqual([record.status, record.progress, record.hasErrors, record.criticalErrors], ['completed', 100, false, false], event);
    assert.deepEqual([record.executionMetadata.triggerId, record.executionMetadata.firingId], [trigger.id, firingId]);
    assert.equal(record.executionMetadata.blueprintVersion, '1.0.0');
    assert.deepEqual([record.reachedOutForData, record.externalDataSourcesCount, record.dataSourcesSummary.length], [true, 1, 1]);
    assert.equal(record.dataSourcesSummary[0].calls, calls(executionId).length);
    assert.match(record.dataSourcesSummary[0].host, /^127\.0\.0\.1/);
    assert.deepEqual([record.requiredLogin, record.usedMcpServers, record.totalTokensUsed], [false, false, 0]);
  }
});

test('has a ledger row for every delivery', async () => {
  const { firings, total } = await client.blueprintTriggers.history.query({ triggerId: trigger.id, limit: 100 });
  assert.equal(total, deliveries.length);
  assert.equal(firings.length, 100);
  const byId = new Map(deliveries.map((delivery) => [delivery.firingId, delivery]));
  for (const firing of firings) {
    shape('firing', firing);
    assert.deepEqual([firing.source, firing.decision, firing.triggerId], ['webhook', 'started', trigger.id]);
    assert.equal(firing.executionId, byId.get(firing.id).executionId);
  }
});

describe('deliveries that start no run', () => {
  const payload = deliveries.find(({ event }) => event === 'push').payload;
  const body = JSON.stringify(payload);
  const history = async () => client.blueprintTriggers.history.query({ triggerId: trigger.id, limit: 1 });

  /** Delivers and expects the status, and one more ledger row with the decision (none if it is undefined). */
  async function expectNothingStarted(status, decision, text, headers) {
    const before = await history();
    const called = service.calls.length;
    const answer = await deliver(url, text, headers);
    assert.equal(answer.status, status, answer.text);
    if (status >= 400) {
      assert.equal(answer.body.success, false);
      assert.deepEqual(Object.keys(answer.body.error).sort(), ['code', 'message']);
      assert.equal(typeof answer.body.error.code, 'string');
    }
    const after = await history();
    assert.equal(after.total - before.total, decision ? 1 : 0);
    if (decision) assert.equal(after.firings[0].decision, decision);
    if (decision === 'refused') assert.equal(after.firings[0].executionId, null);
    assert.equal(service.calls.length, called);
    return { answer, firing: after.firings[0] };
  }

  /** Delivers and waits for the end of the run, so that its calls are not counted for another one. */
  async function assertStarts(address, headers) {
    const answer = await deliver(address, body, headers);
    assert.equal(answer.status, 202, answer.text);
    await ended(client, answer.body.executionId);
  }

  test('modified body', async () => {
    const headers = await githubHeaders('push', body, secret);
    const { answer, firing } = await expectNothingStarted(401, 'refused', body.replace('refs/', 'Refs/'), headers);
    assert.match(firing.reason, /signature/i);
    assert.ok(!answer.text.includes(secret));
    // The refused delivery has not used up its id: the real one is accepted.
    await assertStarts(url, headers);
  });

  test('signature by another secret, malformed signature, no signature', async () => {
    await expectNothingStarted(401, 'refused', body, await githubHeaders('push', body, 'another secret'));
    const { 'x-hub-signature-256': signature, ...unsigned } = await githubHeaders('push', body, secret);
    await expectNothingStarted(401, 'refused', body, unsigned);
    await expectNothingStarted(401, 'refused', body, { ...unsigned, 'x-hub-signature-256': signature.slice(0, -2) });
    await expectNothingStarted(401, 'refused', body, { ...unsigned, 'x-hub-signature-256': '' });
  });

  test('repeated delivery: 200 with the first run', async () => {
    const { executionId, firingId, event, payload, id } = deliveries[7];
    const again = JSON.stringify(payload);
    const { answer, firing } = await expectNothingStarted(200, 'duplicate', again, await githubHeaders(event, again, secret, id));
    assert.deepEqual(answer.body, { success: true, executionId, firingId });
    assert.equal(firing.source, 'webhook');
  });

  test('body that is not JSON', async () => {
    const broken = body.slice(0, -1);
    await expectNothingStarted(400, 'refused', broken, await githubHeaders('push', broken, secret));
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx']) {
      const { answer } = await expectNothingStarted(415, 'refused', body, { ...(await githubHeaders('push', body, secret)), 'content-type': type });
      assert.equal(answer.body.error.code, 'UNSUPPORTED_MEDIA_TYPE');
    }
    await expectNothingStarted(415, 'refused', body, { ...(await githubHeaders('push', body, secret)), 'content-encoding': 'gzip' });
    // The type is checked before the signature.
    await expectNothingStarted(415, 'refused', body, { 'content-type': 'text/plain' });
  });

  test('body over the limit', async () => {
    const large = JSON.stringify({ padding: 'x'.repeat(5 << 20) });
    await expectNothingStarted(413, 'refused', large, await githubHeaders('push', large, secret));
  });

  test('trigger that is unknown, of another type, inactive or deleted', async () => {
    const address = (id) => `${server.apiHost}/webhooks/blueprint/${id}`;
    const sign = () => githubHeaders('push', body, secret);
    const assertUnknown = async (id) => {
      const answer = await deliver(address(id), body, await sign());
      assert.equal(answer.status, 404, answer.text);
      assert.deepEqual([answer.body.success, answer.body.error.code], [false, 'NOT_FOUND']);
    };
    await assertUnknown(unknownId);
    await assertUnknown('no-uuid');
    const create = (triggerType, config) => client.blueprintTriggers.create.mutate({ blueprintId: blueprint.id, triggerType, config });
    const manual = await create('manual');
    await assertUnknown(manual.id);
    const { id } = await create('webhook', { secret });
    await assertStarts(address(id), await sign());
    await client.blueprintTriggers.update.mutate({ triggerId: id, isActive: false });
    await assertUnknown(id);
    const { firings: [firing] } = await client.blueprintTriggers.history.query({ triggerId: id });
    assert.equal(firing.decision, 'refused', 'an inactive trigger still has its ledger');
    await client.blueprintTriggers.update.mutate({ triggerId: id, isActive: true });
    await assertStarts(address(id), await sign());
    await client.blueprintTriggers.delete.mutate({ triggerId: id });
    await assertUnknown(id);
  });
});

test('calls nothing twice until the end', () => {
  assert.equal(new Set(service.calls.map(({ key }) => key)).size, service.calls.length);
});
