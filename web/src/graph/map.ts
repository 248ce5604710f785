/**
 * A blueprint_map as the dashboard handles it. Nothing here is ever changed in place: every function gives a new map
 * that shares what stayed the same, and keeps whatever else a map, a node or an edge holds.
 */

/** An object of JSON. */
export type JsonObject = Record<string, unknown>

/** Where a node stands on the canvas, in pixels from the canvas's own origin. */
export type Position = { x: number; y: number }

/** A node of a map. Further members are kept as they are. */
export type MapNode = {
  id: string
  type: string
  title: string
  config: JsonObject
  position?: Position
  disabled?: boolean
  onError?: 'stop' | 'continue' | 'branch'
  [member: string]: unknown
}

/** An edge of a map. Without `sourceHandle` it leaves its source at the handle "main". */
export type MapEdge = { source: string; target: string; sourceHandle?: string | null; [member: string]: unknown }

/** A map. Without edges its nodes run in the order of the array. */
export type BlueprintMap = { nodes: MapNode[]; edges?: MapEdge[] | null; [member: string]: unknown }

/** The handle that an edge leaves by when it names none. */
export const MAIN = 'main'

/** Whether a value is an object of JSON: no array, not null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Reads a stored map. The server keeps only maps of the right shape; what is not of it anyway (an answer without a
 * map, say) is left out rather than shown wrongly.
 */
export function readMap(value: unknown): BlueprintMap {
  if (!isObject(value)) return { nodes: [] }
  const nodes = Array.isArray(value.nodes) ? value.nodes.filter(isObject).map(readNode) : []
  if (!Array.isArray(value.edges)) return { ...value, nodes } as BlueprintMap
  const known = new Set(nodes.map((node) => node.id))
  const joins = (edge: unknown): edge is MapEdge =>
    isObject(edge) && known.has(edge.source as string) && known.has(edge.target as string)
  return { ...value, nodes, edges: value.edges.filter(joins) }
}

function readNode(value: JsonObject): MapNode {
  if (
    typeof value.id === 'string' &&
    typeof value.type === 'string' &&
    typeof value.title === 'string' &&
    isObject(value.config)
  )
    return value as MapNode
  return {
    ...value,
    id: String(value.id ?? ''),
    type: String(value.type ?? ''),
    title: String(value.title ?? ''),
    config: isObject(value.config) ? value.config : {},
  }
}

/** The edges of a map, none when its nodes run in order. */
export function edgesOf(map: BlueprintMap): MapEdge[] {
  return map.edges ?? []
}

/** Whether the nodes of a map run one after the other in the order of the array. */
export function isSequential(map: BlueprintMap): boolean {
  return edgesOf(map).length === 0
}

/** The handle by which an edge leaves its source. */
export function handleOf(edge: MapEdge): string {
  return edge.sourceHandle || MAIN
}

/** What tells an edge from the others of its map: two edges of the same key say the same. */
export function edgeKey(edge: MapEdge): string {
  return JSON.stringify([edge.source, handleOf(edge), edge.target])
}

/** A type as the server looks it up: `_` and `-` are the same, human-checkpoint is human. */
export function normalType(type: string): string {
  const name = type.replaceAll('_', '-')
  return name === 'human-checkpoint' ? 'human' : name
}

/** A node's position, when it has one that can be drawn. */
export function positionOf(node: MapNode): Position | undefined {
  const at = node.position
  return isObject(at) && Number.isFinite(at.x) && Number.isFinite(at.y)
    ? { x: at.x as number, y: at.y as number }
    : undefined
}

/** An id that `taken` does not hold: the wanted one, or it with a number behind. */
export function freeId(wanted: string, taken: { has(id: string): boolean }): string {
  if (!taken.has(wanted)) return wanted
  const stem = wanted.replace(/_\d+$/, '') || wanted
  for (let number = 2; ; number++) {
    const id = `${stem}_${number}`
    if (!taken.has(id)) return id
  }
}
