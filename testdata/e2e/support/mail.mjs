// Mail servers on loopback, made of the npm packages smtp-server and mailparser: they return
// messages as a mail program would show them.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';

const run = promisify(execFile);

/** Creates a certificate for loopback: {file, key, cert, remove()}. */
export async function makeCertificate() {
  const folder = await mkdtemp(join(tmpdir(), 'blueprintd-e2e-tls-'));
  const [key, file] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  await run('openssl', [
    'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-keyout', key, '-out', file,
    '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost',
  ]);
  return { file, key: await readFile(key), cert: await readFile(file), remove: () => rm(folder, { recursive: true, force: true }) };
}

/**
 * Starts a mail server. Options go to SMTPServer; password is that of "ada".
 * Returns port, mails ({mail, raw, envelope, secure, user}), rcpt (a function
 * that a suite may set: it returns the error for a recipient, if any), end (the
 * same for a whole message; "vanish" closes the connection), and stop().
 */
export async function startMail({ certificate, password, ...options }) {
  const sink = { mails: [], attempts: 0, rcpt: () => undefined, end: () => undefined };
  const server = new SMTPServer({
    key: certificate.key, cert: certificate.cert, hideSMTPUTF8: false, hide8BITMIME: false, logger: false, disableReverseLookup: true, closeTimeout: 100, ...options,
    onAuth(auth, session, done) {
      if (auth.username === 'ada' && auth.password === password) done(null, { user: auth.username });
      else done(new Error('Invalid username or password'));
    },
    onRcptTo: (address, session, done) => done(sink.rcpt(address.address)),
    async onData(stream, session, done) {
      const parts = [];
      for await (const part of stream) parts.push(part);
      sink.attempts++;
      const trouble = sink.end();
      if (trouble === 'vanish') {
        for (const connection of server.connections) connection._socket.destroy();
        return;
      }
      if (trouble) return done(trouble);
      const raw = Buffer.concat(parts).toString('latin1');
      const mail = await simpleParser(Buffer.concat(parts), { skipTextToHtml: true, skipHtmlToText: true });
      sink.mails.push({ mail, raw, secure: session.secure, user: session.user, envelope: { from: session.envelope.mailFrom.address, to: session.envelope.rcptTo.map(({ address }) => address) } });
      done();
    },
  });
  server.on('error', () => {}); // of clients that disconnect
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return Object.assign(sink, {
    port: server.server.address().port,
    stop: () => new Promise((resolve) => server.close(resolve)),
  });
}

/** An SMTP error with a status code. */
export const refusal = (responseCode, text) => Object.assign(new Error(text), { responseCode });
