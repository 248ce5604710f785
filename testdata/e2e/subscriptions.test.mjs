// execution.subscribe through httpSubscriptionLink: status records as they
// change, and the end of the subscription after the terminal one.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertRefusal, connect, subscriberByHeader, subscriberByParams } from './support/clients.mjs';
import { greeting, question } from './support/maps.mjs';
import { reached } from './support/poll.mjs';
import { startServer } from './support/server.mjs';
import { shape } from './support/shapes.mjs';

let server, client;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'] });
  client = connect(server.baseUrl, server.key);
});
after(() => server?.stop());

const make = (blueprint_map) => client.blueprint.create.mutate({ title: 'watched', blueprint_map });

/** Subscribes to a run; settles with all records once the server has ended the subscription. */
function watch(subscriber, executionId, seen = () => {}) {
  const records = [];
  return new Promise((resolve, reject) => {
    const patience = setTimeout(() => settle(reject, new Error(`no end of the subscription; records: ${JSON.stringify(records)}`)), 20_000);
    const subscription = subscriber.execution.subscribe.subscribe({ executionId }, {
      onData(data) {
        const record = data.data && data.id !== undefined && !data.status ? data.data : data; // events with an id come wrapped
        records.push(record);
        seen(record, records);
      },
      onError: (error) => settle(reject, error),
      onComplete: () => settle(resolve, records),
    });
    function settle(how, what) {
      clearTimeout(patience);
      subscription.unsubscribe();
      how(what);
    }
  });
}

for (const [name, subscriberOf] of [['the Authorization header', subscriberByHeader], ['connectionParams', subscriberByParams]]) {
  describe(`subscribing with ${name}`, () => {
    test('follows a run from its pause to its end', async () => {
      const { id } = await make(question);
      const { executionId } = await client.execution.executeBlueprintWithLogging.mutate({ nodes: question.nodes, options: { blueprintId: id } });
      let answered = false;
      const records = await watch(subscriberOf(server.baseUrl, server.key), executionId, (record) => {
        if (record.status !== 'paused' || answered) return;
        answered = true;
        client.execution.resume.mutate({ executionId, input: { count: 5 } }).catch(assert.ifError);
      });
      records.forEach((record) => shape('status', record));
      assert.ok(records.every((record) => record.id === executionId));
      assert.ok(answered, 'the pause was told');
      assert.deepEqual(records.map(({ status }) => status).filter((status) => ['completed', 'failed'].includes(status)), ['completed'], 'one terminal record');
      const last = records.at(-1);
      assert.equal(last.status, 'completed');
      assert.deepEqual(last, await client.execution.getExecutionStatus.query({ executionId }));
      assert.deepEqual(last.steps.map(({ output }) => output), [{ count: 5 }, 10]);
    });

    test('returns the record of a run that has ended', async () => {
      const { id } = await make(greeting);
      const { executionId } = await client.blueprint.execute.mutate({ id, variables: { who: 'you' } });
      const records = await watch(subscriberOf(server.baseUrl, server.key), executionId);
      assert.deepEqual(records, [await client.execution.getExecutionStatus.query({ executionId })]);
    });

    test('ends when the run is cancelled', async () => {
      const { id } = await make(question);
      const { executionId } = await client.blueprint.execute.mutate({ id });
      await reached(client, executionId, 'paused');
      let cancelled = false;
      const records = await watch(subscriberOf(server.baseUrl, server.key), executionId, () => {
        if (cancelled) return;
        cancelled = true;
        client.execution.cancel.mutate({ executionId }).catch(assert.ifError);
      });
      assert.equal(records.at(-1).status, 'failed');
    });

    test('fails with typed errors', async () => {
      const refusal = (promise) => promise.then(() => assert.fail('expected an error'), (error) => error);
      const subscriber = subscriberOf(server.baseUrl, server.key);
      assertRefusal(await refusal(watch(subscriber, 'exec_0_none')), 'NOT_FOUND', { path: 'execution.subscribe' });
      assertRefusal(await refusal(watch(subscriber, 5)), 'BAD_REQUEST', { issues: [['executionId']] });
      assertRefusal(await refusal(watch(subscriberOf(server.baseUrl, 'not-the-key'), 'exec_0_none')), 'UNAUTHORIZED');
    });
  });
}
