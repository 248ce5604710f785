import { isRaw } from '../api/json'
import type { Schema } from './json-schema'
import { namesText } from '../text/forms'

/** What is known about a name before a run: a value of an earlier run, a schema, or both. */
export type Place = {
  /** A value of an earlier run. `seen` is true if there is one, because it may be null. */
  value?: unknown
  seen?: boolean
  /** The known schema; its members are suggested too. */
  schema?: Schema
  /** Members that are known by name. */
  members?: Names
  /** A short description. */
  note?: string
  /** Its value is never known here. */
  secret?: boolean
  /** It has only the known members, so that any other name is a mistake. */
  closed?: boolean
}

/** Places by name: of a scope, or of the members of a place. */
export type Names = { readonly [name: string]: Place }

/** A member of a place: a key, or a position of a list. */
export type Member = { key: string | number; place: Place }

/** The maximum number of members of a place that are examined: data may be of any size. */
export const MEMBERS = 200

/** The members of a place: those known by name, those of the value, those of the schema. */
export function membersOf(place: Place): Member[] {
  const found = new Map<string | number, Place>()
  for (const [key, member] of Object.entries(place.members ?? {})) found.set(key, member)
  if (place.seen) addValue(found, place.value)
  addSchema(found, place.schema)
  return [...found].map(([key, member]) => ({ key, place: member }))
}

/** The member of a place, or undefined if it is unknown. */
export function memberOf(place: Place, key: string | number): Place | undefined {
  const own =
    typeof key === 'string' && place.members && Object.hasOwn(place.members, key) ? place.members[key] : undefined
  if (own) return own
  const found = new Map<string | number, Place>()
  if (
    place.seen &&
    typeof place.value === 'object' &&
    place.value !== null &&
    !isRaw(place.value) &&
    Object.hasOwn(place.value, key)
  ) {
    found.set(key, { value: (place.value as Record<string | number, unknown>)[key], seen: true })
  }
  addSchema(found, place.schema)
  return found.get(key)
}

/** Reports whether a key cannot exist. */
export function cannotHave(place: Place, key: string | number): boolean {
  return place.closed === true && memberOf(place, key) === undefined
}

/** The type of a place as a word: `text`, `number`, `object`..., or `` if it is unknown. */
export function typeOf(place: Place): string {
  if (place.seen) return typeOfValue(place.value)
  if (place.members) return 'object'
  const type = typeof place.schema === 'object' ? place.schema.type : undefined
  const first = Array.isArray(type) ? type.find((name) => name !== 'null') : type
  switch (first) {
    case 'string':
      return 'text'
    case 'array':
      return 'list'
    case 'boolean':
      return 'true/false'
    case 'integer':
      return 'number'
    default:
      return typeof first === 'string' ? first : ''
  }
}

/** The word for the kind of a JSON value. */
export function typeOfValue(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  switch (typeof value) {
    case 'string':
      return 'text'
    case 'boolean':
      return 'true/false'
    case 'number':
      return 'number'
    case 'object':
      return isRaw(value) ? 'number' : 'object'
    default:
      return ''
  }
}

/** A value in at most `length` characters on one line, for a list of suggestions; `` without a value. */
export function sampleOf(place: Place, length = 60): string {
  if (!place.seen) return ''
  const { value } = place
  if (Array.isArray(value)) return value.length === 1 ? namesText.n1Item : namesText.items(value.length)
  if (typeof value === 'object' && value !== null && !isRaw(value)) {
    const keys = Object.keys(value)
    return cut(`{ ${keys.slice(0, 6).join(', ')}${keys.length > 6 ? ', …' : ''} }`, length)
  }
  if (typeof value === 'string') return cut(value.slice(0, length + 1).replace(/\s+/g, ' '), length)
  return cut(JSON.stringify(value) ?? '', length)
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}

function addValue(found: Map<string | number, Place>, value: unknown): void {
  if (Array.isArray(value)) {
    // The first items represent the others.
    value.slice(0, 3).forEach((item, index) => found.set(index, { value: item, seen: true }))
    return
  }
  if (typeof value !== 'object' || value === null || isRaw(value)) return
  for (const key of Object.keys(value).slice(0, MEMBERS)) {
    if (!found.has(key)) found.set(key, { value: (value as Record<string, unknown>)[key], seen: true })
  }
}

function addSchema(found: Map<string | number, Place>, schema: Schema | undefined): void {
  if (typeof schema !== 'object') return
  const properties = schema.properties
  if (typeof properties === 'object' && properties !== null) {
    for (const [key, of] of Object.entries(properties).slice(0, MEMBERS)) {
      const known = found.get(key)
      if (!known) found.set(key, placeOfSchema(of as Schema))
      else if (!known.schema && !known.members) found.set(key, { ...known, schema: of as Schema })
    }
  }
  if (typeof schema.items === 'object' && schema.items !== null && !found.has(0))
    found.set(0, placeOfSchema(schema.items as Schema))
}

/** The place of a value that is known only by its schema. */
export function placeOfSchema(schema: Schema): Place {
  const note =
    typeof schema === 'object' && typeof schema.description === 'string' ? cut(schema.description, 80) : undefined
  return { schema, note }
}
