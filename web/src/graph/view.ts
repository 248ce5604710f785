import { positionOf, type BlueprintMap, type Position } from './map'
import { heightOf, WIDTH } from './sizes'

/** Where the canvas looks. */
export type View = { x: number; y: number; zoom: number }

const margin = 32
const smallest = 0.55

/**
 * The view with which a canvas of a size begins: everything, if that stays readable, else the beginning of the flow
 * at a readable size. Never larger than life.
 */
export function firstView(map: BlueprintMap, width: number, height: number): View {
  const box = boundsOf(map)
  if (!box || width <= 0 || height <= 0) return { x: 0, y: 0, zoom: 1 }
  const fits = Math.min((width - 2 * margin) / (box.right - box.left), (height - 2 * margin) / (box.bottom - box.top))
  if (fits >= smallest) {
    const zoom = Math.min(1, fits)
    return { zoom, x: (width - (box.right + box.left) * zoom) / 2, y: (height - (box.bottom + box.top) * zoom) / 2 }
  }
  const zoom = width < 600 ? 0.85 : 0.8
  const start = firstOf(map)
  return { zoom, x: margin - box.left * zoom, y: height / 2 - (start.y + 30) * zoom }
}

/** Pixels of a canvas that something stands on, on each side. */
export type Room = { top: number; bottom: number; side: number }

/** How much smaller than life a map is when all of it shows beside what stands on the canvas; at most 1. */
export function zoomOfAll(map: BlueprintMap, width: number, height: number, room: Room): number {
  const box = boundsOf(map)
  if (!box) return 1
  return Math.min(1, (width - 2 * room.side) / (box.right - box.left), (height - room.top - room.bottom) / (box.bottom - box.top))
}

/** Whether all of a map shows in a view, beside what stands on the canvas. */
export function showsAll(map: BlueprintMap, { x, y, zoom }: View, width: number, height: number, room: Room): boolean {
  const box = boundsOf(map)
  return !box || (box.left * zoom + x >= 0 && box.right * zoom + x <= width && box.top * zoom + y >= room.top && box.bottom * zoom + y <= height - room.bottom)
}

function boundsOf(map: BlueprintMap) {
  if (map.nodes.length === 0) return undefined
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const node of map.nodes) {
    const at = positionOf(node) ?? { x: 0, y: 0 }
    left = Math.min(left, at.x)
    top = Math.min(top, at.y)
    right = Math.max(right, at.x + WIDTH)
    bottom = Math.max(bottom, at.y + heightOf(node))
  }
  return { left, top, right, bottom }
}

function firstOf(map: BlueprintMap): Position {
  return map.nodes.map((node) => positionOf(node) ?? { x: 0, y: 0 }).reduce((first, at) => (at.x < first.x ? at : first))
}
