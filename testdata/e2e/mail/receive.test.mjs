// Mail from swaks and a real Postfix: what is accepted, what is refused with which status, and
// that each message starts its blueprint once, however often the sending server retries.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { connect } from '../support/clients.mjs';
import { makeCertificate } from '../support/mail.mjs';
import { node } from '../support/maps.mjs';
import { ended, until } from '../support/poll.mjs';
import { freePort, startPostfix } from '../support/postfix.mjs';
import { startServer, stopAll } from '../support/server.mjs';
import { swaks } from '../support/swaks.mjs';

let certificate, server, client, postfix, blueprintId;
before(async () => {
  certificate = await makeCertificate();
  const files = certificate.file.replace(/cert\.pem$/, 'key.pem');
  server = await startServer({ flags: ['--rate-limit', '0', '--smtp-addr', '127.0.0.1:0', '--mail-domain', 'flows.example', '--smtp-tls-cert', certificate.file, '--smtp-tls-key', files] });
  client = connect(server.baseUrl, server.key);
  ({ id: blueprintId } = await client.blueprint.create.mutate({ title: 'Letters', blueprint_map: { nodes: [node('seen', 'transform', { expression: '1' })] } }));
  postfix = await startPostfix(server.smtpAddr, 'smtp_tls_security_level = may\nsmtp_tls_loglevel = 1');
});
after(async () => {
  await stopAll(postfix, server);
  await certificate.remove();
});

/** Creates a mailbox: {triggerId, address, rows(), inputs(n)}. */
async function mailbox(config = {}) {
  const trigger = await client.blueprintTriggers.create.mutate({ blueprintId, triggerType: 'email', config });
  const rows = async () => (await client.blueprintTriggers.history.query({ triggerId: trigger.id, limit: 100 })).firings;
  return {
    triggerId: trigger.id, address: trigger.config.address, rows,
    /** Waits for n rows; returns the inputs of the runs that they started. */
    async inputs(n) {
      const all = await until(`${n} rows`, async () => { const got = await rows(); return got.length >= n ? got : undefined; }, 60);
      assert.equal(all.length, n);
      const runs = await Promise.all(all.filter((row) => row.decision === 'started').map((row) => ended(client, row.executionId)));
      return runs.map((run) => run.steps[0].input);
    },
  };
}

const lines = (...all) => all.join('\n') + '\n';

test('swaks: a message starts a run', async () => {
  const box = await mailbox();
  const sent = await swaks(server.smtpAddr, box.address, { flags: ['--header', 'Subject: Grüße', '--body', 'one\n.\n..two\n', '--h-X-Kind', 'order'] });
  assert.equal(sent.status, 0, sent.dialogue);
  const [input] = await box.inputs(1);
  assert.equal(input.subject, 'Grüße');
  assert.deepEqual(input.from, { address: 'ada@sender.example', name: '' });
  assert.deepEqual(input.to, [{ address: box.address, name: '' }]);
  assert.equal(input.text.trim(), 'one\n.\n..two');
  assert.deepEqual(input.headers['x-kind'], ['order']);
  assert.deepEqual(input.attachments, []);
});

test('swaks: STARTTLS, BDAT chunks and an attachment', async () => {
  const box = await mailbox();
  const sent = await swaks(server.smtpAddr, box.address, { flags: ['--tls', '--pipeline', '--attach-name', 'färbung.bin', '--attach-type', 'application/x-unknown', '--attach', '@/bin/sh'] });
  assert.equal(sent.status, 0, sent.dialogue);
  assert.match(sent.dialogue, /=== TLS started/);
  const [input] = await box.inputs(1);
  const [file] = input.attachments;
  const answer = await fetch(file.url, { headers: { Authorization: `Bearer ${server.key}` } });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/octet-stream');
  assert.equal((await answer.arrayBuffer()).byteLength, file.size);
  assert.equal((await fetch(file.url)).status, 401);
});

for (const [what, to, flags, status] of [
  ['an unknown recipient', () => 'nobody@flows.example', [], 24],
  ['another domain', () => 'ada@elsewhere.example', [], 24],
  ['a way through with %', (address) => `ada%elsewhere.example@${address.split('@')[1]}`, [], 24],
  ['a source route', (address) => `@flows.example:${address}`, [], 24],
  ['a tag', (address) => address.replace('@', '+tag@'), [], 24],
  ['somebody who wants to sign in', (address) => address, ['--auth', 'PLAIN', '--auth-user', 'x', '--auth-password', 'y'], 28],
]) {
  test(`swaks: ${what} is refused`, async () => {
    const box = await mailbox();
    const sent = await swaks(server.smtpAddr, to(box.address), { flags });
    assert.equal(sent.status, status, sent.dialogue);
    assert.deepEqual(await box.rows(), []);
  });
}

test('swaks: an inactive trigger, and one with allowed senders', async () => {
  const off = await mailbox();
  await client.blueprintTriggers.update.mutate({ triggerId: off.triggerId, isActive: false });
  assert.equal((await swaks(server.smtpAddr, off.address)).status, 24);
  assert.equal((await off.rows())[0].decision, 'refused');
  const some = await mailbox({ allowFrom: ['@friends.example'] });
  assert.equal((await swaks(server.smtpAddr, some.address)).status, 0);
  assert.equal((await some.rows())[0].decision, 'skipped');
});

test('Postfix: one message for two mailboxes starts both, encrypted', async () => {
  const [one, two] = [await mailbox(), await mailbox()];
  const sent = await swaks(`127.0.0.1:${postfix.port}`, `${one.address},${two.address}`, { flags: ['--body', 'hello'] });
  assert.equal(sent.status, 0, sent.dialogue);
  const [[a], [b]] = [await one.inputs(1), await two.inputs(1)];
  assert.equal(a.messageId, b.messageId);
  assert.equal(a.text.trim(), 'hello');
  assert.match(await postfix.log(), /TLS connection established to 127\.0\.0\.1/);
  assert.match(a.headers.received.join('\n'), /relay\.sender\.example/);
});

test('Postfix: 8 MB with long lines, dots and 8-bit letters arrive complete', async () => {
  const box = await mailbox();
  const content = randomBytes(6_000_000);
  const message = lines(
    'From: Ada <ada@sender.example>', `To: ${box.address}`, 'Subject: large', 'Message-ID: <large@sender.example>', 'MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b', '',
    '--b', 'Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: 8bit', '', 'Grüße', '.', '..', '.x', 'x'.repeat(900), '--b', 'Content-Type: application/octet-stream; name=random.bin', 'Content-Transfer-Encoding: base64', '',
    content.toString('base64').replace(/.{76}/g, '$&\n'), '--b--');
  const sent = await swaks(`127.0.0.1:${postfix.port}`, box.address, { message });
  assert.equal(sent.status, 0, sent.dialogue.slice(-500));
  const [input] = await box.inputs(1);
  assert.equal(input.text, `Grüße\n.\n..\n.x\n${'x'.repeat(900)}`);
  const answer = await fetch(input.attachments[0].url, { headers: { Authorization: `Bearer ${server.key}` } });
  const digest = (bytes) => createHash('sha256').update(bytes).digest('hex');
  assert.equal(digest(Buffer.from(await answer.arrayBuffer())), digest(content));
});

test('Postfix: the same Message-ID twice starts one run', async () => {
  const box = await mailbox();
  for (let i = 0; i < 2; i++) {
    const sent = await swaks(`127.0.0.1:${postfix.port}`, box.address, { flags: ['--header', 'Message-Id: <twice@sender.example>'] });
    assert.equal(sent.status, 0, sent.dialogue);
  }
  assert.equal((await box.inputs(2)).length, 1);
  assert.deepEqual((await box.rows()).map((row) => row.decision).sort(), ['duplicate', 'started']);
});

test('Postfix: mail to an unknown recipient bounces immediately', async () => {
  const sent = await swaks(`127.0.0.1:${postfix.port}`, 'nobody@flows.example');
  assert.equal(sent.status, 0, sent.dialogue);
  await until('the bounce', async () => (/to=<nobody@flows\.example>.*status=bounced.*550 5\.1\.1/.test(await postfix.log()) ? true : undefined), 30);
});

test('Postfix: mail that a blueprint cannot accept bounces with the reason', async () => {
  const { id } = await client.blueprint.create.mutate({ title: 'No nodes', blueprint_map: { nodes: [] } });
  const trigger = await client.blueprintTriggers.create.mutate({ blueprintId: id, triggerType: 'email' });
  const sent = await swaks(`127.0.0.1:${postfix.port}`, trigger.config.address);
  assert.equal(sent.status, 0, sent.dialogue);
  await until('the bounce', async () => (/status=bounced.*554 5\.7\.1/.test(await postfix.log()) ? true : undefined), 30);
  const { firings } = await client.blueprintTriggers.history.query({ triggerId: trigger.id });
  assert.equal(firings[0].decision, 'refused');
});

test('Postfix: mail from the time of an outage arrives later, once', async () => {
  const flags = ['--smtp-addr', `127.0.0.1:${await freePort()}`, '--mail-domain', 'flows.example'];
  const first = await startServer({ onDisk: true, flags });
  const relay = await startPostfix(first.smtpAddr);
  let second;
  try {
    let theirs = connect(first.baseUrl, first.key);
    const { id } = await theirs.blueprint.create.mutate({ title: 'Away', blueprint_map: { nodes: [node('seen', 'transform', { expression: '1' })] } });
    const trigger = await theirs.blueprintTriggers.create.mutate({ blueprintId: id, triggerType: 'email' });
    await first.stop({ keep: true });
    for (let i = 0; i < 3; i++) {
      const sent = await swaks(`127.0.0.1:${relay.port}`, trigger.config.address);
      assert.equal(sent.status, 0, sent.dialogue);
    }
    await until('that they are put off', async () => ((await relay.log()).match(/status=deferred/g)?.length >= 3 ? true : undefined), 30);
    second = await startServer({ onDisk: true, flags, place: first.place });
    theirs = connect(second.baseUrl, second.key);
    await relay.flush();
    const rows = await until('three runs', async () => {
      const { firings } = await theirs.blueprintTriggers.history.query({ triggerId: trigger.id });
      return firings.length >= 3 ? firings : undefined;
    }, 60);
    assert.deepEqual(rows.map((row) => row.decision), ['started', 'started', 'started']);
  } finally {
    await stopAll(relay, second ?? first);
  }
});
