// Limits of a client: rate limit, plan limit, resources of other users, revoked keys, and the
// statuses of whole batches.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { retryLink, httpLink, createTRPCClient } from '@trpc/client';
import superjson from 'superjson';
import { connect, connectBatching, connectStreaming, refused, ways } from './support/clients.mjs';
import { greeting, unknownId, question } from './support/maps.mjs';
import { startServer } from './support/server.mjs';

/** Starts a server for the tests of the enclosing describe; its fields are there once they run. */
function serving(options) {
  const server = {};
  before(async () => Object.assign(server, await startServer(options)));
  after(() => server.stop?.());
  return server;
}

describe('rate limit', () => {
  // The clock stands still, so nothing is refilled while the tests run.
  const server = serving({ flags: ['--clock', 'virtual', '--rate-limit', '1', '--rate-burst', '4'] });
  const spend = async (key, calls) => {
    const client = connect(server.baseUrl, key);
    for (let i = 0; i < calls; i++) await client.blueprint.list.query();
  };
  // Creating keys costs calls of the first key: one for each test here.
  const freshKey = async () => (await connect(server.baseUrl, server.key).apiKey.create.mutate({ name: 'fresh' })).key;

  for (const name of ['client 10, httpLink', 'client 11, httpLink', 'client 11, httpBatchStreamLink']) {
    test(`${name}: returns 429 beyond the burst`, async () => {
      const key = await freshKey();
      await spend(key, 4);
      const error = await refused(ways[name](server.baseUrl, key).blueprint.list.query(), 'TOO_MANY_REQUESTS');
      if (name.endsWith('StreamLink')) return; // there the error is inside the stream, and headers cannot be read
      assert.match(error.meta.response.headers.get('retry-after'), /^[1-9]\d*$/, 'whole seconds');
    });
  }

  test('counts each call of a batch, and refuses a batch as a whole', async () => {
    const key = await freshKey();
    const client = connectBatching(server.baseUrl, key);
    const five = await Promise.allSettled([1, 2, 3, 4, 5].map(() => client.blueprint.list.query()));
    assert.deepEqual(five.map(({ status }) => status), Array(5).fill('rejected'));
    for (const { reason } of five) await refused(Promise.reject(reason), 'TOO_MANY_REQUESTS');
  });
});

describe('rate limit with refill', () => {
  const server = serving({ flags: ['--rate-limit', '5', '--rate-burst', '2'] });

  test('a client that heeds Retry-After succeeds', async () => {
    let told = 0;
    const client = createTRPCClient({
      links: [
        retryLink({
          retry: ({ error, attempts }) => {
            if (error.data?.code !== 'TOO_MANY_REQUESTS') return false;
            told = Number(error.meta.response.headers.get('retry-after'));
            return attempts < 5;
          },
          retryDelayMs: () => told * 1000,
        }),
        httpLink({ url: server.baseUrl, transformer: superjson, headers: { Authorization: `Bearer ${server.key}` } }),
      ],
    });
    await Promise.all([1, 2, 3, 4].map(() => client.blueprint.list.query()));
    assert.ok(told >= 1, 'some call was told to wait');
  });
});

describe('blueprint limit', () => {
  const server = serving({ flags: ['--max-blueprints', '2', '--rate-limit', '0'] });

  test('refuses the third blueprint until one is deleted', async () => {
    const client = connect(server.baseUrl, server.key);
    const create = () => client.blueprint.create.mutate({ title: 'one of few' });
    await create();
    const { id } = await create();
    await refused(create(), 'BAD_REQUEST', { path: 'blueprint.create', message: /^blueprint limit of the plan exceeded \(2 of 2\)$/ });
    await client.blueprint.delete.mutate({ id });
    await create();
    const batch = connectBatching(server.baseUrl, server.key);
    await refused(batch.blueprint.create.mutate({ title: 'too many' }), 'BAD_REQUEST', { message: /2 of 2/ });
  });
});

describe('two users', () => {
  const server = serving({ onDisk: true, flags: ['--rate-limit', '0'] });
  let mine, theirs;
  before(async () => {
    // Both commands use the database of the running server.
    await server.command('user', 'add', '--email', 'other@example.com', '--name', 'Other');
    const key = await server.command('key', 'create', '--user', 'other@example.com', '--name', 'e2e');
    mine = connect(server.baseUrl, server.key);
    theirs = connect(server.baseUrl, key);
  });

  test('forbids private blueprints to others, lets them read and run public ones', async () => {
    const { id } = await mine.blueprint.create.mutate({ title: 'mine', blueprint_map: greeting });
    const trigger = await mine.blueprintTriggers.create.mutate({ blueprintId: id, triggerType: 'webhook', config: { secret: 'between us' } });
    const calls = {
      'blueprint.get': () => theirs.blueprint.get.query({ id }),
      'blueprint.execute': () => theirs.blueprint.execute.mutate({ id }),
      'blueprint.update': () => theirs.blueprint.update.mutate({ id, title: 'theirs' }),
      'blueprint.versions': () => theirs.blueprint.versions.query({ id }),
      'blueprint.delete': () => theirs.blueprint.delete.mutate({ id }),
      'blueprintTriggers.list': () => theirs.blueprintTriggers.list.query({ blueprintId: id }),
      'blueprintTriggers.create': () => theirs.blueprintTriggers.create.mutate({ blueprintId: id, triggerType: 'manual' }),
      'blueprintTriggers.getWebhookUrl': () => theirs.blueprintTriggers.getWebhookUrl.query({ triggerId: trigger.id }),
      'blueprintTriggers.fire': () => theirs.blueprintTriggers.fire.mutate({ triggerId: trigger.id }),
      'blueprintTriggers.update': () => theirs.blueprintTriggers.update.mutate({ triggerId: trigger.id, isActive: false }),
      'blueprintTriggers.history': () => theirs.blueprintTriggers.history.query({ triggerId: trigger.id }),
      'blueprintTriggers.delete': () => theirs.blueprintTriggers.delete.mutate({ triggerId: trigger.id }),
      'execution.getExecutionLogs': () => theirs.execution.getExecutionLogs.query({ blueprintId: id }),
      'execution.executeBlueprintWithLogging': () => theirs.execution.executeBlueprintWithLogging.mutate({ nodes: greeting.nodes, options: { blueprintId: id } }),
    };
    for (const [path, call] of Object.entries(calls)) await refused(call(), 'FORBIDDEN', { path });

    await mine.blueprint.update.mutate({ id, visibility: 'public' });
    const seen = await theirs.blueprint.get.query({ id });
    assert.deepEqual([seen.can_manage, seen.is_owner], [false, false]);
    assert.equal((await theirs.blueprint.execute.mutate({ id, variables: { who: 'us' } })).success, true);
    for (const path of ['blueprint.update', 'blueprint.delete', 'blueprintTriggers.list', 'blueprintTriggers.fire']) await refused(calls[path](), 'FORBIDDEN', { path });
    const { logs } = await theirs.execution.getExecutionLogs.query({ blueprintId: id });
    assert.equal(logs.length, 1, 'their own run');
    assert.equal((await mine.execution.getExecutionLogs.query({ blueprintId: id })).total, 1);
    assert.deepEqual((await theirs.blueprint.list.query()).data, [], 'listed are only one\'s own');
    assert.deepEqual((await theirs.blueprint.list.query({ scope: 'public' })).data.map((item) => item.id), [id]);
  });

  test('hides runs of other users', async () => {
    const { id } = await mine.blueprint.create.mutate({ title: 'asking', blueprint_map: question });
    const { executionId } = await mine.blueprint.execute.mutate({ id });
    assert.equal((await theirs.execution.getExecutionStatus.query({ executionId })).status, 'not_found');
    await refused(theirs.execution.resume.mutate({ executionId, input: { count: 1 } }), 'NOT_FOUND');
    await refused(theirs.execution.cancel.mutate({ executionId }), 'NOT_FOUND');
    const { id: keyId } = await mine.apiKey.create.mutate({ name: 'mine' });
    await refused(theirs.apiKey.revoke.mutate({ id: keyId }), 'NOT_FOUND');
    assert.ok(!(await theirs.apiKey.list.query()).some((record) => record.id === keyId));
  });

  test('refuses a key at the next request after a command revoked it', async () => {
    const { id, key } = await mine.apiKey.create.mutate({ name: 'short-lived' });
    const holder = connect(server.baseUrl, key);
    await holder.blueprint.list.query();
    await server.command('key', 'revoke', id);
    await refused(holder.blueprint.list.query(), 'UNAUTHORIZED');
  });
});

describe('batches', () => {
  const server = serving({ flags: ['--rate-limit', '0'] });
  let responses;
  const fetchAndRemember = async (...request) => {
    const response = await fetch(...request);
    responses.push(response);
    return response;
  };
  const calling = async (connectTo, ...calls) => {
    responses = [];
    const client = connectTo(server.baseUrl, server.key, { fetch: fetchAndRemember });
    const settled = await Promise.allSettled(calls.map((call) => call(client)));
    assert.equal(responses.length, 1, 'one request for all');
    return { status: responses[0].status, results: settled.map((item) => item.reason?.data.code ?? 'fine') };
  };
  const fine = (client) => client.blueprint.list.query();
  const missing = (client) => client.blueprint.get.query({ id: unknownId });
  const invalid = (client) => client.blueprint.get.query({ id: 'no uuid' });
  const created = (client) => client.blueprint.create.mutate({ title: 'in a batch' });
  const refusedCreation = (client) => client.blueprint.create.mutate({});

  for (const [name, connectTo, statuses] of [
    ['client 10', ways['client 10, httpBatchLink'], { equal: 200, notFound: 404, mixed: 207 }],
    ['client 11', connectBatching, { equal: 200, notFound: 404, mixed: 207 }],
    ['client 11, streaming', connectStreaming, { equal: 200, notFound: 200, mixed: 200 }],
  ]) {
    test(`${name}: the status is that of all calls, or 207`, async () => {
      assert.deepEqual(await calling(connectTo, fine, fine), { status: statuses.equal, results: ['fine', 'fine'] });
      assert.deepEqual(await calling(connectTo, missing, missing), { status: statuses.notFound, results: ['NOT_FOUND', 'NOT_FOUND'] });
      assert.deepEqual(await calling(connectTo, fine, missing, invalid), { status: statuses.mixed, results: ['fine', 'NOT_FOUND', 'BAD_REQUEST'] });
      assert.deepEqual(await calling(connectTo, created, refusedCreation), { status: statuses.mixed, results: ['fine', 'BAD_REQUEST'] });
      assert.deepEqual((await calling(connectTo, ...Array(100).fill(fine))).status, 200);
      assert.deepEqual((await calling(connectTo, ...Array(101).fill(fine))).results, Array(101).fill('BAD_REQUEST'));
    });
  }
});
