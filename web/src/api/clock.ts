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

/** The current time: the server's if its clock is virtual, otherwise that of this computer. */
export function now(): number {
  return still ?? Date.now()
}

/** The best estimate of the server's time, for values that the server compares with its own. */
export function serverNow(): number {
  return still ?? Date.now() + ahead
}

/** Calls the listener when a virtual clock is found or advanced; returns a function that removes it. */
export function onClock(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
