import { behind, freePlace } from '../../graph/layout'
import {
  edgeKey,
  freeId,
  isSequential,
  MAIN,
  normalType,
  positionOf,
  type BlueprintMap,
  type MapEdge,
  type MapNode,
} from '../../graph/map'
import { heightOf } from '../../graph/sizes'
import { orderAsEdgesText } from '../../text/editor'

/**
 * The result of converting a sequence to edges. `map` runs like the sequence; `notes` list the changes besides plain
 * edges. `problem` is the reason why there is no such graph.
 */
export type Ordered = { map: BlueprintMap; notes: string[] } | { problem: string }

/**
 * Writes the order of a sequence as edges without changing what it does. In a sequence a false condition ends the run
 * early and a rejection fails it, so these nodes do not lead on by plain edges: a condition leads on by "true", an
 * approval by "approved", and a rejection leads to a stop node that fails the run. `inLoop` says that the sequence is
 * the body of a for-each; `wanted` is an edge about to be added, whose way out is left to it; `taken` holds ids that a
 * new node must not have. A map with edges stays as it is.
 */
export function orderAsEdges(
  map: BlueprintMap,
  inLoop = false,
  { wanted, taken = [] }: { wanted?: MapEdge; taken?: Iterable<string> } = {},
): Ordered {
  if (!isSequential(map)) return { map, notes: [] }
  const edges: MapEdge[] = []
  const notes: string[] = []
  const added: MapNode[] = []
  const ids = new Set([...taken, ...map.nodes.map((node) => node.id)])
  const nodes = map.nodes.map((node, index) => {
    const name = node.title || node.id
    const target = map.nodes[index + 1]?.id
    const way = node.disabled ? undefined : ways.get(normalType(node.type))
    if (!way) {
      if (target !== undefined) edges.push({ source: node.id, target })
      if (node.disabled && target !== undefined && ways.get(normalType(node.type)))
        notes.push(orderAsEdgesText.isDisabledSoItsEdgeIs(name))
      return node
    }
    if (target !== undefined) edges.push({ source: node.id, target, sourceHandle: way.on })
    if (way.fails !== undefined && !(wanted?.source === node.id && wanted.sourceHandle === way.fails)) {
      const stop = rejected(map, added, node, ids)
      ids.add(stop.id)
      added.push(stop)
      edges.push({ source: node.id, target: stop.id, sourceHandle: way.fails })
      notes.push(orderAsEdgesText.addsAStopNodeThatFails(name))
    }
    // A failure that the run survives continues too, but of the edges above only a named error does.
    if (node.onError !== 'continue' || target === undefined) return node
    edges.push({ source: node.id, target, sourceHandle: 'error' })
    notes.push(orderAsEdgesText.nowBranchesOnErrorsBothEdges(name))
    return { ...node, onError: 'branch' as const }
  })
  if (inLoop && added.length > 0) return { problem: orderAsEdgesText.inAForEachBodyA }
  return { map: { ...map, nodes: [...nodes, ...added], edges }, notes }
}

/** The edges of a list, and one more unless it is among them. */
export function withEdge(edges: MapEdge[], wanted: MapEdge): MapEdge[] {
  const key = edgeKey(wanted)
  return edges.some((each) => edgeKey(each) === key) ? edges : [...edges, wanted]
}

// The types that can end a sequence: the handle at which they continue, and the one at which the run fails.
const ways = new Map(
  Object.entries<{ on: string; fails?: string }>({
    conditional: { on: 'true' },
    'approval-gate': { on: 'approved', fails: 'rejected' },
  }),
)

/** The handle at which a node continues in a sequence. */
export function leadsOn(node: MapNode): string {
  return (node.disabled ? undefined : ways.get(normalType(node.type))?.on) ?? MAIN
}

// Fails the run with the message of the sequence.
function rejected(map: BlueprintMap, added: readonly MapNode[], gate: MapNode, taken: ReadonlySet<string>): MapNode {
  const all = { ...map, nodes: [...map.nodes, ...added] }
  const node: MapNode = {
    id: freeId('rejected', taken),
    type: 'stop',
    title: orderAsEdgesText.rejected(gate.title || gate.id),
    config: {
      failed: true,
      message:
        '{{= (input.comment ?? "") != "" ? "rejected: " + input.comment : (input.expired ?? false) ? "rejected: no decision in time" : "rejected" }}',
    },
  }
  const at = positionOf(gate)
  return at
    ? { ...node, position: freePlace(all, { x: behind(gate).x, y: at.y + heightOf(gate) + 32 }, heightOf(node)) }
    : node
}
