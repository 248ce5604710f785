import { type Place, placeOfSchema } from '../forms/names'
import { isObject, type JsonObject, type MapNode } from '../graph/map'
import type { NodeTypeInfo } from './types'

/** Reports whether the output of a node is its input. */
export function passesOn(node: MapNode, type: NodeTypeInfo | undefined): boolean {
  return node.disabled === true || type?.passesInput === true
}

/**
 * The output of a node as far as it is known before a run, by its type and config. `inputs` are the outputs of its
 * predecessors by id.
 */
export function promised(node: MapNode, type: NodeTypeInfo | undefined, inputs: () => Record<string, Place>): Place {
  const { config } = node
  // The outputs of these depend on their configs; those of the others are in the catalogue.
  switch (type?.type) {
    case 'set': {
      if (!isObject(config.values)) return {}
      const members = Object.entries(config.values).map(([key, value]): [string, Place] => [
        key,
        fixed(value) ? { value, seen: true } : {},
      ])
      return { members: Object.fromEntries(members) }
    }
    case 'human':
      return schemaPlace(config.schema)
    case 'ai-prompt':
      return {
        schema: isObject(config.responseSchema)
          ? withProperty(type.output, 'json', config.responseSchema)
          : type.output,
      }
    case 'merge':
      return config.mode === undefined || config.mode === 'object'
        ? { members: inputs() }
        : config.mode === 'array'
          ? { schema: { type: 'array' } }
          : {}
    default:
      return type?.output ? { schema: type.output } : {}
  }
}

function withProperty(schema: JsonObject | undefined, name: string, of: JsonObject): JsonObject {
  return { ...schema, properties: { ...(schema?.properties as JsonObject | undefined), [name]: of } }
}

function schemaPlace(schema: unknown): Place {
  return isObject(schema) ? placeOfSchema(schema) : {}
}

// A value without templates is known before any run.
function fixed(value: unknown): boolean {
  return typeof value === 'string' ? !value.includes('{{') : typeof value !== 'object' || value === null
}
