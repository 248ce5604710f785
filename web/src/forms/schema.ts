import { labelOf } from './label'
import type { Choice, Schema } from './json-schema'
import { list, record, text, unwrap } from './unwrap'

/** The control for a value. */
export type Kind =
  | 'text'
  | 'number'
  | 'boolean'
  | 'choice'
  | 'date'
  | 'date-time'
  | 'secret'
  | 'list'
  | 'object'
  | 'map'
  | 'variants'
  | 'constant'
  | 'any'
  | 'expression'
  | 'code'
  | 'json-schema'
  | 'connection'
  | 'connections'
  | 'blueprint'
  | 'duration'

/** A parsed schema, as a form needs it. */
export type Field = {
  kind: Kind
  /** The schema without references, the alternative of a template, and null. */
  schema: Record<string, unknown>
  title?: string
  description?: string
  /** The default, meaningful when hasDefault. */
  standard?: unknown
  hasDefault: boolean
  /** A text with a template is allowed instead of the value. */
  template: boolean
  nullable: boolean
  /** The value is a whole number. */
  whole?: boolean
  /** An expression that must be true or false. */
  condition?: boolean
  /** Text of several lines. */
  lines?: boolean
  /** Common values; others are allowed. */
  suggestions?: string[]
  choices?: Choice[]
  properties?: { key: string; schema: Schema; required: boolean }[]
  /** The schema of list items, or of the values of a map. */
  items?: Schema
  /** Keys besides the named ones are allowed. */
  open?: boolean
  variants?: { title: string; schema: Schema }[]
  /** The types of connections to choose from; empty means all. */
  connectionTypes?: string[]
}

/** Parses a schema. root is the whole document, for resolving references; key names the value. */
export function fieldOf(schema: Schema, root: Schema = schema, key = ''): Field {
  const plain = unwrap(schema, root)
  const { kind, ...more } = kindOf(plain.schema, key, plain.choices, plain.variants)
  return {
    schema: plain.schema,
    title: text(plain.schema.title),
    description: text(plain.schema.description),
    standard: plain.schema.default,
    hasDefault: Object.hasOwn(plain.schema, 'default'),
    template: plain.template,
    nullable: plain.nullable,
    ...more,
    kind,
  }
}

type Known = Pick<
  Field,
  | 'kind'
  | 'choices'
  | 'variants'
  | 'whole'
  | 'condition'
  | 'lines'
  | 'suggestions'
  | 'properties'
  | 'items'
  | 'open'
  | 'connectionTypes'
>

function kindOf(schema: Record<string, unknown>, key: string, choices?: Choice[], variants?: Field['variants']): Known {
  const hint = hinted(schema, key)
  if (hint) return hint
  if (choices) return { kind: 'choice', choices }
  if (variants) return { kind: 'variants', variants }
  if (Object.hasOwn(schema, 'const')) return { kind: 'constant' }
  if (Array.isArray(schema.enum)) return ofEnum(schema)
  switch (schema.type) {
    case 'string':
      return ofText(schema)
    case 'integer':
      return { kind: 'number', whole: true }
    case 'number':
      return { kind: 'number' }
    case 'boolean':
      return { kind: 'boolean' }
    case 'array':
      return ofArray(schema)
    case 'object':
      return ofObject(schema)
    case undefined:
      if (record(schema.properties)) return ofObject(schema)
      if (schema.items !== undefined) return ofArray(schema)
  }
  return { kind: 'any' }
}

// Hints of the server, and heuristics for schemas without them.
function hinted(schema: Record<string, unknown>, key: string): Known | undefined {
  const hint = schema['x-kind'] ?? schema.format
  const types = list(schema['x-connection-types'])
  switch (hint) {
    case 'expression':
      return { kind: 'expression' }
    case 'condition':
      return { kind: 'expression', condition: true }
    case 'code':
      return { kind: 'code' }
    case 'json-schema':
      return { kind: 'json-schema' }
    case 'connection':
      return { kind: schema.type === 'array' ? 'connections' : 'connection', connectionTypes: types }
    case 'blueprint-id':
      return { kind: 'blueprint' }
    case 'duration-ms':
      return { kind: 'duration', whole: schema.type === 'integer' }
    case 'instant':
      return { kind: 'date-time' }
    case 'multiline':
      return schema.type === 'string' ? { kind: 'text', lines: true } : undefined
    case 'secret':
    case 'password':
      return schema.type === 'string' ? { kind: 'secret' } : undefined
  }
  if (hint === undefined && schema.type === 'string' && key === 'connectionId')
    return { kind: 'connection', connectionTypes: [] }
  if (hint === undefined && schema.type === 'string' && key === 'blueprintId') return { kind: 'blueprint' }
  if (
    Array.isArray(schema.type) &&
    schema.type.length === 2 &&
    schema.type.includes('object') &&
    schema.type.includes('boolean')
  )
    return { kind: 'json-schema' }
  return undefined
}

function ofEnum(schema: Record<string, unknown>): Known {
  const values = schema.enum as unknown[]
  const labels = list(schema['x-labels'])
  if (values.some((value) => typeof value === 'object' && value !== null)) return { kind: 'any' }
  return { kind: 'choice', choices: values.map((value, index) => ({ value, label: labels[index] ?? String(value) })) }
}

// For schemas of users; the server's own use x-lines.
const longTexts = new Set([
  'text',
  'message',
  'body',
  'description',
  'comment',
  'comments',
  'reason',
  'notes',
  'feedback',
])

function ofText(schema: Record<string, unknown>): Known {
  switch (schema.format) {
    case 'date':
      return { kind: 'date' }
    case 'date-time':
      return { kind: 'date-time' }
  }
  if (schema.writeOnly === true) return { kind: 'secret' }
  const suggestions = list(schema['x-suggestions'])
  if (suggestions.length > 0) return { kind: 'text', suggestions }
  const longest = schema.maxLength
  return { kind: 'text', lines: schema['x-lines'] === true || (typeof longest === 'number' && longest > 200) }
}

/** Reports whether the text of a key is usually longer than a line, if the schema does not say. */
export function isLongText(field: Field, key: string): boolean {
  return field.lines === true || (field.schema['x-kind'] === undefined && longTexts.has(key))
}

function ofArray(schema: Record<string, unknown>): Known {
  const items = schema.items
  if (Array.isArray(items) || schema.prefixItems !== undefined) return { kind: 'any' }
  const hinted = record(items)
  if (hinted?.['x-kind'] === 'connection')
    return { kind: 'connections', connectionTypes: list(hinted['x-connection-types']) }
  return { kind: 'list', items: (items as Schema | undefined) ?? true }
}

function ofObject(schema: Record<string, unknown>): Known {
  const members = record(schema.properties)
  const open = schema.additionalProperties !== false
  if (!members || Object.keys(members).length === 0) {
    return { kind: 'map', items: record(schema.additionalProperties) ?? true, open }
  }
  const required = new Set(list(schema.required))
  // The server does not keep the order of keys. Lists keep theirs, so required members come first, in the order of the
  // list.
  const order = [...new Set([...list(schema['x-order']), ...required])]
  const keys = [
    ...order.filter((key) => Object.hasOwn(members, key)),
    ...Object.keys(members).filter((key) => !order.includes(key)),
  ]
  return {
    kind: 'object',
    open,
    properties: keys.map((key) => ({ key, schema: members[key] as Schema, required: required.has(key) })),
  }
}

/** The name of a field: the title of its schema, or its key in words. */
export function titleOfField(field: Field, key: string): string {
  return field.title ?? labelOf(key)
}
