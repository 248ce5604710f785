// Checks with the TypeScript compiler whether a value has a type, which shows the fields that a
// library knows.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const here = fileURLToPath(new URL('../typed.mts', import.meta.url)); // need not exist

/** Expects each value to be of its type: pairs of [type expression, value]; imports is the head of the file. */
export function assertTypes(imports, pairs) {
  const lines = pairs.map(([type, value], i) => `const value${i}: ${type} = ${JSON.stringify(value, null, 1)};\nvoid value${i};`);
  const source = `${imports}\n${lines.join('\n')}\n`;
  const options = {
    strict: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022, lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.getSourceFile = (name, ...more) => (name === here ? ts.createSourceFile(name, source, options.target) : getSourceFile.call(host, name, ...more));
  host.fileExists = (name) => name === here || fileExists.call(host, name);
  const found = ts.getPreEmitDiagnostics(ts.createProgram([here], options, host));
  const text = ts.formatDiagnostics(found, { getCanonicalFileName: (name) => name, getCurrentDirectory: () => '', getNewLine: () => '\n' });
  assert.equal(text, '', source);
}
