/**
 * The time as the server has it. Most servers have the clock of the world; one for tests may have a virtual clock, which
 * stands still until somebody moves it. Then everything that is relative to now is relative to that.
 */
let still: number | undefined
let ahead = 0
const listeners = new Set<() => void>()

/** Takes what the server said of its clock: its time in milliseconds, and that of this computer when it said so. */
export function noteClock({ at, here, virtual }: { at: number; here: number; virtual: boolean }): void {
  if (!Number.isFinite(at)) return
  ahead = virtual || Math.abs(at - here) < 500 ? 0 : at - here // less than the way there and back may take is no difference
  const before = still
  still = virtual ? at : undefined
  if (still !== before) for (const listener of listeners) listener()
}

/** Now, for what is counted from now: the server's time where its clock is virtual, else that of this computer. */
export function now(): number {
  return still ?? Date.now()
}

/** The server's time as closely as it is known, for what the server compares with its own. */
export function serverNow(): number {
  return still ?? Date.now() + ahead
}

/** Calls when a virtual clock was found or moved; gives the way to stop that. */
export function onClock(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
