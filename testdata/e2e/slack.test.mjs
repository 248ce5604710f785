// Compares the send-slack node with Slack's own library: both post to the same fake of Slack,
// send the same, and interpret the same responses.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, beforeEach, describe, test } from 'node:test';
import { WebClient } from '@slack/web-api';
import { connect } from './support/clients.mjs';
import { node } from './support/maps.mjs';
import { startServer, stopAll } from './support/server.mjs';
import { assertTypes } from './support/types.mjs';

const token = 'xoxb-e2e-0123456789-abcdef';
const posted = (fields) => ({ body: { ok: true, channel: 'C0123456789', ts: '1712345678.000100', message: { type: 'message', text: fields.text } } });

/** A fake of Slack: it accepts JSON and forms, as Slack does, and stores each call. */
async function startSlack() {
  const slack = { calls: [], answer: posted };
  const service = http.createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const json = request.headers['content-type'].startsWith('application/json');
    const fields = json ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text));
    if (typeof fields.blocks === 'string') fields.blocks = JSON.parse(fields.blocks);
    slack.calls.push({ method: request.method, path: request.url, authorization: request.headers.authorization, fields });
    const { status = 200, headers = {}, body } = slack.answer(fields, slack.calls.length);
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
    response.end(JSON.stringify(body));
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  return Object.assign(slack, {
    url: `http://127.0.0.1:${service.address().port}/api/`,
    stop: async () => { service.close(); service.closeAllConnections(); await once(service, 'close'); },
  });
}

let server, slack, client, library, connectionId;
before(async () => {
  slack = await startSlack();
  server = await startServer({ flags: ['--rate-limit', '0', '--allow-net', '127.0.0.1/32'] });
  client = connect(server.baseUrl, server.key);
  library = new WebClient(token, { slackApiUrl: slack.url, retryConfig: { retries: 0 }, rejectRateLimitedCalls: true, logger: { debug() {}, info() {}, warn() {}, error() {}, setLevel() {}, getLevel() {}, setName() {} } });
  ({ id: connectionId } = await client.connection.create.mutate({ name: 'Slack', type: 'slack', config: { botToken: token, baseUrl: slack.url } }));
});
beforeEach(() => { slack.calls.length = 0; slack.answer = posted; });
after(() => stopAll(server, slack));

/** Posts one message; returns the response of blueprint.execute and the blueprint. */
async function send(config, more) {
  const blueprint = await client.blueprint.create.mutate({ title: 'A message', blueprint_map: { nodes: [node('post', 'send-slack', { connectionId, ...config }, more)] } });
  return { blueprintId: blueprint.id, ...await client.blueprint.execute.mutate({ id: blueprint.id }) };
}

test('an approval link in text and as a button', async () => {
  const blueprint = await client.blueprint.create.mutate({
    title: 'Pay', blueprint_map: {
      nodes: [
        node('post', 'send-slack', {
          connectionId, channel: 'C0123456789', text: '<{{nodes.gate.link}}|Approve or reject>',
          blocks: [{ type: 'actions', elements: [{ type: 'button', text: { type: 'plain_text', text: 'Answer' }, url: '{{nodes.gate.link}}', action_id: 'answer' }] }],
        }),
        node('gate', 'approval-gate', { prompt: 'Pay?' }),
      ],
    },
  });
  const { result } = await client.blueprint.execute.mutate({ id: blueprint.id });
  assert.equal(result.status, 'paused');
  const { text, blocks: [{ elements: [{ url }] }] } = slack.calls[0].fields;
  assert.equal(text, `<${url}|Approve or reject>`);
  assert.equal((await fetch(url)).status, 200);
});

const blocks = [
  { type: 'section', text: { type: 'mrkdwn', text: '*Order 7* is paid – ünïcode & <https://example.org|a link>' } },
  { type: 'divider' },
  { type: 'actions', elements: [{ type: 'button', text: { type: 'plain_text', text: 'Show', emoji: true }, url: 'https://example.org/7', action_id: 'show' }] },
];

for (const [name, { config, call }] of Object.entries({
  'a text': { config: { channel: 'C0123456789', text: 'Grüße & "<there>" \u2028 🎉\nsecond line' } },
  'a channel by its name': { config: { channel: '#general', text: 'hello' } },
  blocks: { config: { channel: 'C0123456789', text: 'Order 7 is paid', blocks } },
  'an answer in a thread': { config: { channel: 'C0123456789', text: 'yes', threadTs: '1712345678.000100' }, call: { channel: 'C0123456789', text: 'yes', thread_ts: '1712345678.000100' } },
})) {
  test(`returns the same as the official library: ${name}`, async () => {
    const wanted = call ?? config;
    const answer = await send(config);
    assert.equal(answer.success, true, JSON.stringify(answer));
    assert.deepEqual(answer.result.output, { ts: '1712345678.000100', channel: 'C0123456789' });
    const theirs = await library.chat.postMessage(wanted);
    assert.deepEqual([theirs.ts, theirs.channel], [answer.result.output.ts, answer.result.output.channel]);
    const [ours, its, ...more] = slack.calls;
    assert.equal(more.length, 0);
    assert.deepEqual(ours, its);
    assert.deepEqual(ours, { method: 'POST', path: '/api/chat.postMessage', authorization: `Bearer ${token}`, fields: wanted });
    assertTypes("import type { ChatPostMessageArguments } from '@slack/web-api';", [['ChatPostMessageArguments', ours.fields]]);
  });
}

describe('refusals', () => {
  for (const error of ['channel_not_found', 'not_in_channel', 'invalid_auth', 'is_archived', 'missing_scope', 'invalid_blocks', 'fatal_error', 'an_error_of_tomorrow']) {
    test(error, async () => {
      slack.answer = () => ({ body: { ok: false, error, needed: 'chat:write', response_metadata: { messages: ['[ERROR] at /blocks/0'] } } });
      const answer = await send({ channel: 'C0123456789', text: 'x' }, { retry: { maxAttempts: 3, delayMs: 1 } });
      assert.equal(answer.success, false);
      assert.equal(slack.calls.length, 1, 'none of them is tried again');
      const theirs = await library.chat.postMessage({ channel: 'C0123456789', text: 'x' }).then(assert.fail, (reason) => reason);
      assert.equal(answer.result.error.code, theirs.data.error);
      assert.match(answer.result.error.message, new RegExp(`${error}: .{20}`));
      assert.ok(!JSON.stringify(answer).includes(token));
    });
  }

  test('too many calls: retried after Retry-After and posted once', async () => {
    const tooMany = { status: 429, headers: { 'retry-after': '1' }, body: { ok: false, error: 'ratelimited' } };
    slack.answer = (fields, count) => (count === 1 ? tooMany : posted(fields));
    const begun = Date.now();
    const answer = await send({ channel: 'C0123456789', text: 'x' }, { retry: { maxAttempts: 2, delayMs: 1 } });
    assert.equal(answer.success, true, JSON.stringify(answer));
    assert.ok(Date.now() - begun >= 1000, 'it waited as long as it was told');
    assert.equal(slack.calls.length, 2);
    slack.answer = () => tooMany;
    const theirs = await library.chat.postMessage({ channel: 'C0123456789', text: 'x' }).then(assert.fail, (reason) => reason);
    assert.equal(theirs.retryAfter, 1);
    const refused = await send({ channel: 'C0123456789', text: 'x' });
    assert.deepEqual([refused.success, refused.result.error.code], [false, 'ratelimited']);
  });

  test('a response that is not Slack\'s: not sent again because the message may have been posted', async () => {
    slack.answer = () => ({ status: 502, headers: { 'content-type': 'text/html' }, body: 'bad gateway' });
    const answer = await send({ channel: 'C0123456789', text: 'x' }, { retry: { maxAttempts: 3, delayMs: 1 } });
    assert.deepEqual([answer.success, answer.result.error.code, slack.calls.length], [false, 'slack_error', 1]);
    assert.match(answer.result.error.message, /the message may have been posted/);
  });
});

test('the token is sent to no other host and never shown', async () => {
  const listed = await client.connection.list.query({});
  assert.ok(!JSON.stringify(listed).includes(token));
  const { blueprintId } = await send({ channel: token, text: `it is ${token}` });
  const { logs } = await client.execution.getExecutionLogs.query({ blueprintId });
  assert.equal(logs.length, 1);
  assert.ok(!JSON.stringify(logs).includes(token));
});
