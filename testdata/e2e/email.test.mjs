// Tests the send-email node with another mail server and mail parser: the message arrives as
// intended, over an encrypted connection, and only once.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { connect } from './support/clients.mjs';
import { makeCertificate, refusal, startMail } from './support/mail.mjs';
import { node } from './support/maps.mjs';
import { ended } from './support/poll.mjs';
import { startServer, stopAll } from './support/server.mjs';

const password = 'pa55-of-ada-"é"';
const sender = '"Lovelace, Ada née Byron" <ada@sender.example>';

let server, certificate, client, mail, tlsMail, clear, connections;
before(async () => {
  certificate = await makeCertificate();
  process.env.SSL_CERT_FILE = certificate.file; // the server trusts it
  server = await startServer({ flags: ['--rate-limit', '0', '--allow-net', '127.0.0.1/32'] });
  client = connect(server.baseUrl, server.key);
  mail = await startMail({ certificate, password });
  tlsMail = await startMail({ certificate, password, secure: true, authMethods: ['LOGIN'] });
  clear = await startMail({ certificate, password, hideSTARTTLS: true, disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
  const open = async (name, port, tls, more = {}) => {
    const config = { host: '127.0.0.1', port, username: 'ada', password, tls, from: sender, ...more };
    const { id } = await client.connection.create.mutate({ name, type: 'smtp', config });
    return id;
  };
  connections = {
    starttls: await open('starttls', mail.port, 'starttls'),
    tls: await open('tls', tlsMail.port, 'tls'),
    none: await open('none', clear.port, 'none'),
    stripped: await open('stripped', clear.port, 'starttls'),
    wrong: await open('wrong', mail.port, 'starttls', { password: 'wr0ng-of-ada' }),
  };
});
beforeEach(() => {
  for (const one of [mail, tlsMail, clear]) Object.assign(one, { mails: [], attempts: 0, rcpt: () => undefined, end: () => undefined });
});
after(async () => {
  await stopAll(server, mail, tlsMail, clear);
  await certificate.remove();
});

/** Sends one message; returns the response of blueprint.execute and the blueprint. */
async function send(config, { connection = 'starttls', ...more } = {}) {
  const blueprint = await client.blueprint.create.mutate({
    title: 'A message', blueprint_map: { nodes: [node('send', 'send-email', { connectionId: connections[connection], to: 'grace@recipient.example', subject: 'Hello', text: 'Good day.', ...config }, more)] },
  });
  return { blueprintId: blueprint.id, ...await client.blueprint.execute.mutate({ id: blueprint.id }) };
}

const lines = (text) => text.replace(/\r\n?/g, '\n').replace(/\n$/, '');

const messages = {
  'plain words': { subject: 'Hello', text: 'Good day.' },
  'a subject and texts beyond ASCII': { subject: 'Grüße aus Zürich – 日本語の件名はとても長いので何度も折り返さなければなりません 🎉', text: 'Schöne Grüße\n日本語の本文\n🎉', html: '<p>Schöne <b>Grüße</b> 日本語 🎉</p>' },
  'dots, and what looks like the end': { subject: '.', text: '.\n..\n.a\n\n.\nMAIL FROM:<evil@example.org>\n.\n', html: '<p>\n.\n</p>' },
  'long lines': { subject: `A ${'very '.repeat(60)}long subject`, text: 'word '.repeat(2000) + 'x'.repeat(3000), html: `<p>${'x'.repeat(5000)}</p>` },
  'what looks like a header, an encoded word, a boundary': { subject: '=?utf-8?q?no_word?= Bcc: x@y.example', text: 'Bcc: x@y.example\n\n--=_0123\nContent-Type: text/html\n\n=3D From here\nFrom there\n', html: '<p>--=_0123--</p>' },
  'blanks where they get lost': { subject: 'two  blanks', text: '  indented\ntrailing  \n\n\ttab\t\nend' },
};

for (const [name, { subject, text, html }] of Object.entries(messages)) {
  test(`arrives unchanged: ${name}`, async () => {
    const answer = await send({ subject, text, ...(html && { html }) });
    assert.equal(answer.success, true, JSON.stringify(answer));
    assert.equal(mail.mails.length, 1);
    const [{ mail: got, raw, secure, user, envelope }] = mail.mails;
    assert.deepEqual([secure, user], [true, 'ada']);
    assert.equal(got.subject, subject);
    assert.equal(lines(got.text), lines(text));
    assert.equal(got.html ? lines(got.html) : undefined, html && lines(html));
    assert.deepEqual(got.from.value, [{ name: 'Lovelace, Ada née Byron', address: 'ada@sender.example' }]);
    assert.deepEqual(envelope, { from: 'ada@sender.example', to: ['grace@recipient.example'] });
    assert.equal(got.messageId, answer.result.output.messageId);
    assert.match(got.messageId, /^<[0-9a-f]{32}@sender\.example>$/);
    assert.equal(got.attachments.length, 0);
    assert.equal(got.headers.get('auto-submitted'), 'auto-generated');
    assert.ok(Math.abs(got.date - new Date()) < 60_000);
    assert.doesNotMatch(raw, /[^\r\n\t\x20-\x7e]/, 'ASCII alone');
    for (const line of raw.split('\r\n')) assert.ok(line.length <= 78, line);
  });
}

test('all kinds of recipients, each once, with bcc hidden', async () => {
  const answer = await send({
    to: ['"Grace \\"Amazing\\" Hopper" <grace@recipient.example>', 'ann@recipient.example, Éva <eva@recipient.example>'],
    cc: 'copy@recipient.example, grace@recipient.example', bcc: ['hidden@recipient.example'], replyTo: 'The office <office@sender.example>',
  });
  assert.equal(answer.success, true, JSON.stringify(answer));
  const [{ mail: got, raw, envelope }] = mail.mails;
  assert.deepEqual(got.to.value, [
    { name: 'Grace "Amazing" Hopper', address: 'grace@recipient.example' }, { name: '', address: 'ann@recipient.example' }, { name: 'Éva', address: 'eva@recipient.example' },
  ]);
  assert.deepEqual(got.cc.value.map(({ address }) => address), ['copy@recipient.example', 'grace@recipient.example']);
  assert.deepEqual(got.replyTo.value, [{ name: 'The office', address: 'office@sender.example' }]);
  assert.deepEqual(envelope.to, ['grace', 'ann', 'eva', 'copy', 'hidden'].map((name) => `${name}@recipient.example`));
  assert.doesNotMatch(raw, /^bcc:|hidden@/im);
});

test('an address with non-ASCII characters', async () => {
  const answer = await send({ to: 'Éva <éva@bücher.example>' });
  assert.equal(answer.success, true, JSON.stringify(answer));
  const [{ mail: got, envelope }] = mail.mails;
  assert.deepEqual(got.to.value.map(({ name }) => name), ['Éva']);
  assert.match(envelope.to[0], /^éva@(bücher|xn--bcher-kva)\.example$/);
});

test('TLS from the start, with AUTH LOGIN', async () => {
  const answer = await send({}, { connection: 'tls' });
  assert.equal(answer.success, true, JSON.stringify(answer));
  assert.deepEqual([tlsMail.mails[0].secure, tlsMail.mails[0].user], [true, 'ada']);
});

test('unencrypted, on the same machine', async () => {
  const answer = await send({}, { connection: 'none' });
  assert.equal(answer.success, true, JSON.stringify(answer));
  assert.deepEqual([clear.mails[0].secure, clear.mails[0].user], [false, 'ada']);
});

test('an approval link arrives whole and answers the run once', async () => {
  const blueprint = await client.blueprint.create.mutate({
    title: 'Pay', blueprint_map: {
      nodes: [
        node('send', 'send-email', { connectionId: connections.starttls, to: 'grace@recipient.example', subject: 'Pay?', text: 'Answer here:\n{{nodes.gate.link}}\n', html: '<p><a href="{{nodes.gate.link}}">Answer</a></p>' }),
        node('gate', 'approval-gate', { prompt: 'Pay 270 euros?' }),
        node('paid', 'template', { text: 'paid: {{input.comment}}' }),
      ],
    },
  });
  const { executionId, result } = await client.blueprint.execute.mutate({ id: blueprint.id });
  assert.equal(result.status, 'paused');
  const [{ mail: got }] = mail.mails;
  const link = lines(got.text).split('\n')[1];
  assert.match(link, new RegExp(`^${server.apiHost}/answer/[A-Za-z0-9_-]+$`));
  assert.equal(/href="([^"]+)"/.exec(got.html)[1], link);
  // Programs that check the links of a mail open them, and change nothing.
  for (const method of ['HEAD', 'GET', 'GET']) assert.equal((await fetch(link, { method })).status, 200);
  const page = await (await fetch(link)).text();
  const ticket = /name="_ticket" value="([^"]+)"/.exec(page)[1];
  const answer = () => fetch(link, { method: 'POST', body: new URLSearchParams({ _ticket: ticket, _decision: 'approve', comment: 'fine' }) });
  assert.equal((await answer()).status, 200);
  assert.equal((await answer()).status, 410);
  const { steps } = await ended(client, executionId);
  assert.deepEqual(steps[2].output, { text: 'paid: fine' });
  const { entries } = await client.auditLog.list.query({ organizationId: blueprint.organization_id });
  assert.ok(entries.some(({ action, targetId, detail }) => action === 'execution.answerByLink' && targetId === executionId && detail.madeByNode === 'send'), JSON.stringify(entries));
  assert.ok(!server.said().includes(link.split('/').pop()), 'the log has the link');
});

describe('mail that is not sent', () => {
  /** Expects the run to fail with a code, and returns the message. */
  async function fails(answer, code) {
    assert.equal(answer.success, false);
    assert.equal(answer.result.error.code, code, JSON.stringify(answer));
    const { logs } = await client.execution.getExecutionLogs.query({ blueprintId: answer.blueprintId });
    for (const secret of [password, 'wr0ng-of-ada']) assert.ok(!JSON.stringify([answer, logs]).includes(secret), 'a password is shown');
    return answer.result.error.message;
  }
  const nothing = () => assert.deepEqual([mail.mails.length, tlsMail.mails.length, clear.mails.length], [0, 0, 0]);

  test('wrong password', async () => {
    assert.match(await fails(await send({}, { connection: 'wrong' }), 'login_failed'), /\(535/);
    nothing();
  });

  test('STARTTLS stripped from the session', async () => {
    assert.match(await fails(await send({}, { connection: 'stripped' }), 'tls_failed'), /does not offer STARTTLS/);
    nothing();
  });

  test('one recipient is refused', async () => {
    mail.rcpt = (address) => (address.startsWith('nobody') ? refusal(550, '5.1.1 no such user') : undefined);
    const message = await fails(await send({ to: 'grace@recipient.example, nobody@recipient.example' }), 'recipients_rejected');
    assert.match(message, /nobody@recipient\.example \(550 5\.1\.1 no such user\)/);
    assert.doesNotMatch(message, /grace/);
    nothing();
  });

  test('line break in a single-line field', async () => {
    for (const config of [{ subject: 'Hi\r\nBcc: evil@example.org' }, { to: 'grace@recipient.example\r\nBcc: evil@example.org' }, { replyTo: ['a@b.example\nX: y'] }, { cc: '=?utf-8?q?a=0D=0ABcc?= <a@b.example>' }]) {
      await fails(await send(config), 'bad_config');
    }
    nothing();
  });
});

describe('retries', () => {
  const retry = { maxAttempts: 3, delayMs: 1 };

  test('sends one message after a temporary refusal', async () => {
    let asked = 0;
    mail.rcpt = () => (asked++ === 0 ? refusal(451, '4.7.1 try again later') : undefined);
    let ended = 0;
    mail.end = () => (ended++ === 0 ? refusal(452, '4.3.1 the disk is full') : undefined);
    const answer = await send({}, { retry });
    assert.equal(answer.success, true, JSON.stringify(answer));
    assert.deepEqual([mail.mails.length, asked, ended], [1, 3, 2]);
    assert.equal(mail.mails[0].mail.messageId, answer.result.output.messageId);
  });

  test('does not retry when the message may have been sent', async () => {
    mail.end = () => 'vanish';
    const answer = await send({}, { retry });
    assert.deepEqual([answer.success, answer.result.error.code, mail.attempts], [false, 'outcome_unknown', 1], JSON.stringify(answer));
  });

  test('does not retry after a permanent refusal', async () => {
    mail.end = () => refusal(554, '5.7.1 spam');
    const answer = await send({}, { retry });
    assert.deepEqual([answer.success, answer.result.error.code, mail.attempts], [false, 'rejected', 1], JSON.stringify(answer));
    assert.match(answer.result.error.message, /554 5\.7\.1 spam/);
  });
});
