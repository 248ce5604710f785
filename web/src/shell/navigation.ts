import { routes } from '../routes'
import { mayLeave } from './leaving'
import { matches } from './match'

/** Options that our own navigations use: keepFocus leaves focus and scroll where they are (tabs, filters). */
export type NavigationState = { keepFocus?: boolean } | null

let latest = 0
const patience = 600 // milliseconds that the old page stays while the code of the next one comes

/**
 * Fetches the code of a page before it is shown, so that the old page stays instead of a flash of nothing. After the
 * patience the page is shown anyway, as a skeleton.
 */
export function aroundNavigation(navigate: (to: string, options?: object) => void, to: string, options?: object): void {
  const asked = to.split(/[?#]/)[0] === location.pathname ? undefined : mayLeave()
  if (asked) void asked.then((yes) => { if (yes) fetchAndGo(navigate, to, options) })
  else fetchAndGo(navigate, to, options)
}

function fetchAndGo(navigate: (to: string, options?: object) => void, to: string, options?: object): void {
  const turn = ++latest
  const loading = preload(to)
  if (!loading) return navigate(to, options)
  const late = new Promise<void>((done) => setTimeout(done, patience))
  void Promise.race([loading.catch(() => undefined), late]).then(() => {
    if (turn === latest) navigate(to, options) // a newer click wins
  })
}

const loaded = new Set<string>()

/** Fetches the code of the page at an address; undefined when it is there already or no page is. */
export function preload(to: string): Promise<unknown> | undefined {
  const path = to.split(/[?#]/)[0]!
  const route = routes.find((one) => matches(one.path, path))
  if (!route || loaded.has(route.path)) return undefined
  return route.load().then(() => loaded.add(route.path))
}
