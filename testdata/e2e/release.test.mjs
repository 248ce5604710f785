// A release as `make release` builds it: its signature, the script that installs it, and its
// packages on a machine with systemd.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFile, cp, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { boot, whyNotBootable } from './support/machine.mjs';
import { until } from './support/poll.mjs';

const run = promisify(execFile);
const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const processor = { x64: 'amd64', arm64: 'arm64' }[process.arch];
const OLD = '9.9.8';
const NEW = '9.9.9';

let folder; // of all files created here
let key; // that signs the releases
const release = (version) => join(folder, version);
const archive = `blueprintd_${NEW}_linux_${processor}.tar.gz`;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'blueprintd-release-'));
  key = join(folder, 'release');
  for (const name of [key, join(folder, 'other')]) await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'a test', '-f', name]);
  for (const version of [OLD, NEW]) {
    const words = ['run', './packaging/release', '-version', version, '-platforms', `linux/${processor}`, '-signing-key', key, '-out', release(version)];
    await run('go', words, { cwd: root, env: { ...process.env, CGO_ENABLED: '0' }, maxBuffer: 16 << 20 });
  }
});

after(async () => {
  if (folder) await rm(folder, { recursive: true, force: true });
});

describe('release', () => {
  test('has checksums of every file, with a signature that ssh-keygen verifies', async () => {
    const names = (await readdir(release(NEW))).sort();
    const sums = await readFile(join(release(NEW), 'SHA256SUMS'), 'utf8');
    const listed = sums.trim().split('\n').map((line) => line.split('  ')[1]).sort();
    assert.deepEqual(names.filter((name) => !name.startsWith('SHA256SUMS')), listed);
    assert.deepEqual(listed, [archive, archive.replace('tar.gz', 'deb'), archive.replace('tar.gz', 'rpm'), `blueprintd_${NEW}_sbom.cdx.json`, 'install.sh'].sort());
    for (const line of sums.trim().split('\n')) {
      const [sum, name] = line.split('  ');
      assert.equal(createHash('sha256').update(await readFile(join(release(NEW), name))).digest('hex'), sum, name);
    }
    // The commands of packaging/README.md.
    await run('sh', ['-ec', 'echo "release $(cat ../release.pub)" > ../signers; ssh-keygen -Y verify -f ../signers -I release -n blueprintd-release -s SHA256SUMS.sig < SHA256SUMS; sha256sum --check --ignore-missing SHA256SUMS'], { cwd: release(NEW) });
  });

  test('has an SBOM with the Go modules of the program and the npm packages of the dashboard', async () => {
    const bill = JSON.parse(await readFile(join(release(NEW), `blueprintd_${NEW}_sbom.cdx.json`), 'utf8'));
    const known = new Map(bill.components.map((c) => [c['bom-ref'], c]));
    const [needs] = bill.dependencies;
    assert.deepEqual([...known.keys()].filter((ref) => !needs.dependsOn.includes(ref)), []);
    assert.deepEqual(needs.dependsOn.filter((ref) => !known.has(ref)), []);
    const { stdout } = await run('go', ['list', '-m', '-f', '{{.Path}}@{{.Version}}', 'modernc.org/sqlite'], { cwd: root });
    assert.ok(known.has(`pkg:golang/${stdout.trim()}`), stdout);
    const { packages } = JSON.parse(await readFile(join(root, 'web/package-lock.json'), 'utf8'));
    for (const name of ['react', '@mantine/core']) {
      const { version, integrity, license } = packages[`node_modules/${name}`];
      const listed = known.get(`pkg:npm/${name.replace('@', '%40')}@${version}`);
      assert.deepEqual([listed.licenses[0].license.id, `sha512-${Buffer.from(listed.hashes[0].content, 'hex').toString('base64')}`], [license, integrity], name);
    }
    assert.ok(![...known.keys()].some((ref) => ref.includes('/eslint@')), 'tools are not in the program');
  });
});

describe('install.sh', () => {
  let server;
  let base;
  let folders = 0;

  before(async () => {
    server = createServer(async (request, response) => {
      const data = await readFile(join(folder, request.url)).catch(() => undefined);
      response.writeHead(data ? 200 : 404);
      response.end(data);
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${server.address().port}`;
  });
  after(() => server.close());

  const install = (from, to, ...words) =>
    run('sh', [join(release(NEW), 'install.sh'), '--from', `${base}/${from}`, '--key', `${key}.pub`, '--to', to, ...words]);
  const target = async () => {
    const to = join(folder, `bin-${++folders}`);
    await mkdir(to);
    return to;
  };
  const copy = async (change) => {
    const name = `copy-${++folders}`;
    await cp(release(NEW), join(folder, name), { recursive: true });
    await change(join(folder, name));
    return name;
  };
  const sign = (at, by, namespace) => run('ssh-keygen', ['-q', '-Y', 'sign', '-f', by, '-n', namespace, join(at, 'SHA256SUMS')]);

  test('installs, upgrades, and installs nothing twice', async () => {
    const to = await target();
    assert.match((await install(OLD, to)).stdout, /^installed blueprintd 9\.9\.8: /);
    assert.equal((await run(join(to, 'blueprintd'), ['version'])).stdout.split('\n')[0].includes(OLD), true);
    assert.match((await install(`${NEW}/`, to, '--version', NEW)).stdout, /^installed blueprintd 9\.9\.9: /);
    const first = await stat(join(to, 'blueprintd'));
    assert.equal(first.mode & 0o777, 0o755);
    assert.match((await install(NEW, to)).stdout, /^blueprintd 9\.9\.9 is installed already: /);
    const second = await stat(join(to, 'blueprintd'));
    assert.deepEqual([second.ino, second.mtimeMs], [first.ino, first.mtimeMs]);
    assert.deepEqual(await readdir(to), ['blueprintd']);
  });

  const tampered = async (at, change) => {
    const data = await readFile(join(at, archive));
    await writeFile(join(at, archive), change(data));
  };
  const flip = (data) => {
    data[data.length >> 1] ^= 1;
    return data;
  };
  // The sums of tampered files, without a new signature.
  const sumsOf = async (at) => {
    const sum = createHash('sha256').update(await readFile(join(at, archive))).digest('hex');
    const sums = await readFile(join(at, 'SHA256SUMS'), 'utf8');
    await writeFile(join(at, 'SHA256SUMS'), sums.replace(new RegExp(`^.*  ${archive}$`, 'm'), `${sum}  ${archive}`));
  };
  const refusals = {
    'a changed archive': [(at) => tampered(at, flip), /does not have the checksum in SHA256SUMS/],
    'a truncated archive': [(at) => tampered(at, (data) => data.subarray(0, data.length - 1000)), /does not have the checksum in SHA256SUMS/],
    'an empty archive': [(at) => tampered(at, () => Buffer.alloc(0)), /does not have the checksum in SHA256SUMS/],
    'a changed archive with its checksum': [async (at) => { await tampered(at, flip); await sumsOf(at); }, /signature of SHA256SUMS is not that of a key/],
    'a changed archive signed by another key': [async (at) => { await tampered(at, flip); await sumsOf(at); await rm(join(at, 'SHA256SUMS.sig')); await sign(at, join(folder, 'other'), 'blueprintd-release'); }, /signature of SHA256SUMS is not that of a key/],
    'a signature for another purpose': [async (at) => { await rm(join(at, 'SHA256SUMS.sig')); await sign(at, key, 'git'); }, /signature of SHA256SUMS is not that of a key/],
    'a truncated signature': [async (at) => { const name = join(at, 'SHA256SUMS.sig'); await writeFile(name, (await readFile(name)).subarray(0, 100)); }, /signature of SHA256SUMS is not that of a key/],
    'an empty list of checksums': [(at) => writeFile(join(at, 'SHA256SUMS'), ''), /signature of SHA256SUMS is not that of a key/],
    'no signature': [(at) => rm(join(at, 'SHA256SUMS.sig')), /SHA256SUMS\.sig cannot be downloaded/],
    'no archive': [(at) => rm(join(at, archive)), /tar\.gz cannot be downloaded/],
    'no program for this machine': [async (at) => { await writeFile(join(at, 'SHA256SUMS'), ''); await rm(join(at, 'SHA256SUMS.sig')); await sign(at, key, 'blueprintd-release'); }, /the release has no program for linux/],
  };
  for (const [name, [change, want]] of Object.entries(refusals)) {
    test(`refuses ${name} and leaves the old program`, async () => {
      const to = await target();
      await writeFile(join(to, 'blueprintd'), 'the old program');
      const from = await copy(change);
      await assert.rejects(install(from, to), (error) => {
        assert.equal(error.code, 1);
        assert.match(error.stderr, want);
        assert.match(error.stderr, /\nhint: /);
        return true;
      });
      assert.deepEqual(await readdir(to), ['blueprintd']);
      assert.equal(await readFile(join(to, 'blueprintd'), 'utf8'), 'the old program');
    });
  }

  test('refuses another version, a private key and wrong arguments', async () => {
    const to = await target();
    const script = join(release(NEW), 'install.sh');
    for (const [words, want] of [
      [['--from', `${base}/${OLD}`, '--key', `${key}.pub`, '--to', to, '--version', NEW], /is version 9\.9\.8, not 9\.9\.9/],
      [['--from', `${base}/${NEW}`, '--key', key, '--to', to], /has no public key/],
      [['--from', `${base}/${NEW}`, '--to', to], /--key is missing/],
      [['--key', `${key}.pub`, '--to', to], /--from is missing/],
      [['--from', `${base}/${NEW}`, '--key', `${key}.pub`, '--to', join(to, 'missing')], /missing is not a folder/],
      [['--from', `${base}/${NEW}`, '--key', join(to, 'missing'), '--to', to], /cannot be read/],
      [['--from', `${base}/missing`, '--key', `${key}.pub`, '--to', to], /SHA256SUMS cannot be downloaded/],
      [['--from'], /--from needs a value/],
      [['--prefix', to], /unknown argument --prefix/],
    ]) {
      await assert.rejects(run('sh', [script, ...words]), (error) => {
        assert.equal(error.code, 1);
        assert.match(error.stderr, want);
        return true;
      });
    }
    assert.deepEqual(await readdir(to), []);
  });

  test('works without curl', async () => {
    const to = await target();
    const path = join(folder, 'path');
    await mkdir(path);
    for (const program of ['uname', 'mktemp', 'rm', 'wget', 'sed', 'head', 'cat', 'ssh-keygen', 'sha256sum', 'grep', 'tar', 'gzip', 'cmp', 'cp', 'chmod', 'mv']) {
      await run('ln', ['-s', (await run('sh', ['-c', `command -v ${program}`])).stdout.trim(), join(path, program)]);
    }
    const { stdout } = await run('/bin/sh', [join(release(NEW), 'install.sh'), '--from', `${base}/${NEW}`, '--key', `${key}.pub`, '--to', to], { env: { PATH: path } });
    assert.match(stdout, /^installed blueprintd 9\.9\.9: /);
  });
});

const notBootable = await whyNotBootable();
if (notBootable) console.error(`the packages are not installed on a machine with systemd: ${notBootable}`);
else describe('packages on a machine with systemd', () => {
  const API_KEY = 'test-key-of-the-first-user'; // of the databases in testdata/forms
  const data = '/var/lib/private/blueprintd';
  let machine;
  let form;
  let previous; // the newest schema version before the present one

  before(async () => {
    machine = await boot();
    for (const version of [OLD, NEW]) {
      for (const format of ['deb', 'rpm']) await cp(join(release(version), `blueprintd_${version}_linux_${processor}.${format}`), machine.path(`/srv/${version}.${format}`));
    }
    previous = (await readdir(join(root, 'testdata/forms'))).map(Number).sort((a, b) => b - a)[1];
    const from = join(root, 'testdata/forms', String(previous));
    form = JSON.parse(await readFile(join(from, 'form.json'), 'utf8'));
    form.files = { 'blueprintd.db': gunzipSync(await readFile(join(from, 'server.db.gz'))), 'blueprintd.db-wal': gunzipSync(await readFile(join(from, 'server.db-wal.gz'))) };
    form.key = await readFile(join(from, 'master.key'));
  });
  after(async () => {
    await machine?.stop();
  });

  const show = async (...names) =>
    Object.fromEntries((await machine.run('systemctl', 'show', 'blueprintd.service', ...names.map((name) => `--property=${name}`))).split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2)));
  const state = async () => (await show('ActiveState')).ActiveState;
  const exists = (name) => machine.run('test', '-e', name).then(() => true, () => false);
  async function call(method, path, body) {
    const words = ['curl', '-sS', '-X', method, '-H', `Authorization: Bearer ${API_KEY}`, '-H', 'Content-Type: application/json', `http://127.0.0.1:8787${path}`];
    if (body !== undefined) words.push('-d', JSON.stringify(body));
    return JSON.parse(await machine.run(...words));
  }
  async function mutate(name, input) {
    const answer = await call('POST', `/api/trpc/${name}`, { json: input });
    assert.ok(answer.result, JSON.stringify(answer));
    return answer.result.data.json;
  }
  async function query(name, input) {
    const answer = await call('GET', `/api/trpc/${name}?input=${encodeURIComponent(JSON.stringify({ json: input }))}`);
    assert.ok(answer.result, JSON.stringify(answer));
    return answer.result.data.json;
  }
  const becomes = (id, status) =>
    until(`${id} is ${status}`, async () => ((await query('execution.getExecutionStatus', { executionId: id })).status === status ? true : undefined));
  const serving = (version) =>
    until(`version ${version} serves`, async () => ((await query('server.getInfo', {}).catch(() => ({}))).version === version ? true : undefined));

  test('the deb package serves a database of the last schema version, and is upgraded', async (t) => {
    const said = await machine.run('dpkg', '--install', `/srv/${OLD}.deb`);
    assert.match(said, /created the master key \/etc\/blueprintd\/master\.key; keep a copy/);
    assert.match(said, /systemctl enable --now blueprintd/);
    assert.equal(await machine.run('stat', '-c', '%a %U', '/etc/blueprintd', '/etc/blueprintd/environment', '/etc/blueprintd/master.key'), '700 root\n600 root\n600 root');
    assert.equal(await state(), 'inactive', 'it starts when it is configured');
    assert.match(await readFile(machine.path('/etc/blueprintd/master.key'), 'utf8'), /^[0-9a-f]{64}\n?$/);

    await t.test('the first start', async () => {
      await machine.run('systemctl', 'enable', '--now', 'blueprintd');
      assert.equal(await state(), 'active');
      assert.match(await machine.run('journalctl', '--unit=blueprintd', '--output=cat'), /API key +bpd_\w+/);
      await machine.run('systemctl', 'stop', 'blueprintd');
    });

    await t.test('a database of the last schema version', async () => {
      await machine.run('sh', '-c', `rm ${data}/blueprintd.db*`);
      for (const [name, content] of Object.entries(form.files)) await writeFile(machine.path(join(data, name)), content, { mode: 0o600 });
      await machine.run('sh', '-c', `chown --reference=${data} ${data}/*`); // the user of the service
      await writeFile(machine.path('/etc/blueprintd/master.key'), form.key);
      await appendFile(machine.path('/etc/blueprintd/environment'), `BLUEPRINTD_API_KEY=${API_KEY}\nBLUEPRINTD_CLOCK=virtual=${form.now}\n`);
      await machine.run('systemctl', 'start', 'blueprintd');
      await serving(OLD);
      assert.ok(await exists(`${data}/blueprintd.db.v${previous}`), 'a copy of the old database');
      for (const [name, status] of Object.entries(form.statuses)) await becomes(form.runs[name], status);
      await mutate('execution.resume', { executionId: form.runs.asked, input: { city: 'Berlin' } });
      await becomes(form.runs.asked, 'completed');
    });

    await t.test('the service is confined, and scripts run', async () => {
      const { MainPID: pid, StatusText: text } = await show('MainPID', 'StatusText');
      assert.equal(text, 'ready on http://127.0.0.1:8787');
      const status = await machine.run('cat', `/proc/${pid}/status`);
      assert.match(status, /^NoNewPrivs:\s+1$/m);
      assert.match(status, /^CapBnd:\s+0000000000000000$/m);
      assert.match(status, /^Seccomp:\s+2$/m);
      assert.doesNotMatch(status, /^Uid:\s+0\s/m);
      const verdict = await machine.run('systemd-analyze', 'security', '--threshold=15', 'blueprintd.service');
      assert.match(verdict, /Overall exposure level for blueprintd\.service: [01]\.\d OK/);
      const nodes = [{ id: 'code', type: 'code', title: 'Code', config: { language: 'javascript', source: 'return inputData.a + inputData.b' } }];
      const { id } = await mutate('blueprint.create', { title: 'Sum', blueprint_map: { nodes } });
      const trigger = await mutate('blueprintTriggers.create', { blueprintId: id, triggerType: 'webhook', config: { respond: 'wait' } });
      assert.equal(await call('POST', `/webhooks/blueprint/${trigger.id}`, { a: 40, b: 2 }), 42);
    });

    await t.test('a server that is killed, or that hangs, is started again', async () => {
      const { MainPID: first } = await show('MainPID');
      await machine.run('kill', '-KILL', first);
      await until('it was restarted', async () => ((await show('NRestarts')).NRestarts === '1' && (await state()) === 'active' ? true : undefined));
      await mkdir(machine.path('/etc/systemd/system/blueprintd.service.d'));
      await writeFile(machine.path('/etc/systemd/system/blueprintd.service.d/watchdog.conf'), '[Service]\nWatchdogSec=2\n');
      await machine.run('systemctl', 'daemon-reload');
      await machine.run('systemctl', 'restart', 'blueprintd');
      const { MainPID: second } = await show('MainPID');
      await machine.run('kill', '-STOP', second);
      await until('the watchdog ended it', async () => ((await show('NRestarts')).NRestarts === '1' && (await state()) === 'active' ? true : undefined), 30);
      assert.notEqual((await show('MainPID')).MainPID, second);
      assert.match(await machine.run('journalctl', '--unit=blueprintd', '--output=cat'), /Watchdog timeout/);
    });

    await t.test('an upgrade restarts it, with its settings and runs', async () => {
      await serving(OLD);
      const { MainPID: before } = await show('MainPID');
      await machine.run('dpkg', '--install', `/srv/${NEW}.deb`);
      await serving(NEW);
      assert.notEqual((await show('MainPID')).MainPID, before);
      assert.equal(await readFile(machine.path('/etc/blueprintd/master.key'), 'utf8'), form.key.toString());
      assert.match(await readFile(machine.path('/etc/blueprintd/environment'), 'utf8'), /^BLUEPRINTD_API_KEY=/m);
      await becomes(form.runs['first order'], 'paused');
      await mutate('execution.resume', { executionId: form.runs['first order'], input: { approved: true } });
      await becomes(form.runs['first order'], 'completed');
      await becomes(form.runs['second order'], 'paused');
    });

    await t.test('an upgrade of a stopped service does not start it', async () => {
      await machine.run('systemctl', 'stop', 'blueprintd');
      await machine.run('dpkg', '--install', `/srv/${OLD}.deb`);
      assert.equal(await state(), 'inactive');
    });

    await t.test('a backup is made as root', async () => {
      const words = ['--db', '/var/lib/blueprintd/blueprintd.db', '--master-key-file', '/etc/blueprintd/master.key'];
      await machine.run('systemctl', 'start', 'blueprintd');
      await machine.run('blueprintd', 'backup', '/srv/today.backup', ...words);
      await machine.run('blueprintd', 'doctor', ...words);
    });

    await t.test('removal stops it and keeps everything; purge removes everything', async () => {
      await machine.run('dpkg', '--remove', 'blueprintd');
      assert.equal(await exists('/usr/bin/blueprintd'), false);
      assert.equal(await exists('/etc/systemd/system/multi-user.target.wants/blueprintd.service'), false);
      assert.equal(await state(), 'inactive');
      for (const name of ['/etc/blueprintd/environment', '/etc/blueprintd/master.key', `${data}/blueprintd.db`]) assert.ok(await exists(name), name);
      await machine.run('dpkg', '--install', `/srv/${NEW}.deb`);
      await machine.run('systemctl', 'start', 'blueprintd');
      await serving(NEW);
      await becomes(form.runs['first order'], 'completed');
      await machine.run('dpkg', '--purge', 'blueprintd');
      for (const name of ['/etc/blueprintd', data, '/var/lib/blueprintd', '/usr/lib/systemd/system/blueprintd.service']) assert.equal(await exists(name), false, name);
    });
  });

  test('the rpm package is installed, upgraded and removed', async () => {
    // The database of rpm is empty here, so that nothing fulfils what the package needs.
    await machine.run('rpm', '--install', '--nodeps', `/srv/${OLD}.rpm`);
    await appendFile(machine.path('/etc/blueprintd/environment'), `BLUEPRINTD_API_KEY=${API_KEY}\n`);
    const key = await readFile(machine.path('/etc/blueprintd/master.key'), 'utf8');
    await machine.run('systemctl', 'enable', '--now', 'blueprintd');
    await serving(OLD);
    const { id } = await mutate('blueprint.create', { title: 'Kept', blueprint_map: { nodes: [] } });
    await machine.run('rpm', '--upgrade', '--nodeps', `/srv/${NEW}.rpm`);
    await serving(NEW);
    assert.equal(await readFile(machine.path('/etc/blueprintd/master.key'), 'utf8'), key);
    assert.equal((await query('blueprint.get', { id })).title, 'Kept');
    assert.equal(await machine.run('rpm', '--verify', '--nodeps', 'blueprintd').catch((error) => error.stdout.trim()), 'S.5....T.  c /etc/blueprintd/environment');
    await machine.run('rpm', '--erase', 'blueprintd');
    assert.equal(await state(), 'inactive');
    assert.equal(await exists('/usr/bin/blueprintd'), false);
    for (const name of ['/etc/blueprintd/environment.rpmsave', '/etc/blueprintd/master.key', `${data}/blueprintd.db`]) assert.ok(await exists(name), name);
  });

  test('two processes on PostgreSQL are upgraded one after the other', async () => {
    const programs = (await machine.run('sh', '-c', 'ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1').catch(() => '')) || assert.fail('PostgreSQL is missing; hint: apt-get install --no-install-recommends postgresql');
    const pg = (...words) => machine.run('setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', ...words);
    await machine.run('install', '--owner=postgres', '--directory', '/srv/pg');
    await pg(`${programs}/initdb`, '-D', '/srv/pg/data', '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C');
    await pg(`${programs}/pg_ctl`, '-D', '/srv/pg/data', '-o', '-c listen_addresses=127.0.0.1 -k /srv/pg', '-l', '/srv/pg/log', '-w', 'start');
    await pg(`${programs}/createdb`, '-h', '127.0.0.1', '-U', 'postgres', 'blueprintd');

    await machine.run('sh', '-c', 'rm -rf /etc/blueprintd');
    await machine.run('dpkg', '--install', `/srv/${OLD}.deb`);
    await writeFile(machine.path('/etc/blueprintd/environment'), 'BLUEPRINTD_DATABASE=postgres://postgres@127.0.0.1/blueprintd\nBLUEPRINTD_PUBLIC_URL=https://flows.example.org\nBLUEPRINTD_API_KEY=' + API_KEY + '\n');
    const ports = { a: 8001, b: 8002 };
    for (const [name, port] of Object.entries(ports)) await writeFile(machine.path(`/etc/blueprintd/${name}.environment`), `BLUEPRINTD_ADDR=127.0.0.1:${port}\n`);
    await machine.run('systemctl', 'enable', '--now', 'blueprintd@a', 'blueprintd@b');

    // The balancer of the Compose file, and clients that start runs while the package is upgraded.
    const compose = await readFile(join(root, 'packaging/compose.cluster.yaml'), 'utf8');
    const caddyfile = /content: \|\n((?: {6}.*\n)+)/.exec(compose)[1].replace('a:8787 b:8787 c:8787', Object.values(ports).map((port) => `127.0.0.1:${port}`).join(' '));
    await writeFile(machine.path('/srv/Caddyfile'), caddyfile);
    await cp(process.env.CADDY || assert.fail('Caddy is missing; hint: name it with CADDY'), machine.path('/srv/caddy'));
    await machine.run('systemd-run', '--unit=balancer', '/srv/caddy', 'run', '--config', '/srv/Caddyfile', '--adapter', 'caddyfile');
    await until('the balancer answers', async () => (await query('server.getInfo', {}).catch(() => ({}))).version === OLD || undefined);
    const { id } = await mutate('blueprint.create', { title: 'Started', blueprint_map: { nodes: [{ id: 'code', type: 'code', title: 'Code', config: { language: 'javascript', source: 'const end = Date.now() + 100; while (Date.now() < end); return 1' } }] } });
    const trigger = await mutate('blueprintTriggers.create', { blueprintId: id, triggerType: 'webhook', config: { respond: 'wait' } });
    const start = `curl -sS -o /dev/null -w '%{http_code}\\n' -X POST http://127.0.0.1:8787/webhooks/blueprint/${trigger.id} 2>&1`;
    const clients = [1, 2].map(() => machine.run('sh', '-c', `while [ ! -e /srv/enough ]; do ${start}; done`));
    await machine.run('dpkg', '--install', `/srv/${NEW}.deb`);
    for (const port of Object.values(ports)) {
      // Each process learns of the other's state with its next beat.
      const checks = await until(`port ${port} sees two live processes`, async () => {
        const verbose = JSON.parse(await machine.run('curl', '-sS', `http://127.0.0.1:${port}/readyz?verbose`));
        return verbose.nodes.map((node) => `${node.name} ${node.state}`).sort().join() === 'a live,b live' ? verbose.checks : undefined;
      });
      assert.match(checks.find((check) => check.name === 'version').detail, /blueprintd 9\.9\.9/);
    }
    await machine.run('touch', '/srv/enough');
    const answers = (await Promise.all(clients)).flatMap((text) => text.split('\n'));
    assert.ok(answers.length > 100, `${answers.length} requests`);
    assert.deepEqual(answers.filter((answer) => answer !== '200'), [], 'no request failed');
    await machine.run('dpkg', '--remove', 'blueprintd');
    assert.equal((await machine.run('systemctl', 'is-active', 'blueprintd@a', 'blueprintd@b').catch((error) => error.stdout)).trim(), 'inactive\ninactive');
    await pg(`${programs}/pg_ctl`, '-D', '/srv/pg/data', '-m', 'immediate', 'stop');
  });
});
