import { afterAll, afterEach, beforeAll, beforeEach, test as plain, type TestAPI } from 'vitest'
import { around, type UseOptions } from './hooks.js'
import { startBlueprintd, type Blueprintd } from './server.js'

export type { UseOptions } from './hooks.js'
export * from './index.js'

/** Starts a server for the tests of a file: `const blueprintd = useBlueprintd()`. Its log is shown when a test fails. */
export function useBlueprintd(options: UseOptions = {}): Blueprintd {
  const blueprintd = around({ beforeAll, afterAll, beforeEach, afterEach }, options)
  beforeEach(({ onTestFailed }) => {
    onTestFailed(() => showLog(blueprintd.logs()))
  })
  return blueprintd
}

/** Vitest's test, with a server for each test that asks for one: `test('...', async ({ blueprintd }) => { ... })`. */
export const test: TestAPI<{ blueprintd: Blueprintd }> = plain.extend<{ blueprintd: Blueprintd }>({
  blueprintd: async ({ onTestFailed }, use) => {
    const server = await startBlueprintd()
    onTestFailed(() => showLog(server.logs()))
    await use(server)
    await server.stop()
  },
})

function showLog(log: string): void {
  console.error(`log of blueprintd:\n${log}`)
}
