// The TypeScript program in README.md, compiled and run against a server.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import typescript from 'typescript';
import { startServer } from './support/server.mjs';

const run = promisify(execFile);
const here = dirname(fileURLToPath(import.meta.url));
const program = join(here, 'readme-example.mjs'); // beside node_modules, where its imports are found

let server;
before(async () => (server = await startServer()));
after(async () => {
  await rm(program, { force: true });
  await server?.stop();
});

test('the client in the README', async () => {
  const text = await readFile(join(here, '../../README.md'), 'utf8');
  const [, block] = /^```ts[^\n]*\n(.*?)^```/ms.exec(text) ?? assert.fail('README.md shows no TypeScript');
  const { module, target } = { module: typescript.ModuleKind.ESNext, target: typescript.ScriptTarget.ES2022 };
  const { outputText } = typescript.transpileModule(block.replace('http://127.0.0.1:8787', server.apiHost), { compilerOptions: { module, target } });
  await writeFile(program, outputText);
  const { stdout } = await run(process.execPath, [program], { cwd: here, env: { ...process.env, KEY: server.key } });
  assert.match(stdout, /Hello Ada/);
});
