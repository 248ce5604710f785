// A machine with a systemd of its own: systemd-nspawn boots the system of this machine, with
// an overlay that takes what is written. It has a loopback interface and no network.
//
// The overlay assumes that no test changes the system itself, such as /usr and /etc.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { until } from './poll.mjs';

const run = promisify(execFile);
const environment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LANG: 'C.UTF-8', SYSTEMD_PAGER: '' };

/**
 * Returns why no machine can be booted here, such as in a container that may not mount; undefined if one can. Fails if
 * a program is missing.
 */
export async function whyNotBootable() {
  if (process.getuid() !== 0) return 'it needs root';
  for (const [program, name] of [['systemd-nspawn', 'systemd-container'], ['systemctl', 'systemd'], ['nsenter', 'util-linux']]) {
    await run(program, ['--version']).catch(() => assert.fail(`${program} is missing; hint: apt-get install --no-install-recommends ${name}`));
  }
  const files = await overlay().catch((error) => error);
  if (files instanceof Error) return files.message;
  try {
    await run('systemd-nspawn', [...flagsOf(files), '--', 'true']);
  } catch (error) {
    return error.message;
  } finally {
    await files.remove();
  }
}

/** Mounts the system of this machine. What is written goes to a temporary folder. */
async function overlay() {
  const folder = await mkdtemp(join(tmpdir(), 'blueprintd-machine-'));
  const [upper, work, root] = ['upper', 'work', 'root'].map((name) => join(folder, name));
  for (const path of [upper, work, root]) await mkdir(path);
  try {
    await run('mount', ['-t', 'overlay', 'overlay', '-o', `lowerdir=/,upperdir=${upper},workdir=${work}`, root]);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  const name = basename(folder);
  return {
    root,
    name,
    async remove() {
      await run('umount', [root]);
      await rm(folder, { recursive: true, force: true });
      await rmdir(`/run/systemd/nspawn/propagate/${name}`).catch(() => {});
    },
  };
}

const flagsOf = ({ root, name }) => ['--quiet', '--register=no', '--keep-unit', '--private-network', '--link-journal=no', '--console=pipe', `--machine=${name}`, `--directory=${root}`];

/** Boots a machine. Its path(name) is where a file of it is here; run(...) runs a program in it. */
export async function boot() {
  const files = await overlay();
  const path = (name) => join(files.root, name);

  // A target with what every service needs, and nothing else that this machine has.
  const units = path('/etc/systemd/system');
  await writeFile(join(units, 'test.target'), '[Unit]\nRequires=basic.target\nAfter=basic.target\n');
  await rm(join(units, 'timers.target'), { force: true });
  await symlink('/dev/null', join(units, 'timers.target'));
  for (const name of ['/usr/local/bin/blueprintd', '/etc/blueprintd', '/var/lib/blueprintd', '/var/lib/private/blueprintd']) await rm(path(name), { recursive: true, force: true });

  const child = spawn('systemd-nspawn', [...flagsOf(files), '--boot', '--', 'systemd.unit=test.target'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  let ended;
  child.stdout.on('data', (text) => (said += text));
  child.stderr.on('data', (text) => (said += text));
  const exit = new Promise((resolve) => child.on('exit', () => resolve((ended = true))));
  process.once('exit', () => child.kill('SIGKILL'));

  let init; // the systemd of the machine
  const inside = (words, options = {}) => run('nsenter', ['--target', String(init), '--all', '--', ...words], { env: environment, maxBuffer: 16 << 20, ...options });
  const stop = async () => {
    if (init) process.kill(init, 'SIGKILL');
    else child.kill('SIGKILL');
    await exit;
    await files.remove();
  };
  try {
    await until('the machine has booted', async () => {
      if (ended) throw new Error(`systemd-nspawn ended:\n${said}`);
      const children = (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim();
      if (!children) return undefined;
      init = Number(children.split(' ')[0]);
      const { stdout } = await inside(['systemctl', 'is-active', 'test.target']).catch((error) => error);
      return stdout.trim() === 'active' ? true : undefined;
    }, 60);
  } catch (error) {
    error.message += `\n${said}`;
    await stop();
    throw error;
  }
  return { path, run: async (...words) => (await inside(words)).stdout.trim(), stop };
}
