import { fieldOf } from './schema'
import type { Schema } from './types'
import { isNumber, isObject, same } from './values'

/** The alternatives for a value, most likely first. */
export function variantOf(variants: readonly { schema: Schema }[], value: unknown, root: Schema): number[] {
  if (value === undefined) return []
  return variants
    .map(({ schema }, index) => ({ index, likely: likeness(schema, value, root) }))
    .filter(({ likely }) => likely > 0)
    .sort((a, b) => b.likely - a.likely)
    .map(({ index }) => index)
}

// 0 for a value that cannot match the schema; higher for a better fit.
function likeness(schema: Schema, value: unknown, root: Schema): number {
  const field = fieldOf(schema, root)
  switch (field.kind) {
    case 'constant':
      return same(field.schema.const, value) ? 10 : 0
    case 'choice':
      return field.choices?.some((choice) => same(choice.value, value)) ? 10 : 0
    case 'number':
    case 'duration':
      return isNumber(value) ? 5 : 0
    case 'boolean':
      return typeof value === 'boolean' ? 5 : 0
    case 'list':
    case 'connections':
      return Array.isArray(value) ? 5 : 0
    case 'map':
      return isObject(value) ? 3 : 0
    case 'object':
      return isObject(value) ? ofMembers(field.properties ?? [], value, root) : 0
    case 'any':
    case 'json-schema':
      return 1
    case 'variants':
      return (field.variants ?? []).some((one) => likeness(one.schema, value, root) > 0) ? 4 : 0
    default:
      return typeof value === 'string' ? 5 : 0
  }
}

function ofMembers(
  members: { key: string; schema: Schema; required: boolean }[],
  value: Record<string, unknown>,
  root: Schema,
): number {
  let likely = 4
  for (const { key, schema, required } of members) {
    const inner = fieldOf(schema, root, key)
    if (inner.kind === 'constant') {
      // The member that distinguishes the alternatives.
      if (!same(value[key], inner.schema.const)) return Object.hasOwn(value, key) || required ? 0 : likely
      likely += 10
    } else if (Object.hasOwn(value, key)) likely += 1
    else if (required) likely -= 0.5
  }
  return Math.max(likely, 0.5)
}
