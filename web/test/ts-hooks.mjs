import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'

const endings = ['.ts', '.tsx', '/index.ts']

export async function resolve(specifier, context, next) {
  if (specifier.startsWith('.') && context.parentURL) {
    for (const ending of endings) {
      const url = new URL(specifier + ending, context.parentURL)
      if (existsSync(fileURLToPath(url))) return { url: url.href, shortCircuit: true }
    }
  }
  return next(specifier, context)
}

export async function load(url, context, next) {
  if (/\.css$/.test(url)) return { format: 'module', source: 'export default {}', shortCircuit: true }
  if (!/\.tsx?$/.test(url)) return next(url, context)
  const file = fileURLToPath(url)
  const { code } = await transform(await readFile(file, 'utf8'), {
    loader: file.endsWith('x') ? 'tsx' : 'ts',
    jsx: 'automatic',
    format: 'esm',
    target: 'node20',
    sourcefile: file,
    sourcemap: 'inline',
  })
  return { format: 'module', source: code, shortCircuit: true }
}
