import { useSyncExternalStore } from 'react'

/**
 * Tracks whether the server responds. A call without a response marks it as away; it is then polled every few seconds,
 * and the first response marks it as back.
 */
let away = false
let timer: ReturnType<typeof setTimeout> | undefined
let wait = 1000 // increases while no call succeeds, even if the server reports that it is alive
const listeners = new Set<() => void>()
const returns = new Set<() => void>()

/** Records that a call had no response. */
export function markAway(): void {
  if (away) return
  away = true
  notify()
  timer = setTimeout(ask, wait)
}

/** Records a response to a call. */
export function markAnswered(): void {
  wait = 1000
  back()
}

function back(): void {
  if (!away) return
  away = false
  clearTimeout(timer)
  notify()
  for (const returned of returns) returned()
}

/** Checks at once whether the server is back. */
export function askNow(): void {
  clearTimeout(timer)
  void ask()
}

/** Checks whether the server responds; if not, marks it as away. */
export async function isThere(): Promise<boolean> {
  try {
    if ((await fetch('/healthz', { cache: 'no-store' })).ok) return true
  } catch {
    // No response: it is away.
  }
  markAway()
  return false
}

/** Calls `returned` whenever the server is back; returns a function that stops this. */
export function onReturn(returned: () => void): () => void {
  returns.add(returned)
  return () => returns.delete(returned)
}

/** Returns whether the server is away, as React state. */
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

function notify(): void {
  for (const listener of listeners) listener()
}
