import { isRaw, show } from '../api/json'
import { jsonTreeText } from '../text/parts'

/** Helpers of JsonView, without React. */

/** The number of entries of a level shown at once, and the length of shown strings. */
export const cuts = { entries: 200, text: 20_000, line: 400 } as const

/** The kind of a value. */
export type Kind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null' | 'absent'

/** The kind of a value; a number kept as text is a number. */
export function kindOf(value: unknown): Kind {
  if (value === null) return 'null'
  if (value === undefined) return 'absent'
  if (Array.isArray(value)) return 'array'
  if (isRaw(value)) return 'number'
  const type = typeof value
  return type === 'object' || type === 'string' || type === 'number' || type === 'boolean' ? type : 'absent'
}

/** The number of entries of an object or array; 0 for others. */
export function sizeOf(value: unknown): number {
  const kind = kindOf(value)
  return kind === 'array' ? (value as unknown[]).length : kind === 'object' ? Object.keys(value as object).length : 0
}

/** The first `limit` entries of an object or array, with their keys or positions. */
export function entriesOf(value: unknown, limit: number): [key: string | number, value: unknown][] {
  if (Array.isArray(value)) return value.slice(0, limit).map((item, index) => [index, item])
  const object = value as Record<string, unknown>
  return Object.keys(object)
    .slice(0, limit)
    .map((key) => [key, object[key]])
}

/** A value on one line: scalars as JSON, others by their size. */
export function lineOf(value: unknown): string {
  const kind = kindOf(value)
  if (kind === 'absent') return jsonTreeText.none
  if (kind === 'array' || kind === 'object') {
    const size = sizeOf(value)
    return kind === 'array' ? `[ ${jsonTreeText.items(size)} ]` : `{ ${jsonTreeText.keys(size)} }`
  }
  return show(value, 0)
}

/**
 * The initially expanded paths: level by level from the top, smallest first, while the expanded rows are at most
 * `rows`. The top is always expanded.
 */
export function openAtFirst(value: unknown, rows: number): Set<string> {
  const open = new Set<string>([''])
  let shown = Math.min(sizeOf(value), cuts.entries)
  let level: [string, unknown][] = sizeOf(value) > 0 ? [['', value]] : []
  while (level.length > 0) {
    const next: [string, unknown][] = []
    for (const [path, one] of level) {
      for (const [key, item] of entriesOf(one, cuts.entries)) {
        if (sizeOf(item) > 0) next.push([pathOf(path, key), item])
      }
    }
    level = []
    for (const [path, item] of next.sort(([, a], [, b]) => sizeOf(a) - sizeOf(b))) {
      shown += Math.min(sizeOf(item), cuts.entries)
      if (shown > rows) return open
      open.add(path)
      level.push([path, item])
    }
  }
  return open
}

/** The path of an entry below a path; different keys have different paths. */
export function pathOf(path: string, key: string | number): string {
  return `${path}/${typeof key === 'number' ? key : key.replace(/~/g, '~0').replace(/\//g, '~1')}`
}
