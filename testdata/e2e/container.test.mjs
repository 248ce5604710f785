// The container image for both processors, built by Debian's buildah from packaging/ and run as
// process 1 of its own namespaces. No container runtime is needed: unshare and chroot provide the
// image's files, user, variables and volume, which is what matters here. QEMU runs the image for
// the processor that this machine does not have. Needs root.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { access, chown, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { until } from './support/poll.mjs';

const run = promisify(execFile);
const packaging = join(dirname(fileURLToPath(import.meta.url)), '../../packaging');
const USER = 65532;
const KEY = 'key-of-the-container';

const NATIVE = { x64: 'amd64', arm64: 'arm64' }[process.arch];
const FOREIGN = { amd64: 'arm64', arm64: 'amd64' }[NATIVE];

let folder; // of all files created here
let config; // of the image in use
let root; // its files, unpacked
let port;

const buildah = async (...words) =>
  (await run('buildah', ['--storage-driver', 'vfs', '--root', join(folder, 'store'), '--runroot', join(folder, 'run'), ...words], { maxBuffer: 16 << 20 })).stdout.trim();

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port: free } = server.address();
      server.close(() => resolve(free));
    });
  });

before(async () => {
  assert.equal(process.getuid(), 0, 'the container suite needs root; hint: sudo testdata/e2e/run.sh container.test.mjs');
  for (const program of ['buildah', 'unshare', 'chroot']) {
    await run(program, ['--version']).catch(() => assert.fail(`${program} is missing; hint: apt-get install --no-install-recommends buildah util-linux coreutils`));
  }
  folder = await mkdtemp(join(tmpdir(), 'blueprintd-image-'));
  port = await freePort();
});

const NAME = 'localhost/blueprintd:e2e';

/** Builds the image for a processor into the list of images, and unpacks it. */
async function build(processor, ...program) {
  const context = join(folder, processor);
  await run(join(packaging, 'image.sh'), [context, ...program], { env: { ...process.env, GOARCH: processor } });
  // Chroot isolation and the vfs driver need neither user namespaces nor an overlay.
  const id = join(folder, `${processor}.id`);
  await buildah('bud', '--isolation', 'chroot', '--format', 'docker', '--platform', `linux/${processor}`, '--build-arg', 'VERSION=9.9.9', '--manifest', NAME, '--iidfile', id, '--file', join(packaging, 'Containerfile'), context);
  const image = (await readFile(id, 'utf8')).trim().replace(/^sha256:/, '');
  const described = JSON.parse(await buildah('inspect', '--type', 'image', image));
  config = described.Docker.config;
  root = await buildah('mount', await buildah('from', '--pull-never', image));
  return { image, architecture: described.Docker.architecture };
}

/** Lets the kernel run programs for another processor with QEMU until the returned function is called. */
async function emulate(processor) {
  const name = `qemu-${{ amd64: 'x86_64', arm64: 'aarch64' }[processor]}`;
  const rule = await readFile(`/usr/lib/binfmt.d/${name}.conf`, 'utf8').catch(() => assert.fail(`${name}-static is missing; hint: apt-get install --no-install-recommends qemu-user-static`));
  const place = '/proc/sys/fs/binfmt_misc';
  const mounted = await access(`${place}/register`).then(() => true, () => false);
  if (!mounted) await run('mount', ['-t', 'binfmt_misc', 'binfmt_misc', place]);
  const known = await access(`${place}/${name}`).then(() => true, () => false);
  if (!known) await writeFile(`${place}/register`, rule);
  return async () => {
    if (!known) await writeFile(`${place}/${name}`, '-1');
    if (!mounted) await run('umount', [place]);
  };
}

after(async () => {
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Runs the image as a container runtime does, as process 1. Returns pid (on the host), stop(signal) and its output. */
async function start(volume, variables = {}) {
  const env = Object.fromEntries(config.Env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
  Object.assign(env, { BLUEPRINTD_ADDR: `127.0.0.1:${port}`, BLUEPRINTD_API_KEY: KEY }, variables);
  const script = 'mkdir -p "$1/proc"; mount -t proc proc "$1/proc"; mount --bind "$2" "$1/data"; root=$1; user=$3; folder=$4; shift 4; exec unshare --root="$root" --wd="$folder" --setuid="${user%:*}" --setgid="${user#*:}" "$@"';
  const words = ['--pid', '--mount', '--fork', '--kill-child', 'sh', '-ec', script, 'sh', root, volume, config.User, config.WorkingDir, ...config.Entrypoint, ...config.Cmd];
  const child = spawn('unshare', words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (text) => (said += text));
  child.stderr.on('data', (text) => (said += text));
  process.once('exit', () => child.kill('SIGKILL'));
  let outcome;
  const exit = new Promise((resolve) => child.on('exit', (code, signal) => resolve((outcome = { code, signal }))));
  const healthy = () =>
    run('chroot', ['--userspec=' + config.User, root, ...config.Healthcheck.Test.slice(1)], { env }).then(({ stdout }) => stdout, () => undefined);
  const health = await until('the container is healthy', () => (outcome ? Promise.reject(new Error(`it ended: ${JSON.stringify(outcome)}\n${said}`)) : healthy()), 60);
  const pid = Number((await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim());
  return {
    pid, health, said: () => said,
    async stop(signal) {
      process.kill(pid, signal);
      await exit;
      return outcome;
    },
  };
}

async function call(path, body, headers = { authorization: `Bearer ${KEY}` }) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: body === undefined ? 'GET' : 'POST', headers: { 'content-type': 'application/json', ...headers }, body: body && JSON.stringify(body) });
  return { status: answer.status, body: await answer.json() };
}
async function procedure(name, input) {
  const { status, body } = await call(`/api/trpc/${name}`, { json: input });
  assert.equal(status, 200, JSON.stringify(body));
  return body.result.data.json;
}

for (const processor of [NATIVE, FOREIGN]) describe(`container image for ${processor}`, () => {
  let built;
  let restore = async () => {};
  before(async () => {
    if (processor === FOREIGN) restore = await emulate(processor);
    built = await build(processor, ...(processor === NATIVE ? [process.env.BLUEPRINTD] : []));
  });
  after(() => restore());

  test('serves without arguments, under any user ID', async (t) => {
    assert.equal(built.architecture, processor);
    assert.deepEqual(config.Entrypoint, ['/blueprintd']);
    assert.deepEqual(config.Cmd, ['serve']);
    assert.equal(config.User, `${USER}:${USER}`);
    assert.equal(config.WorkingDir, '/data');
    assert.deepEqual(Object.keys(config.Volumes), ['/data']);
    assert.deepEqual(Object.keys(config.ExposedPorts), ['8787/tcp']);
    assert.deepEqual(config.Healthcheck.Test, ['CMD', '/blueprintd', 'health']);
    assert.equal(config.StopSignal, 'SIGTERM');
    assert.equal(config.Labels['org.opencontainers.image.version'], '9.9.9');
    assert.ok(config.Env.includes('BLUEPRINTD_ADDR=0.0.0.0:8787') && !config.Env.some((one) => one.startsWith('BLUEPRINTD_DB=')), config.Env);
    const size = (await buildah('images', '--format', '{{.ID}} {{.Size}}', '--all', '--no-trunc')).split('\n').find((line) => line.includes(built.image));
    t.diagnostic(`image: ${size}`);
  });

  test('contains only the program and what it needs', async () => {
    assert.deepEqual((await readdir(root)).filter((name) => name !== 'proc').sort(), ['LICENSE', 'blueprintd', 'data', 'etc', 'tmp']);
    const data = await stat(join(root, 'data'));
    assert.deepEqual([data.uid, data.gid], [USER, USER]);
    assert.equal((await stat(join(root, 'tmp'))).mode & 0o7777, 0o1777);
    const roots = await readFile(join(root, 'etc/ssl/certs/ca-certificates.crt'), 'utf8');
    assert.ok(roots.split('BEGIN CERTIFICATE').length > 50, 'the roots of certificates are there');
    await assert.rejects(access(join(root, 'bin/sh')));
  });

  test('runs as process 1, keeps its data and leaves no process behind', async () => {
    const volume = join(folder, `volume-${processor}`);
    await mkdir(volume);
    await chown(volume, USER, USER);
    let box = await start(volume);
    try {
      assert.equal(box.health, `http://127.0.0.1:${port} is ready\n`);
      const status = await readFile(`/proc/${box.pid}/status`, 'utf8');
      assert.match(status, new RegExp(`^NSpid:\\s+${box.pid}\\s+1$`, 'm'));
      assert.match(status, new RegExp(`^Uid:\\s+${USER}\\s+${USER}\\s+${USER}\\s+${USER}$`, 'm'));

      // A child process runs a script, and another is killed at its deadline. QEMU has no
      // seccomp, without which the server runs no script.
      const code = (source, more) => ({ nodes: [{ id: 'code', type: 'code', title: 'Code', config: { language: 'javascript', source, ...more } }] });
      const emulated = processor === FOREIGN;
      const adding = emulated ? { nodes: [{ id: 'add', type: 'set', title: 'Add', config: { values: { sum: '{{= inputData.a + inputData.b }}' } } }] } : code('return inputData.a + inputData.b');
      const output = (value) => (emulated ? { sum: value } : value);
      const sum = await procedure('blueprint.create', { title: 'Sum', blueprint_map: adding });
      const loop = await procedure('blueprint.create', { title: 'Loop', blueprint_map: code('for (;;);', { timeoutMs: 100 }) });
      const endless = await procedure('blueprint.execute', { id: loop.id });
      assert.equal(endless.result.status, 'failed', JSON.stringify(endless));
      assert.equal(endless.result.error.code, emulated ? 'sandbox_unavailable' : 'timeout');

      const trigger = await procedure('blueprintTriggers.create', { blueprintId: sum.id, triggerType: 'webhook', config: { respond: 'wait' } });
      const address = `/webhooks/blueprint/${trigger.id}`;
      assert.deepEqual(await call(address, { a: 40, b: 2 }, {}), { status: 200, body: output(42) });
      const children = (await readFile(`/proc/${box.pid}/task/${box.pid}/children`, 'utf8')).trim().split(/\s+/).filter(Boolean);
      for (const child of children) {
        assert.doesNotMatch(await readFile(`/proc/${child}/status`, 'utf8').catch(() => ''), /^State:\s+Z/m, 'a child that ended was not buried');
      }

      assert.notEqual((await box.stop('SIGKILL')).code, 0);
      box = await start(volume);
      assert.deepEqual(await call(address, { a: 1, b: 2 }, {}), { status: 200, body: output(3) }, 'the volume has kept the trigger');

      assert.deepEqual(await box.stop('SIGTERM'), { code: 0, signal: null }, box.said());
      box = undefined;
      await assert.rejects(run('chroot', ['--userspec=' + config.User, root, '/blueprintd', 'health'], { env: { PATH: process.env.PATH, BLUEPRINTD_ADDR: `127.0.0.1:${port}` } }), { code: 1 });
      assert.ok(!(await readdir(volume)).includes('blueprintd.db-wal'), 'it ended as one that was told to');
    } finally {
      await box?.stop('SIGKILL');
    }
  });

  test('runs as a service configured by variables only', async () => {
    const volume = join(folder, `unused-${processor}`);
    await mkdir(volume);
    await chown(volume, USER, USER);
    const workflow = await readFile(join(packaging, 'github-service.yml'), 'utf8');
    const variables = Object.fromEntries([...workflow.matchAll(/^ +(BLUEPRINTD_[A-Z_]+): "?([^"\n]+)"?$/gm)].map(([, name, value]) => [name, value]));
    assert.ok(Object.keys(variables).length >= 4, JSON.stringify(variables));
    const box = await start(volume, { ...variables, BLUEPRINTD_API_KEY: KEY });
    try {
      const { body } = await call('/clock/advance', { by: '24h' });
      assert.equal(body.now, '2000-01-02T00:00:00.000Z');
      assert.deepEqual(await readdir(volume), [], 'nothing is on disk');
    } finally {
      assert.deepEqual(await box.stop('SIGTERM'), { code: 0, signal: null }, box.said());
    }
  });
});

test('one name has the images for both processors', async () => {
  const list = JSON.parse(await buildah('manifest', 'inspect', NAME));
  assert.deepEqual(list.manifests.map((m) => `${m.platform.os}/${m.platform.architecture}`).sort(), ['linux/amd64', 'linux/arm64']);
});
