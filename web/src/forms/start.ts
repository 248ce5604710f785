import { fieldOf } from './schema'
import type { Schema } from './types'

/** The initial value: the default, the constant, or the empty value of its type. */
export function startOf(schema: Schema, root: Schema = schema, depth = 0): unknown {
  const field = fieldOf(schema, root)
  if (field.hasDefault) return field.standard
  switch (field.kind) {
    case 'constant':
      return field.schema.const
    case 'choice':
      return field.choices?.[0]?.value
    case 'boolean':
      return false
    case 'list':
    case 'connections':
      return []
    case 'map':
      return {}
    case 'object': {
      const object: Record<string, unknown> = {}
      for (const { key, schema: member, required } of field.properties ?? []) {
        const inner = fieldOf(member, root, key)
        // A number or a choice has no empty value: it is left out until the user enters one.
        if (
          inner.kind === 'constant' ||
          (required && depth < 4 && (inner.hasDefault || ['object', 'list', 'map', 'choice'].includes(inner.kind)))
        ) {
          object[key] = startOf(member, root, depth + 1)
        }
      }
      return object
    }
    case 'variants':
      return field.variants?.[0] ? startOf(field.variants[0].schema, root, depth + 1) : undefined
    case 'json-schema':
      return {}
    case 'text':
      return ''
    default:
      return undefined
  }
}
