// Slack's side of the Events API: its envelopes, its signatures, and its own library for
// comparison.
import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';

// By file, because the whole package needs a newer Node than these tests.
const require = createRequire(import.meta.url);
const { isValidSlackRequest } = require('@slack/bolt/dist/receivers/verify-request.js');
const { default: HTTPReceiver } = require('@slack/bolt/dist/receivers/HTTPReceiver.js');

let made = 0;

/** The envelope of an event, with a new ID. */
export const event = (inner, more = {}) => ({
  token: 'Jhj5dZrVaK7ZwHHjRyZWjbDl', team_id: 'T0123456789', api_app_id: 'A0123456789', event: inner, type: 'event_callback',
  event_id: `Ev${Date.now()}${made++}`, event_time: 1712345678, authorizations: [{ enterprise_id: null, team_id: 'T0123456789', user_id: 'U9', is_bot: true }], ...more,
});

/** The headers with which Slack sends a body. */
export function slackHeaders(secret, body, at = Date.now()) {
  const timestamp = Math.floor(at / 1000);
  const signature = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return { 'x-slack-request-timestamp': String(timestamp), 'x-slack-signature': `v0=${signature}`, 'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)' };
}

/** Reports whether Slack's library accepts a body with these headers. */
export const acceptedBySlack = (signingSecret, body, headers) => isValidSlackRequest({
  signingSecret, body, headers: { 'x-slack-signature': headers['x-slack-signature'], 'x-slack-request-timestamp': Number(headers['x-slack-request-timestamp']) },
});

const quiet = { debug() {}, info() {}, warn() {}, error() {}, setLevel() {}, getLevel: () => 'error', setName() {} };

/** Starts the receiver of Slack's library, as an app would run it. Returns url, events and stop(). */
export async function startReceiver(signingSecret) {
  const events = [];
  const receiver = new HTTPReceiver({ signingSecret, logger: quiet });
  receiver.init({ processEvent: async ({ body, ack }) => { events.push(body); await ack(); } });
  const server = await receiver.start({ port: 0, host: '127.0.0.1' });
  return { events, url: `http://127.0.0.1:${server.address().port}/slack/events`, stop: () => receiver.stop() };
}
