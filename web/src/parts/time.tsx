import { useSyncExternalStore } from 'react'
import { now as present, onClock } from '../api/clock'
import { None } from './quantity'
import { showAbsolute, showRelative } from './time-words'

type Props = {
  /** RFC 3339, as sent by the server; null shows a dash. */
  at: string | null | undefined
  /** Shows the absolute time, and the relative one on hover. */
  absolute?: boolean
  /** The time is in the past: if the local clock is slow, it shows `just now`, never a future time. */
  past?: boolean
  /** A word for a missing time, for screen readers: `never`. */
  none?: string
}

/** A relative time, with the absolute one on hover. It updates itself. */
export function Time({ at, absolute = false, past = false, none = 'none' }: Props) {
  useNow()
  if (!at) return <None word={none} />
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return <span>{at}</span>
  // The tick only triggers a render: it may be half a minute old, and the event newer than that.
  const now = Math.max(present(), past ? date.getTime() : 0)
  const [shown, hidden] = absolute
    ? [showAbsolute(date), showRelative(date.getTime(), now)]
    : [showRelative(date.getTime(), now), showAbsolute(date)]
  return (
    <time dateTime={at} title={hidden}>
      {shown}
    </time>
  )
}

const instant = /(\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z| \d\d:\d\d:\d\d UTC))/

/** A text of the server, with its times in UTC shown in the reader's time zone. */
export function WithTimes({ text }: { text: string }) {
  return text
    .split(instant)
    .map((part, index) =>
      index % 2 === 1 ? <Time key={index} at={part.replace(' UTC', 'Z').replace(' ', 'T')} absolute /> : part,
    )
}

/** The current time in Unix milliseconds, updated every half minute and when a virtual clock is advanced. All callers share one timer. */
export function useNow(): number {
  return useSyncExternalStore(listen, () => now)
}

let now = present()
let timer: ReturnType<typeof setInterval> | undefined
let stopClock = () => {}
const listeners = new Set<() => void>()

function listen(listener: () => void): () => void {
  if (listeners.size === 0) {
    now = present()
    timer = setInterval(tick, 30_000)
    stopClock = onClock(tick)
  }
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    stopClock()
  }
}

function tick(): void {
  now = present()
  for (const listener of listeners) listener()
}
