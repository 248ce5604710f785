/** Guards that can prevent leaving a page: an editor with unsaved changes. */
type Guard = () => Promise<boolean> | boolean

const guards = new Set<Guard>()
let here = '' // the guarded address
let released = false // the user agreed to go back

/** Calls a guard before every navigation within the dashboard, until the returned function is called. */
export function guardLeaving(guard: Guard): () => void {
  guards.add(guard)
  here = location.pathname + location.search
  released = false
  return () => guards.delete(guard)
}

/** Reports whether the page may be left; undefined without a guard. */
export function mayLeave(): Promise<boolean> | undefined {
  return guards.size === 0 ? undefined : askAll()
}

// The event fires after the browser has gone back, so this goes forward again, asks, and then goes back. It listens
// from the start, because listeners run in order of registration and the router must not see the event.
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
