// Starts and stops the executable like an operator: it must be ready when its ready file
// exists, and exit with status 0 when it is stopped.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from './poll.mjs';
import { createDatabase, onPostgreSQL } from './postgres.mjs';

const run = promisify(execFile);

/** The API key of the owner of every server started here. */
export const KEY = 'e2e-key-of-the-first-user';

function binary() {
  const path = process.env.BLUEPRINTD;
  if (!path) throw new Error('BLUEPRINTD names no binary; start the suites with testdata/e2e/run.sh');
  return path;
}

/** Makes a folder for a server and its database; clean() removes both. */
async function makePlace() {
  const folder = await mkdtemp(join(tmpdir(), 'blueprintd-e2e-'));
  const remote = onPostgreSQL ? await createDatabase() : undefined;
  const masterKey = join(folder, 'key');
  if (remote) await run(binary(), ['master-key', 'create', masterKey]);
  const database = remote ? ['--database', remote.url, '--master-key-file', masterKey] : ['--db', join(folder, 'e2e.db')];
  const clean = async () => {
    await remote?.drop();
    await rm(folder, { recursive: true, force: true });
  };
  return { folder, database, clean };
}

/**
 * Starts `blueprintd serve` on a free port and waits until it is ready.
 * Options: flags (more of them), onDisk (a database file instead of
 * --ephemeral), seed (an object for --seed), place (that of a server which was stopped with
 * {keep: true}: its database). With BLUEPRINTD_TEST_POSTGRES the database is one
 * of that server. Returns baseUrl, apiHost, key, command(...args) for other commands on the
 * same database, place, and stop().
 */
export async function startServer({ flags = [], onDisk = false, seed, place } = {}) {
  place ??= await makePlace();
  const { folder, database, clean } = place;
  const readyFile = join(folder, 'ready.json');
  await rm(readyFile, { force: true });
  const given = ['serve', '--addr', '127.0.0.1:0', '--api-key', KEY, '--ready-file', readyFile];
  given.push(...(onDisk || onPostgreSQL ? database : ['--ephemeral']));
  if (seed) {
    await writeFile(join(folder, 'seed.json'), JSON.stringify(seed));
    given.push('--seed', join(folder, 'seed.json'));
  }
  given.push(...flags);

  const child = spawn(binary(), given, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (text) => (said += text));
  child.stderr.on('data', (text) => (said += text));
  process.once('exit', () => child.kill('SIGKILL')); // nothing is left behind when a suite is interrupted
  let outcome; // {code, signal} once it has ended
  const exit = new Promise((resolve) => {
    child.on('error', (error) => resolve((outcome = { error })));
    child.on('exit', (code, signal) => resolve((outcome = { code, signal })));
  });

  async function stop({ keep = false } = {}) {
    try {
      if (!outcome) child.kill('SIGTERM');
      const patience = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await exit;
      clearTimeout(patience);
      assert.deepEqual(outcome, { code: 0, signal: null }, `SIGTERM must end the server with status 0; it said:\n${said}`);
    } finally {
      if (!keep) await clean();
    }
  }

  try {
    // The file is written atomically, so it must parse as soon as it exists.
    const text = await until('the ready file', async () => {
      if (outcome) throw new Error(`serve ended early (${JSON.stringify(outcome)}):\n${said}`);
      return readFile(readyFile, 'utf8').catch(() => undefined);
    });
    const ready = JSON.parse(text);
    assert.equal(ready.pid, child.pid, 'the ready file names the process');
    assert.equal(ready.apiKey, KEY, 'the ready file repeats the key that was given');
    assert.equal(ready.baseUrl, `${ready.apiHost}/api/trpc`);
    const command = async (...words) => (await run(binary(), [...words, ...database])).stdout.trim();
    return { ...ready, key: KEY, command, place, stop, said: () => said };
  } catch (error) {
    if (!outcome) child.kill('SIGKILL');
    await clean();
    throw error;
  }
}

/** Stops all servers and services, even if one fails to stop; those that never started are undefined. */
export async function stopAll(...running) {
  const settled = await Promise.allSettled(running.map((one) => one?.stop?.()));
  for (const { reason } of settled) if (reason) throw reason;
}
