import { isRaw } from '../api/json'

/** A unit of time with its length in milliseconds. */
export const units = [
  { name: 'milliseconds', ms: 1 },
  { name: 'seconds', ms: 1000 },
  { name: 'minutes', ms: 60_000 },
  { name: 'hours', ms: 3_600_000 },
  { name: 'days', ms: 86_400_000 },
] as const

export type Unit = (typeof units)[number]['name']

/** The largest unit in which a duration is a whole number; seconds for 0 and for a value of another type. */
export function unitOf(ms: unknown): Unit {
  if (typeof ms !== 'number' || ms === 0) return isRaw(ms) ? 'milliseconds' : 'seconds'
  return units.findLast((unit) => ms % unit.ms === 0)?.name ?? 'milliseconds'
}

/** A duration in a unit, without unnecessary digits. */
export function inUnit(ms: number, unit: Unit): string {
  return String(Number((ms / length(unit)).toPrecision(12)))
}

/** The milliseconds of a number of units, rounded; undefined if the text is not such a number. */
export function msOf(text: string, unit: Unit): number | undefined {
  const plain = text.trim().replace(',', '.')
  if (!/^(\d+\.?\d*|\.\d+)$/.test(plain)) return undefined
  const ms = Math.round(Number(plain) * length(unit))
  return Number.isSafeInteger(ms) ? ms : undefined
}

/** A duration in words: `1 hour`, `90 seconds`. */
export function inWords(ms: number): string {
  const unit = unitOf(ms)
  const amount = inUnit(ms, unit)
  return `${amount} ${amount === '1' ? unit.slice(0, -1) : unit}`
}

function length(name: Unit): number {
  return units.find((unit) => unit.name === name)!.ms
}
