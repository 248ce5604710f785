// OAuth sign-in, end to end, with a real provider from npm: a run that needs a sign-in pauses,
// continues after it, and pauses again when the grant has been revoked.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { connect, refused } from './support/clients.mjs';
import { startIdentity } from './support/identity.mjs';
import { node } from './support/maps.mjs';
import { openBrowser } from './support/person.mjs';
import { ended, reached } from './support/poll.mjs';
import { startServer, stopAll } from './support/server.mjs';
import { shape } from './support/shapes.mjs';

let server, identity, client, connection;
before(async () => {
  server = await startServer({ flags: ['--allow-net', '127.0.0.0/8', '--clock', 'virtual=2026-03-01T12:00:00Z'] });
  identity = await startIdentity({ redirectUri: `${server.apiHost}/oauth/callback` });
  client = connect(server.baseUrl, server.key);
  connection = await client.connection.create.mutate({ name: 'Ann\'s <notes>', type: 'oauth2', config: identity.config() });
});
after(() => stopAll(server, identity));

/** Starts a run that fetches the notes through a connection. */
async function start(connectionId = connection.id, path = '/notes') {
  const blueprint = await client.blueprint.create.mutate({
    title: 'Notes', blueprint_map: { nodes: [
      node('before', 'set', { values: { seen: true } }),
      node('fetch', 'http-request', { url: `${identity.api}${path}`, connectionId }),
      node('after', 'transform', { expression: 'input.body.notes[0]' }),
    ] },
  });
  const { executionId } = await client.execution.executeBlueprintWithLogging.mutate({ nodes: blueprint.blueprint_map.nodes, options: { blueprintId: blueprint.id } });
  return { executionId, blueprintId: blueprint.id };
}

/** Expects the run to pause, and returns the sign-in URL. */
async function asked(run) {
  const status = shape('status', await reached(client, run.executionId, 'paused', 'completed', 'failed'));
  assert.equal(status.status, 'paused', JSON.stringify(status.steps));
  assert.deepEqual([status.awaitingInput.kind, status.awaitingInput.nodeId], ['oauth', 'fetch']);
  assert.ok(status.awaitingInput.url.startsWith(`${server.apiHost}/oauth/`), status.awaitingInput.url);
  return status.awaitingInput;
}

/** Expects the run to complete with the notes. */
async function fetched(run) {
  const status = shape('status', await ended(client, run.executionId));
  assert.equal(status.status, 'completed', JSON.stringify(status.steps.map(({ error }) => error)));
  assert.equal(status.steps.find(({ nodeId }) => nodeId === 'after').output, 'milk');
  return status;
}

const record = async (run) => {
  const { logs } = await client.execution.getExecutionLogs.query({ blueprintId: run.blueprintId });
  return shape('executionLog', logs[0]);
};

async function advance(by) {
  const response = await fetch(`${server.apiHost}/clock/advance`, {
    method: 'POST', headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }, body: JSON.stringify({ by }),
  });
  assert.equal(response.status, 200, await response.text());
}

test('never shows the client secret of a connection', async () => {
  assert.equal(connection.config.clientSecret, null);
  const listed = await client.connection.list.query({});
  assert.deepEqual(listed.map(({ id }) => id), [connection.id]);
  assert.ok(!JSON.stringify(listed).includes(identity.secret));
});

test('pauses a run until its user signs in, then continues it', async () => {
  const run = await start();
  const { url, prompt } = await asked(run);
  assert.match(prompt, /Ann's <notes>/);
  assert.equal(identity.calls.length, 0, 'nothing was sent without a token');

  const browser = openBrowser();
  const invitation = await browser.visit(url);
  assert.equal(invitation.status, 200);
  assert.match(invitation.text, /Ann&#39;s &lt;notes&gt;/);
  assert.match(invitation.headers.get('content-security-policy'), /^default-src 'none'/);
  const form = await browser.click(invitation);
  const asking = new URL(browser.visited.find((address) => address.startsWith(`${identity.url}/auth?`))).searchParams;
  assert.deepEqual(
    [asking.get('client_id'), asking.get('redirect_uri'), asking.get('response_type'), asking.get('scope'), asking.get('code_challenge_method')],
    ['blueprintd', `${server.apiHost}/oauth/callback`, 'code', 'openid notes', 'S256'],
  );
  assert.match(asking.get('state'), /^[\w-]{43}$/);
  const page = await browser.answer(form, 'allow');
  assert.equal(page.status, 200);
  assert.match(page.text, /You are signed in/);
  assert.equal(new URL(page.url).searchParams.get('iss'), identity.url, 'the provider says who it is');

  await fetched(run);
  const { requiredLogin, oauthFlowsTriggered, authenticationMethodsUsed } = await record(run);
  assert.deepEqual([requiredLogin, oauthFlowsTriggered, authenticationMethodsUsed], [true, true, ['oauth2']]);
  assert.deepEqual(identity.granted, ['authorization_code']);

  const again = await browser.visit(page.url);
  assert.equal(again.status, 400, 'the way back is good for one time');
  await refused(client.execution.resume.mutate({ executionId: run.executionId }), 'CONFLICT');
});

test('needs no sign-in for the next run', async () => {
  const run = await start();
  await fetched(run);
  const { requiredLogin, oauthFlowsTriggered } = await record(run);
  assert.deepEqual([requiredLogin, oauthFlowsTriggered], [true, false]);
  assert.deepEqual(await client.connection.test.mutate({ id: connection.id }).then(({ ok }) => ok), true);
});

test('refreshes an expired token once for all runs, with a single-use refresh token', async () => {
  identity.granted.length = 0;
  for (const round of [1, 2, 3]) {
    await advance('30m');
    const runs = await Promise.all(Array.from({ length: 5 }, () => start()));
    await Promise.all(runs.map(fetched));
    assert.deepEqual(identity.granted, Array(round).fill('refresh_token'));
  }
  assert.deepEqual(identity.refused, []);
  assert.ok(identity.calls.every(({ status }) => status === 200));
});

test('asks again after a revocation, once for all waiting runs', async () => {
  await identity.withdraw();
  await advance('30m');
  const runs = [await start(), await start()];
  const [first] = await Promise.all(runs.map(asked));
  assert.deepEqual(identity.refused, [['refresh_token', 'invalid_grant']]);

  const page = await openBrowser().signIn(first.url);
  assert.match(page.text, /You are signed in/);
  await Promise.all(runs.map(fetched));
});

describe('sign-ins that fail', () => {
  let other, run, url;
  const waits = async () => assert.equal((await client.execution.getExecutionStatus.query({ executionId: run.executionId })).status, 'paused');
  before(async () => {
    other = await client.connection.create.mutate({ name: 'another', type: 'oauth2', config: identity.config() });
    run = await start(other.id);
    ({ url } = await asked(run));
  });
  const back = (address) => address.startsWith(`${server.apiHost}/oauth/callback`);

  test('the user declines', async () => {
    const page = await openBrowser().signIn(url, 'deny');
    assert.equal(page.status, 200);
    assert.match(page.text, /Access denied/);
    assert.ok(!page.text.includes('not today'), 'the provider\'s own words are not repeated');
    await waits();
  });

  test('another user receives the callback', async () => {
    const { url: stolen } = await openBrowser().signIn(url, 'allow', { until: back });
    const page = await openBrowser().visit(stolen);
    assert.equal(page.status, 400);
    assert.match(page.text, /started elsewhere/);
    await waits();
  });

  test('modified state', async () => {
    const browser = openBrowser();
    const { url: true_ } = await browser.signIn(url, 'allow', { until: back });
    const wrong = new URL(true_);
    wrong.searchParams.set('state', 'A'.repeat(43));
    assert.equal((await browser.visit(wrong.href)).status, 400);
    await waits();
  });

  test('expired state', async () => {
    const browser = openBrowser();
    const { url: late } = await browser.signIn(url, 'allow', { until: back });
    await advance('10m');
    assert.equal((await browser.visit(late)).status, 400);
    await waits();
  });

  test('code of another provider', async () => {
    const browser = openBrowser();
    const { url: wrong } = await browser.signIn(url, 'allow', { until: back });
    const address = new URL(wrong);
    address.searchParams.set('code', 'made-up');
    const page = await browser.visit(address.href);
    assert.equal(page.status, 502);
    assert.ok(!page.text.includes('made-up'));
    await waits();
  });

  test('the sign-in URL still works afterwards', async () => {
    const page = await openBrowser().signIn(url);
    assert.match(page.text, /You are signed in/);
    await fetched(run);
  });
});

test('the sign-in URL works for programs too', async () => {
  const fresh = await client.connection.create.mutate({ name: 'for a program', type: 'oauth2', config: identity.config() });
  const tried = await client.connection.test.mutate({ id: fresh.id });
  assert.equal(tried.ok, false);
  const [url] = /http\S+$/.exec(tried.message);
  const browser = openBrowser();
  const program = { headers: { 'user-agent': 'node', accept: '*/*' }, redirect: 'manual' };
  const leaving = await fetch(url, program);
  assert.equal(leaving.status, 303);
  const { url: back } = await browser.answer(await browser.visit(leaving.headers.get('location')), 'allow', {
    until: (address) => address.startsWith(`${server.apiHost}/oauth/callback`),
  });
  assert.equal((await fetch(back, program)).status, 200);
  assert.equal((await client.connection.test.mutate({ id: fresh.id })).ok, true);
  await fetched(await start(fresh.id));
});

test('client credentials need no user, and their token is sent only to allowed hosts', async () => {
  const own = await client.connection.create.mutate({ name: 'the service\'s own', type: 'oauth2', config: identity.config({ flow: 'client_credentials', authorizationUrl: undefined, scopes: ['notes'] }) });
  assert.deepEqual((await client.connection.test.mutate({ id: own.id })).ok, true);
  const run = await start(own.id);
  await fetched(run);
  const { requiredLogin, authenticationMethodsUsed } = await record(run);
  assert.deepEqual([requiredLogin, authenticationMethodsUsed], [false, ['oauth2']]);

  const naming = await client.connection.create.mutate({ name: 'elsewhere', type: 'http', config: { auth: { type: 'oauth2', connectionId: own.id }, hosts: ['api.example.com'] } });
  const before = identity.calls.length;
  const status = await ended(client, (await start(naming.id)).executionId);
  assert.equal(status.status, 'failed');
  assert.equal(status.steps.find(({ nodeId }) => nodeId === 'fetch').error.code, 'host_not_allowed');
  assert.equal(identity.calls.length, before, 'nothing was sent');
});

test('no readable data contains a token, code or secret', async () => {
  const { logs } = await client.execution.listRecentExecutions.query({ limit: 100 });
  const all = JSON.stringify([logs, await client.connection.list.query({})]) + server.said();
  assert.ok(identity.tokens.size > 10);
  for (const token of identity.tokens) assert.ok(!all.includes(token), `${token} can be read`);
});
