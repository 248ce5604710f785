/**
 * JSON that keeps the digits of numbers. The server accepts numbers of any length; a JavaScript number cannot hold
 * them. Where the browser supports it, a number that would lose digits is parsed as a JSON.rawJSON object, and
 * JSON.stringify writes it back unchanged. Otherwise it is parsed as the nearest number, like JSON.parse does.
 */

/** A number whose digits a JavaScript number cannot hold. It is frozen; `rawJSON` is its text. */
export type RawNumber = { readonly rawJSON: string }

type Reviver = (this: unknown, key: string, value: unknown, context?: { source?: string }) => unknown
type Engine = {
  parse(text: string, reviver?: Reviver): unknown
  stringify(value: unknown, replacer?: null, space?: number): string | undefined
  rawJSON?: (text: string) => RawNumber
  isRawJSON?: (value: unknown) => boolean
}

/** The functions of this file for a given JSON object; tests pass engines with more or less support. */
export function jsonOver(engine: Engine) {
  const { rawJSON, isRawJSON } = engine
  const keeps = typeof rawJSON === 'function' && typeof isRawJSON === 'function'
  const reviver: Reviver = (_key, value, context) =>
    typeof value === 'number' && context?.source !== undefined && losesDigits(value, context.source)
      ? rawJSON?.(context.source)
      : value
  return {
    /** Parses JSON text; throws SyntaxError like JSON.parse. */
    parse: (text: string): unknown => (keeps && mayLoseDigits(text) ? engine.parse(text, reviver) : engine.parse(text)),
    /** Reports whether a value is a number kept as text. */
    isRaw: (value: unknown): value is RawNumber =>
      keeps && typeof value === 'object' && value !== null && isRawJSON!(value),
    /** The JSON text of a value for display, indented by two spaces by default; `undefined` for values without JSON. */
    show: (value: unknown, space = 2): string => engine.stringify(value, null, space) ?? 'undefined',
  }
}

const own = jsonOver(JSON as unknown as Engine)

/** Parses JSON text and keeps every number's digits; throws SyntaxError. */
export const parseJson = own.parse
/** Reports whether a value is a number kept as text ({@link RawNumber}). */
export const isRaw = own.isRaw
/** The JSON text of a value for display. */
export const show = own.show

// A number can lose digits only if it has many of them or an exponent, or is minus zero. Most responses have none, and
// are parsed the faster way.
function mayLoseDigits(text: string): boolean {
  return /\d[\d.]{15}|\d[eE]|-0/.test(text)
}

function losesDigits(value: number, source: string): boolean {
  return normal(String(value)) !== normal(source)
}

// The canonical form of a decimal number: sign, digits without zeros at either end, exponent.
function normal(text: string): string {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)
  if (!parts) return text
  const [, sign, whole = '', part = '', exponent = '0'] = parts
  const digits = (whole + part).replace(/^0+/, '')
  const short = digits.replace(/0+$/, '')
  if (short === '') return `${sign}0`
  return `${sign}${short}e${Number(exponent) - part.length + digits.length - short.length}`
}

/**
 * Like react-query's structural sharing: the new value, with unchanged parts of the old one. Numbers kept as text are
 * compared and not copied, because a copy would no longer be a number.
 */
export function share(before: unknown, after: unknown): unknown {
  if (Object.is(before, after)) return before
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null) return after
  if (isRaw(before) || isRaw(after))
    return isRaw(before) && isRaw(after) && before.rawJSON === after.rawJSON ? before : after
  if (Array.isArray(before) !== Array.isArray(after)) return after
  const old = before as Record<string, unknown>
  const fresh = after as Record<string, unknown>
  const keys = Object.keys(fresh)
  let same = keys.length === Object.keys(old).length
  const merged: Record<string, unknown> = Array.isArray(after) ? ([] as unknown as Record<string, unknown>) : {}
  for (const key of keys) {
    const value = Object.hasOwn(old, key) ? share(old[key], fresh[key]) : fresh[key]
    if (!Object.hasOwn(old, key) || value !== old[key]) same = false
    // A key may be named __proto__: it is data, not the prototype.
    Object.defineProperty(merged, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return same ? before : merged
}
