import { useSyncExternalStore } from 'react'
import { None } from './quantity'
import { showAbsolute, showRelative } from './time-words'

type Props = {
  /** RFC 3339, as the server sends it; null shows a dash. */
  at: string | null | undefined
  /** Shows the absolute time first and the relative one on hovering. */
  absolute?: boolean
  /** It has happened: where the clock here is slow it reads `just now`, never a time to come. */
  past?: boolean
  /** What a missing time means, for readers: `never`. */
  none?: string
}

/** A time: relative to now, with the absolute one on hovering. It goes on by itself. */
export function Time({ at, absolute = false, past = false, none = 'none' }: Props) {
  const tick = useNow()
  if (!at) return <None word={none} />
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return <span>{at}</span>
  // The tick is up to half a minute old, and what is shown may have come since.
  const now = Math.max(tick, Date.now(), past ? date.getTime() : 0)
  const [shown, hidden] = absolute ? [showAbsolute(date), showRelative(date.getTime(), now)] : [showRelative(date.getTime(), now), showAbsolute(date)]
  return <time dateTime={at} title={hidden}>{shown}</time>
}

/** The present in milliseconds since 1970, anew every half minute; one timer for all who ask. */
export function useNow(): number {
  return useSyncExternalStore(listen, () => now)
}

let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

function listen(listener: () => void): () => void {
  if (listeners.size === 0) {
    now = Date.now()
    timer = setInterval(tick, 30_000)
  }
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) clearInterval(timer)
  }
}

function tick(): void {
  now = Date.now()
  for (const listener of listeners) listener()
}
