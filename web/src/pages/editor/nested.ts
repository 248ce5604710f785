import { placed } from '../../graph/layout'
import { isObject, normalType, readMap, type BlueprintMap, type MapNode } from '../../graph/map'

/** The path to a nested map: the ids of the for-each nodes that contain it, outermost first. */
export type Level = readonly string[]

/** Reports whether a node has a body that can be opened. */
export function hasBody(node: MapNode): boolean {
  return (
    normalType(node.type) === 'for-each' && (Array.isArray(node.config.nodes) || node.config.blueprintId === undefined)
  )
}

/** The map at a level; undefined if a node on the path does not exist. */
export function mapAt(map: BlueprintMap, level: Level): BlueprintMap | undefined {
  let at: BlueprintMap | undefined = map
  for (const id of level) {
    const node: MapNode | undefined = at.nodes.find((each) => each.id === id)
    if (!node || !hasBody(node)) return undefined
    at = readMap({ nodes: node.config.nodes ?? [], edges: node.config.edges })
  }
  return at
}

/** The levels of the map and of every body in it, outer ones first. */
export function levelsOf(map: BlueprintMap): Level[] {
  const levels: Level[] = [[]]
  for (const level of levels) {
    if (level.length > 16) break
    for (const node of mapAt(map, level)!.nodes) if (hasBody(node)) levels.push([...level, node.id])
  }
  return levels
}

/** The map with positions for all nodes, including those in bodies. */
export function placedAll(map: BlueprintMap): BlueprintMap {
  let whole = map
  for (const level of levelsOf(map)) {
    const before = mapAt(whole, level)!
    const after = placed(before)
    if (after !== before) whole = withMapAt(whole, level, after)
  }
  return whole
}

/** The whole map with the map at a level replaced. */
export function withMapAt(map: BlueprintMap, level: Level, inner: BlueprintMap): BlueprintMap {
  const [id, ...rest] = level
  if (id === undefined) return inner
  const nodes = map.nodes.map((node) => {
    if (node.id !== id) return node
    const body = withMapAt(mapAt({ nodes: [node] }, [id])!, rest, inner)
    const { edges: _, ...config } = node.config
    return { ...node, config: { ...config, nodes: body.nodes, ...(body.edges?.length ? { edges: body.edges } : {}) } }
  })
  return { ...map, nodes }
}

/**
 * The place of an issue of the whole map: the level of its node, the node, and the path within it. The path is that of
 * the server, below blueprint_map.
 */
export function locate(
  map: BlueprintMap,
  path: readonly unknown[],
): { level: string[]; nodeId?: string; edge?: number; field: (string | number)[] } {
  const level: string[] = []
  let at: unknown = map
  let nodeId: string | undefined
  let rest = [...path]
  for (;;) {
    if (rest[0] === 'edges' && typeof rest[1] === 'number')
      return { level, edge: rest[1], field: rest.slice(2) as (string | number)[] }
    const nodes: unknown = isObject(at) ? at.nodes : undefined
    const node: unknown =
      rest[0] === 'nodes' && typeof rest[1] === 'number' && Array.isArray(nodes) ? nodes[rest[1]] : undefined
    if (!isObject(node)) return { level, nodeId, field: rest as (string | number)[] }
    nodeId = String(node.id)
    rest = rest.slice(2)
    if (!(
      rest[0] === 'config' &&
      (rest[1] === 'nodes' || rest[1] === 'edges') &&
      typeof rest[2] === 'number' &&
      normalType(String(node.type)) === 'for-each'
    ))
      return { level, nodeId, field: rest as (string | number)[] }
    level.push(nodeId)
    nodeId = undefined
    at = node.config
    rest = rest.slice(1)
  }
}
