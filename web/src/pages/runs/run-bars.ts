/** The chart of runs over time: the server's counts by hour or day, as bars. */
import type { Outputs } from '../../api/client'
import { runBarsText } from '../../text/runs'

/** The counts of the server. */
export type Statistics = Outputs['execution']['getStatistics']

/** The selectable time ranges. */
export const ranges = ['24h', '7d', '30d'] as const
/** One of the ranges. */
export type Range = (typeof ranges)[number]

const hour = 3_600_000
const day = 24 * hour

/** The length of a range, the server's bucket, and the number of buckets in a bar. */
const plans: Record<Range, { length: number; bucket: 'hour' | 'day'; each: number; unit: string }> = {
  '24h': { length: day, bucket: 'hour', each: 1, unit: 'hour' },
  '7d': { length: 7 * day, bucket: 'hour', each: 6, unit: runBarsText.n6Hours },
  '30d': { length: 30 * day, bucket: 'day', each: 1, unit: 'day' },
}

/** The period of a bar, in words: `hour`. */
export function unitOf(range: Range): string {
  return plans[range].unit
}

/** The request for a range that ends now. Whole hours, so that repeated requests are equal. */
export function questionOf(range: Range, now: number): { from: string; to: string; bucket: 'hour' | 'day' } {
  const { length, bucket } = plans[range]
  const to = Math.ceil((now + 1) / hour) * hour
  return { from: new Date(to - length).toISOString(), to: new Date(to).toISOString(), bucket }
}

/** One bar. `start` and `end` are milliseconds; heights are fractions of the chart, from 0 to 1. */
export type Bar = {
  start: number
  end: number
  completed: number
  failed: number
  meanMs: number | null
  slowestMs: number | null
  completedHeight: number
  failedHeight: number
}

/** The bars of a range, oldest first, and the number at the top of the axis. */
export function barsOf(buckets: Statistics['buckets'], range: Range): { bars: Bar[]; top: number } {
  const { each, bucket } = plans[range]
  const bars: Bar[] = []
  for (let at = 0; at < buckets.length; at += each) {
    const some = buckets.slice(at, at + each)
    const next = buckets[at + each]
    const last = some[some.length - 1]
    const first = some[0]
    if (!first || !last) continue
    const completed = sum(some, (one) => one.completed)
    const failed = sum(some, (one) => one.failed)
    bars.push({
      start: Date.parse(first.start),
      end: next ? Date.parse(next.start) : Date.parse(last.start) + (bucket === 'day' ? day : hour),
      completed,
      failed,
      meanMs: meanOf(some),
      slowestMs: slowestOf(some),
      completedHeight: 0,
      failedHeight: 0,
    })
  }
  const top = niceTop(Math.max(0, ...bars.map((bar) => bar.completed + bar.failed)))
  for (const bar of bars) {
    bar.completedHeight = bar.completed / top
    bar.failedHeight = bar.failed / top
  }
  return { bars, top }
}

/** The round number at or above the highest bar: 1, 2, 3, 5, 10, 20... */
export function niceTop(highest: number): number {
  if (highest <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(highest))
  return [1, 2, 3, 5, 10].map((step) => step * power).find((step) => step >= highest) ?? highest
}

/** The share of failed runs in words: `0 %`, `0.4 %`, `12 %`; `null` without runs. */
export function failureRate(completed: number, failed: number): string | null {
  const all = completed + failed
  if (all === 0) return null
  const percent = (100 * failed) / all
  if (percent === 0 || percent >= 10) return `${Math.round(percent)} %`
  return percent < 0.1 ? '< 0.1 %' : `${percent.toFixed(1)} %`
}

// The mean over several buckets, weighted by their runs.
function meanOf(buckets: Statistics['buckets']): number | null {
  let runs = 0
  let total = 0
  for (const { completed, failed, meanMs } of buckets) {
    if (meanMs === null) continue
    runs += completed + failed
    total += meanMs * (completed + failed)
  }
  return runs === 0 ? null : Math.round(total / runs)
}

function slowestOf(buckets: Statistics['buckets']): number | null {
  const all = buckets.map((bucket) => bucket.slowestMs).filter((each): each is number => each !== null)
  return all.length ? Math.max(...all) : null
}

function sum<T>(list: T[], of: (one: T) => number): number {
  return list.reduce((total, one) => total + of(one), 0)
}
