// Delivers webhooks like the services that send them.
import { createHmac, randomUUID } from 'node:crypto';
import { sign } from '@octokit/webhooks-methods';

/** Posts a body and returns {status, headers, text, body}; body is undefined if the response is not JSON. */
export async function deliver(url, body, headers = {}) {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  const text = await response.text();
  let parsed;
  if (response.headers.get('content-type')?.startsWith('application/json')) parsed = JSON.parse(text);
  return { status: response.status, headers: response.headers, text, body: parsed };
}

/** The headers of a delivery from GitHub. */
export async function githubHeaders(event, body, secret, delivery = randomUUID()) {
  return {
    'user-agent': 'GitHub-Hookshot/0123456',
    'x-github-event': event,
    'x-github-delivery': delivery,
    'x-github-hook-id': '292430182',
    'x-hub-signature': `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`,
    'x-hub-signature-256': await sign(secret, body),
  };
}
