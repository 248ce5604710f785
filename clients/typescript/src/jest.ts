import { around, type Hooks, type UseOptions } from './hooks.js'
import type { Blueprintd } from './server.js'

export type { UseOptions } from './hooks.js'
export * from './index.js'

/** One line gives the tests of a file a server: `const blueprintd = useBlueprintd()`. */
export function useBlueprintd(options: UseOptions = {}): Blueprintd {
  const hooks = globalThis as unknown as Partial<Hooks>
  if (!hooks.beforeAll) throw new Error('useBlueprintd of blueprintd/jest needs the globals of Jest; set injectGlobals, or call startBlueprintd yourself')
  return around(hooks as Hooks, options)
}
