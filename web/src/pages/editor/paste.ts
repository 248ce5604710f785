import { parseJson, show } from '../../api/json'
import {
  edgesOf,
  freeId,
  handleOf,
  isObject,
  isSequential,
  positionOf,
  type BlueprintMap,
  type MapEdge,
  type MapNode,
  type Position,
} from '../../graph/map'
import { circle } from '../../graph/order'
import { snap } from '../../graph/layout'
import type { Bounds } from '../../graph/sizes'
import { boxOf, frameOf, type Group, groupsOf, type Note, notesOf } from '../../graph/notes'
import { heightOf, WIDTH } from '../../graph/sizes'
import { withMarks } from './notes'
import { orderAsEdges } from './order-as-edges'
import { rename } from './rename'
import type { Expressions } from './references'
import { pasteText } from '../../text/editor'

/** Copied nodes, notes and groups. `ordered`: the nodes were a sequence, in the order of the list. */
export type Clip = { nodes: MapNode[]; edges: MapEdge[]; ordered: boolean; notes?: Note[]; groups?: Group[] }

/** A clip, or why a text is not one. */
export type Read = { clip: Clip } | { problem: string }

const largest = 5 * 1024 * 1024
const mostNodes = 10_000

/**
 * The clipboard text of some nodes and notes: JSON that is also a valid blueprint_map. It has the groups of which all
 * nodes are copied, with the notes within their frames.
 */
export function copyText(
  map: BlueprintMap,
  ids: ReadonlySet<string>,
  noteIds: ReadonlySet<string> = new Set(),
): string {
  const nodes = map.nodes.filter((node) => ids.has(node.id))
  const edges = edgesOf(map).filter((edge) => ids.has(edge.source) && ids.has(edge.target))
  const groups = groupsOf(map).filter((group) => group.nodes.every((id) => ids.has(id)))
  const frames = groups.map((group) => frameOf(map, group))
  const notes = notesOf(map).filter((note) => noteIds.has(note.id) || frames.some((frame) => isWithin(frame, note)))
  return show({
    nodes,
    ...(isSequential(map) ? {} : { edges }),
    ...(notes.length > 0 ? { notes } : {}),
    ...(groups.length > 0 ? { groups } : {}),
  })
}

// The middle of the note counts.
function isWithin(frame: Bounds, note: Note): boolean {
  const { left, top, right, bottom } = boxOf(note)
  const [x, y] = [(left + right) / 2, (top + bottom) / 2]
  return x > frame.left && x < frame.right && y > frame.top && y < frame.bottom
}

/**
 * Parses the text of the clipboard: a map, a blueprint file, a list of nodes, or one node. Everything that the server
 * would refuse is refused here, with the place.
 */
export function readClip(text: string): Read {
  if (text.trim() === '') return { problem: pasteText.thereIsNoTextToPaste }
  if (text.length > largest) return { problem: pasteText.theTextIsLargerThan5 }
  let value: unknown
  try {
    value = parseJson(text)
  } catch {
    return { problem: pasteText.theTextIsNotJson }
  }
  if (isObject(value) && isObject(value.blueprint_map)) value = value.blueprint_map
  if (isObject(value) && !Array.isArray(value.nodes) && typeof value.type === 'string') value = { nodes: [value] }
  if (Array.isArray(value)) value = { nodes: value }
  if (!isObject(value) || !Array.isArray(value.nodes)) return { problem: pasteText.theJsonHasNoListNamed }
  const notes = notesOf({ nodes: [], notes: value.notes }).slice(0, mostNodes)
  if (value.nodes.length === 0 && notes.length === 0) return { problem: pasteText.theListOfNodesIsEmpty }
  if (value.nodes.length > mostNodes) return { problem: pasteText.aBlueprintHasAtMost10 }
  const ids = new Set<string>()
  const nodes: MapNode[] = []
  for (const [index, given] of value.nodes.entries()) {
    const wrong = nodeProblem(given, ids)
    if (wrong) return { problem: pasteText.nodes(index, wrong) }
    const node = given as MapNode
    ids.add(node.id)
    nodes.push({ ...node, title: node.title ?? node.id, config: node.config ?? {} })
  }
  const edges: unknown[] = Array.isArray(value.edges) ? value.edges : []
  for (const [index, edge] of edges.entries()) {
    const wrong = edgeProblem(edge, ids)
    if (wrong) return { problem: pasteText.edges(index, wrong) }
  }
  const read: MapEdge[] = []
  for (const edge of edges as MapEdge[]) {
    if (edges.length <= 2000 && circle(read, edge.source, edge.target))
      return { problem: pasteText.theEdgesFormACycleAt(edge.source, edge.target) }
    read.push(edge)
  }
  const groups = groupsOf({ nodes, groups: value.groups })
  return { clip: { nodes, edges: read, ordered: !Array.isArray(value.edges), notes, groups } }
}

/**
 * The result of a paste. `renamed`: old ID to new, where the ID already existed. `ordered`: the order of the target map
 * was converted to edges. `problem`: why nothing was pasted.
 */
export type Pasted = {
  map: BlueprintMap
  ids: string[]
  /** The ids of the notes. */
  notes: string[]
  renamed: Map<string, string>
  ordered: boolean
  problem?: string
}

/**
 * Puts a clip into a map: ids that are taken get a number behind, and what names them within the clip follows. `at` is
 * where its upper left corner comes, or below that where there is room; without it, it stands a little beside where it
 * was. Where a sequence and a graph meet, the order of the sequence is written as edges; `inLoop` as for orderAsEdges.
 * The body of a loop has no notes and groups.
 */
export function paste(
  map: BlueprintMap,
  clip: Clip,
  at: Position | undefined,
  expressions: Expressions,
  inLoop = false,
): Pasted {
  const taken = new Set(map.nodes.map((node) => node.id))
  const own = new Set(clip.nodes.map((node) => node.id))
  const renamed = new Map<string, string>()
  let piece: BlueprintMap = { nodes: clip.nodes, edges: clip.edges, groups: inLoop ? [] : (clip.groups ?? []) }
  for (const node of clip.nodes) {
    if (!taken.has(node.id)) {
      taken.add(node.id)
      continue
    }
    const id = freeId(node.id, { has: (wanted) => taken.has(wanted) || own.has(wanted) })
    taken.add(id)
    renamed.set(node.id, id)
    piece = rename(piece, node.id, id, true, expressions)
  }
  const given = inLoop ? [] : (clip.notes ?? [])
  const corner = cornerOf([...piece.nodes, ...given])
  const shift =
    at && corner
      ? clear(map.nodes, piece.nodes, { x: snap(at.x - corner.x), y: snap(at.y - corner.y) })
      : { x: 32, y: 32 }
  const moved = given.map((note) => ({
    ...note,
    position: { x: note.position.x + shift.x, y: note.position.y + shift.y },
  }))
  const nodes = piece.nodes.map((node) => {
    const from = positionOf(node)
    if (!from) return node
    return { ...node, position: { ...(node.position as object), x: from.x + shift.x, y: from.y + shift.y } }
  })
  const clipped: BlueprintMap = { nodes, edges: piece.edges }
  const joins = !isSequential(map) || !isSequential(clipped)
  const refused = (problem: string): Pasted => ({ map, ids: [], notes: [], renamed, ordered: false, problem })
  const mine = joins ? orderAsEdges(map, inLoop, { taken: nodes.map((node) => node.id) }) : { map }
  if ('problem' in mine) return refused(mine.problem)
  const theirs =
    joins && clip.ordered && nodes.length > 1
      ? orderAsEdges(clipped, inLoop, { taken: mine.map.nodes.map((node) => node.id) })
      : { map: clipped }
  if ('problem' in theirs) return refused(theirs.problem)
  const ids = theirs.map.nodes.map((node) => node.id)
  const edges = [...edgesOf(mine.map), ...edgesOf(theirs.map)]
  const whole: BlueprintMap = { ...mine.map, nodes: [...mine.map.nodes, ...theirs.map.nodes] }
  if (edges.length > 0) whole.edges = edges
  const marked = withMarks(whole, moved, groupsOf(piece))
  return { ...marked, ids, renamed, ordered: isSequential(map) && map.nodes.length > 1 && joins }
}

/** Duplicates nodes and notes beside themselves, with the edges between the nodes and those that lead into them. */
export function duplicate(
  map: BlueprintMap,
  ids: ReadonlySet<string>,
  expressions: Expressions,
  noteIds?: ReadonlySet<string>,
): Pasted {
  const read = readClip(copyText(map, ids, noteIds))
  if (!('clip' in read)) return { map, ids: [], notes: [], renamed: new Map(), ordered: false }
  const pasted = paste(map, { ...read.clip, ordered: false }, undefined, expressions)
  if (isSequential(map)) return pasted
  const copies = new Map(pasted.renamed)
  const into = edgesOf(map)
    .filter((edge) => !ids.has(edge.source) && ids.has(edge.target))
    .map((edge) => ({ ...edge, target: copies.get(edge.target)! }))
  return { ...pasted, map: { ...pasted.map, edges: [...edgesOf(pasted.map), ...into] } }
}

function nodeProblem(value: unknown, ids: Set<string>): string | undefined {
  if (!isObject(value)) return pasteText.mustBeAnObject
  if (typeof value.id !== 'string' || value.id === '') return pasteText.idMustBeANonEmpty
  if (ids.has(value.id)) return pasteText.idDuplicateId(value.id)
  if (typeof value.type !== 'string' || value.type === '') return pasteText.typeMustBeTheNameOf
  if (value.title !== undefined && typeof value.title !== 'string') return pasteText.titleMustBeAString
  if (value.config !== undefined && !isObject(value.config)) return pasteText.configMustBeAnObject
  return undefined
}

function edgeProblem(value: unknown, ids: Set<string>): string | undefined {
  if (!isObject(value)) return pasteText.mustBeAnObject
  for (const end of ['source', 'target'] as const) {
    if (typeof value[end] !== 'string' || !ids.has(value[end]))
      return pasteText.noNodeHasTheId(end, show(value[end], 0))
  }
  if (value.sourceHandle !== undefined && value.sourceHandle !== null && typeof value.sourceHandle !== 'string')
    return pasteText.sourcehandleMustBeAString
  if (value.source === value.target) return pasteText.connectsToItself(value.source as string)
  return handleOf(value as MapEdge) === '' ? pasteText.sourcehandleMustNotBeEmpty : undefined
}

// A shift at which none of the moved nodes overlaps another: the wanted one, or further down.
function clear(standing: MapNode[], moved: MapNode[], wish: Position): Position {
  const boxes = (nodes: MapNode[]) =>
    nodes.flatMap((node) => {
      const at = positionOf(node)
      return at ? [{ ...at, bottom: at.y + heightOf(node) }] : []
    })
  const [others, own] = [boxes(standing), boxes(moved)]
  if (others.length * own.length > 250_000) return wish
  let { y } = wish
  for (;;) {
    const hit = own.flatMap((box) =>
      others
        .filter(
          (other) =>
            Math.abs(other.x - box.x - wish.x) < WIDTH + room &&
            other.y < box.bottom + y + room &&
            other.bottom + room > box.y + y,
        )
        .map((other) => other.bottom + room - box.y),
    )
    if (hit.length === 0) return { x: wish.x, y }
    y = snap(Math.max(...hit) + room / 2)
  }
}

const room = 16

function cornerOf(cards: readonly { position?: unknown }[]): Position | undefined {
  const at = cards.flatMap((card) => positionOf(card as MapNode) ?? [])
  if (at.length === 0) return undefined
  return { x: Math.min(...at.map((each) => each.x)), y: Math.min(...at.map((each) => each.y)) }
}
