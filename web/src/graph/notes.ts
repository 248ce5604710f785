import { type BlueprintMap, isObject, positionOf, type MapNode, type Position } from './map'
import { type Bounds, heightOf, WIDTH } from './sizes'

/**
 * Notes and groups are members of the map besides nodes and edges: `notes` and `groups`. They have no meaning for a run.
 */

/** A text on the canvas. */
export type Note = {
  id: string
  text: string
  position: Position
  size: { width: number; height: number }
  [member: string]: unknown
}
/** A frame around nodes. */
export type Group = { id: string; title: string; nodes: string[]; [member: string]: unknown }

/** The limits of a note's size. */
export const LEAST = { width: 144, height: 72 }
/** The space between the frame of a group and its nodes, and the height of its title. */
export const FRAME = { space: 24, title: 32 }

/** The size of a new note. */
export const NOTE = { width: 240, height: 120 }

/** The notes of a map; what is not one is ignored. */
export function notesOf(map: BlueprintMap): Note[] {
  return list(map.notes).flatMap((value) => {
    const size = isObject(value.size) ? value.size : {}
    const position = positionOf(value as MapNode)
    if (typeof value.id !== 'string' || typeof value.text !== 'string' || !position) return []
    const within = (given: unknown, least: number, other: number) =>
      Number.isFinite(given) ? Math.max(least, given as number) : other
    return [
      {
        ...value,
        id: value.id,
        text: value.text,
        position,
        size: {
          width: within(size.width, LEAST.width, NOTE.width),
          height: within(size.height, LEAST.height, NOTE.height),
        },
      },
    ]
  })
}

/** The groups of a map with the nodes that it has; a group without any is ignored. */
export function groupsOf(map: BlueprintMap): Group[] {
  const known = new Set(map.nodes.map((node) => node.id))
  return list(map.groups).flatMap((value) => {
    const nodes = Array.isArray(value.nodes) ? value.nodes.filter((id): id is string => known.has(id as string)) : []
    return typeof value.id === 'string' && nodes.length > 0
      ? [{ ...value, id: value.id, title: typeof value.title === 'string' ? value.title : '', nodes }]
      : []
  })
}

/** The frame of a group, around its nodes. `moved` holds the places of nodes that are being dragged. */
export function frameOf(map: BlueprintMap, { nodes }: Group, moved?: ReadonlyMap<string, Position>): Bounds {
  const inside = new Set(nodes)
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity }
  for (const node of map.nodes) {
    if (!inside.has(node.id)) continue
    const at = moved?.get(node.id) ?? positionOf(node) ?? { x: 0, y: 0 }
    box.left = Math.min(box.left, at.x)
    box.top = Math.min(box.top, at.y)
    box.right = Math.max(box.right, at.x + WIDTH)
    box.bottom = Math.max(box.bottom, at.y + heightOf(node))
  }
  const { space, title } = FRAME
  return {
    left: box.left - space,
    top: box.top - space - title,
    right: box.right + space,
    bottom: box.bottom + space,
  }
}

/** The rectangle of a note. */
export function boxOf({ position, size }: Note): Bounds {
  return { left: position.x, top: position.y, right: position.x + size.width, bottom: position.y + size.height }
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
