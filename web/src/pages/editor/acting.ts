import { type BlueprintMap, type MapNode, normalType } from '../../graph/map'
import { type NodeType, typeIn } from '../../graph/node-types'
import { hasBody, mapAt } from './nested'

/** The nodes of a map and of the bodies in it that may act on other systems. Those in a disabled for-each do not run. */
export function actingNodes(map: BlueprintMap, types: readonly Pick<NodeType, 'type' | 'effect'>[]): MapNode[] {
  const runs: BlueprintMap = { ...map, nodes: map.nodes.filter((node) => !node.disabled) }
  return runs.nodes.flatMap((node) => {
    if (hasBody(node) && node.config.blueprintId === undefined) return actingNodes(mapAt(runs, [node.id])!, types)
    return acts(node, types) ? [node] : []
  })
}

// What another blueprint does is not known here.
function acts(node: MapNode, types: readonly Pick<NodeType, 'type' | 'effect'>[]): boolean {
  const type = normalType(node.type)
  if (type === 'blueprint' || type === 'for-each') return true
  const effect = node.effect ?? typeIn(types, type)?.effect
  return effect !== undefined && effect !== 'pure' && type !== 'code'
}
