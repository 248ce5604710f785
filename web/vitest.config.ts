import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// Tests of components, in a simulated browser: *.test.tsx. What needs no page is tested by node alone: *.test.ts.
export default defineConfig({
  esbuild: { jsx: 'automatic' },
  css: { modules: { generateScopedName: '[local]' } },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.tsx'],
    setupFiles: [fileURLToPath(new URL('test/browser.ts', import.meta.url))],
    restoreMocks: true,
    maxWorkers: '100%',
    testTimeout: 30_000,
  },
})
