import { connectable, handlesOf, usedHandles } from '../../graph/handles'
import { behind, freePlace, snap } from '../../graph/layout'
import {
  edgeKey,
  edgesOf,
  freeId,
  isSequential,
  MAIN,
  positionOf,
  type BlueprintMap,
  type JsonObject,
  type MapEdge,
  type MapNode,
  type Position,
} from '../../graph/map'
import { chain, circle, downstream, flowOrder } from '../../graph/order'
import { heightOf } from '../../graph/sizes'
import { withoutNodes } from './notes'
import { leadsOn, type Ordered, orderAsEdges, withEdge } from './order-as-edges'
import { operationsText } from '../../text/editor'

/** What the catalogue says of a type, as far as making a node needs it. */
export type NewType = { type: string; title: string; starter: JsonObject }

/** A node of a type, with an id that the map does not have and a config to begin with. */
export function newNode(map: BlueprintMap, of: NewType): MapNode {
  const id = freeId(of.type.replaceAll('-', '_'), new Set(map.nodes.map((node) => node.id)))
  return { id, type: of.type, title: of.title, config: of.starter }
}

/**
 * Adds a node. Behind `after` it is joined to it by its first way out that leads nowhere yet (or stands next in the
 * order of a map without edges, of which the first two are joined); `at` says where it stands, else there is a free place beside `after` or at the end.
 */
export function addNode(map: BlueprintMap, node: MapNode, after?: string, at?: Position, inLoop = false): BlueprintMap {
  const before = after === undefined ? undefined : map.nodes.find((each) => each.id === after)
  const last = before ?? (isSequential(map) ? map.nodes.at(-1) : undefined)
  const wish =
    at ??
    (last
      ? behind(last)
      : {
          x: 0,
          y: map.nodes.reduce((low, each) => Math.max(low, (positionOf(each)?.y ?? 0) + heightOf(each) + 32), 0),
        })
  if (before && !at && isSequential(map) && map.nodes.at(-1) !== before) {
    const index = map.nodes.indexOf(before) + 1
    const later = makeRoom(map, new Set(map.nodes.slice(index).map((each) => each.id)), wish.x)
    return {
      ...later,
      nodes: [
        ...later.nodes.slice(0, index),
        { ...node, position: freePlace(later, wish, heightOf(node)) },
        ...later.nodes.slice(index),
      ],
    }
  }
  const fresh = { ...node, position: at ? { x: snap(at.x), y: snap(at.y) } : freePlace(map, wish, heightOf(node)) }
  if (isSequential(map)) {
    const index = before ? map.nodes.indexOf(before) + 1 : map.nodes.length
    const longer = { ...map, nodes: [...map.nodes.slice(0, index), fresh, ...map.nodes.slice(index)] }
    return at ? longer : drawn(longer, inLoop)
  }
  const nodes = [...map.nodes, fresh]
  if (!before) return { ...map, nodes }
  const used = usedHandles(map).get(before.id) ?? new Set<string>()
  const handle = handlesOf(before).find((each) => !used.has(each.id)) ?? connectable(before, used)[0]!
  return { ...map, nodes, edges: [...edgesOf(map), edge(before.id, handle.id, node.id)] }
}

/** An edge as it is stored: the default handle is not named. */
export function edge(source: string, handle: string, target: string): MapEdge {
  return handle === MAIN ? { source, target } : { source, target, sourceHandle: handle }
}

/** Why two nodes cannot be joined; undefined when they can. */
export function connectProblem(map: BlueprintMap, source: string, handle: string, target: string): string | undefined {
  if (source === target) return operationsText.aNodeCannotConnectToItself
  const key = edgeKey(edge(source, handle, target))
  if (edgesOf(map).some((each) => edgeKey(each) === key)) return operationsText.theseNodesAreAlreadyConnected
  const way = circle(edgesOf(map), source, target)
  if (!way) return undefined
  const shown = way.length > 7 ? [...way.slice(0, 3), operationsText.more(way.length - 6), ...way.slice(-3)] : way
  return operationsText.thisEdgeWouldCreateAnEndless(shown.join(' → '))
}

/** Joins two nodes. */
export function connect(map: BlueprintMap, source: string, handle: string, target: string): BlueprintMap {
  return { ...map, edges: withEdge(edgesOf(map), edge(source, handle, target)) }
}

/**
 * Joins two nodes of a sequence: its order is written as edges, and the wanted one is added. An edge against the order
 * moves its source before its target. `problem` as for orderAsEdges.
 */
export function connectInOrder(
  map: BlueprintMap,
  source: string,
  handle: string,
  target: string,
  inLoop: boolean,
): Ordered {
  const wanted = edge(source, handle, target)
  const order = circle(chain(map.nodes.map((node) => node.id)), source, target)
    ? { ...map, nodes: movedBefore(map.nodes, source, target) }
    : map
  const ordered = orderAsEdges(order, inLoop, { wanted })
  return 'problem' in ordered
    ? ordered
    : { ...ordered, map: { ...ordered.map, edges: withEdge(edgesOf(ordered.map), wanted) } }
}

function movedBefore(nodes: MapNode[], id: string, before: string): MapNode[] {
  const moved = nodes.find((node) => node.id === id)!
  return nodes.flatMap((node) => (node.id === id ? [] : node.id === before ? [moved, node] : [node]))
}

/**
 * Adds a node that a handle leads to. In a sequence, the handle at which a node continues puts the new one behind it
 * in the order; any other handle needs edges, so that the order is written as edges first. `at` says where the node
 * stands, else it stands beside the source.
 */
export function addAtHandle(
  map: BlueprintMap,
  node: MapNode,
  source: string,
  handle: string,
  inLoop: boolean,
  at?: Position,
): Ordered {
  const from = map.nodes.find((each) => each.id === source)!
  if (isSequential(map) && handle === leadsOn(from))
    return { map: drawn(addNode(map, node, source, at), inLoop), notes: [] }
  const ordered = orderAsEdges(map, inLoop, { wanted: edge(source, handle, node.id), taken: [node.id] })
  if ('problem' in ordered) return ordered
  const known = ordered.map
  const row = Math.max(
    0,
    handlesOf(from, usedHandles(known).get(source)).findIndex((each) => each.id === handle),
  )
  const wish = { x: behind(from).x, y: behind(from).y + row * (heightOf(node) + 32) }
  const position = at ? { x: snap(at.x), y: snap(at.y) } : freePlace(known, wish, heightOf(node))
  return {
    ...ordered,
    map: {
      ...known,
      nodes: [...known.nodes, { ...node, position }],
      edges: [...edgesOf(known), edge(source, handle, node.id)],
    },
  }
}

/** Adds a node that leads to another one, which in a sequence it comes before. */
export function addBefore(
  map: BlueprintMap,
  node: MapNode,
  target: string,
  inLoop: boolean,
  at: Position,
): BlueprintMap {
  const fresh = { ...node, position: { x: snap(at.x), y: snap(at.y) } }
  if (!isSequential(map))
    return {
      ...map,
      nodes: [...map.nodes, fresh],
      edges: [...edgesOf(map), edge(node.id, connectable(node)[0]!.id, target)],
    }
  return drawn({ ...map, nodes: map.nodes.flatMap((each) => (each.id === target ? [fresh, each] : [each])) }, inLoop)
}

/**
 * Adds a node between another one and what leads to it: the edges to the other one lead to the new node, and that leads
 * on. In a sequence it runs directly before the other one.
 */
export function insertBefore(map: BlueprintMap, node: MapNode, target: string, inLoop: boolean): BlueprintMap {
  const index = map.nodes.findIndex((each) => each.id === target)
  const into = edgesOf(map).filter((each) => each.target === target)
  if (into.length === 1) return insertInEdge(map, edgeKey(into[0]!), node)
  if (isSequential(map) && index > 0) return addNode(map, node, map.nodes[index - 1]!.id, undefined, inLoop)
  const wish = positionOf(map.nodes[index]!) ?? { x: 0, y: 0 }
  const later = isSequential(map) ? map.nodes.map((each) => each.id) : [target, ...downstream(map, target)]
  const room = makeRoom(map, new Set(later), wish.x)
  const fresh = { ...node, position: freePlace(room, wish, heightOf(node)) }
  if (isSequential(map)) return drawn({ ...room, nodes: [fresh, ...room.nodes] }, inLoop)
  const edges = edgesOf(map).map((each) => (each.target === target ? { ...each, target: node.id } : each))
  return {
    ...room,
    nodes: [...room.nodes, fresh],
    edges: [...edges, edge(node.id, connectable(node)[0]!.id, target)],
  }
}

/**
 * Removes what a sequence shows between nodes that follow each other, by the keys of these edges: the order is written
 * as edges, without these. The later node then begins a branch of its own. `problem` as for orderAsEdges, or if no edge
 * would be left: nodes without any edge run in order.
 */
export function cutOrder(map: BlueprintMap, keys: ReadonlySet<string>, inLoop: boolean): Ordered {
  const pairs = new Set([...keys].map((key) => endsOf(key)))
  const ordered = orderAsEdges(map, inLoop)
  if ('problem' in ordered) return ordered
  const edges = edgesOf(ordered.map).filter((each) => !pairs.has(endsOf(edgeKey(each))))
  if (edges.length === 0) return { problem: operationsText.withoutAnyEdgeTheNodesRun }
  return { ...ordered, map: { ...ordered.map, edges } }
}

/** The first and the last node of an edge, as a key without its handle. */
function endsOf(key: string): string {
  const [source, , target] = JSON.parse(key) as [string, string, string]
  return JSON.stringify([source, target])
}

/** Lets a node of a sequence run directly after another one. */
export function moveAfter(map: BlueprintMap, id: string, after: string): BlueprintMap {
  const moved = map.nodes.find((node) => node.id === id)
  if (!moved || id === after) return map
  return {
    ...map,
    nodes: map.nodes.flatMap((node) => (node.id === id ? [] : node.id === after ? [node, moved] : [node])),
  }
}

// The first two nodes of a map are joined by an edge, if it says the same as their order.
function drawn(map: BlueprintMap, inLoop: boolean): BlueprintMap {
  if (!isSequential(map) || map.nodes.length !== 2) return map
  const ordered = orderAsEdges(map, inLoop)
  return 'map' in ordered && ordered.notes.length === 0 ? ordered.map : map
}

/** Why the ends of an edge cannot be these; undefined when they can. */
export function reconnectProblem(
  map: BlueprintMap,
  key: string,
  source: string,
  handle: string,
  target: string,
): string | undefined {
  return connectProblem({ ...map, edges: edgesOf(map).filter((each) => edgeKey(each) !== key) }, source, handle, target)
}

/** Moves the ends of an edge; what else the edge holds stays. */
export function reconnect(
  map: BlueprintMap,
  key: string,
  source: string,
  handle: string,
  target: string,
): BlueprintMap {
  const wanted = edge(source, handle, target)
  if (edgeKey(wanted) === key) return map
  return {
    ...map,
    edges: edgesOf(map).map((each) => {
      if (edgeKey(each) !== key) return each
      const { sourceHandle: _, ...rest } = each
      return { ...rest, ...wanted }
    }),
  }
}

/** Removes nodes with their edges, and edges by their keys. */
export function remove(
  map: BlueprintMap,
  ids: ReadonlySet<string>,
  edges: ReadonlySet<string> = new Set(),
): BlueprintMap {
  const left = map.nodes.filter((node) => !ids.has(node.id))
  const known = ids.size > 0 ? withoutNodes(map, ids) : map
  if (!map.edges) return { ...known, nodes: left }
  const kept = map.edges.filter((each) => !ids.has(each.source) && !ids.has(each.target) && !edges.has(edgeKey(each)))
  if (kept.length > 0 || map.edges.length === 0) return { ...known, nodes: left, edges: kept }
  // Without edges the nodes run in the order of the list: that in which they were connected.
  const order = new Map(flowOrder(map).map((id, index) => [id, index]))
  return { ...known, nodes: left.sort((a, b) => order.get(a.id)! - order.get(b.id)!), edges: kept }
}

/** Puts nodes at new places. */
export function place(map: BlueprintMap, places: ReadonlyMap<string, Position>): BlueprintMap {
  let moved = false
  const nodes = map.nodes.map((node) => {
    const to = places.get(node.id)
    const at = positionOf(node)
    if (!to || (at && at.x === to.x && at.y === to.y)) return node
    moved = true
    return { ...node, position: { ...(node.position as object), x: to.x, y: to.y } }
  })
  return moved ? { ...map, nodes } : map
}

/** Moves nodes by so much, as the arrow keys do. */
export function nudge(map: BlueprintMap, ids: ReadonlySet<string>, dx: number, dy: number): BlueprintMap {
  const places = new Map<string, Position>()
  for (const node of map.nodes) {
    const at = positionOf(node)
    if (ids.has(node.id) && at) places.set(node.id, { x: at.x + dx, y: at.y + dy })
  }
  return place(map, places)
}

/** Lets a node of a map without edges run one place earlier (-1) or later (1); they change their places on the canvas. */
export function reorder(map: BlueprintMap, id: string, by: -1 | 1): BlueprintMap {
  const from = map.nodes.findIndex((node) => node.id === id)
  const to = from + by
  if (from < 0 || to < 0 || to >= map.nodes.length) return map
  const nodes = [...map.nodes]
  const [one, other] = [nodes[from]!, nodes[to]!]
  nodes[to] = other.position ? { ...one, position: other.position } : one
  nodes[from] = one.position ? { ...other, position: one.position } : other
  return { ...map, nodes }
}

/** Replaces one node; the map itself when it is the same. A new id is for rename. */
export function setNode(map: BlueprintMap, id: string, node: MapNode): BlueprintMap {
  if (map.nodes.find((each) => each.id === id) === node) return map
  return { ...map, nodes: map.nodes.map((each) => (each.id === id ? node : each)) }
}

/** Switches nodes off, or on again when all of them are off. */
export function toggleDisabled(map: BlueprintMap, ids: ReadonlySet<string>): BlueprintMap {
  const off = map.nodes.every((node) => !ids.has(node.id) || node.disabled === true)
  const nodes = map.nodes.map((node) => {
    if (!ids.has(node.id)) return node
    const { disabled: _, ...rest } = node
    return (off ? rest : { ...node, disabled: true }) as MapNode
  })
  return { ...map, nodes }
}

/** Reports whether a node of a map with edges has none. */
export function isLoose(map: BlueprintMap, id: string): boolean {
  return !isSequential(map) && edgesOf(map).every((each) => each.source !== id && each.target !== id)
}

/** Puts a node of the map that has no edges into an edge: source → node → target. It stays where it stands. */
export function splitEdge(map: BlueprintMap, key: string, id: string): BlueprintMap {
  const node = map.nodes.find((each) => each.id === id)!
  const edges = edgesOf(map).flatMap((each) =>
    edgeKey(each) === key ? [{ ...each, target: id }, edge(id, connectable(node)[0]!.id, each.target)] : [each],
  )
  return { ...map, edges }
}

/** Puts a new node into an edge: source → node → target. `at` says where it stands, else room is made for it. */
export function insertInEdge(map: BlueprintMap, key: string, node: MapNode, at?: Position): BlueprintMap {
  if (at)
    return splitEdge(
      { ...map, nodes: [...map.nodes, { ...node, position: { x: snap(at.x), y: snap(at.y) } }] },
      key,
      node.id,
    )
  const through = edgesOf(map).find((each) => edgeKey(each) === key)
  if (!through) return map
  const [source, target] = [through.source, through.target].map((id) => map.nodes.find((each) => each.id === id)) as [
    MapNode,
    MapNode,
  ]
  const wish = { x: behind(source).x, y: positionOf(target)?.y ?? behind(source).y }
  const room = makeRoom(map, new Set([target.id, ...downstream(map, target.id)]), wish.x)
  const way = connectable(node)[0]!.id
  const edges = edgesOf(map).flatMap((each) =>
    each === through ? [{ ...each, target: node.id }, edge(node.id, way, through.target)] : [each],
  )
  return { ...map, nodes: [...room.nodes, { ...node, position: freePlace(room, wish, heightOf(node)) }], edges }
}

// Moves the nodes that come later to the right, so that one more column fits in before them.
function makeRoom(map: BlueprintMap, later: ReadonlySet<string>, x: number): BlueprintMap {
  const first = map.nodes.reduce(
    (left, node) => (later.has(node.id) ? Math.min(left, positionOf(node)?.x ?? left) : left),
    Infinity,
  )
  const column = behind({ id: '', type: '', title: '', config: {} }).x
  const by = x + column - first
  // What stands left of the place, or far enough away, is not in the way.
  if (!(by > 0) || first < x) return map
  return nudge(map, later, snap(by), 0)
}
