// Events between blueprints: the subscribers that receive each event, how often, and the
// ledger.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect, refused } from './support/clients.mjs';
import { node } from './support/maps.mjs';
import { ended, until } from './support/poll.mjs';
import { startServer, stopAll } from './support/server.mjs';
import { shape } from './support/shapes.mjs';

let server, client;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'] });
  client = connect(server.baseUrl, server.key);
});
after(() => stopAll(server));

const make = (title, ...nodes) => client.blueprint.create.mutate({ title, blueprint_map: { nodes } });
const listen = (blueprint, config) => client.blueprintTriggers.create.mutate({ blueprintId: blueprint.id, triggerType: 'event', config });
const emitting = (event) => node('emit', 'emit-event', { event, data: { order: '{{inputData.order ?? null}}' } });
const ledger = async (trigger) => (await client.blueprintTriggers.history.query({ triggerId: trigger.id, limit: 100 })).firings;

test('starts each subscriber once, with the data of the event', async () => {
  const shop = await make('Shop', emitting('custom.order-paid'));
  const post = await make('Post', node('say', 'template', { text: '{{inputData.event}} {{inputData.data.order.id}}' }));
  const [heard, also, narrow, own, other, off] = await Promise.all([
    listen(post, { event: 'custom.order-paid' }), listen(post, { event: 'custom.order-paid', blueprintId: shop.id }), listen(post, { event: 'custom.order-paid', blueprintId: post.id }),
    listen(shop, { event: 'custom.order-paid' }), listen(post, { event: 'custom.order-lost' }), listen(post, { event: 'custom.order-paid' }),
  ]);
  await client.blueprintTriggers.update.mutate({ triggerId: off.id, isActive: false });

  const answer = await client.blueprint.execute.mutate({ id: shop.id, inputData: { order: { id: 7 } } });
  assert.deepEqual([answer.success, answer.result.output], [true, { delivered: 2 }]);
  for (const trigger of [heard, also]) {
    const [firing, ...more] = await ledger(trigger);
    assert.deepEqual([shape('firing', firing).source, firing.decision, more.length], ['event', 'started', 0]);
    assert.match(firing.key, /^exec_\d+_[0-9a-z]{26}\/emit$/);
    const status = await ended(client, firing.executionId);
    assert.deepEqual([status.status, status.steps[0].output], ['completed', { text: 'custom.order-paid 7' }]);
    assert.deepEqual(Object.keys(status.steps[0].input).sort(), ['at', 'blueprintId', 'data', 'event', 'executionId']);
    assert.deepEqual([status.steps[0].input.blueprintId, `${status.steps[0].input.executionId}/emit`], [shop.id, firing.key]);
  }
  for (const [trigger, reason] of [[narrow, /listens to/], [own, /its own executions/]]) {
    const [firing, ...more] = await ledger(trigger);
    assert.deepEqual([firing.decision, firing.executionId, more.length], ['skipped', null, 0]);
    assert.match(firing.reason, reason);
  }
  for (const trigger of [other, off]) assert.deepEqual(await ledger(trigger), []);
  const silent = await make('Silent', emitting('custom.nobody-listens'));
  assert.deepEqual((await client.blueprint.execute.mutate({ id: silent.id })).result.output, { delivered: 0 });
});

test('ends chains of blueprints that react to each other', async () => {
  const left = await make('Left', emitting('custom.right'));
  const right = await make('Right', emitting('custom.left'));
  const [toLeft, toRight] = [await listen(left, { event: 'custom.left' }), await listen(right, { event: 'custom.right' })];
  await client.blueprint.execute.mutate({ id: left.id });
  const refusal = await until('a refused firing', async () => [...await ledger(toLeft), ...await ledger(toRight)].find(({ decision }) => decision === 'refused'));
  assert.match(refusal.reason, /a chain of 17 events/);
  const all = [...await ledger(toLeft), ...await ledger(toRight)];
  assert.equal(all.filter(({ decision }) => decision === 'started').length, 16);
  assert.equal(all.length, 17);
});

test('creates triggers only for known events', async () => {
  const blueprint = await make('Listener', node('x', 'set', { values: {} }));
  const config = (value) => listen(blueprint, value);
  assert.equal((await config({})).is_active, true, 'without an event it hears every one but custom.*');
  await refused(config({ event: 'execution.begun' }), 'BAD_REQUEST', { message: /execution\.completed.*custom\.<name>/ });
  for (const event of ['order', 'custom.', 'custom.a b', 'Custom.x']) await refused(config({ event }), 'BAD_REQUEST', { message: /custom\.<name>/ });
  await refused(config({ event: 'custom.x', blueprintId: 'x' }), 'BAD_REQUEST', { issues: [['config', 'blueprintId']] });
  const answer = await client.blueprint.execute.mutate({ id: (await make('Wrong', emitting('order.paid'))).id });
  assert.deepEqual([answer.success, answer.result.error.code], [false, 'bad_config']);
});
