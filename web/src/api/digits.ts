import { isRaw, parseJson } from './json'

/**
 * The client reads the messages of a subscription with JSON.parse, which we cannot replace. So numbers that would lose
 * digits are carried past it as marked objects, which revive turns back. The mark is drawn anew by each page, so that
 * no data can hold it.
 */
const mark = `digits ${Math.random().toString(36).slice(2)}`

/** The same JSON text with numbers that JSON.parse would spoil written as marked objects. */
export function carry(text: string): string {
  if (!/\d[\d.]{15}|\d[eE]/.test(text)) return text
  return JSON.stringify(parseJson(text), (_key, value: unknown) => (isRaw(value) ? { [mark]: value.rawJSON } : value))
}

/** Turns marked objects back into numbers, in place; answers the value. */
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
