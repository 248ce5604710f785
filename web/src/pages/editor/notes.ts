import { type BlueprintMap, isObject, type Position } from '../../graph/map'
import { snap } from '../../graph/layout'
import { type Group, NOTE, type Note, notesOf } from '../../graph/notes'

/** Adds a note. */
export function addNote(map: BlueprintMap, at: Position): { map: BlueprintMap; id: string } {
  const id = freeOf('note', list(map.notes))
  const note: Note = { id, text: '', position: { x: snap(at.x), y: snap(at.y) }, size: NOTE }
  return { map: { ...map, notes: [...list(map.notes), note] }, id }
}

/** Changes a note, or removes it. */
export function setNote(map: BlueprintMap, id: string, change: Partial<Note> | undefined): BlueprintMap {
  return withList(map, 'notes', id, change)
}

/** Adds notes and groups, which get ids that are free. `notes` are the ids of the notes. */
export function withMarks(
  map: BlueprintMap,
  notes: readonly Note[],
  groups: readonly Group[],
): { map: BlueprintMap; notes: string[] } {
  let next = map
  const ids: string[] = []
  for (const note of notes) {
    const id = freeOf('note', list(next.notes))
    next = { ...next, notes: [...list(next.notes), { ...note, id }] }
    ids.push(id)
  }
  for (const group of groups) {
    const id = freeOf('group', list(next.groups))
    next = { ...next, groups: [...list(next.groups), { ...group, id }] }
  }
  return { map: next, notes: ids }
}

/** Removes notes. */
export function withoutNotes(map: BlueprintMap, ids: ReadonlySet<string>): BlueprintMap {
  let next = map
  for (const id of ids) next = setNote(next, id, undefined)
  return next
}

/** Moves notes by so much. */
export function nudgeNotes(map: BlueprintMap, ids: ReadonlySet<string>, dx: number, dy: number): BlueprintMap {
  let next = map
  for (const { id, position } of notesOf(map))
    if (ids.has(id)) next = setNote(next, id, { position: { x: position.x + dx, y: position.y + dy } })
  return next
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
