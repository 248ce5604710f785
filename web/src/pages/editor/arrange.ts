import { type BlueprintMap, positionOf, type Position } from '../../graph/map'
import { snap } from '../../graph/layout'
import { heightOf, WIDTH } from '../../graph/sizes'
import { place } from './operations'

type Box = Position & { id: string; width: number; height: number }

function boxesOf(map: BlueprintMap, ids: ReadonlySet<string>): Box[] {
  return map.nodes.flatMap((node) => {
    const at = positionOf(node)
    return at && ids.has(node.id) ? [{ ...at, id: node.id, width: WIDTH, height: heightOf(node) }] : []
  })
}

/** Moves nodes to the same left edge, or the same upper edge. */
export function align(map: BlueprintMap, ids: ReadonlySet<string>, edge: 'left' | 'top'): BlueprintMap {
  const boxes = boxesOf(map, ids)
  const axis = edge === 'left' ? 'x' : 'y'
  const least = Math.min(...boxes.map((box) => box[axis]))
  return place(map, new Map(boxes.map(({ id, x, y }) => [id, axis === 'x' ? { x: least, y } : { x, y: least }])))
}

/** Moves the nodes between the outer ones so that the gaps between all are equal; at least three are needed. */
export function distribute(map: BlueprintMap, ids: ReadonlySet<string>, axis: 'x' | 'y'): BlueprintMap {
  const size = axis === 'x' ? 'width' : 'height'
  const boxes = boxesOf(map, ids).sort((a, b) => a[axis] - b[axis])
  const [from, to] = [boxes[0], boxes.at(-1)]
  if (boxes.length < 3 || !from || !to) return map
  const taken = boxes.reduce((sum, box) => sum + box[size], 0)
  const gap = (to[axis] + to[size] - from[axis] - taken) / (boxes.length - 1)
  let at = from[axis]
  const places = new Map<string, Position>()
  for (const box of boxes) {
    const along = box === from || box === to ? box[axis] : snap(at)
    places.set(box.id, axis === 'x' ? { x: along, y: box.y } : { x: box.x, y: along })
    at += box[size] + gap
  }
  return place(map, places)
}
