import { isRaw, parseJson } from './json'

/**
 * The client parses the messages of a subscription with JSON.parse, which cannot be replaced. Numbers that would lose
 * digits are therefore wrapped in marked objects, which revive unwraps. Each page draws a random mark, so that no data
 * can contain it.
 */
const mark = `digits ${Math.random().toString(36).slice(2)}`

/** The same JSON text, with numbers that JSON.parse would change written as marked objects. */
export function carry(text: string): string {
  if (!/\d[\d.]{15}|\d[eE]/.test(text)) return text
  return JSON.stringify(parseJson(text), (_key, value: unknown) => (isRaw(value) ? { [mark]: value.rawJSON } : value))
}

/** Turns marked objects back into numbers, in place; returns the value. */
export function revive(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isRaw(value)) return value
  const object = value as Record<string, unknown>
  const digits = object[mark]
  if (typeof digits === 'string') return parseJson(digits)
  for (const key of Object.keys(object)) {
    const item = object[key]
    const fresh = revive(item)
    if (fresh !== item) object[key] = fresh
  }
  return value
}
