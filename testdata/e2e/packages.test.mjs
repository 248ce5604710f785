// The packages for Go and npm in separate projects, made from nothing but the executable by
// `blueprintd sdk`, with test programs that start their own servers. No server is left running.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { until } from './support/poll.mjs';

const run = promisify(execFile);
const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const library = join(root, 'clients/typescript');
const npm = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];

let folder, pids, env;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'blueprintd-packages-'));
  pids = join(folder, 'pids');
  env = { ...process.env, BLUEPRINTD_BINARY: process.env.BLUEPRINTD, PIDS: pids, HELLO: join(root, 'testdata/blueprints/hello.blueprint.yaml') };
  delete env.NODE_TEST_CONTEXT; // the test runners below are separate
});
after(() => rm(folder, { recursive: true, force: true }));

/** Runs a program in a folder. A failure includes its output. */
async function tool(cwd, program, args, more = {}) {
  return run(program, args, { cwd, env: { ...env, ...more }, maxBuffer: 1 << 26 }).catch((error) => {
    throw new Error(`${program} ${args.join(' ')}: ${error.code}\n${error.stdout}\n${error.stderr}`);
  });
}

/** A file that a page of the documentation shows, by its name there. */
async function documented(page, name) {
  const text = await readFile(join(root, 'docs', page), 'utf8');
  const [, block] = new RegExp(`^\`\`\`\\w+ ${name.replaceAll('.', '\\.')}\\n(.*?)^\`\`\``, 'ms').exec(text) ?? assert.fail(`docs/${page} shows no ${name}`);
  return block;
}

/** Reports whether a process is running; zombies do not count. */
async function alive(pid) {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    return stat !== undefined && !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  }
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The files of a folder, by their paths. */
async function contents(folder) {
  const files = {};
  for (const name of (await readdir(folder, { recursive: true })).sort()) {
    if (!(await stat(join(folder, name))).isDirectory()) files[name] = await readFile(join(folder, name), 'utf8');
  }
  return files;
}

/** Reports whether node_modules is as new as the lock file. */
async function installed(project) {
  const [lock, done] = await Promise.all(['package-lock.json', 'node_modules/.package-lock.json'].map((name) => stat(join(project, name)).catch(() => undefined)));
  return done !== undefined && done.mtimeMs >= lock.mtimeMs;
}

/** Expects that this many servers have run since the last call, and that none is left. */
async function gone(least) {
  const list = (await readFile(pids, 'utf8')).trim().split('\n').map(Number);
  await rm(pids);
  assert.ok(new Set(list).size >= least, `${list.length} servers were started`);
  const left = [];
  for (const pid of list) if (await alive(pid)) left.push(pid);
  assert.deepEqual(left, [], 'servers are left');
}

describe('npm', () => {
  let project;
  before(async () => {
    const packed = join(folder, 'packed');
    project = join(folder, 'node');
    await cp(join(here, 'packages/node'), project, { recursive: true, filter: (name) => !name.includes('node_modules') });
    await tool(folder, process.env.BLUEPRINTD, ['sdk', 'typescript', packed, '--tarball']);
    await tool(project, 'npm', ['ci', ...npm]);
    const [tarball] = await readdir(packed);
    await tool(project, 'npm', ['install', '--no-save', ...npm, join(packed, tarball)]);
  });

  test('the embedded modules are built from the sources', async () => {
    if (!(await installed(library))) await tool(library, 'npm', ['ci', ...npm]);
    const copy = join(folder, 'library');
    await cp(library, copy, { recursive: true, filter: (name) => !/node_modules|[/]dist/.test(name) });
    await symlink(join(library, 'node_modules'), join(copy, 'node_modules'));
    await tool(copy, process.execPath, ['scripts/build.mjs']);
    assert.deepEqual(await contents(join(library, 'dist')), await contents(join(copy, 'dist')), 'run make clients');
  });

  test('the package is small', async () => {
    const { stdout } = await tool(project, 'npm', ['pack', '--dry-run', '--json', '--ignore-scripts', './node_modules/blueprintd']);
    const [{ files, size }] = JSON.parse(stdout);
    assert.ok(size < 100_000, `${size} bytes`);
    const others = files.map(({ path }) => path).filter((path) => !/^dist\/(esm|cjs)\/[a-z.]+\.(js|d\.ts|json)$/.test(path));
    assert.deepEqual(others.sort(), ['README.md', 'package.json']);
  });

  test('a project tests with Vitest', async () => {
    await tool(project, 'node_modules/.bin/vitest', ['run']);
    await gone(100);
  });

  test('the test in the documentation passes', async () => {
    await writeFile(join(project, 'vitest/greet.test.ts'), await documented('fake-backend.md', 'greet.test.ts'));
    await tool(project, 'node_modules/.bin/vitest', ['run', 'vitest/greet.test.ts']);
    await rm(join(project, 'vitest/greet.test.ts'));
  });

  test('a project tests with Jest', async () => {
    await tool(project, 'node_modules/.bin/jest', []);
  });

  test('a program that does not stop its server still exits', async () => {
    const program = "import { startBlueprintd } from 'blueprintd'; const { apiHost, pid } = await startBlueprintd(); console.log(JSON.stringify({ apiHost, pid }))";
    const { stdout } = await tool(project, process.execPath, ['--input-type=module', '-e', program], { BLUEPRINTD_PUBLIC_URL: 'https://elsewhere.example' });
    const { apiHost, pid } = JSON.parse(stdout);
    assert.match(apiHost, /^http:\/\/127\.0\.0\.1:/);
    await until(`the end of process ${pid}`, async () => ((await alive(pid)) ? undefined : true));
  });

  test('accepts correct types and reports mistakes', async () => {
    const tsc = () => tool(project, 'node_modules/.bin/tsc', ['-p', '.', '--pretty', 'false']);
    await cp(join(here, 'packages/wrong.ts.txt'), join(project, 'wrong.ts'));
    const [, printed] = /^```json\n(\{"rules":.*?)^```/ms.exec(await readFile(join(root, 'docs/fake-backend.md'), 'utf8')) ?? assert.fail('docs/fake-backend.md prints no rules');
    await writeFile(join(project, 'rules.ts'), `import type { Rule } from 'blueprintd'\n\nexport const printed: { rules: Rule[] } = ${printed}`);
    const said = await tsc().then(() => assert.fail('tsc found nothing'), (error) => error.message);
    const lines = [...new Set([...said.matchAll(/^(\S+\.ts)\((\d+),/gm)].map(([, file, line]) => `${file}:${line}`))];
    assert.deepEqual(lines, [4, 5, 6, 7, 8].map((line) => `wrong.ts:${line}`), said);
  });

  test('a killed program leaves no server', async () => {
    const child = spawn(process.execPath, ['vitest/orphans.mjs'], { cwd: project, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const line = await new Promise((resolve) => child.stdout.once('data', resolve));
    const list = JSON.parse(line);
    assert.equal(list.length, 10);
    child.kill('SIGKILL');
    await ended;
    for (const pid of list) await until(`the end of process ${pid}`, async () => ((await alive(pid)) ? undefined : true));
  });
});

// A program and its test without a test framework: the package as a folder, with the executable in it.
const program = `
import { createClient } from 'blueprintd'

export async function order({ url, apiKey, id, product }) {
  const { result } = await createClient({ url, apiKey }).blueprint.execute.mutate({ id, variables: { product } })
  return result
}
`;
const programTest = `
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBlueprintd, isRefusal } from 'blueprintd'
import { order } from './order.mjs'

test('an order waits for approval', async (t) => {
  const blueprintd = await startBlueprintd({ sandbox: true })
  t.after(() => blueprintd.stop())
  await assert.rejects(blueprintd.createFile('order.blueprint.yaml'), /there is no connection "mail"; add it/)
  await blueprintd.client.connection.create.mutate({ name: 'mail', type: 'smtp', config: { host: 'mail.example.org', port: 587, tls: 'starttls', from: 'shop@example.org' } })
  const { id } = await blueprintd.createFile('order.blueprint.yaml')
  const run = await order({ url: blueprintd.baseUrl, apiKey: blueprintd.apiKey, id, product: 'gold' })
  assert.equal(run.status, 'paused')
  assert.equal(run.awaitingInput.prompt, 'Buy gold?')
  assert.equal((await blueprintd.advance('48h')).fired, 2)
  const { runs } = await blueprintd.client.execution.listRuns.query({ blueprintId: id })
  assert.equal(runs.length, 3)
  const [mail] = await blueprintd.calls()
  assert.equal(mail.request.body.trim(), \`Approve or reject: \${blueprintd.apiHost}/answer/***\`)
  assert.match(await (await fetch(mail.approvalLinks[0])).text(), /Buy gold\\?/)
  assert.equal((await blueprintd.resume(mail.executionId, { approved: true })).status, 'completed')
  await assert.rejects(order({ url: blueprintd.baseUrl, apiKey: 'wrong', id }), (error) => isRefusal(error) && error.data.code === 'UNAUTHORIZED')
})
`;
const blueprint = `title: Order
blueprint_map:
  nodes:
    - {id: mail, type: send-email, title: Mail, config: {connectionId: {$connection: mail}, to: shop@example.org, subject: Order, text: 'Approve or reject: {{nodes.approve.link}}'}}
    - {id: approve, type: approval-gate, title: Approve, config: {prompt: 'Buy {{product ?? "nothing"}}?'}}
    - {id: after, type: blueprint, title: After, config: {blueprintId: {$blueprint: parts/after.blueprint.yaml}}}
triggers:
  - {triggerType: scheduled, config: {cron: 0 7 * * *}}
`;

const thanks = `title: After
blueprint_map:
  nodes:
    - {id: thank, type: template, title: Thank, config: {text: Thanks}}
`;

test('a project tests with node --test and the package as a folder', async () => {
  const project = join(folder, 'plain');
  await tool(folder, process.env.BLUEPRINTD, ['sdk', 'typescript', join(project, 'blueprintd-sdk')]);
  await symlink(process.env.BLUEPRINTD, join(project, 'blueprintd-sdk/blueprintd'));
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
  await tool(project, 'npm', ['install', ...npm, './blueprintd-sdk', '@trpc/client@11.25.2', '@trpc/server@11.25.2']);
  await mkdir(join(project, 'parts'));
  await Promise.all(Object.entries({ 'order.mjs': program, 'order.test.mjs': programTest, 'order.blueprint.yaml': blueprint, 'parts/after.blueprint.yaml': thanks }).map(([name, text]) => writeFile(join(project, name), text)));
  const { stdout } = await tool(project, process.execPath, ['--test', '--test-reporter=tap'], { BLUEPRINTD_BINARY: '', PATH: '' });
  assert.match(stdout, /^# pass 1$/m);
});

describe('Go', () => {
  test('a project tests with the package', async () => {
    const project = join(folder, 'go');
    await cp(join(here, 'packages/go'), project, { recursive: true });
    await writeFile(join(project, 'go.mod'), 'module example.org/flows\n\ngo 1.24\n');
    await tool(project, process.env.BLUEPRINTD, ['sdk', 'go', 'internal/blueprintd']);
    const { stdout: said } = await tool(project, 'go', ['test', '-count=1', '-v', '-parallel', '20', '.'], { GOFLAGS: '', GOWORK: 'off', GOPROXY: 'off' });
    assert.match(said, /^ok\s+example\.org\/flows/m);
    await gone(42);
  });
});
