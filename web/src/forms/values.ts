import { isRaw, parseJson, show } from '../api/json'

/** Reports whether a value is an object: not a list, null, or a number kept as text. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRaw(value)
}

/** The object with one member set, in its place or at the end; undefined removes the member. */
export function withMember(object: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  const entries = Object.entries(object)
  if (value === undefined) return fromEntries(entries.filter(([name]) => name !== key))
  const at = entries.findIndex(([name]) => name === key)
  if (at < 0) entries.push([key, value])
  else entries[at] = [key, value]
  return fromEntries(entries)
}

/** The object with a member renamed, in its place. */
export function renamed(object: Record<string, unknown>, from: string, to: string): Record<string, unknown> {
  return fromEntries(Object.entries(object).map(([key, value]) => [key === from ? to : key, value]))
}

/** The list with an item moved by one place. */
export function moved<T>(list: readonly T[], index: number, by: -1 | 1): T[] {
  const copy = [...list]
  const [item] = copy.splice(index, 1)
  copy.splice(index + by, 0, item as T)
  return copy
}

/** Object.fromEntries, with __proto__ as a key like any other. */
export function fromEntries(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (const [key, value] of entries)
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  return object
}

/** Reports whether two values are the same JSON, regardless of the order of keys. */
export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (isRaw(a) || isRaw(b)) return isRaw(a) && isRaw(b) && a.rawJSON === b.rawJSON
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => same(item, b[index]))
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]))
}

/**
 * A number of a JSON document with its digits, or undefined if the text is not a number. A comma may be the decimal
 * separator.
 */
export function readNumber(text: string): unknown {
  const plain = text
    .trim()
    .replace(/^(-?\d+),(\d+)$/, '$1.$2')
    .replace(/^\+/, '')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.$/, '')
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(plain) ? parseJson(plain) : undefined
}

/** A value on one line. */
export function oneLine(value: unknown): string {
  return typeof value === 'string' ? value : show(value, 0)
}

/** Reports whether a value is a number, kept as text or not. */
export function isNumber(value: unknown): boolean {
  return typeof value === 'number' || isRaw(value)
}
