/**
 * The current time of the server. A test server may run on a virtual clock, which stands still until it is advanced;
 * relative times then count from it.
 */
let still: number | undefined
let ahead = 0
const listeners = new Set<() => void>()

/** Records the time of the server, in milliseconds, and the time of this computer at the moment of the response. */
export function noteClock({ at, here, virtual }: { at: number; here: number; virtual: boolean }): void {
  if (!Number.isFinite(at)) return
  ahead = virtual || Math.abs(at - here) < 500 ? 0 : at - here // the round trip may account for less
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
