import { startBlueprintd, type Blueprintd, type StartOptions } from './server.js'

export interface UseOptions extends StartOptions {
  /** Whether all tests of a file share a server or each has its own. Default: 'file'. */
  per?: 'file' | 'test'
}

type Hook = (work: () => Promise<void>) => unknown

/** The hooks that both test runners have. */
export interface Hooks {
  beforeAll: Hook
  afterAll: Hook
  beforeEach: Hook
  afterEach: Hook
}

/** Starts and stops a server around the tests of a file, or around each test. Returns a proxy of the server for use within them. */
export function around(hooks: Hooks, { per = 'file', ...options }: UseOptions): Blueprintd {
  let server: Blueprintd | undefined
  const [before, after] = per === 'file' ? [hooks.beforeAll, hooks.afterAll] : [hooks.beforeEach, hooks.afterEach]
  before(async () => {
    server = await startBlueprintd(options)
  })
  after(async () => {
    const last = server
    server = undefined
    await last?.stop()
  })
  return new Proxy({} as Blueprintd, {
    get(_, name) {
      if (server) return Reflect.get(server, name) as unknown
      if (typeof name === 'symbol' || name === 'then' || name === 'toJSON') return undefined // inspected, not used
      throw new Error(`blueprintd.${name}: the server runs only while tests and hooks do; use it inside them`)
    },
  })
}
