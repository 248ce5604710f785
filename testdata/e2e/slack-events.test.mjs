// Compares Slack triggers with the receiver of Slack's own library: the same requests go to
// both, and both accept and refuse the same.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import { connect } from './support/clients.mjs';
import { node } from './support/maps.mjs';
import { ended } from './support/poll.mjs';
import { startServer, stopAll } from './support/server.mjs';
import { event, slackHeaders, startReceiver } from './support/slack.mjs';
import { assertTypes } from './support/types.mjs';
import { deliver } from './support/webhooks.mjs';

const secret = '8f742231b10e8888abcd99yyyzzz85a5';
const botToken = 'xoxb-e2e-9876543210-fedcba';

/** A fake of Slack's Web API with two channels. */
async function startWorkspace() {
  const workspace = { calls: [], said: [], failing: false };
  const channels = { C0000000001: 'general', C0000000002: 'random' };
  const service = http.createServer((request, response) => {
    const channel = new URL(request.url, 'http://x').searchParams.get('channel');
    workspace.calls.push({ path: request.url.split('?')[0], channel, authorization: request.headers.authorization });
    const body = workspace.failing ? { ok: false, error: 'missing_scope' } : { ok: true, channel: { id: channel, name: channels[channel], is_channel: true } };
    workspace.said.push(body);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  return Object.assign(workspace, {
    url: `http://127.0.0.1:${service.address().port}/api/`,
    stop: async () => { service.close(); service.closeAllConnections(); await once(service, 'close'); },
  });
}

let server, client, receiver, workspace;
before(async () => {
  [receiver, workspace] = [await startReceiver(secret), await startWorkspace()];
  server = await startServer({ flags: ['--rate-limit', '0', '--allow-net', '127.0.0.1/32'] });
  client = connect(server.baseUrl, server.key);
});
after(() => stopAll(server, receiver, workspace));

const echo = { nodes: [node('echo', 'set', { values: { heard: '{{inputData}}', type: '{{trigger.type}}' } })] };

/** Creates a blueprint with a Slack trigger; returns the trigger's ID and URL. */
async function listening(config = {}, blueprint_map = echo) {
  const { id } = await client.blueprint.create.mutate({ title: 'from Slack', blueprint_map });
  const trigger = await client.blueprintTriggers.create.mutate({ blueprintId: id, triggerType: 'slack', config: { signingSecret: secret, ...config } });
  return { triggerId: trigger.id, url: `${server.apiHost}/webhooks/slack/${trigger.id}` };
}

const send = (url, envelope, more = {}) => {
  const body = JSON.stringify(envelope);
  return deliver(url, body, { ...slackHeaders(secret, body), ...more });
};
const last = async ({ triggerId }) => (await client.blueprintTriggers.history.query({ triggerId, limit: 1 })).firings[0];

const mention = (more = {}) => event({ type: 'app_mention', user: 'U1', text: '<@U9> hello ünïcode', ts: '1712345678.000100', thread_ts: '1712345678.000001', channel: 'C0000000001', event_ts: '1712345678.000100', ...more });
const reaction = () => event({ type: 'reaction_added', user: 'U2', reaction: 'tada', item_user: 'U1', item: { type: 'message', channel: 'C0000000002', ts: '1712345678.000100' }, event_ts: '1712345679.000100' });
const bot = () => event({ type: 'message', subtype: 'bot_message', bot_id: 'B1', text: 'beep', ts: '1712345680.000100', channel: 'C0000000001', channel_type: 'channel', event_ts: '1712345680.000100' });

describe('deliveries to both', () => {
  const hello = { token: 'x', challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P', type: 'url_verification' };

  test('url_verification: the challenge is returned if it is signed', async () => {
    const at = await listening();
    const [ours, theirs] = [await send(at.url, hello), await send(receiver.url, hello)];
    assert.deepEqual([ours.status, ours.body], [200, { challenge: hello.challenge }]);
    assert.deepEqual([theirs.status, theirs.body], [ours.status, ours.body]);
    assert.equal((await last(at)).decision, 'skipped');
    for (const url of [at.url, receiver.url]) {
      const { status, text } = await deliver(url, JSON.stringify(hello), slackHeaders('another', JSON.stringify(hello)));
      assert.equal(status, 401);
      assert.ok(!text.includes(hello.challenge));
    }
  });

  for (const [name, { envelope, type, want }] of Object.entries({
    'a mention': { envelope: mention(), type: 'AppMentionEvent', want: { eventType: 'app_mention', channel: 'C0000000001', user: 'U1', text: '<@U9> hello ünïcode', ts: '1712345678.000100', threadTs: '1712345678.000001' } },
    'a reaction': { envelope: reaction(), type: 'ReactionAddedEvent', want: { eventType: 'reaction_added', channel: 'C0000000002', user: 'U2', text: null, ts: null, threadTs: null } },
    'a message of a bot': { envelope: bot(), type: 'BotMessageEvent', want: { eventType: 'message', channel: 'C0000000001', user: null, text: 'beep', ts: '1712345680.000100', threadTs: null } },
  })) {
    test(`an event: ${name}`, async () => {
      assertTypes(`import type { ${type} } from '@slack/types';\nimport type { EnvelopedEvent } from '@slack/bolt';`, [[`EnvelopedEvent<${type}>`, envelope]]);
      const at = await listening();
      const ours = await send(at.url, envelope);
      assert.deepEqual([ours.status, ours.body.success], [200, true], ours.text);
      const { output } = (await ended(client, ours.body.executionId)).steps[0];
      assert.deepEqual(output, { type: 'slack', heard: { eventId: envelope.event_id, teamId: 'T0123456789', raw: envelope, ...want } });
      assert.equal((await send(receiver.url, envelope)).status, 200);
      assert.deepEqual(receiver.events.at(-1), envelope);
    });
  }

  test('wrong, modified, partial or old signatures', async () => {
    const at = await listening();
    const body = JSON.stringify(mention());
    const headers = slackHeaders(secret, body);
    const seen = receiver.events.length;
    const flip = (text) => text.slice(0, -1) + (text.endsWith('0') ? '1' : '0');
    for (const [text, its] of [
      [body, slackHeaders('another', body)], [body.replace('hello', 'hellp'), headers], [body, { ...headers, 'x-slack-signature': flip(headers['x-slack-signature']) }],
      [body, slackHeaders(secret, body, Date.now() - 6 * 60_000)], [body, {}], [body, { 'x-slack-signature': headers['x-slack-signature'] }],
      [body, { ...headers, 'x-slack-signature': headers['x-slack-signature'].replace('v0', 'v1') }],
    ]) {
      for (const url of [at.url, receiver.url]) assert.equal((await deliver(url, text, its)).status, 401);
      assert.equal((await last(at)).decision, 'refused');
    }
    assert.equal(receiver.events.length, seen);
    assert.equal((await deliver(at.url, body, slackHeaders(secret, body, Date.now() + 6 * 60_000))).status, 401);
    assert.equal((await deliver(at.url, body, headers)).status, 200);
  });
});

test('a repeated event starts no second run', async () => {
  const at = await listening();
  const envelope = mention();
  const first = await send(at.url, envelope);
  for (const number of [1, 2, 3]) {
    const again = await send(at.url, envelope, { 'x-slack-retry-num': String(number), 'x-slack-retry-reason': 'http_timeout' });
    assert.deepEqual([again.status, again.body], [200, first.body]);
  }
  const copies = await Promise.all(Array.from({ length: 20 }, () => send(at.url, { ...envelope, event_id: 'EvTwenty' })));
  assert.equal(new Set(copies.map(({ body }) => body.executionId)).size, 1);
});

test('the response does not wait for the run', async () => {
  const { url } = await listening({}, { nodes: [node('long', 'wait', { durationMs: 3_600_000 })] });
  const begun = Date.now();
  const { status, body } = await send(url, mention());
  assert.equal(status, 200);
  assert.ok(Date.now() - begun < 3000);
  assert.equal((await client.execution.getExecutionStatus.query({ executionId: body.executionId })).status, 'running');
});

test('form bodies are refused with an explanation', async () => {
  const at = await listening();
  const body = 'token=x&team_id=T1&command=%2Fweather&text=94070';
  const answer = await deliver(at.url, body, { ...slackHeaders(secret, body), 'content-type': 'application/x-www-form-urlencoded' });
  assert.equal(answer.status, 415);
  assert.match(answer.body.error.message, /slash commands/);
  assert.equal(answer.headers.get('x-slack-no-retry'), '1');
});

describe('filters', () => {
  const skipped = async (at, envelope, reason) => {
    const answer = await send(at.url, envelope);
    assert.deepEqual([answer.status, answer.body.skipped], [200, true], answer.text);
    const firing = await last(at);
    assert.equal(firing.decision, 'skipped');
    assert.match(firing.reason, reason);
  };
  const started = async (at, envelope) => assert.equal(typeof (await send(at.url, envelope)).body.executionId, 'string');

  test('by event type', async () => {
    const at = await listening({ eventType: 'reaction_added' });
    await skipped(at, mention(), /app_mention/);
    await started(at, reaction());
  });

  test('by channel ID, also that of the item of a reaction', async () => {
    const at = await listening({ channel: 'C0000000002' });
    await skipped(at, mention(), /C0000000001/);
    await started(at, reaction());
  });

  test('by channel name, which is looked up once', async () => {
    const { id: connectionId } = await client.connection.create.mutate({ name: 'Slack', type: 'slack', config: { botToken, baseUrl: workspace.url } });
    const at = await listening({ channel: '#random', connectionId });
    workspace.failing = true;
    const later = reaction();
    const answer = await send(at.url, later);
    assert.deepEqual([answer.status, answer.headers.get('retry-after'), answer.headers.get('x-slack-no-retry')], [503, '60', null]);
    const firing = await last(at);
    assert.equal(firing.decision, 'refused');
    assert.match(firing.reason, /missing_scope/);
    assert.ok(!(answer.text + firing.reason).includes(botToken));
    workspace.failing = false;
    workspace.calls.length = 0;
    await started(at, later);
    await started(at, reaction());
    await skipped(at, mention(), /named "general"/);
    await skipped(at, mention(), /named "general"/);
    assertTypes("import type { ConversationsInfoResponse } from '@slack/web-api';", workspace.said.map((body) => ['ConversationsInfoResponse', body]));
    assert.deepEqual(workspace.calls, ['C0000000002', 'C0000000001'].map((channel) => ({ path: '/api/conversations.info', channel, authorization: `Bearer ${botToken}` })));
  });

  test('a channel name without a connection is refused on creation', async () => {
    const refused = await listening({ channel: 'general' }).then(assert.fail, (reason) => reason);
    assert.deepEqual([refused.data.code, refused.data.issues[0].path], ['BAD_REQUEST', ['config', 'channel']]);
  });
});

test('both signing secrets are valid during rotation', async () => {
  const at = await listening();
  await client.blueprintTriggers.rotateSecret.mutate({ triggerId: at.triggerId, secret: 'the next one' });
  for (const [one, reason] of [[secret, 'the signature is valid (previous secret)'], ['the next one', 'the signature is valid']]) {
    const body = JSON.stringify(mention());
    assert.equal((await deliver(at.url, body, slackHeaders(one, body))).status, 200);
    assert.equal((await last(at)).reason, reason);
  }
  await client.blueprintTriggers.rotateSecret.mutate({ triggerId: at.triggerId, secret: 'the last one', keepPreviousFor: '0s' });
  const body = JSON.stringify(mention());
  assert.equal((await deliver(at.url, body, slackHeaders('the next one', body))).status, 401);
});

test('a trigger that is unknown, of another type or inactive: the same 404', async () => {
  const at = await listening();
  await client.blueprintTriggers.update.mutate({ triggerId: at.triggerId, isActive: false });
  const texts = new Set();
  for (const url of [at.url, `${server.apiHost}/webhooks/slack/3fa85f64-5717-4562-b3fc-2c963f66afa6`, at.url.replace('/slack/', '/blueprint/')]) {
    const answer = await send(url, mention());
    assert.equal(answer.status, 404);
    texts.add(answer.text);
  }
  assert.equal(texts.size, 1);
});
