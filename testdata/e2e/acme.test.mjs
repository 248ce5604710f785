// ACME certificates: the authority checks that the domain leads to the server, by TLS on port
// 443 or by plain HTTP; the certificate is kept for the next start, and renewed in time.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import http from 'node:http';
import http2 from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import tls from 'node:tls';
import { buildPebble, freePort, startPebble } from './support/acme.mjs';
import { until } from './support/poll.mjs';
import { startServer, stopAll } from './support/server.mjs';

const domain = 'flows.example.org';

let built, folder, running;
before(async () => {
  built = await buildPebble();
  process.env.SSL_CERT_FILE = built.certificate.file; // the server trusts the address of the authority
});
after(() => built?.remove());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'blueprintd-e2e-acme-'));
  running = [];
});
afterEach(async () => {
  await stopAll(...running.splice(0));
  await rm(folder, { recursive: true, force: true });
});

async function authority(options) {
  const pebble = await startPebble(built, options);
  running.push(pebble);
  return pebble;
}

async function serve(pebble, port, ...flags) {
  const server = await startServer({ flags: ['--addr', `127.0.0.1:${port}`, '--acme-domain', domain, '--acme-dir', folder, '--acme-directory', pebble.directory, '--acme-email', 'ops@example.org', ...flags] });
  running.push(server);
  assert.equal(server.apiHost, `https://${domain}:${port}`);
  return server;
}

async function stop(server) {
  running.splice(running.indexOf(server), 1);
  await server.stop();
}

/** Connects and returns the certificate, which must be valid for the domain. */
function shown(port, ca, servername = domain) {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host: '127.0.0.1', port, servername, ca, ALPNProtocols: ['h2', 'http/1.1'] }, () => {
      resolve({ ...socket.getPeerCertificate(), alpn: socket.alpnProtocol });
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

/** Sends an HTTP/2 request and returns the headers of the response. */
function asked(port, ca, path) {
  return new Promise((resolve, reject) => {
    const session = http2.connect(`https://${domain}:${port}`, { ca, lookup: (name, options, found) => found(null, [{ address: '127.0.0.1', family: 4 }]) });
    session.on('error', reject);
    const stream = session.request({ ':path': path });
    stream.on('response', (headers) => {
      resolve(headers);
      session.destroy();
    });
    stream.on('error', reject);
  });
}

/** Waits until there is a certificate, and returns it. The server repeats a failed attempt after 70 seconds. */
async function obtained(port, pebble) {
  try {
    return await until('a certificate', async () => shown(port, await pebble.roots()).catch(() => undefined), 150);
  } catch (error) {
    error.message += `; it was said:\n${running.map(({ said }) => said()).join('\n')}`;
    throw error;
  }
}

test('obtains a certificate on port 443 and keeps it across a restart', async () => {
  const port = await freePort();
  const pebble = await authority({ tlsPort: port, httpPort: await freePort() });
  let server = await serve(pebble, port);
  const first = await obtained(port, pebble);
  assert.equal(first.subjectaltname, `DNS:${domain}`);
  assert.equal(first.alpn, 'h2');
  assert.match(pebble.said(), /Starting 3 validations/, 'the authority came and saw');

  const health = await asked(port, await pebble.roots(), '/healthz');
  assert.equal(health[':status'], 200);
  assert.equal(health['strict-transport-security'], undefined, 'not on a port of its own');

  // Only the server can read the keys.
  assert.equal((await stat(folder)).mode & 0o77, 0);
  for (const name of await readdir(folder)) assert.equal((await stat(join(folder, name))).mode & 0o77, 0, name);

  await stop(server);
  const issued = pebble.said().match(/Issued certificate/g).length;
  server = await serve(pebble, port);
  assert.equal((await obtained(port, pebble)).serialNumber, first.serialNumber, 'the next start shows the same one');
  assert.equal(pebble.said().match(/Issued certificate/g).length, issued, 'and asks for none');
});

test('proves a domain over plain HTTP and redirects other requests to HTTPS', async () => {
  const [port, httpPort] = [await freePort(), await freePort()];
  const pebble = await authority({ tlsPort: await freePort(), httpPort });
  await serve(pebble, port, '--acme-http-addr', `127.0.0.1:${httpPort}`);
  assert.equal((await obtained(port, pebble)).subjectaltname, `DNS:${domain}`);
  const answer = await new Promise((resolve, reject) => http.get({ host: '127.0.0.1', port: httpPort, path: '/a?b=1', headers: { host: domain } }, resolve).on('error', reject));
  assert.equal(answer.statusCode, 308);
  assert.equal(answer.headers.location, `https://${domain}:${port}/a?b=1`);
});

test('renews a certificate before it expires, without a restart', async () => {
  const port = await freePort();
  const pebble = await authority({ tlsPort: port, httpPort: await freePort(), seconds: 15 });
  await serve(pebble, port);
  const first = await obtained(port, pebble);
  const next = await until('another one', async () => {
    const now = await shown(port, await pebble.roots());
    return now.serialNumber === first.serialNumber ? undefined : now;
  }, 60);
  assert.ok(Date.parse(next.valid_to) > Date.parse(first.valid_to));
});
