import { Graph, layout as arrange } from '@dagrejs/dagre'
import { usedHandles } from './handles'
import { edgesOf, positionOf, type BlueprintMap, type MapEdge, type MapNode, type Position } from './map'
import { chain, flowOrder } from './order'
import { heightOf, WIDTH } from './sizes'

// Space for labels between columns, and to separate rows.
const columnGap = 88
const rowGap = 32
// With more nodes dagre takes seconds; plain columns are drawn then.
const most = 1500
// The grid of coordinates, as when dragging.
export const GRID = 8

/** A map with all nodes at the positions of a new layout: left to right, each after its predecessors. */
export function layout(map: BlueprintMap): BlueprintMap {
  const places = placesOf(map)
  return { ...map, nodes: map.nodes.map((node) => ({ ...node, position: places.get(node.id) ?? { x: 0, y: 0 } })) }
}

/**
 * A map in which all nodes have a position: existing ones are kept. If none has one, the map is laid out; otherwise the
 * others are placed after their predecessors, where there is space. Returns the same map if no position was missing.
 */
export function placed(map: BlueprintMap): BlueprintMap {
  const missing = map.nodes.filter((node) => !positionOf(node))
  if (missing.length === 0) return map
  if (missing.length === map.nodes.length) return layout(map)
  const nodes = new Map(map.nodes.map((node) => [node.id, node]))
  const boxes = new Boxes(map.nodes)
  for (const id of flowOrder(map)) {
    const node = nodes.get(id)!
    if (positionOf(node)) continue
    const source = drawnEdges(map).find((edge) => edge.target === id && positionOf(nodes.get(edge.source)!))
    const from = source && positionOf(nodes.get(source.source)!)
    const position = boxes.free(
      from ? { x: from.x + WIDTH + columnGap, y: from.y } : { x: 0, y: boxes.bottom() + rowGap },
      heightOf(node),
    )
    nodes.set(id, { ...node, position })
    boxes.add(position, heightOf(node))
  }
  return { ...map, nodes: map.nodes.map((node) => nodes.get(node.id)!) }
}

/** The first free position at or below a wanted one for a node that is placed beside others. */
export function freePlace(map: BlueprintMap, wish: Position, height: number): Position {
  return new Boxes(map.nodes).free({ x: snap(wish.x), y: snap(wish.y) }, height)
}

/** The position right of a node, for its successor. */
export function behind(node: MapNode): Position {
  const at = positionOf(node) ?? { x: 0, y: 0 }
  return { x: at.x + WIDTH + columnGap, y: at.y }
}

/** Rounds a coordinate to the grid. */
export function snap(value: number): number {
  return Math.round(value / GRID) * GRID
}

// The drawn edges: those of the map, or of its sequence.
function drawnEdges(map: BlueprintMap): MapEdge[] {
  const edges = edgesOf(map)
  return edges.length > 0 ? edges : chain(map.nodes.map((node) => node.id))
}

function placesOf(map: BlueprintMap): Map<string, Position> {
  const used = usedHandles(map)
  const heights = new Map(map.nodes.map((node) => [node.id, heightOf(node, used.get(node.id))]))
  return map.nodes.length > most ? columns(map, heights) : byDagre(map, heights)
}

// dagre keeps nodes in plain objects, which have a member "constructor".
const keyOf = (id: string) => `#${id}`

function byDagre(map: BlueprintMap, heights: Map<string, number>): Map<string, Position> {
  const graph = new Graph()
  graph.setGraph({ rankdir: 'LR', nodesep: rowGap, ranksep: columnGap, marginx: 0, marginy: 0 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id } of map.nodes) graph.setNode(keyOf(id), { width: WIDTH, height: heights.get(id)! })
  for (const { source, target } of drawnEdges(map)) if (source !== target) graph.setEdge(keyOf(source), keyOf(target))
  arrange(graph)
  return new Map(
    map.nodes.map((node) => {
      const at = graph.node(keyOf(node.id)) as { x: number; y: number }
      return [node.id, { x: snap(at.x - WIDTH / 2), y: snap(at.y - heights.get(node.id)! / 2) }]
    }),
  )
}

// Each node one column right of its last predecessor; within a column in the order of the flow.
function columns(map: BlueprintMap, heights: Map<string, number>): Map<string, Position> {
  const column = new Map<string, number>()
  const sources = new Map<string, string[]>()
  for (const edge of drawnEdges(map)) sources.set(edge.target, [...(sources.get(edge.target) ?? []), edge.source])
  const bottoms: number[] = []
  const places = new Map<string, Position>()
  for (const id of flowOrder(map)) {
    const at = (sources.get(id) ?? []).reduce((most, source) => Math.max(most, (column.get(source) ?? -1) + 1), 0)
    column.set(id, at)
    const y = bottoms[at] ?? 0
    bottoms[at] = y + heights.get(id)! + rowGap
    places.set(id, { x: at * snap(WIDTH + columnGap), y: snap(y) })
  }
  return places
}

// Occupied areas, for finding a free position.
class Boxes {
  private boxes: { x: number; y: number; height: number }[] = []
  constructor(nodes: MapNode[]) {
    for (const node of nodes) {
      const at = positionOf(node)
      if (at) this.add(at, heightOf(node))
    }
  }
  add(at: Position, height: number) {
    this.boxes.push({ ...at, height })
  }
  bottom(): number {
    return this.boxes.reduce((low, box) => Math.max(low, box.y + box.height), 0)
  }
  free(wish: Position, height: number): Position {
    const column = this.boxes.filter((box) => Math.abs(box.x - wish.x) < WIDTH + GRID).sort((a, b) => a.y - b.y)
    let y = wish.y
    for (const box of column) {
      if (box.y + box.height + GRID > y && box.y < y + height + GRID) y = snap(box.y + box.height + rowGap)
    }
    return { x: wish.x, y }
  }
}
