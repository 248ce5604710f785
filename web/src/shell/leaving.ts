/** Guards that may keep the person on a page: an editor with unsaved changes. */
type Guard = () => Promise<boolean> | boolean

const guards = new Set<Guard>()

/** Asks a guard before every navigation within the dashboard, until the function that it gives is called. */
export function guardLeaving(guard: Guard): () => void {
  guards.add(guard)
  return () => guards.delete(guard)
}

/** Whether the page may be left; undefined when nobody needs to be asked. */
export function mayLeave(): Promise<boolean> | undefined {
  return guards.size === 0 ? undefined : askAll()
}

async function askAll(): Promise<boolean> {
  for (const guard of [...guards]) if (!(await guard())) return false
  return true
}
