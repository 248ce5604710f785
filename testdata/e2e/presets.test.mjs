// Compares webhook triggers with a preset to the libraries of their services: what the
// libraries sign is accepted, and what they refuse is refused.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { Webhooks } from '@octokit/webhooks';
import examples from '@octokit/webhooks-examples' with { type: 'json' };
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { connect } from './support/clients.mjs';
import { node } from './support/maps.mjs';
import { startServer } from './support/server.mjs';
import { acceptedBySlack, event, slackHeaders } from './support/slack.mjs';
import { deliver } from './support/webhooks.mjs';

let server, client;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'] });
  client = connect(server.baseUrl, server.key);
});
after(() => server?.stop());

const seconds = (at) => Math.floor(at / 1000);
const refuses = async (check) => { try { return (await check()) === false; } catch { return true; } };

/** The libraries by preset: sign(secret, body, at) returns headers, accepts(secret, body, headers) reports whether they are valid. */
const services = {
  github: {
    secret: () => `It is a secret to everybody but ${randomUUID()}`,
    body: JSON.stringify(examples.find(({ name }) => name === 'push').examples[0]),
    header: 'x-hub-signature-256',
    id: 'x-github-delivery',
    sign: async (secret, body) => ({ 'x-hub-signature-256': await new Webhooks({ secret }).sign(body), 'x-github-delivery': randomUUID(), 'x-github-event': 'push' }),
    accepts: (secret, body, headers) => new Webhooks({ secret }).verify(body, headers['x-hub-signature-256']),
  },
  stripe: {
    secret: () => `whsec_${randomBytes(24).toString('hex')}`,
    body: JSON.stringify({ id: 'evt_1', object: 'event', type: 'invoice.paid', data: { object: { id: 'in_1', total: 1900 } } }, null, 2),
    header: 'stripe-signature',
    timed: true,
    sign: async (secret, payload, at) => ({ 'stripe-signature': Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: seconds(at) }) }),
    accepts: (secret, body, headers) => Stripe.webhooks.constructEvent(body, headers['stripe-signature'], secret).id !== undefined,
  },
  standard: {
    secret: () => `whsec_${randomBytes(24).toString('base64')}`,
    body: JSON.stringify({ type: 'user.created', data: { name: 'Zoë' } }),
    header: 'webhook-signature',
    id: 'webhook-id',
    timed: true,
    sign: async (secret, body, at) => {
      const id = `msg_${randomUUID()}`;
      return { 'webhook-id': id, 'webhook-timestamp': String(seconds(at)), 'webhook-signature': new Webhook(secret).sign(id, new Date(at), body) };
    },
    accepts: (secret, body, headers) => new Webhook(secret).verify(body, headers) !== undefined,
  },
  slack: {
    secret: () => randomBytes(16).toString('hex'),
    body: JSON.stringify(event({ type: 'app_mention', user: 'U1', text: 'hello', ts: '1.2', channel: 'C1', event_ts: '1.2' })),
    header: 'x-slack-signature',
    timed: true,
    sign: async (secret, body, at) => slackHeaders(secret, body, at),
    accepts: acceptedBySlack,
  },
};

/** Replaces a character in the middle of the signature, which ends the header. */
const flipped = (value) => {
  const at = value.length - 9;
  return value.slice(0, at) + (value[at] === '1' ? '2' : '1') + value.slice(at + 1);
};
const flippedBody = (body) => {
  const bytes = Buffer.from(body);
  bytes[bytes.length - 3] ^= 1;
  return bytes.toString();
};

for (const [preset, { secret: make, body, header, id, timed, sign, accepts }] of Object.entries(services)) {
  describe(preset, () => {
    let secret, url, triggerId;
    before(async () => {
      secret = make();
      const blueprint = await client.blueprint.create.mutate({ title: preset, blueprint_map: { nodes: [node('echo', 'set', { values: { body: '{{inputData}}' } })] } });
      const trigger = await client.blueprintTriggers.create.mutate({ blueprintId: blueprint.id, triggerType: 'webhook', config: { preset, secret } });
      triggerId = trigger.id;
      ({ url } = await client.blueprintTriggers.getWebhookUrl.query({ triggerId }));
    });
    const fresh = (n) => (preset === 'stripe' || preset === 'slack' ? body.replace(/(evt_|"Ev)\w+/, `$1${n}`) : body);
    const last = async () => (await client.blueprintTriggers.history.query({ triggerId, limit: 1 })).firings[0];

    test('a signed delivery starts one run', async () => {
      const text = fresh('Once');
      const headers = await sign(secret, text, Date.now());
      assert.ok(await accepts(secret, text, headers));
      const first = await deliver(url, text, headers);
      assert.equal(first.status, 202, first.text);
      const again = await deliver(url, text, headers);
      assert.deepEqual([again.status, again.body], [200, first.body]);
      const firing = await last();
      assert.equal(firing.decision, 'duplicate');
      assert.equal(firing.key, id ? headers[id] : JSON.parse(text)[preset === 'stripe' ? 'id' : 'event_id']);
    });

    test('a changed bit of body or signature is refused', async () => {
      const text = fresh('Bit');
      const headers = await sign(secret, text, Date.now());
      for (const [changed, its] of [[flippedBody(text), headers], [text, { ...headers, [header]: flipped(headers[header]) }], [text, await sign(make() + 'x'.repeat(preset === 'standard' ? 0 : 1), text, Date.now())]]) {
        assert.ok(await refuses(() => accepts(secret, changed, its)));
        const answer = await deliver(url, changed, its);
        assert.deepEqual([answer.status, answer.body.error.code], [401, 'UNAUTHORIZED']);
        assert.equal((await last()).decision, 'refused');
      }
      // The id has not been used up.
      assert.equal((await deliver(url, text, headers)).status, 202);
    });

    test('a missing signature, or one of another scheme only: 401', async () => {
      for (const headers of [{}, { 'x-signature': '00' }, { [header]: '' }]) assert.equal((await deliver(url, body, headers)).status, 401);
    });

    if (timed) {
      test('an old delivery is refused by both, one from the future only by the server', async () => {
        const text = fresh('Stale');
        const old = await sign(secret, text, Date.now() - 6 * 60_000);
        assert.ok(await refuses(() => accepts(secret, text, old)));
        assert.equal((await deliver(url, text, old)).status, 401);
        assert.equal((await deliver(url, text, await sign(secret, text, Date.now() + 6 * 60_000))).status, 401);
      });
    }

    test('during rotation both secrets are valid, afterwards only the new one', async () => {
      const next = make();
      const rotated = await client.blueprintTriggers.rotateSecret.mutate({ triggerId, secret: next, keepPreviousFor: '1h' });
      assert.equal(rotated.secret, next);
      const ahead = Date.parse(rotated.previousSecretUntil) - Date.now();
      assert.ok(ahead > 59 * 60_000 && ahead <= 60 * 60_000, rotated.previousSecretUntil);
      for (const [name, one, reason] of [['new', next, 'the signature is valid'], ['old', secret, 'the signature is valid (previous secret)']]) {
        const text = fresh(name);
        assert.equal((await deliver(url, text, await sign(one, text, Date.now()))).status, 202, name);
        assert.equal((await last()).reason, reason);
      }
      const made = await client.blueprintTriggers.rotateSecret.mutate({ triggerId, keepPreviousFor: '0s' });
      assert.equal(made.previousSecretUntil, null);
      assert.match(made.secret, preset === 'standard' ? /^whsec_[A-Za-z0-9+/]{32}$/ : /^[A-Za-z0-9_-]{43}$/);
      const text = fresh('made');
      assert.equal((await deliver(url, text, await sign(made.secret, text, Date.now()))).status, 202);
      for (const one of [next, secret]) assert.equal((await deliver(url, text, await sign(one, text, Date.now()))).status, 401);
      secret = made.secret;
    });
  });
}

test('a preset needs a secret', async () => {
  const { id } = await client.blueprint.create.mutate({ title: 'open', blueprint_map: { nodes: [node('a', 'set', { values: {} })] } });
  for (const preset of Object.keys(services)) {
    const refused = await client.blueprintTriggers.create.mutate({ blueprintId: id, triggerType: 'webhook', config: { preset } }).then(assert.fail, (reason) => reason);
    assert.deepEqual([refused.data.code, refused.data.issues[0].path], ['BAD_REQUEST', ['config', 'secret']]);
  }
});
