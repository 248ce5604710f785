import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { defineConfig, type Plugin } from 'vite'

// Where the server of the developer listens; `npm run dev` hands it everything that is not the dashboard's own.
const server = process.env.BLUEPRINTD_URL ?? 'http://127.0.0.1:8787'
const proxied = ['/app', '/api', '/webhooks', '/files', '/docs', '/oauth', '/healthz', '/readyz', '/v1']

export default defineConfig({
  base: '/',
  plugins: [inlineTexts()],
  esbuild: { jsx: 'automatic', legalComments: 'none' },
  css: { modules: { generateScopedName: '[name]_[local]_[hash:base64:4]' } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsDir: 'assets',
    assetsInlineLimit: 0, // the content security policy knows no data: addresses
    target: 'es2022',
    cssTarget: ['chrome111', 'firefox114', 'safari16.4'],
    sourcemap: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
    rollupOptions: {
      // Fewer files: a request costs more than a kilobyte that another page might not need.
      output: { manualChunks, experimentalMinChunkSize: 1_200 },
      // Libraries mark files for servers that render React; here that means nothing.
      onwarn: (warning, warn) => warning.code === 'MODULE_LEVEL_DIRECTIVE' || warn(warning),
    },
  },
  server: {
    host: '127.0.0.1',
    proxy: Object.fromEntries(proxied.map((path) => [path, { target: server, changeOrigin: false }])),
  },
})

// React, Mantine and the client change seldom: apart from our own code they stay in the browser's cache over an upgrade.
function manualChunks(id: string): string | undefined {
  if (/node_modules\/(react|react-dom|scheduler|wouter|regexparam|use-sync-external-store|@tanstack|@trpc)\//.test(id))
    return 'base'
  if (/node_modules\/@tabler\//.test(id)) return 'icons'
  return undefined
}

const catalogue = /export const (\w+) = \{\n([^]*?)\n\} as const/g
const constant = /^ {2}(\w+):\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"),$/gm

// Writes constant texts of src/text where they are used, so that a page loads only its own.
function inlineTexts(): Plugin {
  return {
    name: 'inline-texts',
    apply: 'build',
    enforce: 'pre',
    transform(code, id) {
      if (!/\/src\/.*\.tsx?$/.test(id)) return null
      if (id.includes('/src/text/'))
        return {
          code: code.replace(catalogue, (whole) => (whole.includes('=>') ? whole.replace(constant, '') : whole)),
          map: null,
        }
      const texts: Record<string, string> = {}
      for (const [, file] of code.matchAll(/ from '(\.[./]*\/text\/[\w-]+)'/g))
        Object.assign(texts, constantsOf(resolve(dirname(id), `${file}.ts`)))
      return { code: code.replace(/\b\w+Text\.\w+\b/g, (name) => texts[name] ?? name), map: null }
    },
  }
}

// The string constants of a catalogue, as literals by `fooText.key`.
function constantsOf(file: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [, name, body] of readFileSync(file, 'utf8').matchAll(catalogue))
    for (const [, key, literal] of body!.matchAll(constant)) found[`${name}.${key}`] = literal!
  return found
}
