import { type Place, placeOfSchema } from '../forms/names'
import type { Schema } from '../forms/types'
import { isObject, type MapNode, normalType } from '../graph/map'

const text = { type: 'string' }
const number = { type: 'number' }
const object = (properties: Record<string, Schema>): Schema => ({ type: 'object', properties })

const outputs: Record<string, Schema> = {
  template: object({ text }),
  'http-request': object({ status: { type: 'integer' }, headers: { type: 'object' }, body: {} }),
  'approval-gate': object({ approved: { type: 'boolean' }, comment: text }),
  'for-each': { type: 'array' },
  'send-email': object({ messageId: text }),
  'send-slack': object({ ts: text, channel: text }),
  'emit-event': object({ delivered: number }),
}

/** The types whose output is their input. */
const passing = new Set(['conditional', 'switch', 'wait', 'log', 'respond', 'stop'])

/** Whether what a node gives is what it was given. */
export function passesOn(node: MapNode): boolean {
  return node.disabled === true || passing.has(normalType(node.type))
}

/** What the output of a node is by its type and config, before it ever ran. `inputs` are those of its predecessors by id. */
export function promised(node: MapNode, inputs: () => Record<string, Place>): Place {
  const type = normalType(node.type)
  const { config } = node
  switch (type) {
    case 'set': {
      if (!isObject(config.values)) return {}
      const members = Object.entries(config.values).map(([key, value]): [string, Place] => [key, fixed(value) ? { value, seen: true } : {}])
      return { members: Object.fromEntries(members) }
    }
    case 'human': return schemaPlace(config.schema)
    case 'ai-prompt': {
      const properties: Record<string, Schema> = { text, usage: object({ inputTokens: number, outputTokens: number }) }
      if (isObject(config.responseSchema)) properties.json = config.responseSchema
      return { schema: object(properties) }
    }
    case 'merge': return config.mode === undefined || config.mode === 'object' ? { members: inputs() } : config.mode === 'array' ? { schema: { type: 'array' } } : {}
    default: return outputs[type] === undefined ? {} : { schema: outputs[type] }
  }
}

function schemaPlace(schema: unknown): Place {
  return isObject(schema) ? placeOfSchema(schema) : {}
}

// A value without templates is known before any run.
function fixed(value: unknown): boolean {
  return typeof value === 'string' ? !value.includes('{{') : typeof value !== 'object' || value === null
}
