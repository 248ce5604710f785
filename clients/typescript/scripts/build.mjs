// Writes dist/: modules for import in esm/, the same for require in cjs/. Vitest
// itself cannot be required, so what belongs to it is a module alone. The executable embeds
// dist/ and src/router.gen.d.ts, so dist/ is committed, with one copy of the types: when the
// executable writes the package, it adds those of cjs/, which are the same as those of esm/.
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
rmSync('dist', { recursive: true, force: true })
for (const project of ['tsconfig.json', 'tsconfig.cjs.json']) {
  execFileSync(process.execPath, [tsc, '-p', project], { stdio: 'inherit' })
}
writeFileSync('dist/cjs/package.json', '{"type":"commonjs"}\n')
writeFileSync('dist/esm/here.js', `import { fileURLToPath } from 'node:url';
export const packageFolder = fileURLToPath(new URL('../..', import.meta.url));
`)
writeFileSync('dist/cjs/here.js', `"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.packageFolder = require("node:path").join(__dirname, "../..");
`)
