import { type BlueprintMap, isObject, positionOf, type MapNode, type Position } from '../../graph/map'
import { snap } from '../../graph/layout'
import { heightOf, WIDTH } from '../../graph/sizes'
import type { Bounds } from '../../graph/view'

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

const first = { width: 240, height: 120 }

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
          width: within(size.width, LEAST.width, first.width),
          height: within(size.height, LEAST.height, first.height),
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

/** Adds a note. */
export function addNote(map: BlueprintMap, at: Position): { map: BlueprintMap; id: string } {
  const id = freeOf('note', list(map.notes))
  const note: Note = { id, text: '', position: { x: snap(at.x), y: snap(at.y) }, size: first }
  return { map: { ...map, notes: [...list(map.notes), note] }, id }
}

/** Changes a note, or removes it. */
export function setNote(map: BlueprintMap, id: string, change: Partial<Note> | undefined): BlueprintMap {
  return withList(map, 'notes', id, change)
}

/** Puts nodes into a new group; they leave the groups that they are in. */
export function group(map: BlueprintMap, ids: ReadonlySet<string>, title: string): { map: BlueprintMap; id: string } {
  const id = freeOf('group', list(map.groups))
  const nodes = map.nodes.filter((node) => ids.has(node.id)).map((node) => node.id)
  const others = withoutNodes(map, ids)
  return { map: { ...others, groups: [...list(others.groups), { id, title, nodes }] }, id }
}

/** Changes a group, or removes its frame; the nodes stay. */
export function setGroup(map: BlueprintMap, id: string, change: Partial<Group> | undefined): BlueprintMap {
  return withList(map, 'groups', id, change)
}

/** The map with nodes removed from its groups. A group without nodes is removed too. */
export function withoutNodes(map: BlueprintMap, ids: ReadonlySet<string>): BlueprintMap {
  return eachGroup(map, (nodes) => nodes.filter((id) => !ids.has(id as string)))
}

/** The map with another id of a node in its groups. */
export function renamedInGroups(map: BlueprintMap, from: string, to: string): BlueprintMap {
  return eachGroup(map, (nodes) => nodes.map((id) => (id === from ? to : id)))
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

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function freeOf(word: string, taken: readonly Record<string, unknown>[]): string {
  const ids = new Set(taken.map(({ id }) => id))
  for (let number = 1; ; number++) if (!ids.has(`${word}-${number}`)) return `${word}-${number}`
}

// A member of the map that would be empty is left out.
function withMember(map: BlueprintMap, name: string, items: unknown[]): BlueprintMap {
  if (items.length > 0) return { ...map, [name]: items }
  const { [name]: _, ...rest } = map
  return rest as BlueprintMap
}

function withList(map: BlueprintMap, name: string, id: string, change: object | undefined): BlueprintMap {
  const items = list(map[name])
  if (!items.some((item) => item.id === id)) return map
  const changed = change
    ? items.map((item) => (item.id === id ? { ...item, ...change } : item))
    : items.filter((item) => item.id !== id)
  return withMember(map, name, changed)
}

function eachGroup(map: BlueprintMap, change: (nodes: unknown[]) => unknown[]): BlueprintMap {
  if (!Array.isArray(map.groups)) return map
  const groups = list(map.groups).flatMap((item) => {
    const nodes = change(Array.isArray(item.nodes) ? item.nodes : [])
    return nodes.length > 0 ? [{ ...item, nodes }] : []
  })
  return withMember(map, 'groups', groups)
}
