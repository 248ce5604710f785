/** Offsets of time zones, from the browser's data. Instants are minutes since 1970. */

const formats = new Map<string, Intl.DateTimeFormat | null>()

/** Reports whether the browser knows a zone. */
export function isZone(zone: string): boolean {
  return format(zone) !== null
}

/** The local time of a zone at an instant, as minutes since 1970 of a clock in UTC that shows the same. */
export function reading(minute: number, zone: string): number {
  const shape = format(zone)
  if (!shape) return minute
  const at: Record<string, number> = {}
  for (const { type, value } of shape.formatToParts(minute * 60_000)) at[type] = Number(value)
  return Date.UTC(at.year!, at.month! - 1, at.day!, at.hour!, at.minute!) / 60_000
}

/** The offset of a zone from UTC in minutes. */
export function offset(minute: number, zone: string): number {
  return reading(minute, zone) - minute
}

/** A clock change: the first minute of the new offset, and both offsets. */
export type Change = { at: number; before: number; after: number }

/** The first change after an instant, within two years; null without one. */
export function nextChange(zone: string, after: number): Change | null {
  let [low, was] = [after, offset(after, zone)]
  for (let day = 1; day <= 731; day++) {
    const high = after + day * 1440
    const is = offset(high, zone)
    if (is !== was) return bisect(zone, low, high, was, is)
    low = high
    was = is
  }
  return null
}

function bisect(zone: string, from: number, to: number, before: number, after: number): Change {
  let [low, high] = [from, to]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offset(middle, zone) === before) low = middle
    else high = middle
  }
  return { at: high, before, after }
}

function format(zone: string): Intl.DateTimeFormat | null {
  let known = formats.get(zone)
  if (known === undefined) {
    try {
      known = new Intl.DateTimeFormat('en-US', {
        timeZone: zone || 'UTC',
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
      })
    } catch {
      known = null
    }
    formats.set(zone, known)
  }
  return known
}

/** The time zone of this browser. */
export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'
}
