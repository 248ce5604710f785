import { createContext } from 'react'
import { mayLeave } from './leaving'
import { matches } from './match'

/** A page whose code can be loaded before it is shown. */
type Loadable = { path: string; load: () => Promise<unknown> }
type Navigate = (to: string, options?: object) => void

/** Loads the code of the page at an address; undefined if it is already loaded or there is no such page. */
export type Preload = (to: string) => Promise<unknown> | undefined

/** The preload function of the application's pages, for links to them. */
export const PreloadContext = createContext<Preload>(() => undefined)

const patience = 600 // milliseconds that the old page stays while the code of the next one loads

/** The navigation among pages: `preload`, and `aroundNav` for wouter. */
export function navigationAmong(pages: readonly Loadable[]): {
  preload: Preload
  aroundNav: (navigate: Navigate, to: string, options?: object) => void
} {
  const loaded = new Set<string>()
  let latest = 0

  function preload(to: string): Promise<unknown> | undefined {
    const path = to.split(/[?#]/)[0]!
    const page = pages.find((one) => matches(one.path, path))
    if (!page || loaded.has(page.path)) return undefined
    return page.load().then(() => loaded.add(page.path))
  }

  function fetchAndGo(navigate: Navigate, to: string, options?: object): void {
    const turn = ++latest
    const loading = preload(to)
    if (!loading) return navigate(to, options)
    const late = new Promise<void>((done) => setTimeout(done, patience))
    void Promise.race([loading.catch(() => undefined), late]).then(() => {
      if (turn === latest) navigate(to, options) // a newer click takes precedence
    })
  }

  /**
   * Fetches the code of a page before it is shown, so that the old page stays instead of a flash of nothing. After the
   * patience the page is shown anyway, as a skeleton.
   */
  function aroundNav(navigate: Navigate, to: string, options?: object): void {
    const asked = to.split(/[?#]/)[0] === location.pathname ? undefined : mayLeave()
    if (asked)
      void asked.then((yes) => {
        if (yes) fetchAndGo(navigate, to, options)
      })
    else fetchAndGo(navigate, to, options)
  }

  return { preload, aroundNav }
}
