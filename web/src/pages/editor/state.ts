import type { BlueprintMap } from '../../graph/map'
import { notesOf } from '../../graph/notes'
import { begin, change, type History, redo, undo } from './history'
import { type Level, mapAt, withMapAt } from './nested'
import { stateText } from '../../text/editor'

/** The content that is edited and saved together. */
export type Doc = { map: BlueprintMap; variables: unknown[] }

/** The state of the editor; see reduce. */
export type EditorState = {
  history: History<Doc>
  /** The content on the server, or about to be saved. */
  saved: Doc
  /** Its version. */
  version: string
  level: Level
  /** Ids of selected nodes of the visible level. */
  nodes: ReadonlySet<string>
  /** Keys of its selected edges. */
  edges: ReadonlySet<string>
  /** Ids of its selected notes. */
  notes: ReadonlySet<string>
  /** Ids of its nodes that were added and never left since: what they lack is not an error yet. */
  fresh: ReadonlySet<string>
}

export type Action =
  /** Changes the map of the level. `tag`: see history. `select` changes the selection; `fresh` is the added node. */
  | {
      do: 'map'
      name: string
      change: (map: BlueprintMap) => BlueprintMap
      tag?: string
      select?: Iterable<string>
      selectNotes?: Iterable<string>
      fresh?: string
      at: number
    }
  | { do: 'variables'; variables: unknown[]; at: number }
  | { do: 'undo' | 'redo' }
  | { do: 'select'; nodes?: Iterable<string>; edges?: Iterable<string>; notes?: Iterable<string> }
  | { do: 'enter'; level: Level; select?: Iterable<string> }
  /** The user wants to know about all problems. */
  | { do: 'checked' }
  | { do: 'saved'; doc: Doc; version: string }
  /** Replaces the document; it can be undone. */
  | { do: 'replace'; name: string; doc: Doc; at: number }
  /** Starts over with the server's version. */
  | { do: 'reload'; doc: Doc; version: string }

const none: ReadonlySet<string> = new Set()

/** The state of a newly opened editor. */
export function open(doc: Doc, version: string): EditorState {
  return { history: begin(doc), saved: doc, version, level: [], nodes: none, edges: none, notes: none, fresh: none }
}

/** The next state. */
export function reduce(state: EditorState, action: Action): EditorState {
  const doc = state.history.present
  switch (action.do) {
    case 'map': {
      const before = mapAt(doc.map, state.level)
      if (!before) return state
      const after = action.change(before)
      const map = after === before ? doc.map : withMapAt(doc.map, state.level, after)
      const next =
        map === doc.map
          ? state
          : { ...state, history: change(state.history, { ...doc, map }, action.name, action.tag, action.at) }
      if (!action.select) return settle(next)
      const nodes = new Set(action.select)
      // Undone nodes cannot come back after a change.
      const ids = new Set(before.nodes.map(({ id }) => id))
      const known = [...state.fresh].filter(
        (id) => ids.has(id) && (action.fresh !== undefined || !isLeft(state, id, nodes)),
      )
      const fresh = new Set(action.fresh === undefined ? known : [...known, action.fresh])
      return settle({ ...next, nodes, edges: none, notes: new Set(action.selectNotes ?? []), fresh })
    }
    case 'variables':
      return {
        ...state,
        history: change(
          state.history,
          { ...doc, variables: action.variables },
          stateText.changeOfVariables,
          'variables',
          action.at,
        ),
      }
    case 'undo':
      return returned(state, { ...state, history: undo(state.history) })
    case 'redo':
      return returned(state, { ...state, history: redo(state.history) })
    case 'select': {
      const nodes = action.nodes === undefined ? state.nodes : new Set(action.nodes)
      const edges = action.edges === undefined ? state.edges : new Set(action.edges)
      const notes = action.notes === undefined ? state.notes : new Set(action.notes)
      return same(nodes, state.nodes) && same(edges, state.edges) && same(notes, state.notes)
        ? state
        : { ...state, nodes, edges, notes, fresh: new Set([...state.fresh].filter((id) => !isLeft(state, id, nodes))) }
    }
    case 'enter':
      return settle({
        ...state,
        level: action.level,
        nodes: new Set(action.select ?? []),
        edges: none,
        notes: none,
        fresh: none,
      })
    case 'checked':
      return state.fresh.size === 0 ? state : { ...state, fresh: none }
    case 'saved':
      return { ...state, saved: action.doc, version: action.version }
    case 'replace':
      return settle({
        ...state,
        history: change(state.history, action.doc, action.name, undefined, action.at),
        fresh: none,
      })
    case 'reload':
      return open(action.doc, action.version)
  }
}

/** Reports whether there are unsaved changes. */
export function isDirty(state: EditorState): boolean {
  return state.history.present !== state.saved
}

/** The map of the visible level. */
export function shownMap(map: BlueprintMap, level: Level): BlueprintMap {
  return mapAt(map, level) ?? map
}

// Restored nodes are selected, so that the user notices them.
function returned(before: EditorState, after: EditorState): EditorState {
  const known = new Set(mapAt(before.history.present.map, before.level)?.nodes.map((node) => node.id))
  const back = mapAt(after.history.present.map, after.level)?.nodes.filter((node) => !known.has(node.id)) ?? []
  return settle(
    back.length > 0 ? { ...after, nodes: new Set(back.map((node) => node.id)), edges: none, notes: none } : after,
  )
}

// After a change the level, selected nodes and notes may no longer exist.
function settle(state: EditorState): EditorState {
  let level = state.level
  while (level.length > 0 && !mapAt(state.history.present.map, level)) level = level.slice(0, -1)
  const map = mapAt(state.history.present.map, level)!
  const known = (chosen: ReadonlySet<string>, list: readonly { id: string }[]): ReadonlySet<string> => {
    const ids = new Set(list.map(({ id }) => id))
    return [...chosen].every((id) => ids.has(id)) ? chosen : new Set([...chosen].filter((id) => ids.has(id)))
  }
  return {
    ...state,
    level,
    nodes: known(state.nodes, map.nodes),
    edges: level === state.level ? state.edges : none,
    notes: state.notes.size > 0 ? known(state.notes, notesOf(map)) : none,
  }
}

// Reports whether a selected node is not selected anymore.
function isLeft(state: EditorState, id: string, nodes: ReadonlySet<string>): boolean {
  return state.nodes.has(id) && !nodes.has(id)
}

function same(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((item) => other.has(item))
}
