import { parseJson } from '../api/json'
import { isObject, type MapNode } from '../graph/map'
import { checkJson } from '../parts/json-check'
import { nodeJsonText } from '../text/inspector'

/** A node parsed from JSON, or the reason why the text is not one. */
export type ReadNode = { node: MapNode } | { fault: string; line?: number }

/** Parses the JSON of a whole node. Its id cannot be changed this way: edges and templates would lose it. */
export function readNodeText(text: string, id: string): ReadNode {
  const bad = checkJson(text)
  if (bad) return { fault: nodeJsonText.invalidJsonLineColumn(bad.line, bad.column, bad.message), line: bad.line }
  const value = parseJson(text)
  if (!isObject(value)) return { fault: nodeJsonText.theNodeMustBeAnObject }
  for (const key of ['id', 'type', 'title'] as const) {
    if (typeof value[key] !== 'string') return { fault: nodeJsonText.mustBeAString(key) }
  }
  if (!isObject(value.config)) return { fault: nodeJsonText.configMustBeAnObject }
  if (value.id !== id) return { fault: nodeJsonText.theIdMustStayUseRename(JSON.stringify(id)) }
  return { node: value as MapNode }
}
