import { useSyncExternalStore } from 'react'

/**
 * Whether the server answers. A call that got no answer marks it away; from then on it is asked every few seconds, and
 * the first answer marks it back.
 */
let away = false
let timer: ReturnType<typeof setTimeout> | undefined
let wait = 1000 // grows while no call succeeds, even if the server says that it is alive
const listeners = new Set<() => void>()
const returns = new Set<() => void>()

/** Notes that a call got no answer. */
export function markAway(): void {
  if (away) return
  away = true
  tell()
  timer = setTimeout(ask, wait)
}

/** Notes that an answer to a call came. */
export function markAnswered(): void {
  wait = 1000
  back()
}

function back(): void {
  if (!away) return
  away = false
  clearTimeout(timer)
  tell()
  for (const returned of returns) returned()
}

/** Asks at once whether the server is back. */
export function askNow(): void {
  clearTimeout(timer)
  void ask()
}

/** Asks whether the server answers; if not, marks it away. */
export async function isThere(): Promise<boolean> {
  try {
    if ((await fetch('/healthz', { cache: 'no-store' })).ok) return true
  } catch {
    // No answer: it is away.
  }
  markAway()
  return false
}

/** Calls back whenever the server is back; answers a function that ends it. */
export function onReturn(returned: () => void): () => void {
  returns.add(returned)
  return () => returns.delete(returned)
}

/** Whether the server is away, as React state. */
export function useAway(): boolean {
  return useSyncExternalStore(listen, () => away)
}

async function ask(): Promise<void> {
  wait = Math.min(wait * 1.5, 10_000)
  if (await isThere()) return back()
  if (!away) return
  clearTimeout(timer)
  timer = setTimeout(ask, wait)
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function tell(): void {
  for (const listener of listeners) listener()
}
