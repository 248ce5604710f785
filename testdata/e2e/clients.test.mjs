// Calls every procedure with the real tRPC clients, versions 10 and 11, over each of their
// links: the results, and the typed errors.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { refused, ways } from './support/clients.mjs';
import { edge, failing, greeting, greetingVariables, unknownId, node, question } from './support/maps.mjs';
import { ended, reached } from './support/poll.mjs';
import { startServer, stopAll } from './support/server.mjs';
import { startService } from './support/service.mjs';
import { shape } from './support/shapes.mjs';

let server, service;
before(async () => {
  service = await startService((call, calls) => ({
    // An address under /flaky fails the first time and works afterwards.
    status: call.path.startsWith('/flaky') && calls.filter(({ path }) => path === call.path).length === 1 ? 503 : 200,
  }));
  server = await startServer({ flags: ['--rate-limit', '0', '--allow-net', '127.0.0.0/8'] });
});
after(() => stopAll(server, service));

const byId = (records) => Object.fromEntries(records.map((record) => [record.id, record]));

/** Checks the order of a listing and returns it. */
function newestFirst(field, records) {
  const rank = ({ [field]: time, id }) => [Date.parse(time), id];
  const later = ([a, x], [b, y]) => b - a || (y > x ? 1 : -1);
  assert.deepEqual(records.map(({ id }) => id), [...records].sort((a, b) => later(rank(a), rank(b))).map(({ id }) => id), 'newest first');
  return records;
}

for (const [name, way] of Object.entries(ways)) {
  describe(name, () => {
    let client, title;
    before(() => {
      client = way(server.baseUrl, server.key);
      title = `Made by ${name}`;
    });
    const make = (blueprint_map, more = {}) => client.blueprint.create.mutate({ title, blueprint_map, ...more });

    test('creates, reads, lists, changes and deletes blueprints', async () => {
      // Undefined fields count as absent, as TypeScript programs expect.
      const made = shape('blueprint', await client.blueprint.create.mutate({
        title: `${title} A`, description: undefined, tags: ['one', 'two'], organization_id: undefined,
        blueprint_map: { ...greeting, colour: 'green' }, environment_variables: greetingVariables, visibility: 'public',
      }));
      assert.equal(made.title, `${title} A`);
      assert.equal(made.description, '');
      assert.deepEqual(made.tags, ['one', 'two']);
      assert.equal(made.status, 'draft');
      assert.equal(made.visibility, 'private', 'a new blueprint is private, whatever is asked');
      assert.equal(made.version, '1.0.0');
      assert.equal(made.updated_at, made.created_at);
      assert.deepEqual(made.blueprint_map, { ...greeting, colour: 'green' }, 'the map is kept as it came');
      assert.deepEqual(made.environment_variables, greetingVariables);

      const bare = await client.blueprint.create.mutate({ title: `${title} B`, status: 'published' });
      assert.equal(bare.blueprint_map, null);
      assert.equal(bare.status, 'published');

      const read = shape('blueprintDetail', await client.blueprint.get.query({ id: made.id }));
      assert.deepEqual({ ...made, ...read }, read);
      assert.deepEqual([read.can_manage, read.is_owner, read.is_favorited], [true, true, false]);
      assert.deepEqual(read.categories, []);
      assert.deepEqual(read.organizations.map(({ id }) => id), [made.organization_id]);
      read.organizations.forEach((organization) => shape('organization', organization));

      const search = title.toUpperCase();
      const listed = await client.blueprint.list.query({ search, status: undefined });
      assert.deepEqual(new Set(listed.data.map(({ id }) => id)), new Set([bare.id, made.id]));
      newestFirst('created_at', listed.data).forEach((item) => shape('blueprint', item));
      assert.deepEqual(shape('pagination', listed.pagination), { page: 1, limit: 20, total: 2, totalPages: 1 });
      const second = await client.blueprint.list.query({ search, page: 2, limit: 1 });
      assert.deepEqual(second.data, [listed.data[1]]);
      assert.deepEqual(second.pagination, { page: 2, limit: 1, total: 2, totalPages: 2 });
      const drafts = await client.blueprint.list.query({ search, status: 'draft' });
      assert.deepEqual(drafts.data.map(({ id }) => id), [made.id]);
      assert.ok((await client.blueprint.list.query()).pagination.total >= 2, 'no input at all is fine');

      const renamed = shape('blueprint', await client.blueprint.update.mutate({ id: made.id, title: `${title} C` }));
      assert.deepEqual([renamed.title, renamed.version], [`${title} C`, '1.0.1']);
      const remade = await client.blueprint.update.mutate({ id: made.id, blueprint_map: question });
      assert.equal(remade.version, '1.1.0');
      const raised = await client.blueprint.update.mutate({ id: made.id, description: 'd', version: '3.0.0' });
      assert.equal(raised.version, '3.0.0');
      await refused(client.blueprint.update.mutate({ id: made.id, title: 'x', version: '2.9.9' }), 'BAD_REQUEST', { path: 'blueprint.update' });
      const versions = await client.blueprint.versions.query({ id: made.id });
      versions.forEach((version) => shape('version', version));
      assert.deepEqual(versions.map(({ version }) => version), ['3.0.0', '1.1.0', '1.0.1', '1.0.0'], 'newest first');
      assert.deepEqual(versions.find(({ version }) => version === '1.0.0').blueprint_map.nodes, greeting.nodes);

      assert.deepEqual(await client.blueprint.delete.mutate({ id: made.id }), { success: true });
      await refused(client.blueprint.get.query({ id: made.id }), 'NOT_FOUND', { path: 'blueprint.get' });
    });

    test('reports in validate what would fail, without refusing it', async () => {
      assert.deepEqual(await client.blueprint.validate.mutate({ blueprint_map: greeting, environment_variables: greetingVariables }), { valid: true, issues: [] });
      const told = await client.blueprint.validate.mutate({ blueprint_map: { nodes: [node('odd', 'no-such-type')] } });
      assert.equal(told.valid, false);
      assert.ok(told.issues.some((issue) => issue.nodeId === 'odd' && issue.severity === 'error' && /no-such-type/.test(issue.message)), JSON.stringify(told.issues));
      await refused(client.blueprint.validate.mutate({ blueprint_map: 'text' }), 'BAD_REQUEST', { issues: [['blueprint_map']] });
    });

    test('returns the result of a run from execute', async () => {
      const { id } = await make(greeting, { environment_variables: greetingVariables });
      const run = await client.blueprint.execute.mutate({ id, variables: { who: 'you' } });
      assert.equal(run.success, true);
      assert.match(run.executionId, /^exec_\d{13}_[0-9a-z]{26}$/);
      assert.deepEqual(run.result, {
        status: 'completed',
        output: { text: 'hello you, hello you!' },
        outputs: { facts: { greeting: 'hello you' }, text: { text: 'hello you, hello you!' } },
      });
      const status = shape('status', await client.execution.getExecutionStatus.query({ executionId: run.executionId }));
      assert.deepEqual([status.status, status.progress, status.totalSteps, status.completedSteps, status.failedSteps], ['completed', 100, 2, 2, 0]);

      await refused(client.blueprint.execute.mutate({ id, variables: { who: 5 } }), 'BAD_REQUEST', { message: /who/ });
      const { id: empty } = await make(undefined);
      await refused(client.blueprint.execute.mutate({ id: empty }), 'BAD_REQUEST', { message: /no nodes/i, path: 'blueprint.execute' });
    });

    test('returns a failed run as a result, not an error', async () => {
      const { id } = await make(failing);
      const run = await client.blueprint.execute.mutate({ id });
      assert.equal(run.success, false);
      assert.equal(run.result.status, 'failed');
      assert.equal(run.result.error.nodeId, 'halt');
      assert.equal(run.result.error.message, 'nothing more to do');
      const { logs, total } = await client.execution.getExecutionLogs.query({ blueprintId: id });
      assert.equal(total, 1);
      const [record] = logs.map((item) => shape('executionLog', item));
      assert.deepEqual([record.status, record.hasErrors, record.errorCount, record.criticalErrors], ['failed', true, 1, true]);
      assert.match(record.errorSummary, /nothing more to do/);
      assert.equal(record.executionData.executionId, run.executionId);
    });

    test('starts a long run, polls it to its end and finds it in both lists', async () => {
      const { id } = await make(greeting, { environment_variables: greetingVariables });
      const started = await client.execution.executeBlueprintWithLogging.mutate({
        nodes: greeting.nodes, options: { blueprintId: id, variables: { who: 'all' } },
      });
      assert.equal(started.success, true);
      const status = shape('status', await ended(client, started.executionId));
      assert.equal(status.status, 'completed');
      assert.deepEqual(status.steps.map(({ nodeId, status }) => [nodeId, status]), [['facts', 'completed'], ['text', 'completed']]);
      assert.deepEqual(status.steps[1].output, { text: 'hello all, hello all!' });

      const own = [node('other', 'template', { text: 'own nodes of the caller' })];
      const again = await client.execution.executeBlueprintWithLogging.mutate({ nodes: own, options: { blueprintId: id } });
      assert.deepEqual((await ended(client, again.executionId)).steps.map(({ nodeId }) => nodeId), ['other']);

      const { logs, total } = await client.execution.getExecutionLogs.query({ blueprintId: id });
      assert.equal(total, 2);
      newestFirst('createdAt', logs).forEach((item) => shape('executionLog', item));
      const record = logs.find((item) => item.executionData.executionId === started.executionId);
      assert.equal(record.inputVariables.who, 'all');
      const older = await client.execution.getExecutionLogs.query({ blueprintId: id, limit: 1, offset: 1 });
      assert.deepEqual(older, { logs: [logs[1]], total: 1 });
      // Other tests start runs at the same time.
      const recent = (await client.execution.listRecentExecutions.query()).logs;
      assert.deepEqual(recent.filter((item) => item.blueprintId === id), logs);
      const newest = await client.execution.listRecentExecutions.query({ limit: 1 });
      assert.deepEqual([newest.logs.length, newest.total], [1, 1]);

      const unknown = shape('status', await client.execution.getExecutionStatus.query({ executionId: 'exec_0_none' }));
      assert.deepEqual([unknown.status, unknown.totalSteps, unknown.startTime, unknown.steps], ['not_found', 0, null, []]);
    });

    test('accepts one answer to a paused run, and only a valid one', async () => {
      const { id } = await make(question);
      const run = await client.blueprint.execute.mutate({ id });
      assert.deepEqual([run.success, run.result.status], [false, 'paused']);
      const { executionId } = run;
      const { awaitingInput } = shape('status', await reached(client, executionId, 'paused'));
      assert.deepEqual([awaitingInput.nodeId, awaitingInput.kind, awaitingInput.prompt], ['ask', 'human', 'How many, stranger?']);
      assert.equal(awaitingInput.schema.properties.count.maximum, 10);

      await refused(client.execution.resume.mutate({ executionId, input: { count: 11 } }), 'BAD_REQUEST', { path: 'execution.resume' });
      assert.equal((await client.execution.getExecutionStatus.query({ executionId })).status, 'paused');
      const resumed = shape('status', await client.execution.resume.mutate({ executionId, nodeId: 'ask', input: { count: 4 } }));
      assert.equal(resumed.id, executionId);
      const status = await ended(client, executionId);
      assert.equal(status.status, 'completed');
      assert.equal(status.steps.find(({ nodeId }) => nodeId === 'double').output, 8);
      await refused(client.execution.resume.mutate({ executionId, input: { count: 4 } }), 'CONFLICT', { path: 'execution.resume' });
    });

    test('cancels a run, and retries a failed one from the failed step', async () => {
      const asking = await make(question);
      const { executionId: paused } = await client.blueprint.execute.mutate({ id: asking.id });
      const cancelled = shape('status', await client.execution.cancel.mutate({ executionId: paused, reason: 'no longer needed' }));
      assert.equal(cancelled.id, paused);
      assert.equal((await ended(client, paused)).status, 'failed');
      const { logs: [record] } = await client.execution.getExecutionLogs.query({ blueprintId: asking.id });
      assert.equal(record.errorSummary, 'cancelled: no longer needed');
      await refused(client.execution.cancel.mutate({ executionId: paused }), 'CONFLICT');
      await refused(client.execution.cancel.mutate({ executionId: 'exec_0_none' }), 'NOT_FOUND');

      const once = `/once/${asking.id}`;
      const flaky = `/flaky/${asking.id}`;
      const { id } = await make({
        nodes: [
          node('first', 'http-request', { method: 'POST', url: service.url + once, body: {} }),
          node('second', 'http-request', { method: 'POST', url: service.url + flaky, body: {} }),
        ],
      });
      const failed = await client.blueprint.execute.mutate({ id });
      assert.deepEqual([failed.success, failed.result.error?.nodeId], [false, 'second']);
      const retried = await client.execution.retry.mutate({ executionId: failed.executionId });
      assert.equal(retried.success, true);
      assert.notEqual(retried.executionId, failed.executionId);
      assert.equal((await ended(client, retried.executionId)).status, 'completed');
      const called = (path) => service.calls.filter((call) => call.path === path).length;
      assert.deepEqual([called(once), called(flaky)], [1, 2], 'what was done is not done again');
      await refused(client.execution.retry.mutate({ executionId: retried.executionId }), 'BAD_REQUEST');
    });

    test('takes branches by handle and skips the others', async () => {
      const { id } = await make({
        nodes: [
          node('which', 'switch', { value: '{{inputData.kind}}', cases: [{ equals: 'a', handle: 'a' }, { when: 'inputData.size > 3', handle: 'big' }] }),
          node('left', 'template', { text: 'left' }), node('right', 'template', { text: 'right' }), node('rest', 'template', { text: 'rest' }),
          node('end', 'merge', { mode: 'first' }),
        ],
        edges: [
          edge('which', 'left', 'a'), edge('which', 'right', 'big'), edge('which', 'rest', 'default'),
          edge('left', 'end'), edge('right', 'end'), edge('rest', 'end'),
        ],
      });
      for (const [inputData, text] of [[{ kind: 'a', size: 9 }, 'left'], [{ kind: 'b', size: 9 }, 'right'], [{ kind: 'b', size: 1 }, 'rest']]) {
        const run = await client.blueprint.execute.mutate({ id, inputData });
        assert.deepEqual(run.result.output, { text });
      }
    });

    test('creates, lists, fires, changes and deletes triggers', async () => {
      const { id: blueprintId } = await make(greeting, { environment_variables: greetingVariables });
      const configs = {
        manual: undefined, scheduled: { cron: '0 9 * * 1-5' }, webhook: { secret: 'a shared secret' }, email: {},
        slack: { signingSecret: 'another secret' }, event: { event: 'execution.failed' }, api: { label: 'orders' },
      };
      const made = {};
      for (const [triggerType, config] of Object.entries(configs)) {
        const trigger = await client.blueprintTriggers.create.mutate({ blueprintId, triggerType, config });
        made[triggerType] = shape('trigger', trigger);
        assert.deepEqual([trigger.blueprint_id, trigger.trigger_type, trigger.is_active], [blueprintId, triggerType, true]);
        assert.deepEqual({ ...trigger.config, ...config }, trigger.config, 'the config is kept');
      }
      const listed = await client.blueprintTriggers.list.query({ blueprintId });
      const stored = Object.values(made).map(({ warnings, ...trigger }) => trigger);
      assert.deepEqual(byId(listed), byId(stored));

      const address = await client.blueprintTriggers.getWebhookUrl.query({ triggerId: made.webhook.id });
      assert.deepEqual(address, { url: `${server.apiHost}/webhooks/blueprint/${made.webhook.id}`, secret: 'a shared secret' });
      const open = await client.blueprintTriggers.create.mutate({ blueprintId, triggerType: 'webhook' });
      assert.deepEqual(open.config, {});
      assert.equal((await client.blueprintTriggers.getWebhookUrl.query({ triggerId: open.id })).secret, null);

      const fired = await client.blueprintTriggers.fire.mutate({ triggerId: made.webhook.id, inputData: { n: 1 } });
      assert.equal(fired.success, true);
      assert.equal((await ended(client, fired.executionId)).status, 'completed');

      const changed = await client.blueprintTriggers.update.mutate({ triggerId: made.webhook.id, config: { respond: 'wait' }, isActive: false });
      assert.deepEqual(shape('trigger', changed).config, { secret: 'a shared secret', respond: 'wait' }, 'top-level keys are merged');
      assert.equal(changed.is_active, false);
      await refused(client.blueprintTriggers.fire.mutate({ triggerId: made.webhook.id }), 'BAD_REQUEST', { path: 'blueprintTriggers.fire' });
      const history = await client.blueprintTriggers.history.query({ triggerId: made.webhook.id });
      history.firings.forEach((firing) => shape('firing', firing));
      assert.equal(history.total, 2);
      assert.deepEqual(history.firings.map(({ decision, source }) => [decision, source]), [['refused', 'manual'], ['started', 'manual']]);
      assert.deepEqual([history.firings[1].id, history.firings[1].executionId], [fired.firingId, fired.executionId]);

      assert.deepEqual(await client.blueprintTriggers.delete.mutate({ triggerId: made.api.id }), { success: true });
      await refused(client.blueprintTriggers.fire.mutate({ triggerId: made.api.id }), 'NOT_FOUND');

      await refused(client.blueprintTriggers.create.mutate({ blueprintId, triggerType: 'scheduled' }), 'BAD_REQUEST', { message: /cron/ });
      await refused(client.blueprintTriggers.create.mutate({ blueprintId, triggerType: 'pigeon' }), 'BAD_REQUEST', { issues: [['triggerType']] });
    });

    test('previews the next runs of a schedule', async () => {
      const due = await client.blueprintTriggers.preview.query({ cron: '30 9 * * mon-fri', timezone: 'Europe/Berlin', count: 7 });
      assert.equal(due.length, 7);
      const local = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', weekday: 'short', hour: '2-digit', minute: '2-digit' });
      for (const instant of due) assert.match(local.format(new Date(instant)), /^(Mon|Tue|Wed|Thu|Fri)\D+09:30$/);
      assert.deepEqual(due, [...due].sort((a, b) => Date.parse(a) - Date.parse(b)));
      assert.equal((await client.blueprintTriggers.preview.query({ cron: '@daily' })).length, 5);
      await refused(client.blueprintTriggers.preview.query({ cron: '0 0 30 2 *' }), 'BAD_REQUEST', { path: 'blueprintTriggers.preview' });
      await refused(client.blueprintTriggers.preview.query({ cron: '* * * * * *' }), 'BAD_REQUEST');
    });

    test('lists a key, which works until it is revoked', async () => {
      const created = await client.apiKey.create.mutate({ name: 'for a while' });
      const { key, ...record } = created;
      shape('apiKey', record);
      assert.match(key, /^bpd_[0-9A-Za-z]{40,}$/);
      assert.equal(record.last4, key.slice(-4));
      const holder = way(server.baseUrl, key);
      await holder.blueprint.list.query();
      const listed = (await client.apiKey.list.query()).map((item) => shape('apiKey', item));
      const found = listed.find(({ id }) => id === record.id);
      assert.equal(found.revokedAt, null);
      assert.ok(!JSON.stringify(listed).includes(key), 'the key is shown once only');
      assert.deepEqual(await client.apiKey.revoke.mutate({ id: record.id }), { success: true });
      await refused(holder.blueprint.list.query(), 'UNAUTHORIZED', { path: 'blueprint.list' });
      assert.notEqual((await client.apiKey.list.query()).find(({ id }) => id === record.id).revokedAt, null);
    });

    test('returns typed errors', async () => {
      const blueprint = client.blueprint;
      await refused(blueprint.get.query({ id: 'no uuid' }), 'BAD_REQUEST', { path: 'blueprint.get', issues: [['id']], message: /id/ });
      await refused(blueprint.get.query({ id: unknownId }), 'NOT_FOUND', { path: 'blueprint.get' });
      await refused(blueprint.create.mutate({ tags: ['fine', 5], status: 'odd' }), 'BAD_REQUEST', {
        issues: [['title'], ['tags', 1], ['status']], message: /title.*tags\[1\]|tags\[1\].*title/s,
      });
      await refused(blueprint.create.mutate({ title: 'x', organization_id: unknownId }), 'FORBIDDEN');
      await refused(blueprint.create.mutate({ title: 'x', blueprint_map: { nodes: [node('a', 'set'), node('a', 'set')] } }), 'BAD_REQUEST', { message: /a/ });
      await refused(blueprint.list.query({ limit: 101 }), 'BAD_REQUEST', { issues: [['limit']] });
      await refused(blueprint.nothing.query(), 'NOT_FOUND', { path: 'blueprint.nothing', message: /No procedure found on path "blueprint\.nothing"/ });
      await refused(blueprint.create.query({ title: 'x' }), 'METHOD_NOT_SUPPORTED', { path: 'blueprint.create' });
      await refused(blueprint.list.mutate({}), 'METHOD_NOT_SUPPORTED', { path: 'blueprint.list' });
      await refused(way(server.baseUrl).blueprint.list.query(), 'UNAUTHORIZED', { path: 'blueprint.list' });
      await refused(way(server.baseUrl, 'not-the-key').blueprint.create.mutate({ title: 'x' }), 'UNAUTHORIZED');
    });

    test('matches concurrent calls with their own responses', async () => {
      const settled = await Promise.allSettled([
        client.blueprint.list.query({ limit: 1 }),
        client.blueprint.get.query({ id: unknownId }),
        client.execution.getExecutionStatus.query({ executionId: 'exec_0_none' }),
        client.blueprint.list.query({ limit: 0 }),
      ]);
      assert.deepEqual(settled.map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled', 'rejected']);
      assert.equal(settled[0].value.pagination.limit, 1);
      assert.equal(settled[2].value.id, 'exec_0_none');
      await refused(Promise.reject(settled[1].reason), 'NOT_FOUND', { path: 'blueprint.get' });
      await refused(Promise.reject(settled[3].reason), 'BAD_REQUEST', { path: 'blueprint.list' });
    });
  });
}
