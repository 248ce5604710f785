/**
 * A blueprint_map in the dashboard. Maps are immutable: every function returns a new map that shares unchanged parts,
 * and keeps unknown members of maps, nodes and edges.
 */

/** A JSON object. */
export type JsonObject = Record<string, unknown>

/** The position of a node on the canvas, in pixels from its origin. */
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

/** The handle of an edge that names none. */
export const MAIN = 'main'

/** Reports whether a value is a JSON object: not an array or null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Parses a stored map. The server stores only maps of the right shape; anything else (such as a response without a map)
 * is ignored.
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

/** The edges of a map, none if its nodes run in sequence. */
export function edgesOf(map: BlueprintMap): MapEdge[] {
  return map.edges ?? []
}

/** Reports whether the nodes of a map run in the order of the array. */
export function isSequential(map: BlueprintMap): boolean {
  return edgesOf(map).length === 0
}

/** The source handle of an edge. */
export function handleOf(edge: MapEdge): string {
  return edge.sourceHandle || MAIN
}

/** Identifies an edge in its map: two edges with the same key are equal. */
export function edgeKey(edge: MapEdge): string {
  return JSON.stringify([edge.source, handleOf(edge), edge.target])
}

/** A type as the server normalizes it: `_` and `-` are the same, human-checkpoint is human. */
export function normalType(type: string): string {
  const name = type.replaceAll('_', '-')
  return name === 'human-checkpoint' ? 'human' : name
}

/** The position of a node, if it has a valid one. */
export function positionOf(node: MapNode): Position | undefined {
  const at = node.position
  return isObject(at) && Number.isFinite(at.x) && Number.isFinite(at.y)
    ? { x: at.x as number, y: at.y as number }
    : undefined
}

/** An id that is not in `taken`: the wanted one, or it with a numeric suffix. */
export function freeId(wanted: string, taken: { has(id: string): boolean }): string {
  if (!taken.has(wanted)) return wanted
  const stem = wanted.replace(/_\d+$/, '') || wanted
  for (let number = 2; ; number++) {
    const id = `${stem}_${number}`
    if (!taken.has(id)) return id
  }
}
