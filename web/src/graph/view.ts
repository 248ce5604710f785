import { edgesOf, isSequential, positionOf, type BlueprintMap, type MapNode, type Position } from './map'
import { boxOf, frameOf, groupsOf, notesOf } from './notes'
import { type Bounds, heightOf, WIDTH } from './sizes'

/** The position and zoom of the canvas. */
export type View = { x: number; y: number; zoom: number }

const margin = 32
const narrowMargin = 14
const smallest = 0.55
// The button beside the last handle.
const plus = 48

/**
 * The initial view of a canvas of a size: everything, if that stays readable, else the start of the flow at a readable
 * size, on a phone the first node and the next one. Never larger than 100 %. `beside` is what the canvas shows left of
 * the nodes. The nodes with the ids `subject` are visible, as far as they fit.
 */
export function firstView(
  map: BlueprintMap,
  width: number,
  height: number,
  beside?: Bounds,
  subject: readonly string[] = [],
): View {
  const box = around(boundsOf(map), beside)
  if (!box || width <= 0 || height <= 0) return { x: 0, y: 0, zoom: 1 }
  if (beside) box.right += plus
  // Notes and groups too, if everything stays readable with them.
  for (const { left, top, right, bottom } of [around(box, marksOf(map))!, box]) {
    const fits = Math.min((width - 2 * margin) / (right - left), (height - 2 * margin) / (bottom - top))
    if (fits < smallest) continue
    const zoom = Math.min(1, fits)
    return { zoom, x: (width - (right + left) * zoom) / 2, y: (height - (bottom + top) * zoom) / 2 }
  }
  const start = firstOf(map)
  const narrow = width < 600
  const next = narrow && !beside ? nextOf(map, start) : undefined
  const begin = around(boundsOf({ nodes: next ? [start, next] : [start] }), beside)!
  const side = narrow ? narrowMargin : margin
  const both = (width - 2 * side) / (begin.right - begin.left)
  const pair = next !== undefined || beside !== undefined
  const zoom =
    narrow && pair && both >= smallest
      ? Math.min(0.85, both, (height - 2 * margin) / (begin.bottom - begin.top))
      : narrow
        ? 0.7
        : 0.8
  const middle = narrow && pair && both >= smallest ? (begin.top + begin.bottom) / 2 : placeOf(start).y + 30
  const view = { zoom, x: side - box.left * zoom, y: height / 2 - middle * zoom }
  const wanted = boundsOf({ nodes: map.nodes.filter((node) => subject.includes(node.id)) })
  return wanted ? shifted(wanted, view, width, height, { top: side, bottom: side, left: side, right: side }) : view
}

/**
 * The view in which a node and the button beside it are fully visible, with the smallest movement. With `fresh`, as
 * for a node that was just added: everything if that stays readable, else the node with the one before it, if both fit.
 */
export function viewWith(
  map: BlueprintMap,
  id: string,
  view: View,
  width: number,
  height: number,
  room: Room,
  fresh = false,
): View {
  const node = map.nodes.find((each) => each.id === id)
  if (!node) return view
  const to = (wanted: MapNode[], zoom = view.zoom) => {
    const box = boundsOf({ nodes: wanted })!
    box.right += plus
    return shifted(box, zoomed(view, zoom, width / 2, height / 2), width, height, room)
  }
  if (!fresh) return to([node])
  const all = zoomOfAll(map, width, height, room)
  if (all >= Math.min(smallest, view.zoom)) return to(map.nodes, Math.min(view.zoom, all))
  const before = previousOf(map, node)
  if (before && zoomOfAll({ nodes: [before, node] }, width, height, room) >= view.zoom) return to([before, node])
  return to([node])
}

// The smallest movement after which a box is inside the room; a larger box starts at the room's start.
function shifted(box: Bounds, { x, y, zoom }: View, width: number, height: number, room: Room): View {
  const by = (from: number, to: number, low: number, high: number) =>
    from < low || to - from > high - low ? low - from : to > high ? high - to : 0
  return {
    zoom,
    x: x + by(box.left * zoom + x, box.right * zoom + x, room.left, width - room.right),
    y: y + by(box.top * zoom + y, box.bottom * zoom + y, room.top, height - room.bottom),
  }
}

// Changes the zoom around a point of the canvas.
function zoomed(view: View, zoom: number, x: number, y: number): View {
  const by = zoom / view.zoom
  return { zoom, x: x - (x - view.x) * by, y: y - (y - view.y) * by }
}

/** Pixels of the canvas that overlays cover, on each side. */
export type Room = { top: number; bottom: number; left: number; right: number }

/** The zoom at which the whole map is visible between the overlays; at most 1. */
export function zoomOfAll(map: BlueprintMap, width: number, height: number, room: Room): number {
  const box = boundsOf(map)
  if (!box) return 1
  return Math.min(
    1,
    (width - room.left - room.right) / (box.right - box.left),
    (height - room.top - room.bottom) / (box.bottom - box.top),
  )
}

/** Reports whether the whole map is visible in a view, between the overlays. */
export function showsAll(map: BlueprintMap, { x, y, zoom }: View, width: number, height: number, room: Room): boolean {
  const box = boundsOf(map)
  return (
    !box ||
    (box.left * zoom + x >= room.left &&
      box.right * zoom + x <= width - room.right &&
      box.top * zoom + y >= room.top &&
      box.bottom * zoom + y <= height - room.bottom)
  )
}

function around(one: Bounds | undefined, other: Bounds | undefined): Bounds | undefined {
  if (!one || !other) return one || other ? { ...(one ?? other)! } : undefined
  return {
    left: Math.min(one.left, other.left),
    top: Math.min(one.top, other.top),
    right: Math.max(one.right, other.right),
    bottom: Math.max(one.bottom, other.bottom),
  }
}

function boundsOf(map: BlueprintMap): Bounds | undefined {
  if (map.nodes.length === 0) return undefined
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const node of map.nodes) {
    const at = placeOf(node)
    left = Math.min(left, at.x)
    top = Math.min(top, at.y)
    right = Math.max(right, at.x + WIDTH)
    bottom = Math.max(bottom, at.y + heightOf(node))
  }
  return { left, top, right, bottom }
}

// What the notes and groups of a map take.
function marksOf(map: BlueprintMap): Bounds | undefined {
  const boxes = [...groupsOf(map).map((group) => frameOf(map, group)), ...notesOf(map).map(boxOf)]
  return boxes.reduce<Bounds | undefined>(around, undefined)
}

function firstOf(map: BlueprintMap): MapNode {
  return map.nodes.reduce((first, node) => (placeOf(node).x < placeOf(first).x ? node : first))
}

// The successor of a node, or the next node in a map without edges.
function nextOf(map: BlueprintMap, node: MapNode): MapNode | undefined {
  if (isSequential(map)) return map.nodes[map.nodes.indexOf(node) + 1]
  const target = edgesOf(map).find((edge) => edge.source === node.id)?.target
  return map.nodes.find((each) => each.id === target)
}

function previousOf(map: BlueprintMap, node: MapNode): MapNode | undefined {
  if (isSequential(map)) return map.nodes[map.nodes.indexOf(node) - 1]
  const source = edgesOf(map).find((edge) => edge.target === node.id)?.source
  return map.nodes.find((each) => each.id === source)
}

function placeOf(node: MapNode): Position {
  return positionOf(node) ?? { x: 0, y: 0 }
}
