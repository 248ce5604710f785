import type { BlueprintMap } from '../../graph/map'
import { begin, change, type History, redo, undo } from './history'
import { type Level, mapAt, withMapAt } from './nested'
import { stateText } from '../../text/editor'

/** What is edited and saved together. */
export type Doc = { map: BlueprintMap; variables: unknown[] }

/** Everything that the editor knows; see reduce. */
export type EditorState = {
  history: History<Doc>
  /** What the server has, or is about to have. */
  saved: Doc
  /** The version that it has. */
  version: string
  level: Level
  /** Ids of chosen nodes of the level that is shown. */
  nodes: ReadonlySet<string>
  /** Keys of its chosen edges. */
  edges: ReadonlySet<string>
}

export type Action =
  /** Changes the map of the level. `tag`: see history. `select` chooses other nodes with it. */
  | {
      do: 'map'
      name: string
      change: (map: BlueprintMap) => BlueprintMap
      tag?: string
      select?: Iterable<string>
      at: number
    }
  | { do: 'variables'; variables: unknown[]; at: number }
  | { do: 'undo' | 'redo' }
  | { do: 'select'; nodes?: Iterable<string>; edges?: Iterable<string> }
  | { do: 'enter'; level: Level; select?: Iterable<string> }
  | { do: 'saved'; doc: Doc; version: string }
  /** Puts another document in place of this one; it can be undone. */
  | { do: 'replace'; name: string; doc: Doc; at: number }
  /** Starts over with the version of the server. */
  | { do: 'reload'; doc: Doc; version: string }

const none: ReadonlySet<string> = new Set()

/** The state of an editor that has just been opened. */
export function open(doc: Doc, version: string): EditorState {
  return { history: begin(doc), saved: doc, version, level: [], nodes: none, edges: none }
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
      return settle(action.select ? { ...next, nodes: new Set(action.select), edges: none } : next)
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
      return same(nodes, state.nodes) && same(edges, state.edges) ? state : { ...state, nodes, edges }
    }
    case 'enter':
      return settle({ ...state, level: action.level, nodes: new Set(action.select ?? []), edges: none })
    case 'saved':
      return { ...state, saved: action.doc, version: action.version }
    case 'replace':
      return settle({ ...state, history: change(state.history, action.doc, action.name, undefined, action.at) })
    case 'reload':
      return open(action.doc, action.version)
  }
}

/** Whether there is something to save. */
export function isDirty(state: EditorState): boolean {
  return state.history.present !== state.saved
}

/** The map of the level that is shown. */
export function shownMap(map: BlueprintMap, level: Level): BlueprintMap {
  return mapAt(map, level) ?? map
}

// Restored nodes are selected, so that they are noticed.
function returned(before: EditorState, after: EditorState): EditorState {
  const known = new Set(mapAt(before.history.present.map, before.level)?.nodes.map((node) => node.id))
  const back = mapAt(after.history.present.map, after.level)?.nodes.filter((node) => !known.has(node.id)) ?? []
  return settle(back.length > 0 ? { ...after, nodes: new Set(back.map((node) => node.id)), edges: none } : after)
}

// After a change the level may be gone, and chosen nodes with it.
function settle(state: EditorState): EditorState {
  let level = state.level
  while (level.length > 0 && !mapAt(state.history.present.map, level)) level = level.slice(0, -1)
  const ids = new Set(mapAt(state.history.present.map, level)!.nodes.map((node) => node.id))
  const nodes = [...state.nodes].every((id) => ids.has(id))
    ? state.nodes
    : new Set([...state.nodes].filter((id) => ids.has(id)))
  return { ...state, level, nodes, edges: level === state.level ? state.edges : none }
}

function same(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((item) => other.has(item))
}
