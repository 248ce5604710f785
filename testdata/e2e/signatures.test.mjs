// Webhooks besides GitHub: signatures made by other programs, the headers that a blueprint
// receives, and responses that wait for the run.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { connect } from './support/clients.mjs';
import { failing, node, question } from './support/maps.mjs';
import { ended } from './support/poll.mjs';
import { startServer } from './support/server.mjs';
import { deliver } from './support/webhooks.mjs';

let server, client;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'] });
  client = connect(server.baseUrl, server.key);
});
after(() => server?.stop());

/** Creates a blueprint with a webhook trigger; returns its URL. */
async function listening(blueprint_map, config) {
  const { id } = await client.blueprint.create.mutate({ title: 'listening', blueprint_map });
  const trigger = await client.blueprintTriggers.create.mutate({ blueprintId: id, triggerType: 'webhook', config });
  return (await client.blueprintTriggers.getWebhookUrl.query({ triggerId: trigger.id })).url;
}

const echo = { nodes: [node('echo', 'set', { values: { body: '{{inputData}}', headers: '{{trigger.headers}}', type: '{{trigger.type}}' } })] };
const body = JSON.stringify({ order: 17, text: 'é <&> \u2028 {{not.a.template}}', big: 1e21 });

describe('signatures', () => {
  const secret = 'a secret with blanks and ümlauts';
  const hex = createHmac('sha256', secret).update(body).digest('hex');
  const other = createHmac('sha256', 'another').update(body).digest('hex');
  let url;
  before(async () => (url = await listening(echo, { secret })));

  const accepted = {
    'X-Webhook-Signature, hex': { 'X-Webhook-Signature': hex },
    'X-Signature, hex': { 'X-Signature': hex },
    'with the name of the algorithm': { 'X-Webhook-Signature': `sha256=${hex}` },
    'in capitals': { 'X-Signature': hex.toUpperCase() },
    'X-Hub-Signature-256': { 'X-Hub-Signature-256': `sha256=${hex}` },
    'two headers that agree': { 'X-Webhook-Signature': hex, 'X-Signature': `sha256=${hex}` },
    'an old one of GitHub beside it': { 'X-Hub-Signature-256': `sha256=${hex}`, 'X-Hub-Signature': 'sha1=00' },
  };
  for (const [name, headers] of Object.entries(accepted)) {
    test(`accepted: ${name}`, async () => {
      const answer = await deliver(url, body, headers);
      assert.equal(answer.status, 202, answer.text);
      const status = await ended(client, answer.body.executionId);
      assert.deepEqual(status.steps[0].output.body, JSON.parse(body));
    });
  }

  const rejected = {
    'no signature': {},
    'by another secret': { 'X-Webhook-Signature': other },
    'two headers of which one is wrong': { 'X-Webhook-Signature': hex, 'X-Signature': other },
    'another algorithm': { 'X-Webhook-Signature': `sha1=${createHmac('sha1', secret).update(body).digest('hex')}` },
    'only the old one of GitHub': { 'X-Hub-Signature': `sha1=${createHmac('sha1', secret).update(body).digest('hex')}` },
    'base64 instead of hex': { 'X-Webhook-Signature': Buffer.from(hex, 'hex').toString('base64') },
    'one digit short': { 'X-Webhook-Signature': hex.slice(1) },
    'empty': { 'X-Webhook-Signature': '' },
    'a good one beside an empty one': { 'X-Webhook-Signature': hex, 'X-Signature': '' },
  };
  for (const [name, headers] of Object.entries(rejected)) {
    test(`refused: ${name}`, async () => {
      const answer = await deliver(url, body, headers);
      assert.equal(answer.status, 401, answer.text);
      assert.equal(answer.body.error.code, 'UNAUTHORIZED');
    });
  }

  test('computed by openssl', async () => {
    const line = execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret], { input: body }).toString();
    const digest = line.trim().split(' ').at(-1);
    assert.equal((await deliver(url, body, { 'X-Webhook-Signature': digest })).status, 202);
  });

  test('an empty body counts as {}', async () => {
    const answer = await deliver(url, '', { 'X-Webhook-Signature': createHmac('sha256', secret).update('').digest('hex') });
    assert.equal(answer.status, 202, answer.text);
    assert.deepEqual((await ended(client, answer.body.executionId)).steps[0].output.body, {});
  });

  test('a trigger without a secret accepts unsigned deliveries', async () => {
    assert.equal((await deliver(await listening(echo, {}), body)).status, 202);
  });
});

describe('Standard Webhooks', () => {
  const encoded = `whsec_${randomBytes(24).toString('base64')}`;
  const plain = 'a plain secret of some length';
  const signers = { 'a whsec_ secret': [encoded, new Webhook(encoded)], 'a raw secret': [plain, new Webhook(plain, { format: 'raw' })] };

  for (const [name, [secret, webhook]] of Object.entries(signers)) {
    describe(name, () => {
      let url;
      before(async () => (url = await listening(echo, { secret })));
      const headers = (at = new Date(), id = `msg_${randomUUID()}`, text = body) => ({
        'webhook-id': id, 'webhook-timestamp': String(Math.floor(at.getTime() / 1000)), 'webhook-signature': webhook.sign(id, at, text),
      });
      const minutes = (n) => new Date(Date.now() + n * 60_000);

      test('a signed message starts one run', async () => {
        const message = headers();
        const first = await deliver(url, body, message);
        assert.equal(first.status, 202, first.text);
        const again = await deliver(url, body, message);
        assert.equal(again.status, 200);
        assert.deepEqual(again.body, first.body);
      });

      test('one valid signature of several suffices during rotation', async () => {
        const message = headers();
        message['webhook-signature'] = `v1,${randomBytes(32).toString('base64')} v1a,unknown ${message['webhook-signature']}`;
        assert.equal((await deliver(url, body, message)).status, 202);
      });

      test('an old, early, modified or partly signed message is refused', async () => {
        const statuses = [];
        for (const message of [
          headers(minutes(-6)), headers(minutes(6)), headers(new Date(), 'msg_1', `${body} `), { ...headers(), 'webhook-id': 'msg_other' },
          { ...headers(), 'webhook-timestamp': 'soon' }, { ...headers(), 'webhook-signature': 'v1,' }, { ...headers(), 'webhook-timestamp': '' },
        ]) statuses.push((await deliver(url, body, message)).status);
        assert.deepEqual(statuses, Array(7).fill(401));
      });
    });
  }
});

test('a blueprint sees the headers of a delivery without secret ones', async () => {
  const url = await listening(echo, { secret: 's3cret-s3cret' });
  const signature = createHmac('sha256', 's3cret-s3cret').update(body).digest('hex');
  const { body: { executionId } } = await deliver(url, body, {
    'X-Webhook-Signature': signature, 'X-Hub-Signature-256': `sha256=${signature}`, 'X-Hub-Signature': 'sha1=00',
    authorization: 'Bearer something', cookie: 'session=1', 'X-GitHub-Event': 'push', 'X-Custom': 'Value',
  });
  const { headers, type } = (await ended(client, executionId)).steps[0].output;
  assert.equal(type, 'webhook');
  assert.deepEqual([headers['x-github-event'], headers['x-custom'], headers['content-type']], ['push', 'Value', 'application/json']);
  for (const name of ['authorization', 'cookie', 'x-webhook-signature', 'x-hub-signature-256', 'x-hub-signature']) {
    assert.equal(headers[name], undefined, name);
  }
  assert.deepEqual(Object.keys(headers), Object.keys(headers).map((name) => name.toLowerCase()));
});

describe('responses that wait for the run', () => {
  const wait = { respond: 'wait' };
  const respond = (config, ...after) => ({ nodes: [node('answer', 'respond', config), ...after] });

  test('the respond node sets status, headers and body', async () => {
    const url = await listening(respond({ status: 201, headers: { 'X-Run': '{{execution.id}}' }, body: { doubled: '{{= inputData.n * 2}}' } }), wait);
    const answer = await deliver(url, '{"n":21}');
    assert.equal(answer.status, 201);
    assert.deepEqual(answer.body, { doubled: 42 });
    assert.equal((await ended(client, answer.headers.get('x-run'))).status, 'completed');
  });

  test('text is text/plain unless the headers differ', async () => {
    const plain = await deliver(await listening(respond({ body: 'thank you, {{inputData.name}}' }), wait), '{"name":"Ada"}');
    assert.deepEqual([plain.status, plain.text], [200, 'thank you, Ada']);
    assert.match(plain.headers.get('content-type'), /^text\/plain/);
    const page = await deliver(await listening(respond({ headers: { 'content-type': 'text/html' }, body: '<p>' }), wait), '{}');
    assert.match(page.headers.get('content-type'), /^text\/html/);
  });

  test('responds even when a later node fails', async () => {
    const url = await listening(respond({ status: 202, body: { queued: true } }, node('halt', 'stop', { failed: true, message: 'too late to tell' })), wait);
    const answer = await deliver(url, '{}');
    assert.deepEqual([answer.status, answer.body], [202, { queued: true }]);
  });

  test('without a respond node, the output of the run is the response', async () => {
    const answer = await deliver(await listening({ nodes: [node('sum', 'transform', { expression: 'inputData.a + inputData.b' })] }, wait), '{"a":2,"b":3}');
    assert.deepEqual([answer.status, answer.body], [200, 5]);
  });

  test('a failed run is a 500 that names it', async () => {
    const answer = await deliver(await listening(failing, wait), '{}');
    assert.equal(answer.status, 500);
    assert.equal(answer.body.success, false);
    assert.equal(answer.body.error.message, 'the run failed');
    const run = await ended(client, answer.body.executionId);
    assert.equal(run.status, 'failed');
    assert.match(run.steps.find((step) => step.error).error.message, /nothing more to do/);
  });

  test('a paused run is a 202', async () => {
    const answer = await deliver(await listening(question, wait), '{}');
    assert.equal(answer.status, 202);
    assert.equal((await client.execution.getExecutionStatus.query({ executionId: answer.body.executionId })).status, 'paused');
  });

  test('a repeated delivery returns the first run', async () => {
    const url = await listening(respond({ status: 201, headers: { 'X-Run': '{{execution.id}}' }, body: {} }), wait);
    const first = await deliver(url, '{}', { 'Idempotency-Key': 'order 17' });
    assert.equal(first.status, 201);
    const again = await deliver(url, '{}', { 'Idempotency-Key': 'order 17' });
    assert.equal(again.status, 200);
    assert.equal(again.body.success, true);
    assert.equal(again.body.executionId, first.headers.get('x-run'));
    assert.equal(typeof again.body.firingId, 'string');
  });
});
