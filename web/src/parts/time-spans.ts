import { timeSpansText } from '../text/parts'

/** Spans of time that end now, to filter lists by; empty: no filter. */
export const timeSpans = [
  { value: '', label: timeSpansText.anyTime },
  { value: '1h', label: timeSpansText.lastHour },
  { value: '24h', label: timeSpansText.last24Hours },
  { value: '7d', label: timeSpansText.last7Days },
  { value: '30d', label: timeSpansText.last30Days },
]

const hours = new Map(Object.entries<number>({ '1h': 1, '24h': 24, '7d': 7 * 24, '30d': 30 * 24 }))

/** The start of a span as an ISO time; undefined for any other text. `now` in milliseconds. */
export function startOfSpan(span: string, now: number): string | undefined {
  const length = hours.get(span)
  return length === undefined ? undefined : new Date(now - length * 3_600_000).toISOString()
}
