// Pebble, the small certificate authority that Let's Encrypt uses for testing clients, and a
// name server that resolves every name to this machine. Both are fetched through the Go module
// proxy and built once; they are not dependencies of the program.
import { execFile, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeCertificate } from './mail.mjs';
import { until } from './poll.mjs';

const run = promisify(execFile);
const release = 'v2.10.1';

/** Returns a free TCP port. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Returns a free UDP port. */
function freeDatagramPort() {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4');
    socket.on('error', reject);
    socket.bind(0, '127.0.0.1', () => {
      const { port } = socket.address();
      socket.close(() => resolve(port));
    });
  });
}

/** Builds both programs; returns the folder and remove(), which deletes it. */
export async function buildPebble() {
  const folder = await mkdtemp(join(tmpdir(), 'blueprintd-e2e-pebble-'));
  const module = 'github.com/letsencrypt/pebble/v2/cmd';
  await run('go', ['install', `${module}/pebble@${release}`, `${module}/pebble-challtestsrv@${release}`], { cwd: folder, env: { ...process.env, GOBIN: folder, GOFLAGS: '' } });
  return { folder, certificate: await makeCertificate(), async remove() {
    await this.certificate.remove();
    await rm(folder, { recursive: true, force: true });
  } };
}

/**
 * Starts an authority that checks challenges on the two ports and issues
 * certificates that are valid for a number of seconds. Returns directory (its URL), roots() (the
 * PEM of its root certificates), said() (its output) and stop().
 */
export async function startPebble(built, { tlsPort, httpPort, seconds = 90 * 86400 }) {
  const [port, management, names] = [await freePort(), await freePort(), await freeDatagramPort()];
  const folder = await mkdtemp(join(tmpdir(), 'blueprintd-e2e-authority-'));
  await writeFile(join(folder, 'key.pem'), built.certificate.key);
  await writeFile(join(folder, 'config.json'), JSON.stringify({ pebble: {
    listenAddress: `127.0.0.1:${port}`, managementListenAddress: `127.0.0.1:${management}`, certificate: built.certificate.file, privateKey: join(folder, 'key.pem'),
    tlsPort, httpPort, ocspResponderURL: '', externalAccountBindingRequired: false, retryAfter: { authz: 1, order: 1 }, keyAlgorithm: 'ecdsa',
    profiles: { default: { description: 'the only one', validityPeriod: seconds } },
  } }));
  let said = '';
  const children = [
    spawn(join(built.folder, 'pebble-challtestsrv'), ['-dnsserver', `127.0.0.1:${names}`, '-defaultIPv6', '', '-doh', '', '-http01', '', '-https01', '', '-tlsalpn01', '', '-management', `127.0.0.1:${await freePort()}`]),
    // It validates every challenge.
    spawn(join(built.folder, 'pebble'), ['-config', join(folder, 'config.json'), '-dnsserver', `127.0.0.1:${names}`], { env: { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '5' } }),
  ];
  for (const child of children) {
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
    process.once('exit', () => child.kill('SIGKILL'));
  }
  async function stop() {
    for (const child of children) child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
  const fetched = (url) => new Promise((resolve, reject) => {
    https.get(url, { ca: built.certificate.cert }, async (answer) => {
      let text = '';
      for await (const part of answer) text += part;
      resolve(text);
    }).on('error', reject);
  });
  try {
    await until('the authority', () => fetched(`https://127.0.0.1:${port}/dir`).catch(() => undefined));
  } catch (error) {
    await stop();
    throw new Error(`${error.message}; it said:\n${said}`);
  }
  return { directory: `https://127.0.0.1:${port}/dir`, roots: () => fetched(`https://127.0.0.1:${management}/roots/0`), said: () => said, stop };
}
