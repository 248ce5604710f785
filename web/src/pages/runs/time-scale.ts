/** The positions of bars on the time axis of a run, and its labels. Times are milliseconds. */
import type { Row } from './step-rows'
import { type Awaiting, type LogLine, ms, type Run } from './types'

/** A time span. */
export type Span = { from: number; to: number }

/** One part of a bar: running, or waiting for a time, a user or a decision. */
export type Part = Span & { waits: boolean }

/** The duration of a run: from its start to its end, or to now while it runs; never empty. */
export function wholeOf(run: Pick<Run, 'startTime' | 'endTime'>, now: number): Span {
  const from = ms(run.startTime)
  if (!Number.isFinite(from)) return { from: now, to: now + 1 }
  const end = ms(run.endTime)
  return { from, to: Math.max(Number.isFinite(end) ? end : now, from + 1) }
}

/**
 * The parts of a row's bar; none for a step that has not started, or was taken over from the run that this one retries.
 * `pauses` are the spans between attempts; `onlyWaits` means that nodes of its type always wait.
 */
export function partsOf(
  row: Pick<Row, 'start' | 'end' | 'status'>,
  whole: Span,
  asked?: Awaiting,
  pauses: Span[] = [],
  onlyWaits = false,
): Part[] {
  if (!Number.isFinite(row.start) || isReused(row, whole)) return []
  const end = Number.isFinite(row.end) ? row.end : whole.to
  const to = Math.max(row.start, end)
  const since = ms(asked?.requestedAt)
  if (Number.isFinite(since) && since > row.start && since < to) {
    return [
      { from: row.start, to: since, waits: false },
      { from: since, to, waits: true },
    ]
  }
  const between = pauses.filter((pause) => pause.from >= row.start && pause.from < to)
  if (between.length > 0) return alternate(row.start, to, between)
  const waits = asked !== undefined || row.status === 'paused' || onlyWaits
  return [{ from: row.start, to, waits }]
}

function alternate(from: number, to: number, pauses: Span[]): Part[] {
  const parts: Part[] = []
  let at = from
  for (const pause of pauses) {
    const end = Math.min(pause.to, to)
    parts.push({ from: at, to: pause.from, waits: false }, { from: pause.from, to: end, waits: true })
    at = end
  }
  return at < to ? [...parts, { from: at, to, waits: false }] : parts
}

/** The spans between the attempts of each step, by its address, from the log. */
export function pausesOf(logs: LogLine[]): Map<string, Span[]> {
  const pauses = new Map<string, Span[]>()
  for (const { nodeId, level, message, timestamp } of logs) {
    const wait =
      nodeId !== null && level === 'warn' && /^attempt \d+ failed: .*; the next in (\S+)$/s.exec(message)?.[1]
    if (!wait) continue
    const from = ms(timestamp)
    const list = pauses.get(nodeId) ?? []
    list.push({ from, to: from + goDuration(wait) })
    pauses.set(nodeId, list)
  }
  return pauses
}

const units = new Map(Object.entries<number>({ h: 3_600_000, m: 60_000, s: 1000, ms: 1, µs: 0.001, ns: 0.000001 }))

// A duration in Go's format: `1m2.5s`.
function goDuration(text: string): number {
  let total = 0
  for (const [, digits = '0', unit = ''] of text.matchAll(/([\d.]+)(ms|µs|ns|h|m|s)/g))
    total += Number(digits) * (units.get(unit) ?? 0)
  return total
}

/** Reports whether the result of a step was taken over from the run that this one retries. */
export function isReused(row: Pick<Row, 'end'>, whole: Span): boolean {
  return row.end < whole.from
}

/** The position of a span in the window, in percent of its width; `null` outside of it. */
export function placed(span: Span, window: Span): { left: number; width: number } | null {
  const length = window.to - window.from
  if (span.to < window.from || span.from > window.to || length <= 0) return null
  const left = Math.max(0, (span.from - window.from) / length)
  const right = Math.min(1, (span.to - window.from) / length)
  return { left: round(left * 100), width: round((right - left) * 100) }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const steps = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  second,
  2 * second,
  5 * second,
  10 * second,
  15 * second,
  30 * second,
  minute,
  2 * minute,
  5 * minute,
  10 * minute,
  15 * minute,
  30 * minute,
  hour,
  2 * hour,
  3 * hour,
  6 * hour,
  12 * hour,
  day,
  2 * day,
  7 * day,
  30 * day,
  365 * day,
]

/** The distance between at most `most` marks at round numbers. */
export function stepBetween(length: number, most: number): number {
  return steps.find((each) => length / each <= most) ?? Math.ceil(length / most / day) * day
}

/** A duration for the axis, with the precision of the step between marks: `250 ms`, `1.5 s`, `2 min 30 s`, `3 h`. */
export function lengthLabel(length: number, step: number): string {
  if (length === 0) return '0'
  if (length < second) return `${length} ms`
  if (length < minute) {
    const digits = step >= second ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3
    return `${(length / second).toFixed(digits)} s`
  }
  const parts: [number, string][] = [
    [day, 'd'],
    [hour, 'h'],
    [minute, 'min'],
    [second, 's'],
  ]
  let rest = Math.round(length)
  const words: string[] = []
  for (const [unit, name] of parts) {
    const count = Math.floor(rest / unit)
    rest -= count * unit
    if (count > 0) words.push(`${count} ${name}`)
  }
  if (rest > 0 && step < second) words.push(`${rest} ms`)
  return words.slice(0, 3).join(' ')
}

/** The minimum span of the zoom. */
export const shortest = 2

/** Makes the window `factor` times as long around a point, within the whole. */
export function zoomed(window: Span, whole: Span, factor: number, around = (window.from + window.to) / 2): Span {
  const all = whole.to - whole.from
  const length = Math.min(all, Math.max(Math.min(shortest, all), (window.to - window.from) * factor))
  const share = (around - window.from) / (window.to - window.from)
  return within({ from: around - length * share, to: around - length * share + length }, whole)
}

/** Moves the window by a fraction of its length, within the whole. */
export function moved(window: Span, whole: Span, share: number): Span {
  const by = (window.to - window.from) * share
  return within({ from: window.from + by, to: window.to + by }, whole)
}

/** The window that shows one bar with a margin on both sides. */
export function around(span: Span, whole: Span): Span {
  const room = Math.max((span.to - span.from) * 0.25, shortest)
  return within({ from: span.from - room, to: span.to + room }, whole)
}

function within(span: Span, whole: Span): Span {
  const length = Math.min(span.to - span.from, whole.to - whole.from)
  const from = Math.min(Math.max(span.from, whole.from), whole.to - length)
  return { from, to: from + length }
}
