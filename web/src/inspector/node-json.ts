import { parseJson } from '../api/json'
import { isObject, type MapNode } from '../graph/map'
import { checkJson } from '../parts/json-check'

/** A node read from its JSON, or what keeps the text from being one. */
export type ReadNode = { node: MapNode } | { fault: string; line?: number }

/** Reads the JSON of a whole node. Its id is not changed this way: edges and templates would lose it. */
export function readNodeText(text: string, id: string): ReadNode {
  const bad = checkJson(text)
  if (bad) return { fault: `invalid JSON (line ${bad.line}, column ${bad.column}: ${bad.message})`, line: bad.line }
  const value = parseJson(text)
  if (!isObject(value)) return { fault: 'a node must be an object' }
  for (const key of ['id', 'type', 'title'] as const) {
    if (typeof value[key] !== 'string') return { fault: `"${key}" must be a string` }
  }
  if (!isObject(value.config)) return { fault: '"config" must be an object' }
  if (value.id !== id)
    return { fault: `the id must stay ${JSON.stringify(id)} (use Rename, which also changes what names it)` }
  return { node: value as MapNode }
}
