import { timeWordsText } from '../text/parts'

/** Formats times and quantities, without React. */

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

/** `3 minutes ago`, `in 2 days`, `just now`; both in milliseconds since 1970. */
export function showRelative(at: number, now: number): string {
  const seconds = (at - now) / 1000
  if (Math.abs(seconds) < 45) return seconds > 5 ? timeWordsText.inAMoment : timeWordsText.justNow
  for (const [unit, length] of steps) {
    const count = seconds / length
    // Rounded, so that 59.6 minutes become an hour instead of sixty minutes.
    if (Math.abs(count) >= 0.95 || unit === 'minute')
      return relative.format(Math.round(count) || Math.sign(count), unit)
  }
  return ''
}

/** `22 Nov 2026, 10:26:28.123`, in the time zone given (the browser's own unless told), without the fraction when zero. */
export function showAbsolute(at: Date, timeZone?: string): string {
  const parts = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZone,
    timeZoneName: 'short',
  })
  return parts.format(at)
}

/** `340 ms`, `2.4 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function showDuration(milliseconds: number): string {
  if (!Number.isFinite(milliseconds)) return ''
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 59_950) return `${Number((milliseconds / 1000).toFixed(1))} s`
  const seconds = Math.round(milliseconds / 1000)
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ]
  if (days > 0) return join(`${days} d`, hours, 'h')
  if (hours > 0) return join(`${hours} h`, minutes, 'min')
  return join(`${minutes} min`, seconds % 60, 's')
}

/** `812 B`, `1.4 KiB`, `20 MiB`. */
export function showBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let [value, unit] = [bytes, 0]
  while (Math.abs(value) >= 1023.5 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1]
  return `${Number(value.toFixed(value < 10 && unit > 0 ? 1 : 0))} ${units[unit]}`
}

export { count as showCount } from '../text/count'

function join(large: string, rest: number, unit: string): string {
  return rest > 0 ? `${large} ${rest} ${unit}` : large
}
