/** Guards that may keep the person on a page: an editor with unsaved changes. */
type Guard = () => Promise<boolean> | boolean

const guards = new Set<Guard>()
let here = '' // the address that is guarded
let released = false // somebody agreed to go back

/** Asks a guard before every navigation within the dashboard, until the function that it gives is called. */
export function guardLeaving(guard: Guard): () => void {
  guards.add(guard)
  here = location.pathname + location.search
  released = false
  return () => guards.delete(guard)
}

/** Whether the page may be left; undefined when nobody needs to be asked. */
export function mayLeave(): Promise<boolean> | undefined {
  return guards.size === 0 ? undefined : askAll()
}

// The browser has gone back already when it tells. We go forth again, ask, and then go back for good. This listens from
// the start, because whoever listens first is told first, and the router must not hear of it.
addEventListener('popstate', (event) => {
  if (guards.size === 0 || released || location.pathname === here.split('?')[0]) return
  event.stopImmediatePropagation()
  history.pushState(null, '', here)
  void askAll().then((yes) => {
    if (!yes) return
    released = true
    history.back()
  })
})

async function askAll(): Promise<boolean> {
  for (const guard of [...guards]) if (!(await guard())) return false
  return true
}
