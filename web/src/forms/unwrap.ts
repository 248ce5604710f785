import type { Choice, Schema } from './json-schema'
import { unwrapText } from '../text/forms'
import { commonText } from '../text/common'

const depth = 16 // maximum depth of references and alternatives; deeper ones are edited as JSON

/** A schema without references, template alternative and null. */
export type Plain = {
  schema: Record<string, unknown>
  template: boolean
  nullable: boolean
  choices?: Choice[]
  variants?: { title: string; schema: Schema }[]
}

/** Follows references and removes the alternatives "a template" and "null". */
export function unwrap(schema: Schema, root: Schema, left = depth): Plain {
  if (typeof schema !== 'object' || schema === null || left === 0)
    return { schema: {}, template: false, nullable: false }
  if (typeof schema.$ref === 'string') {
    const { $ref, ...beside } = schema
    const target = lookUp(root, $ref as string)
    return unwrap(target === undefined ? beside : { ...target, ...beside }, root, left - 1)
  }
  if (Array.isArray(schema.allOf)) return unwrap(joined(schema, root), root, left - 1)
  const list = schema.anyOf ?? schema.oneOf
  if (!Array.isArray(list)) return ofType(schema)
  const { anyOf: _anyOf, oneOf: _oneOf, ...beside } = schema
  let alternatives = list as Schema[]
  const template = alternatives.some(isTemplate)
  alternatives = alternatives.filter((one) => !isTemplate(one))
  const nullable = alternatives.some(isNull)
  alternatives = alternatives.filter((one) => !isNull(one))
  if (alternatives.length === 0) return { ...ofType(beside), template, nullable }
  if (alternatives.length === 1) {
    const only = alternatives[0]!
    const inner = unwrap(typeof only === 'object' ? { ...only, ...beside } : beside, root, left - 1)
    return { ...inner, template: template || inner.template, nullable: nullable || inner.nullable }
  }
  const consts = alternatives.map(constantOf)
  if (consts.every((one) => one !== undefined)) return { schema: beside, template, nullable, choices: consts }
  const variants = alternatives.map((one, index) => ({
    title: titleOf(one, root, index),
    // Keywords beside the alternatives apply to each of them.
    schema:
      typeof one === 'object' && beside.properties
        ? joined({ allOf: [{ ...beside, title: undefined, description: undefined }, one] }, root)
        : one,
  }))
  return { schema: beside, template, nullable, variants }
}

function ofType(schema: Record<string, unknown>): Plain {
  if (!Array.isArray(schema.type)) return { schema, template: false, nullable: schema.nullable === true }
  const types = schema.type.filter((name) => name !== 'null')
  return {
    schema: { ...schema, type: types.length === 1 ? types[0] : types },
    template: false,
    nullable: types.length < schema.type.length,
  }
}

// The alternative in the catalogue of node types for values that allow a template.
function isTemplate(schema: Schema): boolean {
  return (
    typeof schema === 'object' &&
    schema.type === 'string' &&
    (schema['x-kind'] === 'template' || (typeof schema.pattern === 'string' && schema.pattern.includes('\\{\\{')))
  )
}

function isNull(schema: Schema): boolean {
  return (
    typeof schema === 'object' && (schema.type === 'null' || (schema.const === null && Object.hasOwn(schema, 'const')))
  )
}

function constantOf(schema: Schema): Choice | undefined {
  if (typeof schema !== 'object') return undefined
  const value = Object.hasOwn(schema, 'const')
    ? schema.const
    : Array.isArray(schema.enum) && schema.enum.length === 1
      ? schema.enum[0]
      : undefined
  return value === undefined || typeof value === 'object'
    ? undefined
    : { value, label: text(schema.title) ?? String(value) }
}

function titleOf(schema: Schema, root: Schema, index: number): string {
  const { schema: plain } = unwrap(schema, root)
  const named = text(plain.title)
  if (named) return named
  // An object with a distinguishing constant member is named by its value: {"type": {"const": "bearer"}}.
  for (const member of Object.values(record(plain.properties) ?? {})) {
    const choice = constantOf(member as Schema)
    if (choice) return choice.label
  }
  if (plain['x-kind'] === 'expression' || plain.format === 'expression') return unwrapText.expression
  switch (plain.type) {
    case 'string':
      return commonText.text
    case 'number':
    case 'integer':
      return commonText.number
    case 'boolean':
      return unwrapText.yesOrNo
    case 'array':
      return unwrapText.list
    case 'object':
      return unwrapText.object
    default:
      return unwrapText.option(index + 1)
  }
}

function lookUp(root: Schema, reference: string): Record<string, unknown> | undefined {
  if (!reference.startsWith('#')) return undefined
  let at: unknown = root
  for (const part of reference.slice(1).split('/').slice(1)) {
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~')
    const object = record(at)
    if (!object || !Object.hasOwn(object, key)) return undefined
    at = object[key]
  }
  return record(at)
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

// One schema for several that apply together, as far as members and annotations are concerned.
function joined(schema: Record<string, unknown>, root: Schema): Record<string, unknown> {
  const { allOf, ...beside } = schema
  let all: Record<string, unknown> = {}
  for (const part of [...(allOf as Schema[]), beside]) {
    if (typeof part !== 'object' || part === null) continue
    const plain = typeof part.$ref === 'string' ? { ...lookUp(root, part.$ref), ...part, $ref: undefined } : part
    const properties = { ...record(all.properties), ...record(plain.properties) }
    const required = [...list(all.required), ...list(plain.required)]
    all = { ...all, ...Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined)) }
    if (Object.keys(properties).length > 0) all.properties = properties
    if (required.length > 0) all.required = [...new Set(required)]
  }
  return all
}

/** The value if it is an object. */
export function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

/** The strings of a list; none if the value is not a list. */
export function list(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
}

/** The value if it is a non-empty string. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
