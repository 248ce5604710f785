// The main use cases with curl: create, run, poll, connect a webhook. Every response is compared in
// full with the shapes of the API.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { unknownId, node } from './support/maps.mjs';
import { until } from './support/poll.mjs';
import { startServer } from './support/server.mjs';
import { shape } from './support/shapes.mjs';

const run = promisify(execFile);

/** Runs curl; returns status, headers and the body as JSON. */
async function curl(...words) {
  const { stdout } = await run('curl', ['--silent', '--show-error', '--include', '--http1.1', ...words], { maxBuffer: 64 << 20 });
  const [head, ...rest] = stdout.split('\r\n\r\n');
  const [first, ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(lines.map((line) => /^([^:]+): *(.*)$/.exec(line).slice(1)).map(([name, value]) => [name.toLowerCase(), value]));
  assert.equal(headers['content-type'], 'application/json', stdout);
  return { status: Number(first.split(' ')[1]), headers, body: JSON.parse(rest.join('\r\n\r\n')) };
}

let server;
before(async () => (server = await startServer({ flags: ['--rate-limit', '0'] })));
after(() => server?.stop());

const authorized = () => ['--header', `Authorization: Bearer ${server.key}`];
const asJson = ['--header', 'Content-Type: application/json', '--data'];

const askQuery = (procedure, input, words = authorized()) =>
  curl(...words, '--get', `${server.baseUrl}/${procedure}`, ...(input ? ['--data-urlencode', `input=${JSON.stringify({ json: input })}`] : []));
const askMutation = (procedure, input, words = authorized()) => curl(...words, `${server.baseUrl}/${procedure}`, ...asJson, JSON.stringify({ json: input }));

/** Unwraps a success, which must be exactly {"result":{"data":{"json":...}}}. */
function payload({ status, body }) {
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body, { result: { data: { json: body.result?.data?.json } } });
  return body.result.data.json;
}
const query = async (...call) => payload(await askQuery(...call));
const mutation = async (...call) => payload(await askMutation(...call));

/** Checks an error, which must be exactly {"error":{"json":{message, code, data:{code, httpStatus, path}}}}. */
function assertRefused({ status, body }, [httpStatus, code, number], path, message) {
  assert.equal(status, httpStatus, JSON.stringify(body));
  const { issues, ...data } = body.error.json.data;
  const expected = { error: { json: { message: body.error.json.message, code: number, data: { code, httpStatus, path } } } };
  assert.deepEqual({ error: { json: { ...body.error.json, data } } }, expected);
  if (message) assert.match(body.error.json.message, message);
}
const BAD_REQUEST = [400, 'BAD_REQUEST', -32600];
const UNAUTHORIZED = [401, 'UNAUTHORIZED', -32001];
const FORBIDDEN = [403, 'FORBIDDEN', -32003];
const NOT_FOUND = [404, 'NOT_FOUND', -32004];

const polled = (executionId) => until(`the end of ${executionId}`, async () => {
  const record = await query('execution.getExecutionStatus', { executionId });
  return ['completed', 'failed'].includes(record.status) ? record : undefined;
});

const environment_variables = [{ name: 'greeting', type: 'string', default: 'Hello', description: 'how to begin' }];
const blueprint_map = {
  nodes: [
    node('name', 'set', { values: { name: '{{inputData.name ?? "world"}}' } }, { position: { x: 10.5, y: 20 } }),
    node('text', 'template', { text: '{{greeting}}, {{name}}!' }),
  ],
  edges: [{ source: 'name', target: 'text' }],
  viewport: { zoom: 1 },
};

describe('with curl', () => {
  let blueprint, trigger;

  test('blueprint.create', async () => {
    blueprint = shape('blueprint', await mutation('blueprint.create', {
      title: 'From curl', description: 'a test', tags: ['a', 'b'], visibility: 'public', blueprint_map, environment_variables,
    }));
    assert.deepEqual(
      { ...blueprint, id: 0, created_by: 0, organization_id: 0, created_at: 0, updated_at: 0 },
      {
        id: 0, title: 'From curl', description: 'a test', status: 'draft', visibility: 'private', version: '1.0.0', tags: ['a', 'b'],
        created_by: 0, organization_id: 0, created_at: 0, updated_at: 0, environment_variables, blueprint_map, average_rating: 0, rating_count: 0,
      },
    );
    assert.equal(blueprint.created_at, blueprint.updated_at);
  });

  test('blueprint.get', async () => {
    const read = shape('blueprintDetail', await query('blueprint.get', { id: blueprint.id }));
    const { organizations, ...rest } = read;
    assert.deepEqual(rest, { ...blueprint, can_manage: true, is_owner: true, is_favorited: false, categories: [] });
    assert.equal(organizations.length, 1);
    assert.equal(shape('organization', organizations[0]).id, blueprint.organization_id);
  });

  test('blueprint.list', async () => {
    const all = await query('blueprint.list');
    assert.deepEqual(Object.keys(all).sort(), ['data', 'pagination']);
    assert.deepEqual(all.data, [blueprint]);
    assert.deepEqual(shape('pagination', all.pagination), { page: 1, limit: 20, total: 1, totalPages: 1 });
    assert.deepEqual((await query('blueprint.list', { search: 'FROM C', status: 'draft', limit: 5 })).data, [blueprint]);
    assert.deepEqual(await query('blueprint.list', { status: 'published', page: 3 }), { data: [], pagination: { page: 3, limit: 20, total: 0, totalPages: 0 } });
    assert.deepEqual((await query('blueprint.list', { search: 'from_c' })).data, [], 'no letter stands for others');
  });

  test('blueprint.execute', async () => {
    const answer = await mutation('blueprint.execute', { id: blueprint.id, variables: { greeting: 'Good morning' } });
    assert.match(answer.executionId, /^exec_\d{13}_[0-9a-z]{26}$/);
    assert.deepEqual(answer, {
      success: true,
      executionId: answer.executionId,
      result: { status: 'completed', output: { text: 'Good morning, world!' }, outputs: { name: { name: 'world' }, text: { text: 'Good morning, world!' } } },
    });
  });

  test('execution.executeBlueprintWithLogging, then polling', async () => {
    const started = await mutation('execution.executeBlueprintWithLogging', {
      nodes: blueprint_map.nodes, edges: blueprint_map.edges, options: { blueprintId: blueprint.id, variables: { greeting: 'Hello' }, inputData: { name: 'curl' } },
    });
    assert.deepEqual(started, { success: true, executionId: started.executionId });
    const record = shape('status', await polled(started.executionId));
    assert.deepEqual(
      [record.id, record.status, record.progress, record.totalSteps, record.completedSteps, record.failedSteps],
      [started.executionId, 'completed', 100, 2, 2, 0],
    );
    assert.ok(Date.parse(record.startTime) <= Date.parse(record.endTime));
    assert.equal(record.currentStep ?? null, null);
    assert.equal(record.awaitingInput ?? null, null);
    assert.deepEqual(record.steps.map(({ nodeId, nodeType, title, status, attempt, output }) => ({ nodeId, nodeType, title, status, attempt, output })), [
      { nodeId: 'name', nodeType: 'set', title: 'The name node', status: 'completed', attempt: 1, output: { name: 'curl' } },
      { nodeId: 'text', nodeType: 'template', title: 'The text node', status: 'completed', attempt: 1, output: { text: 'Hello, curl!' } },
    ]);
  });

  test('execution.getExecutionStatus of an unknown run', async () => {
    const record = shape('status', await query('execution.getExecutionStatus', { executionId: 'exec_1_none' }));
    const { currentStep, awaitingInput, awaitingInputs, ...rest } = record;
    assert.deepEqual([currentStep ?? null, awaitingInput ?? null, awaitingInputs ?? null], [null, null, null]);
    assert.deepEqual(rest, {
      id: 'exec_1_none', status: 'not_found', progress: 0, startTime: null, endTime: null, totalSteps: 0, completedSteps: 0, failedSteps: 0, steps: [], logs: [],
    });
  });

  test('execution.getExecutionLogs and execution.listRecentExecutions', async () => {
    const answer = await query('execution.getExecutionLogs', { blueprintId: blueprint.id });
    assert.deepEqual(Object.keys(answer).sort(), ['logs', 'total']);
    assert.equal(answer.total, 2);
    for (const record of answer.logs) {
      shape('executionLog', record);
      assert.deepEqual([record.blueprintId, record.organizationId, record.userId], [blueprint.id, blueprint.organization_id, blueprint.created_by]);
      assert.deepEqual(Object.keys(record.executionData).sort(), ['executionId', 'logs', 'steps']);
      record.executionData.steps.forEach((step) => shape('step', step));
      record.executionData.logs.forEach((entry) => shape('logEntry', entry));
      assert.deepEqual(record.outputSummary.nodes.completed, 2);
      assert.deepEqual(
        [record.status, record.totalTokensUsed, record.usedMcpServers, record.mcpServerCount, record.mcpServerNames, record.reachedOutForData, record.externalDataSourcesCount],
        ['completed', 0, false, 0, [], false, 0],
      );
      assert.deepEqual([record.dataSourcesSummary, record.authenticationMethodsUsed, record.primaryAiProviderConnectionId, record.errorSummary], [[], [], '', '']);
    }
    assert.deepEqual(answer.logs.map(({ inputVariables }) => inputVariables.greeting), ['Hello', 'Good morning'], 'most recent first');
    assert.deepEqual(await query('execution.listRecentExecutions', { limit: 50 }), answer);
    assert.deepEqual(await query('execution.listRecentExecutions', { organizationId: blueprint.organization_id, limit: 1, offset: 1 }), { logs: [answer.logs[1]], total: 1 });
  });

  test('blueprintTriggers.create, list and getWebhookUrl', async () => {
    trigger = shape('trigger', await mutation('blueprintTriggers.create', { blueprintId: blueprint.id, triggerType: 'webhook', config: { secret: 'shared with curl' } }));
    assert.deepEqual({ ...trigger, id: 0 }, {
      id: 0, blueprint_id: blueprint.id, trigger_type: 'webhook', config: { secret: 'shared with curl' }, is_active: true, created_by: blueprint.created_by,
    });
    assert.deepEqual(await query('blueprintTriggers.list', { blueprintId: blueprint.id }), [trigger]);
    assert.deepEqual(await query('blueprintTriggers.getWebhookUrl', { triggerId: trigger.id }), {
      url: `${server.apiHost}/webhooks/blueprint/${trigger.id}`, secret: 'shared with curl',
    });
  });

  test('a signed webhook', async () => {
    const { url } = await query('blueprintTriggers.getWebhookUrl', { triggerId: trigger.id });
    const body = '{"name": "webhook"}';
    const { stdout } = await run('sh', ['-c', `printf %s '${body}' | openssl dgst -sha256 -hmac 'shared with curl' | sed 's/.* //'`]);
    const answer = await curl(url, '--header', `X-Webhook-Signature: ${stdout.trim()}`, ...asJson, body);
    assert.deepEqual(answer, { ...answer, status: 202, body: { success: true, executionId: answer.body.executionId, firingId: answer.body.firingId } });
    const record = await polled(answer.body.executionId);
    assert.deepEqual(record.steps[1].output, { text: 'Hello, webhook!' });
    const { firings, total } = await query('blueprintTriggers.history', { triggerId: trigger.id });
    assert.equal(total, 1);
    const { id, source, decision, executionId } = shape('firing', firings[0]);
    assert.deepEqual({ id, source, decision, executionId }, { id: answer.body.firingId, source: 'webhook', decision: 'started', executionId: answer.body.executionId });

    const unsigned = await curl(url, ...asJson, body);
    assert.deepEqual([unsigned.status, unsigned.body], [401, { success: false, error: { code: 'UNAUTHORIZED', message: unsigned.body.error.message } }]);
  });

  test('blueprintTriggers.fire', async () => {
    const fired = await mutation('blueprintTriggers.fire', { triggerId: trigger.id, inputData: { name: 'fire' } });
    assert.deepEqual(fired, { success: true, executionId: fired.executionId, firingId: fired.firingId });
    assert.deepEqual((await polled(fired.executionId)).steps[1].output, { text: 'Hello, fire!' });
  });

  test('an API trigger at its URL', async () => {
    const { id } = await mutation('blueprintTriggers.create', { blueprintId: blueprint.id, triggerType: 'api', config: { label: 'greet' } });
    const fire = (words, body) => curl(...words, `${server.apiHost}/v1/triggers/${id}/fire`, ...asJson, body);
    const fired = await fire(authorized(), '{"name":"v1"}');
    assert.deepEqual([fired.status, fired.body], [202, { success: true, executionId: fired.body.executionId, firingId: fired.body.firingId }]);
    assert.deepEqual((await polled(fired.body.executionId)).steps[1].output, { text: 'Hello, v1!' });
    const refused = await fire([], '{}');
    assert.deepEqual([refused.status, refused.body], [401, { error: { code: 'UNAUTHORIZED', message: refused.body.error.message } }]);
  });

  test('error responses', async () => {
    assertRefused(await askQuery('blueprint.list', {}, []), UNAUTHORIZED, 'blueprint.list');
    assertRefused(await askQuery('blueprint.list', {}, ['--header', 'Authorization: Bearer not-the-key']), UNAUTHORIZED, 'blueprint.list');
    assertRefused(await askQuery('blueprint.get', { id: unknownId }), NOT_FOUND, 'blueprint.get');
    assertRefused(await askQuery('blueprint.get', { id: 'x' }), BAD_REQUEST, 'blueprint.get', /id/);
    assertRefused(await askQuery('blueprint.nothing'), NOT_FOUND, 'blueprint.nothing');
    assertRefused(await askMutation('blueprint.create', {}), BAD_REQUEST, 'blueprint.create', /title/);
    assertRefused(await askMutation('blueprint.create', { title: 'x', organization_id: unknownId }), FORBIDDEN, 'blueprint.create');
    const { id } = await mutation('blueprint.create', { title: 'Without nodes' });
    assertRefused(await askMutation('blueprint.execute', { id }), BAD_REQUEST, 'blueprint.execute', /no nodes to execute/i);
    const empty = await mutation('blueprint.create', { title: 'With no node in it', blueprint_map: { nodes: [] } });
    assertRefused(await askMutation('blueprint.execute', { id: empty.id }), BAD_REQUEST, 'blueprint.execute', /no nodes to execute/i);
    assertRefused(await askMutation('blueprintTriggers.fire', { triggerId: unknownId }), NOT_FOUND, 'blueprintTriggers.fire');
  });

  test('health and readiness', async () => {
    for (const path of ['healthz', 'readyz']) {
      const { stdout } = await run('curl', ['--silent', '--output', '/dev/null', '--write-out', '%{http_code}', `${server.apiHost}/${path}`]);
      assert.equal(stdout, '200', path);
    }
  });
});
